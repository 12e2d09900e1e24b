/* SPDX-License-Identifier: MIT
 * Owns the comparison of the cursor with jansson. */
#include "event/json_oracle.h"

#include <jansson.h>

#include "base/bytes/utf8.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* A text being read into jansson's values. */
struct reading {
    struct json j;
    struct arena arena;
    const char *text, *end;
    const char *broken; /* what does not hold */
};

static void claim(struct reading *r, bool holds, const char *what)
{
    if (!holds && !r->broken)
        r->broken = what;
}

static void claim_inside(struct reading *r, struct str s)
{
    claim(r, s.p >= r->text && s.p + s.len <= r->end, "a slice lies outside of the line");
}

/* What the writer makes of the text reads back as the text. */
static void claim_written(struct reading *r, const char *text, size_t len)
{
    CLEANUP_BUF struct buf written = {0};
    jsonw_string(&written, text, len);
    struct json j;
    struct str raw = {0};
    size_t back_len = 0;
    json_init(&j, written.p, written.len);
    json_reader_read_string(&j, &raw);
    claim(r, json_reader_finish(&j) == 0, "a written string is not valid");
    const char *const back = json_reader_unescape(&r->arena, raw, &back_len);
    claim(r, back && back_len == len && memcmp(back, text, len) == 0,
          "a written string reads back as another");
}

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return !*text;
}

static const char *unescape(struct reading *r, struct str raw, size_t *len)
{
    claim_inside(r, raw);
    const char *const text = json_reader_unescape(&r->arena, raw, len);
    claim(r, utf8_is_valid(text, *len), "unescaped text is not UTF-8");
    claim(r, strlen(text) == *len, "unescaped text has a NUL");
    claim(r, !is_ascii(text) || json_reader_string_is(raw, text),
          "a string is not what it unescapes to");
    claim_written(r, text, *len);
    return text;
}

static bool has_fraction(struct str number)
{
    for (size_t i = 0; i < number.len; i++)
        if (strchr(".eE", number.p[i]))
            return true;
    return false;
}

static json_t *build_real(struct reading *r, double v)
{
    CLEANUP_BUF struct buf written = {0};
    double back = 0;
    jsonw_real(&written, v);
    struct json j;
    json_init(&j, written.p, written.len);
    claim(r, json_reader_read_real(&j, &back) && back == v && json_reader_finish(&j) == 0,
          "a written real reads back as another");
    return json_real(v);
}

/* The slice is read again by cursors of its own, as an integer and as a real. */
static json_t *build_number(struct reading *r)
{
    struct str slice = {0};
    json_reader_skip(&r->j, &slice);
    if (!slice.p)
        return NULL;
    claim_inside(r, slice);
    struct json as_int, as_real;
    int64_t n;
    double v;
    json_init(&as_int, slice.p, slice.len);
    json_init(&as_real, slice.p, slice.len);
    if (json_reader_read_int(&as_int, &n) && !has_fraction(slice))
        return json_integer(n);
    return json_reader_read_real(&as_real, &v) ? build_real(r, v) : json_null();
}

static json_t *build_string(struct reading *r)
{
    struct str raw;
    size_t len;
    if (!json_reader_read_string(&r->j, &raw))
        return NULL;
    const char *const text = unescape(r, raw, &len);
    return json_stringn(text, len);
}

static json_t *build(struct reading *r);

static json_t *build_array(struct reading *r)
{
    json_t *const array = json_array();
    if (json_reader_enter_array(&r->j))
        while (json_reader_next_element(&r->j))
            json_array_append_new(array, build(r));
    return array;
}

static json_t *build_object(struct reading *r)
{
    json_t *const object = json_object();
    struct str key;
    size_t len;
    if (json_reader_enter_object(&r->j))
        while (json_reader_next_key(&r->j, &key)) {
            const char *const name = unescape(r, key, &len);
            json_object_set_new(object, name, build(r));
        }
    return object;
}

