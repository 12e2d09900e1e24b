/* SPDX-License-Identifier: MIT
 * Extracts and converts members. */
#include "dialect/reader/value.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/bytes/buf.h"
#include "event/json/json_reader.h"

#define REST_VALUE_MAX ((size_t)16 << 10)
#define REST_MAX ((size_t)64 << 10)

static void value_pick(struct json *j, const struct value_row *rows, size_t n)
{
    struct str key;
    while (json_reader_next_key(j, &key)) {
        const bool null = json_reader_peek(j) == JSON_AT_NULL;
        struct str value = {0};
        json_reader_skip(j, &value);
        for (size_t i = 0; i < n && !null; i++)
            if (json_reader_string_is(key, rows[i].key))
                *rows[i].value = value;
    }
}

int value_parse_line(const char *line, size_t len, const struct value_row *rows, size_t n)
{
    struct json j;
    json_init(&j, line, len);
    if (!json_reader_enter_object(&j))
        return -1;
    value_pick(&j, rows, n);
    return json_reader_finish(&j);
}

void value_get_members(struct str object, const struct value_row *rows, size_t n)
{
    struct json j;
    json_init(&j, object.p, object.len);
    if (object.p && json_reader_enter_object(&j))
        value_pick(&j, rows, n);
}

struct str value_get_last(struct str object, const char *key)
{
    struct str value = {0};
    value_get_members(object, &(struct value_row){key, &value}, 1);
    return value;
}

struct str value_get_first(struct str object, const char *key)
{
    struct json j;
    struct str name, value = {0};
    json_reader_open_object(&j, object);
    while (!value.p && json_reader_next_key(&j, &name))
        json_reader_skip(&j, json_reader_string_is(name, key) ? &value : NULL);
    return value;
}

struct str value_string(struct str value)
{
    if (value.len < 2 || *value.p != '"')
        return (struct str){0};
    return (struct str){value.p + 1, value.len - 2};
}

char *value_text(struct arena *a, struct str value, size_t *len)
{
    return json_reader_unescape(a, value_string(value), len);
}

bool value_equals(struct str value, const char *lit)
{
    return json_reader_string_is(value_string(value), lit);
}

int64_t value_int(struct str value, int64_t dflt)
{
    struct json j;
    json_init(&j, value.p, value.len);
    if (value.p)
        json_reader_read_int(&j, &dflt);
    return dflt;
}

double value_real(struct str value, double dflt)
{
    struct json j;
    json_init(&j, value.p, value.len);
    if (value.p)
        json_reader_read_real(&j, &dflt);
    return dflt;
}

bool value_is_true(struct str value)
{
    return str_is(value, "true");
}

char *value_json(struct arena *a, struct str value, size_t *len)
{
    return json_reader_compact_dup(a, value, len);
}

char *value_text_or_json(struct arena *a, struct str value, size_t *len)
{
    return value_string(value).p ? value_text(a, value, len) : value_json(a, value, len);
}

/* timegm converts the date; the fraction is added. */
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

static bool value_is_listed(struct str key, const char *const *list)
{
    for (; *list; list++)
        if (json_reader_string_is(key, *list))
            return true;
    return false;
}

/* Members of `object` that are (or are not) listed, up to a size limit, as an object. */
static void value_add_members(struct buf *out, struct str object, const char *const *list,
                              bool listed, size_t value_max, size_t max)
{
    struct json j;
    struct str key;
    if (!json_reader_open_object(&j, object))
        return;
    while (json_reader_next_key(&j, &key)) {
        const bool wanted =
            json_reader_peek(&j) != JSON_AT_NULL && value_is_listed(key, list) == listed;
        struct str value = {0};
        json_reader_skip(&j, &value);
        if (!wanted || value.len > value_max || key.len + value.len + out->len > max)
            continue;
        buf_add_char(out, out->len ? ',' : '{');
        json_reader_compact(out, (struct str){key.p - 1, key.len + 2});
        buf_add_char(out, ':');
        json_reader_compact(out, value);
    }
    if (out->len)
        buf_add_char(out, '}');
}

char *value_copy_members(struct arena *a, struct str object, const char *const *keys, size_t *len)
{
    CLEANUP_BUF struct buf out = {0};
    value_add_members(&out, object, keys, true, SIZE_MAX / 8, SIZE_MAX / 4);
    if (!out.len)
        buf_add_str(&out, "{}");
    if (len)
        *len = out.len;
    return arena_strndup(a, out.p, out.len);
}

char *value_extra_except(struct arena *a, struct str object, const char *const *known)
{
    CLEANUP_BUF struct buf out = {0};
    value_add_members(&out, object, known, false, REST_VALUE_MAX, REST_MAX);
    return out.len ? arena_strndup(a, out.p, out.len) : NULL;
}

char *value_extra_only(struct arena *a, struct str object, const char *const *kept)
{
    CLEANUP_BUF struct buf out = {0};
    value_add_members(&out, object, kept, true, REST_VALUE_MAX, REST_MAX);
    return out.len ? arena_strndup(a, out.p, out.len) : NULL;
}

char *value_join_texts(struct arena *a, struct str list, const char *between, size_t *len)
{
    CLEANUP_BUF struct buf joined = {0};
    struct json j;
    struct str part;
    json_reader_open_array(&j, list);
    while (json_reader_next_value(&j, &part)) {
        size_t n = 0;
        const struct str text = value_string(part).p ? part : value_get_last(part, "text");
        const char *const shown = value_text_or_json(a, text.p ? text : part, &n);
        buf_add_str(&joined, joined.len ? between : "");
        buf_add(&joined, shown, n);
    }
    *len = joined.len;
    return arena_strndup(a, joined.p ? joined.p : "", joined.len);
}
