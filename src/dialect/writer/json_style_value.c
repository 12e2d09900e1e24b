/* SPDX-License-Identifier: MIT
 * Writes JSON byte for byte as Python json.dumps, JSON.stringify, Go encoding/json or serde_json
 * does: separators, escapes, numbers, key order. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "dialect/writer/json_style_traits.h"
#include "event/json/json_reader.h"

struct restyle {
    struct buf *out;
    enum json_style style;
    const struct json_style_traits *traits;
    struct arena text; /* unescaped strings and keys */
};

/* A member of an object to be sorted. */
struct member {
    const char *key;
    size_t len;
    uint64_t index; /* value of an array-index key; UINT64_MAX: none */
    size_t place;   /* first position of the key */
    struct str value;
};

static void value_write(struct restyle *r, struct json *j);

static void string_write(struct restyle *r, struct str raw)
{
    size_t len;
    if (r->traits->verbatim) {
        buf_add_char(r->out, '"');
        for (size_t i = 0, n; i < raw.len; i += n) {
            const bool escape = raw.p[i] == '\\';
            n = escape ? 2 : strcspn(raw.p + i, "\\\"");
            n = n < raw.len - i ? n : raw.len - i;
            if (escape)
                buf_add(r->out, raw.p + i, n);
            else
                style_text(r->out, r->traits, raw.p + i, n);
        }
        buf_add_char(r->out, '"');
        return;
    }
    const char *const text = json_reader_unescape(&r->text, raw, &len);
    json_style_append_string(r->out, r->style, text, len);
}

static void number_write(struct restyle *r, struct str raw)
{
    const bool integral = !memchr(raw.p, '.', raw.len) && !memchr(raw.p, 'e', raw.len) &&
                          !memchr(raw.p, 'E', raw.len);
    double v;
    struct json j;
    json_init(&j, raw.p, raw.len);
    if (r->traits->verbatim || (integral && r->style != STYLE_JS) || !json_reader_read_real(&j, &v))
        buf_add(r->out, raw.p, raw.len);
    else
        json_style_append_real(r->out, r->style, v);
}

static void array_write(struct restyle *r, struct json *j)
{
    buf_add_char(r->out, '[');
    for (bool first = true; json_reader_next_element(j); first = false) {
        if (!first)
            buf_add_str(r->out, r->traits->comma);
        value_write(r, j);
    }
    buf_add_char(r->out, ']');
}

static uint64_t array_index(const char *key, size_t len)
{
    if (len == 0 || len > 10 || (key[0] == '0' && len > 1) || strspn(key, "0123456789") != len)
        return UINT64_MAX;
    const uint64_t v = strtoull(key, NULL, 10);
    return v < UINT32_MAX ? v : UINT64_MAX;
}

static int json_style_value_compare_keys(const void *pa, const void *pb)
{
    const struct member *const a = pa, *const b = pb;
    const int order = memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);
    if (order)
        return order;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static int compare_places(const void *pa, const void *pb)
{
    const struct member *const a = pa, *const b = pb;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* Of several members with the same key, the last value is used, at the position of the first. */
static size_t drop_duplicates(struct member *m, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool same =
            kept && m[kept - 1].len == m[i].len && memcmp(m[kept - 1].key, m[i].key, m[i].len) == 0;
        if (same)
            m[kept - 1].value = m[i].value;
        else
            m[kept++] = m[i];
    }
    return kept;
}

static struct member member_read(struct restyle *r, struct json *j, struct str key, size_t place)
{
    struct member m = {.place = place};
    m.key = json_reader_unescape(&r->text, key, &m.len);
    m.index = r->traits->index_keys_first ? array_index(m.key, m.len) : UINT64_MAX;
    json_reader_skip(j, &m.value);
    return m;
}

static void member_write(struct restyle *r, const struct member *m)
{
    struct json j;
    json_style_append_string(r->out, r->style, m->key, m->len);
    buf_add_str(r->out, r->traits->colon);
    json_init(&j, m->value.p, m->value.len);
    value_write(r, &j);
}

static void object_write_ordered(struct restyle *r, struct json *j)
{
    CLEANUP_FREE struct member *members = NULL;
    size_t n = 0, cap = 0;
    for (struct str key; json_reader_next_key(j, &key); n++) {
        members = alloc_grow(members, n, &cap, sizeof(*members));
        members[n] = member_read(r, j, key, n);
    }
    if (n > 1)
        qsort(members, n, sizeof(*members), json_style_value_compare_keys);
    n = drop_duplicates(members, n);
    if (n > 1 && !r->traits->sorted)
        qsort(members, n, sizeof(*members), compare_places);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_str(r->out, r->traits->comma);
        member_write(r, &members[i]);
    }
}

static void object_write_verbatim(struct restyle *r, struct json *j)
{
    struct str key;
    for (bool first = true; json_reader_next_key(j, &key); first = false) {
        if (!first)
            buf_add_str(r->out, r->traits->comma);
        string_write(r, key);
        buf_add_str(r->out, r->traits->colon);
        value_write(r, j);
    }
}

/* Recursion is bounded by the cursor's depth. */
static void value_write(struct restyle *r, struct json *j)
{
    struct str raw = {0};
    switch (json_reader_peek(j)) {
    case JSON_AT_OBJECT:
        json_reader_enter_object(j);
        buf_add_char(r->out, '{');
        if (r->traits->verbatim)
            object_write_verbatim(r, j);
        else
            object_write_ordered(r, j);
        buf_add_char(r->out, '}');
        break;
    case JSON_AT_ARRAY:
        json_reader_enter_array(j);
        array_write(r, j);
        break;
    case JSON_AT_STRING:
        json_reader_read_string(j, &raw);
        string_write(r, raw);
        break;
    case JSON_AT_NUMBER:
        json_reader_skip(j, &raw);
        number_write(r, raw);
        break;
    case JSON_AT_NULL:
    case JSON_AT_TRUE:
    case JSON_AT_FALSE:
        json_reader_skip(j, &raw);
        buf_add(r->out, raw.p, raw.len);
        break;
    case JSON_AT_END:
        break;
    }
}

void json_style_append_value(struct buf *b, enum json_style style, const char *json, size_t len)
{
    struct restyle r = {.out = b, .style = style, .traits = style_traits(style)};
    struct json j;
    json_init(&j, json, len);
    value_write(&r, &j);
    arena_fini(&r.text);
}
