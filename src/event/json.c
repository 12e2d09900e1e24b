/* SPDX-License-Identifier: MIT
 * Owns the walk over a JSON line: the one place that decides what is valid. */
#include "event/json.h"

#include "base/utf8.h"
#include "event/json_scan.h"

/* Keeps the first error. Nothing lies behind it: whoever reads on meets the end of the line. */
static const char *fail(struct json *j, const char *at, const char *error)
{
    if (!j->error)
        j->error = error;
    j->p = j->end = at;
    return NULL;
}

void json_start(struct json *j, const char *p, size_t len)
{
    *j = (struct json){.p = p, .end = p ? p + len : p, .begin = p, .fresh = true};
    j->p = json_scan_space(p, j->end);
    if (j->p == j->end)
        fail(j, j->p, "no value");
}

size_t json_offset(const struct json *j)
{
    return (size_t)(j->p - j->begin);
}

enum json_type json_peek(struct json *j)
{
    static const unsigned char types[256] = {
        ['n'] = JSON_AT_NULL,   ['f'] = JSON_AT_FALSE,          ['t'] = JSON_AT_TRUE,
        ['"'] = JSON_AT_STRING, ['['] = JSON_AT_ARRAY,          ['{'] = JSON_AT_OBJECT,
        ['-'] = JSON_AT_NUMBER, ['0' ... '9'] = JSON_AT_NUMBER,
    };
    return j->p < j->end ? (enum json_type)types[(unsigned char)*j->p] : JSON_AT_END;
}

/* Behind the escape or the non-ASCII text at p, where plain text was interrupted. */
static const char *scan_special(struct json *j, const char *p)
{
    if (p == j->end)
        return fail(j, p, "unterminated string");
    if ((unsigned char)*p < 0x20)
        return fail(j, p, "control character in a string");
    const size_t len =
        *p == '\\' ? json_scan_escape(p, j->end) : utf8_multibyte_prefix(p, (size_t)(j->end - p));
    return len ? p + len : fail(j, p, *p == '\\' ? "bad escape" : "invalid UTF-8");
}

static inline bool is_short_escape(const char *p, const char *end)
{
    return end - p > 1 && *p == '\\' && json_short_escapes[(unsigned char)p[1]];
}

/* Over plain text and short escapes, from one look at 16 bytes to the next: code comes with an
 * escape every few bytes, and to look anew behind each would cost more than the text. */
static inline const char *scan_blocks(const char *p, const char *end)
{
    while (end - p >= 16) {
        size_t step = 16;
        for (unsigned stops = json_scan_block(p); stops;) {
            const unsigned i = (unsigned)__builtin_ctz(stops);
            if (!is_short_escape(p + i, end))
                return p + i;
            stops &= ~(3u << i);
            step = i == 15 ? 17 : 16;
        }
        p += step;
    }
    return p;
}

/* The closing quote of the string whose text starts at p. */
static inline const char *scan_string(struct json *j, const char *p)
{
    for (;;) {
        p = scan_blocks(p, j->end);
        if (p < j->end && *p == '"')
            return p;
        if (p < j->end && json_is_plain(*p))
            p++;
        else if (is_short_escape(p, j->end))
            p += 2;
        else if (!(p = scan_special(j, p)))
            return NULL;
    }
}

static bool is_word(const char *p, const char *end, const char *word, size_t len)
{
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0;
}

/* Behind the number or literal at p. */
static const char *scan_scalar(struct json *j, const char *p)
{
    const char *const end = j->end;
    if (p == end)
        return fail(j, p, "unexpected end");
    if (is_word(p, end, "null", 4) || is_word(p, end, "true", 4))
        return p + 4;
    if (is_word(p, end, "false", 5))
        return p + 5;
    const char *const behind = json_scan_number(p, end);
    return behind ? behind : fail(j, p, "expected a value");
}

/* Behind the key at p and its colon, at the value; *key (if wanted) is its slice. */
static inline const char *scan_key(struct json *j, const char *p, struct str *key)
{
    if (p == j->end || *p != '"')
        return fail(j, p, "expected a key");
    const char *const text = p + 1;
    p = scan_string(j, text);
    if (!p)
        return NULL;
    if (key)
        *key = (struct str){text, (size_t)(p - text)};
    p = json_scan_space(p + 1, j->end);
    if (p == j->end || *p != ':')
        return fail(j, p, "expected ':'");
    return json_scan_space(p + 1, j->end);
}

/* The containers a skip is in: one bit each, set for an object. */
struct nesting {
    uint64_t objects[JSON_MAX_DEPTH / 64];
    unsigned depth;
    bool object; /* of the innermost one */
};

