/* SPDX-License-Identifier: MIT
 * Writes members unless they are empty. */
#include "dialect/writer/json_member.h"

#include <string.h>

#include "event/json/json_reader.h"

void json_member_text(struct buf *b, enum json_style style, const char *key, const char *s,
                      size_t len)
{
    if (!s || !len)
        return;
    json_style_append_key(b, style, key);
    json_style_append_string(b, style, s, len);
}

void json_member_str(struct buf *b, enum json_style style, const char *key, const char *s)
{
    json_member_text(b, style, key, s, s ? strlen(s) : 0);
}

void json_member_true(struct buf *b, enum json_style style, const char *key, bool v)
{
    if (v)
        json_style_member_bool(b, style, key, true);
}

void json_member_count(struct buf *b, enum json_style style, const char *key, int64_t n)
{
    if (n > 0)
        json_style_member_int(b, style, key, n);
}

void json_member_value(struct buf *b, enum json_style style, const char *key, struct str value)
{
    if (!value.p)
        return;
    json_style_append_key(b, style, key);
    json_style_append_value(b, style, value.p, value.len);
}

static bool json_member_is_listed(struct str key, const char *const *list)
{
    while (*list && !json_reader_string_is(key, *list))
        list++;
    return *list;
}

void json_member_rest(struct buf *b, enum json_style style, struct str object,
                      const char *const *written)
{
    struct arena scratch = {0};
    struct json j;
    struct str key, value;
    if (!json_reader_open_object(&j, object))
        return;
    while (json_reader_next_key(&j, &key)) {
        json_reader_skip(&j, &value);
        if (json_member_is_listed(key, written))
            continue;
        size_t len = 0;
        const char *const text = json_reader_unescape(&scratch, key, &len);
        json_style_append_escaped_key(b, style, text, len);
        json_style_append_value(b, style, value.p, value.len);
    }
    arena_fini(&scratch);
}