static json_t *build(struct reading *r)
{
    const enum json_type type = json_reader_peek(&r->j);
    if (type == JSON_AT_OBJECT)
        return build_object(r);
    if (type == JSON_AT_ARRAY)
        return build_array(r);
    if (type == JSON_AT_STRING)
        return build_string(r);
    if (type == JSON_AT_NUMBER)
        return build_number(r);
    json_reader_skip(&r->j, NULL);
    return type == JSON_AT_NULL ? json_null() : json_boolean(type == JSON_AT_TRUE);
}

/* What jansson refuses and JSON allows. */
static bool is_known_refusal(const json_error_t *error)
{
    const enum json_error_code code = json_error_code(error);
    return code == json_error_null_character || code == json_error_null_byte_in_key ||
           code == json_error_numeric_overflow ||
           (code == json_error_invalid_syntax && strstr(error->text, "invalid Unicode"));
}

static json_t *judge(const char *text, size_t len, json_error_t *error)
{
    return json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

static bool is_accepted(const char *text, size_t len, struct str *slice)
{
    struct json j;
    json_init(&j, text, len);
    json_reader_skip(&j, slice);
    return json_reader_finish(&j) == 0;
}

static void claim_compact(struct reading *r, struct str value, const json_t *built)
{
    CLEANUP_BUF struct buf compact = {0}, again = {0};
    json_reader_compact(&compact, value);
    json_reader_compact(&again, (struct str){compact.p, compact.len});
    claim(r, is_accepted(compact.p, compact.len, NULL), "compacted JSON is not valid");
    claim(r, str_equal((struct str){compact.p, compact.len}, (struct str){again.p, again.len}),
          "compacted JSON can be compacted further");
    json_error_t error;
    json_t *const judged = judge(compact.p, compact.len, &error);
    claim(r, judged, "the judge refuses compacted JSON");
    claim(r, !judged || json_equal(judged, built), "the judge reads another value");
    json_decref(judged);
}

/* A NUL byte has no place in JSON; jansson overlooks some. */
static void claim_verdict(struct reading *r, bool accepted)
{
    if (r->text < r->end && memchr(r->text, '\0', (size_t)(r->end - r->text))) {
        claim(r, !accepted, "accepted a NUL byte");
        return;
    }
    json_error_t error;
    json_t *const judged = judge(r->text, (size_t)(r->end - r->text), &error);
    if (accepted)
        claim(r, judged || is_known_refusal(&error), "accepted what the judge refuses");
    else
        claim(r, !judged || strcmp(r->j.error, "too deep") == 0, "refused what the judge accepts");
    json_decref(judged);
}

static void claim_pointers(struct reading *r, struct str value)
{
    static const char *const pointers[] = {"", "/0", "/1", "/a", "/a/0", "/", "/a/b/c", "x"};
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        const struct str found = json_reader_pointer(value, pointers[i]);
        claim(r, !found.p || is_accepted(found.p, found.len, NULL), "a pointer finds no value");
        if (found.p)
            claim_inside(r, found);
    }
}

static void claim_repair(struct reading *r, bool accepted)
{
    CLEANUP_BUF struct buf out = {0};
    buf_add_str(&out, "kept");
    const size_t repairs = json_reader_repair(&out, r->text, (size_t)(r->end - r->text));
    claim(r, !accepted || !repairs, "a valid line was repaired");
    claim(r, memcmp(out.p, "kept", 4) == 0, "a repair does not append");
    claim(r, repairs || out.len == 4, "nothing was repaired, yet something is written");
    claim(r, !memchr(out.p, '\0', out.len), "a NUL survives the repair");
}

const char *json_oracle_check(const char *text, size_t len)
{
    struct reading r = {.text = text, .end = text + len};
    struct str value = {0};
    const bool accepted = is_accepted(text, len, &value);
    json_init(&r.j, text, len);
    json_t *const built = build(&r);
    claim(&r, (json_reader_finish(&r.j) == 0) == accepted,
          "skipped and entered, the verdict differs");
    claim(&r, json_reader_offset(&r.j) <= len, "the place of the error lies outside of the line");
    claim_verdict(&r, accepted);
    claim_repair(&r, accepted);
    if (accepted) {
        claim_inside(&r, value);
        claim_compact(&r, value, built);
        claim_pointers(&r, value);
    }
    json_decref(built);
    arena_fini(&r.arena);
    return r.broken;
}
