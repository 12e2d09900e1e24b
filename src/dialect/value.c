/* SPDX-License-Identifier: MIT
 * Owns how members are picked and what their values mean. */
#include "dialect/value.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "event/json.h"

#define REST_VALUE_MAX ((size_t)16 << 10)
#define REST_MAX ((size_t)64 << 10)

static void pick(struct json *j, const struct value_row *rows, size_t n)
{
    struct str key;
    while (json_next_key(j, &key)) {
        const bool null = json_peek(j) == JSON_AT_NULL;
        struct str value = {0};
        json_skip(j, &value);
        for (size_t i = 0; i < n && !null; i++)
            if (json_string_is(key, rows[i].key))
                *rows[i].value = value;
    }
}

int value_line(const char *line, size_t len, const struct value_row *rows, size_t n)
{
    struct json j;
    json_start(&j, line, len);
    if (!json_enter_object(&j))
        return -1;
    pick(&j, rows, n);
    return json_finish(&j);
}

void value_pick(struct str object, const struct value_row *rows, size_t n)
{
    struct json j;
    json_start(&j, object.p, object.len);
    if (object.p && json_enter_object(&j))
        pick(&j, rows, n);
}

struct str value_string(struct str value)
{
    if (value.len < 2 || *value.p != '"')
        return (struct str){0};
    return (struct str){value.p + 1, value.len - 2};
}

char *value_text(struct arena *a, struct str value, size_t *len)
{
    return json_unescape(a, value_string(value), len);
}

bool value_is(struct str value, const char *lit)
{
    return json_string_is(value_string(value), lit);
}

int64_t value_int(struct str value, int64_t dflt)
{
    struct json j;
    json_start(&j, value.p, value.len);
    if (value.p)
        json_read_int(&j, &dflt);
    return dflt;
}

double value_real(struct str value, double dflt)
{
    struct json j;
    json_start(&j, value.p, value.len);
    if (value.p)
        json_read_real(&j, &dflt);
    return dflt;
}

bool value_true(struct str value)
{
    return str_is(value, "true");
}

char *value_json(struct arena *a, struct str value, size_t *len)
{
    return json_compact_dup(a, value, len);
}

char *value_show(struct arena *a, struct str value, size_t *len)
{
    return value_string(value).p ? value_text(a, value, len) : value_json(a, value, len);
}

/* Days are counted by timegm, the fraction by hand. */
static double read_rfc3339(const char *text)
{
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return -1;
    double fraction = 0;
    for (double scale = 0.1; rest[0] == '.' || (*rest >= '0' && *rest <= '9'); rest++)
        if (*rest != '.') {
            fraction += (*rest - '0') * scale;
            scale /= 10;
        }
    int hours = 0, minutes = 0;
    if (*rest == '+' || *rest == '-') {
        if (sscanf(rest + 1, "%2d:%2d", &hours, &minutes) != 2)
            return -1;
        if (*rest == '-') {
            hours = -hours;
            minutes = -minutes;
        }
    }
    return (double)timegm(&tm) + fraction - hours * 3600.0 - minutes * 60.0;
}

double value_time(struct str value)
{
    const struct str raw = value_string(value);
    char text[40];
    if (!raw.p) {
        const double ms = value_real(value, -1);
        return ms < 0 ? -1 : ms / 1000;
    }
    if (raw.len >= sizeof text)
        return -1;
    memcpy(text, raw.p, raw.len);
    text[raw.len] = '\0';
    const double seconds = read_rfc3339(text);
    return seconds < 0 ? -1 : round(seconds * 1e6) / 1e6;
}

static bool is_listed(struct str key, const char *const *list)
{
    for (; *list; list++)
        if (json_string_is(key, *list))
            return true;
    return false;
}

char *value_rest(struct arena *a, struct str object, const char *const *known)
{
    CLEANUP_BUF struct buf rest = {0};
    struct json j;
    struct str key;
    json_start(&j, object.p, object.len);
    if (!object.p || !json_enter_object(&j))
        return NULL;
    while (json_next_key(&j, &key)) {
        const bool wanted = json_peek(&j) != JSON_AT_NULL && !is_listed(key, known);
        struct str value = {0};
        json_skip(&j, &value);
        if (!wanted || value.len > REST_VALUE_MAX || key.len + value.len + rest.len > REST_MAX)
            continue;
        buf_add_char(&rest, rest.len ? ',' : '{');
        json_compact(&rest, (struct str){key.p - 1, key.len + 2});
        buf_add_char(&rest, ':');
        json_compact(&rest, value);
    }
    if (!rest.len)
        return NULL;
    buf_add_char(&rest, '}');
    return arena_strndup(a, rest.p, rest.len);
}
