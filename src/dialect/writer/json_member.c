/* SPDX-License-Identifier: MIT
 * Owns which members are written. */
#include "dialect/writer/json_member.h"

#include <string.h>

#include "event/json/json_reader.h"

void member_text(struct buf *b, enum style style, const char *key, const char *s, size_t len)
{
    if (!s || !len)
        return;
    style_key(b, style, key);
    style_string(b, style, s, len);
}

void member_str(struct buf *b, enum style style, const char *key, const char *s)
{
    member_text(b, style, key, s, s ? strlen(s) : 0);
}

void member_true(struct buf *b, enum style style, const char *key, bool v)
{
    if (v)
        style_member_bool(b, style, key, true);
}

void member_count(struct buf *b, enum style style, const char *key, int64_t n)
{
    if (n > 0)
        style_member_int(b, style, key, n);
}

void member_value(struct buf *b, enum style style, const char *key, struct str value)
{
    if (!value.p)
        return;
    style_key(b, style, key);
    style_json(b, style, value.p, value.len);
}

static bool is_listed(struct str key, const char *const *list)
{
    while (*list && !json_string_is(key, *list))
        list++;
    return *list;
}

void member_rest(struct buf *b, enum style style, struct str object, const char *const *written)
{
    struct arena scratch = {0};
    struct json j;
    struct str key, value;
    json_start(&j, object.p, object.len);
    if (!object.p || !json_enter_object(&j))
        return;
    while (json_next_key(&j, &key)) {
        json_skip(&j, &value);
        if (is_listed(key, written))
            continue;
        size_t len = 0;
        const char *const text = json_unescape(&scratch, key, &len);
        style_key_text(b, style, text, len);
        style_json(b, style, value.p, value.len);
    }
    arena_fini(&scratch);
}
