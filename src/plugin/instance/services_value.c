/* SPDX-License-Identifier: MIT
 * Values in JSON text that a plugin has received, and the encoding of texts in URLs. What is not
 * JSON is logged; what is absent is NULL. */
#include "event/json/json_reader.h"
#include "plugin/instance/services_internal.h"

static char *services_value_text(struct arena *arena, struct str value)
{
    struct json j;
    struct str raw;
    json_init(&j, value.p, value.len);
    if (json_reader_read_string(&j, &raw))
        return json_reader_unescape(arena, raw, NULL);
    return json_reader_compact_dup(arena, value, NULL);
}

/* Memory for what is found in the text; NULL: there is none, or it is no JSON. */
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

/* Elements of an array are no members. */
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