static bool push(struct nesting *n, bool object)
{
    if (n->depth == JSON_MAX_DEPTH)
        return false;
    const uint64_t bit = UINT64_C(1) << (n->depth % 64);
    uint64_t *const word = &n->objects[n->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    n->depth++;
    n->object = object;
    return true;
}

static void pop(struct nesting *n)
{
    n->depth--;
    if (n->depth == 0)
        return;
    const unsigned top = n->depth - 1;
    n->object = n->objects[top / 64] >> (top % 64) & 1;
}

/* Enters the container at p: at its first value, or behind it when it is empty. */
static const char *skip_open(struct json *j, const char *p, struct nesting *n)
{
    const bool object = *p == '{';
    if (!push(n, object))
        return fail(j, p, "too deep");
    p = json_scan_space(p + 1, j->end);
    if (p < j->end && *p == (object ? '}' : ']')) {
        pop(n);
        return p + 1;
    }
    return object ? scan_key(j, p, NULL) : p;
}

/* From behind a value to the next one, over the ends of containers, or to where depth `base` is
 * reached: behind the outermost one. */
static const char *skip_separators(struct json *j, const char *p, struct nesting *n, unsigned base)
{
    while (n->depth > base) {
        p = json_scan_space(p, j->end);
        if (p == j->end)
            return fail(j, p, "unexpected end");
        if (*p == ',') {
            p = json_scan_space(p + 1, j->end);
            return n->object ? scan_key(j, p, NULL) : p;
        }
        if (*p != (n->object ? '}' : ']'))
            return fail(j, p, "expected ',' or the end of the container");
        p++;
        pop(n);
    }
    return p;
}

static bool starts_container(const struct json *j, const char *p)
{
    return p < j->end && (*p == '{' || *p == '[');
}

/* Behind the string, number or literal at p. */
static inline const char *skip_scalar(struct json *j, const char *p)
{
    if (p == j->end || *p != '"')
        return scan_scalar(j, p);
    p = scan_string(j, p + 1);
    return p ? p + 1 : NULL;
}

/* Behind the container at p. Iterative: depth costs bits and not stack. */
static const char *skip_container(struct json *j, const char *p)
{
    const unsigned base = j->depth;
    struct nesting n = {.depth = base};
    do {
        const unsigned outside = n.depth;
        p = starts_container(j, p) ? skip_open(j, p, &n) : skip_scalar(j, p);
        if (p && n.depth == outside)
            p = skip_separators(j, p, &n, base);
    } while (p && n.depth > base);
    return p;
}

void json_skip(struct json *j, struct str *slice)
{
    const char *const start = j->p;
    const char *const behind =
        starts_container(j, start) ? skip_container(j, start) : skip_scalar(j, start);
    if (!behind)
        return;
    j->p = behind;
    if (slice)
        *slice = (struct str){start, (size_t)(behind - start)};
}

/* True when the next value starts with one of the type; else it is skipped. */
static bool expect(struct json *j, enum json_type type)
{
    if (json_peek(j) == type)
        return true;
    json_skip(j, NULL);
    return false;
}

static bool enter(struct json *j, enum json_type type)
{
    if (!expect(j, type))
        return false;
    if (j->depth == JSON_MAX_DEPTH) {
        fail(j, j->p, "too deep");
        return false;
    }
    j->depth++;
    j->p = json_scan_space(j->p + 1, j->end);
    j->fresh = true;
    return true;
}

bool json_enter_object(struct json *j)
{
    return enter(j, JSON_AT_OBJECT);
}

bool json_enter_array(struct json *j)
{
    return enter(j, JSON_AT_ARRAY);
}

/* To the next member or element; NULL at the end of the container (consumed) and on errors. */
static const char *next(struct json *j, char close)
{
    if (j->depth == 0)
        return NULL;
    const char *p = json_scan_space(j->p, j->end);
    const char c = p < j->end ? *p : '\0';
    const bool fresh = j->fresh;
    j->fresh = false;
    if (c == close) {
        j->p = p + 1;
        j->depth--;
        return NULL;
    }
    if (fresh)
        return p;
    if (c != ',')
        return fail(j, p, c ? "expected ',' or the end of the container" : "unexpected end");
    return json_scan_space(p + 1, j->end);
}

bool json_next_key(struct json *j, struct str *key)
{
    const char *p = next(j, '}');
    if (p)
        p = scan_key(j, p, key);
    if (!p)
        return false;
    j->p = p;
    return true;
}

bool json_next_element(struct json *j)
{
    const char *const p = next(j, ']');
    if (!p)
        return false;
    j->p = p;
    if (json_peek(j) != JSON_AT_END)
        return true;
    fail(j, p, "expected a value");
    return false;
}

bool json_read_string(struct json *j, struct str *out)
{
    if (!expect(j, JSON_AT_STRING))
        return false;
    const char *const text = j->p + 1;
    const char *const close = scan_string(j, text);
    if (!close)
        return false;
    *out = (struct str){text, (size_t)(close - text)};
    j->p = close + 1;
    return true;
}

static bool read_number(struct json *j, struct str *out)
{
    if (!expect(j, JSON_AT_NUMBER))
        return false;
    *out = (struct str){0};
    json_skip(j, out);
    return out->p != NULL;
}

bool json_read_real(struct json *j, double *out)
{
    struct str number;
    return read_number(j, &number) && json_number_real(number, out);
}

bool json_read_int(struct json *j, int64_t *out)
{
    struct str number;
    return read_number(j, &number) && json_number_int(number, out);
}

bool json_read_bool(struct json *j, bool *out)
{
    const enum json_type type = json_peek(j);
    json_skip(j, NULL);
    if (j->error || (type != JSON_AT_TRUE && type != JSON_AT_FALSE))
        return false;
    *out = type == JSON_AT_TRUE;
    return true;
}

int json_finish(struct json *j)
{
    if (j->error)
        return -1;
    const char *const p = json_scan_space(j->p, j->end);
    if (j->depth > 0)
        fail(j, p, "unfinished");
    else if (p < j->end)
        fail(j, p, "more than one value");
    return j->error ? -1 : 0;
}
