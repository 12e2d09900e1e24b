/* SPDX-License-Identifier: MIT
 * Access to JSON text and headers that a plugin has received, URL encoding, and random delays.
 * Invalid JSON is logged; absent values are NULL. */
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>

#include "base/sys/clock.h"
#include "event/json/json_reader.h"
#include "plugin/instance/services_internal.h"

#define TIME_DIGITS 12

static char *services_value_text(struct arena *arena, struct str value)
{
    struct json j;
    struct str raw;
    json_init(&j, value.p, value.len);
    if (json_reader_read_string(&j, &raw))
        return json_reader_unescape(arena, raw, NULL);
    return json_reader_compact_dup(arena, value, NULL);
}

/* Memory for results; NULL: no memory, or invalid JSON. */
static struct arena *services_open_json(struct tc_turn *turn, const char *json, const char *service,
                                        const char *sought)
{
    const struct str doc = {json, json ? strlen(json) : 0};
    struct arena *const arena = services_get_scratch(turn, doc.len, service);
    if (!arena || !json || !sought)
        return NULL;
    if (json_reader_is_valid(doc))
        return arena;
    log_write(LOG_ERR, instance_label(instance_check(turn->inst)),
              "%s(\"%s\"): the searched text is not JSON", service, sought);
    return NULL;
}

char *service_json_get(struct tc_turn *turn, const char *json, const char *pointer)
{
    struct arena *const arena = services_open_json(turn, json, "tc_json_get", pointer);
    if (!arena)
        return NULL;
    const struct str value = json_reader_pointer((struct str){json, strlen(json)}, pointer);
    return value.p ? services_value_text(arena, value) : NULL;
}

char *service_json_key(struct tc_turn *turn, const char *json, int i)
{
    struct arena *const arena = services_open_json(turn, json, "tc_json_key", "");
    struct json j;
    struct str key, value;
    if (!arena || !json_reader_open_object(&j, (struct str){json, strlen(json)}))
        return NULL;
    for (int at = 0; json_reader_next_member(&j, &key, &value); at++)
        if (at == i)
            return json_reader_unescape(arena, key, NULL);
    return NULL;
}

static void append_pointer_step(struct buf *out, const char *name)
{
    buf_add_char(out, '/');
    for (; *name; name++)
        if (*name == '~' || *name == '/')
            buf_add_str(out, *name == '~' ? "~0" : "~1");
        else
            buf_add_char(out, *name);
}

/* Elements of an array are not members. */
char *service_json_member(struct tc_turn *turn, const char *json, const char *name)
{
    struct arena *const arena = services_open_json(turn, json, "tc_json_member", name);
    struct json j;
    if (!arena || !json_reader_open_object(&j, (struct str){json, strlen(json)}))
        return NULL;
    CLEANUP_BUF struct buf pointer = {0};
    append_pointer_step(&pointer, name);
    const struct str value = json_reader_pointer((struct str){json, strlen(json)}, pointer.p);
    return value.p ? services_value_text(arena, value) : NULL;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c));
}

char *service_quote(struct tc_turn *turn, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    const size_t len = text ? strlen(text) : 0;
    struct arena *const arena = services_get_scratch(turn, 3 * len + 1, "tc_quote");
    if (!arena || !text)
        return NULL;
    char *const out = arena_alloc(arena, 3 * len + 1);
    char *to = out;
    for (const char *p = text; *p; p++) {
        if (is_unreserved(*p)) {
            *to++ = *p;
            continue;
        }
        *to++ = '%';
        *to++ = digits[(unsigned char)*p >> 4];
        *to++ = digits[(unsigned char)*p & 15];
    }
    *to = '\0';
    return out;
}

/* ---- headers, times ---- */

const char *service_header_value(const struct tc_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

int64_t service_random(struct tc_turn *turn, int64_t least, int64_t most)
{
    uint32_t random = 0;
    (void)turn;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = 0;
    return most > least ? least + (int64_t)(random % ((uint64_t)most - (uint64_t)least + 1))
                        : least;
}

bool service_is_recent(struct tc_turn *turn, const char *text, int64_t seconds)
{
    const size_t digits = text ? strspn(text, "0123456789") : 0;
    (void)turn;
    if (digits == 0 || digits > TIME_DIGITS || text[digits])
        return false;
    const int64_t age = (int64_t)clock_wall_s() - strtoll(text, NULL, 10);
    return age <= seconds && age >= -seconds;
}
