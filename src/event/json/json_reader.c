/* SPDX-License-Identifier: MIT
 * Parses a JSON line: the only place that decides about validity. */
#include "event/json/json_reader.h"

#include "base/bytes/utf8.h"
#include "event/json/json_scan.h"

/* Value of `before` outside of any container, which has no members. */
#define NO_LEAD (-1)

/* Records the first error and ends the line there. Quotes found ahead of the error are discarded,
 * because json_reader_read_string and json_reader_next_key use them without testing for the end. */
static const char *json_set_error(struct json *j, const char *at, const char *error)
{
    if (!j->error)
        j->error = error;
    j->p = j->end = j->block = at;
    j->stops = 0;
    return NULL;
}

void json_init(struct json *j, const char *p, size_t len)
{
    *j = (struct json){.p = p, .end = p ? p + len : p, .begin = p, .lead = NO_LEAD};
    j->block = j->end; /* no block was scanned */
    j->p = json_scan_space(p, j->end);
    if (j->p == j->end)
        json_set_error(j, j->p, "no value");
}

void json_init_inside(struct json *j, const char *p, size_t len)
{
    *j = (struct json){
        .p = p, .end = p + len, .begin = p, .block = p + len, .depth = 1, .lead = ','};
}

size_t json_reader_offset(const struct json *j)
{
    return (size_t)(j->p - j->begin);
}

enum json_type json_reader_peek(struct json *j)
{
    static const unsigned char types[256] = {
        ['n'] = JSON_AT_NULL,   ['f'] = JSON_AT_FALSE,          ['t'] = JSON_AT_TRUE,
        ['"'] = JSON_AT_STRING, ['['] = JSON_AT_ARRAY,          ['{'] = JSON_AT_OBJECT,
        ['-'] = JSON_AT_NUMBER, ['0' ... '9'] = JSON_AT_NUMBER,
    };
    return j->p < j->end ? (enum json_type)types[(unsigned char)*j->p] : JSON_AT_END;
}

/* Continues after the escape or the non-ASCII text at p, which interrupted plain text. */
static const char *scan_special(struct json *j, const char *p)
{
    if ((unsigned char)*p < 0x20)
        return json_set_error(j, p, "control character in a string");
    const size_t len =
        *p == '\\' ? json_scan_escape(p, j->end) : utf8_multibyte_prefix(p, (size_t)(j->end - p));
    return len ? p + len : json_set_error(j, p, *p == '\\' ? "bad escape" : "invalid UTF-8");
}

/* Scans the last bytes of a line; bytes behind the end count as plain. */
__attribute__((__noinline__)) static uint64_t json_reader_scan_short_block(const char *p, size_t n)
{
    char block[JSON_BLOCK];
    memset(block, ' ', sizeof block);
    memcpy(block, p, n);
    return json_simd_stop_mask(block);
}

/* Scans the bytes from p on, p < end: a block of 64, or the rest. */
static inline void json_reader_scan_block(struct json *j, const char *p)
{
    const size_t left = (size_t)(j->end - p);
    j->block = p;
    j->stops = left >= JSON_BLOCK ? json_simd_stop_mask(p) : json_reader_scan_short_block(p, left);
}

/* Continues at p, which may be behind the scanned block. */
static uint64_t json_reader_stops_from(struct json *j, const char *p)
{
    if ((size_t)(p - j->block) >= JSON_BLOCK)
        json_reader_scan_block(j, p);
    return j->stops & (~UINT64_C(0) << (p - j->block));
}

/* Takes the next stop at or behind p; `end`: none. */
static const char *json_reader_next_stop(struct json *j, const char *p)
{
    uint64_t stops = 0;
    if ((size_t)(p - j->block) < JSON_BLOCK) {
        stops = json_reader_stops_from(j, p);
        p = j->block + JSON_BLOCK;
    }
    if (!stops)
        j->block = p = json_simd_find_stop(p, j->end, &stops);
    if (!stops && p < j->end) {
        json_reader_scan_block(j, p);
        stops = j->stops;
    }
    j->stops = stops & (stops - 1);
    return stops ? j->block + __builtin_ctzll(stops) : j->end;
}

/* The closing quote of the interrupted string at p. */
static const char *scan_rest(struct json *j, const char *p)
{
    while (p < j->end && *p != '"') {
        p = scan_special(j, p);
        if (!p)
            return NULL;
        p = json_reader_next_stop(j, p);
    }
    return p < j->end ? p : json_set_error(j, j->end, "unterminated string");
}

const char *json_reader_string_end(const char *p, const char *end)
{
    struct json j;
    json_init_inside(&j, p, (size_t)(end - p));
    if (p < end)
        json_reader_scan_block(&j, p);
    return scan_rest(&j, json_reader_next_stop(&j, p));
}

/* The closing quote of the string whose text begins at p; unescapes the text meanwhile if that is
 * simple. */
static const char *json_reader_scan_and_unescape(struct json *j, const char *p)
{
    struct json_memo *const m = j->memo;
    m->raw = (struct str){0};
    buf_reset(&m->text); /* keeps the memory: a line may have many strings */
    char *const text = buf_reserve(&m->text, (size_t)(j->end - p)), *end = text;
    const char *const stop = json_scan_text(&end, p, j->end);
    *end = '\0';
    m->text.len = (size_t)(end - text);
    j->block = j->end; /* no block was scanned */
    if (stop == j->end || *stop != '"')
        return scan_rest(j, stop);
    m->raw = (struct str){p, (size_t)(stop - p)};
    return stop;
}

/* Like scan_string, for a string that is long, not plain, or behind white space that was scanned
 * like text. */
static const char *scan_odd_string(struct json *j, const char *p)
{
    uint64_t stops = json_reader_stops_from(j, p);
    stops &= stops - 1; /* its opening quote */
    const char *stop = stops ? j->block + __builtin_ctzll(stops) : NULL;
    if (j->memo && json_simd_can_unescape() && (!stop || *stop != '"'))
        return json_reader_scan_and_unescape(j, p + 1);
    j->stops = stops & (stops - 1);
    if (!stop)
        stop = json_reader_next_stop(j, j->block + JSON_BLOCK);
    return scan_rest(j, stop);
}

/* Expected quotes of the next string: the next two stops, and those behind them. Their positions
 * are known before the parser reaches them, so it only has to verify them, without depending on the
 * previous step. */
struct json_quote_masks {
    const char *open, *close; /* open is NULL: too little is left of the block */
    uint64_t stops;
};

static inline struct json_quote_masks next_quotes(const struct json *j)
{
    const uint64_t stops = j->stops, rest = stops & (stops - 1);
    if (!rest)
        return (struct json_quote_masks){0};
    return (struct json_quote_masks){j->block + __builtin_ctzll(stops),
                                     j->block + __builtin_ctzll(rest), rest & (rest - 1)};
}

/* If too little is left of the block for a string, scans one that begins at p. True: enough is
 * available now. */
static bool json_reader_rescan(struct json *j, const char *p)
{
    if (next_quotes(j).open || p == j->block || p >= j->end)
        return false;
    json_reader_scan_block(j, p);
    return next_quotes(j).open;
}

/* The closing quote of the string that opens at p. */
static const char *scan_string(struct json *j, const char *p)
{
    json_reader_rescan(j, p);
    const struct json_quote_masks q = next_quotes(j);
    if (q.open != p || *q.close != '"')
        return scan_odd_string(j, p);
    j->stops = q.stops;
    return q.close;
}

static bool json_reader_is_word(const char *p, const char *end, const char *word, size_t len)
{
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0;
}

/* The position behind the number or literal at p. */
static const char *scan_scalar(struct json *j, const char *p)
{
    const char *const end = j->end;
    if (p == end)
        return json_set_error(j, p, "unexpected end");
    if (json_reader_is_word(p, end, "null", 4) || json_reader_is_word(p, end, "true", 4))
        return p + 4;
    if (json_reader_is_word(p, end, "false", 5))
        return p + 5;
    const char *const behind = json_scan_number(p, end);
    return behind ? behind : json_set_error(j, p, "expected a value");
}

/* Skips the colon at p with surrounding white space; returns the position of the value. */
static const char *scan_colon(struct json *j, const char *p)
{
    p = json_scan_space(p, j->end);
    if (p == j->end || *p != ':')
        return json_set_error(j, p, "expected ':'");
    return json_scan_space(p + 1, j->end);
}

/* Skips the key at p and its colon; *key (if not NULL) receives its slice. */
static inline const char *scan_key(struct json *j, const char *p, struct str *key)
{
    if (p == j->end || *p != '"')
        return json_set_error(j, p, "expected a key");
    const char *const close = scan_string(j, p);
    if (!close)
        return NULL;
    if (key)
        *key = (struct str){p + 1, (size_t)(close - p - 1)};
    if (j->end - close > 2 && close[1] == ':' && (unsigned char)close[2] > ' ')
        return close + 2;
    return scan_colon(j, close + 1);
}

/* The containers around a skipped value: one bit each, set for an object. */
struct json_nesting {
    uint64_t objects[JSON_MAX_DEPTH / 64];
    unsigned depth;
    bool object; /* type of the innermost one */
};

static bool json_reader_push(struct json_nesting *n, bool object)
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

static void json_reader_pop(struct json_nesting *n)
{
    n->depth--;
    if (n->depth == 0)
        return;
    const unsigned top = n->depth - 1;
    n->object = n->objects[top / 64] >> (top % 64) & 1;
}

/* Enters the container at p: returns the position of its first value, or behind it if it is
 * empty. */
static const char *json_reader_skip_open(struct json *j, const char *p, struct json_nesting *n)
{
    const bool object = *p == '{';
    if (!json_reader_push(n, object))
        return json_set_error(j, p, "too deep");
    p = json_scan_space(p + 1, j->end);
    if (p < j->end && *p == (object ? '}' : ']')) {
        json_reader_pop(n);
        return p + 1;
    }
    return object ? scan_key(j, p, NULL) : p;
}

/* Moves from behind a value to the next one, across the ends of containers, or to where depth
 * `base` is reached: behind the outermost one. */
static const char *skip_separators(struct json *j, const char *p, struct json_nesting *n,
                                   unsigned base)
{
    while (n->depth > base) {
        p = json_scan_space(p, j->end);
        if (p == j->end)
            return json_set_error(j, p, "unexpected end");
        if (*p == ',') {
            p = json_scan_space(p + 1, j->end);
            return n->object ? scan_key(j, p, NULL) : p;
        }
        if (*p != (n->object ? '}' : ']'))
            return json_set_error(j, p, "expected ',' or the end of the container");
        p++;
        json_reader_pop(n);
    }
    return p;
}

static bool starts_container(const struct json *j, const char *p)
{
    return p < j->end && (*p == '{' || *p == '[');
}

/* The position behind the string, number or literal at p. */
static inline const char *skip_scalar(struct json *j, const char *p)
{
    if (p == j->end || *p != '"')
        return scan_scalar(j, p);
    p = scan_string(j, p);
    return p ? p + 1 : NULL;
}

/* The position behind the container at p. Iterative: the depth needs bits instead of stack. */
static const char *skip_container(struct json *j, const char *p)
{
    const unsigned base = j->depth;
    struct json_nesting n = {.depth = base};
    do {
        const unsigned outside = n.depth;
        p = starts_container(j, p) ? json_reader_skip_open(j, p, &n) : skip_scalar(j, p);
        if (p && n.depth == outside)
            p = skip_separators(j, p, &n, base);
    } while (p && n.depth > base);
    return p;
}

void json_reader_skip(struct json *j, struct str *slice)
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

/* True if the next value begins like one of the type; otherwise skips it. */
static bool json_reader_expect(struct json *j, enum json_type type)
{
    if (json_reader_peek(j) == type)
        return true;
    json_reader_skip(j, NULL);
    return false;
}

/* The caller of the next function consumes the bracket. */
static inline bool json_reader_enter(struct json *j, char open, enum json_type type)
{
    if ((j->p == j->end || *j->p != open) && !json_reader_expect(j, type))
        return false;
    if (j->depth == JSON_MAX_DEPTH) {
        json_set_error(j, j->p, "too deep");
        return false;
    }
    j->depth++;
    j->lead = open;
    return true;
}

bool json_reader_enter_object(struct json *j)
{
    return json_reader_enter(j, '{', JSON_AT_OBJECT);
}

bool json_reader_enter_array(struct json *j)
{
    return json_reader_enter(j, '[', JSON_AT_ARRAY);
}

static void json_reader_leave(struct json *j, const char *behind)
{
    j->p = behind;
    j->depth--;
    j->lead = j->depth ? ',' : NO_LEAD;
}

/* Moves to the next member or element; NULL at the end of the container (consumed) and after
 * errors. */
__attribute__((__noinline__)) static const char *json_reader_next(struct json *j, char close)
{
    if (j->depth == 0)
        return NULL;
    if (j->p < j->end && *j->p == close) {
        json_reader_leave(j, j->p + 1);
        return NULL;
    }
    const bool fresh = j->lead != ',';
    const char *p = json_scan_space(j->p + fresh, j->end);
    const char c = p < j->end ? *p : '\0';
    if (c == close) {
        json_reader_leave(j, p + 1);
        return NULL;
    }
    j->lead = ',';
    if (fresh)
        return p;
    if (c != ',')
        return json_set_error(j, p,
                              c ? "expected ',' or the end of the container" : "unexpected end");
    return json_scan_space(p + 1, j->end);
}

__attribute__((__noinline__)) static bool next_key(struct json *j, struct str *key)
{
    if (j->p < j->end && *j->p == ',' && json_reader_rescan(j, j->p))
        return json_reader_next_key(j, key);
    const char *p = json_reader_next(j, '}');
    if (p)
        p = scan_key(j, p, key);
    if (!p)
        return false;
    j->p = p;
    return true;
}

/* Fast path for nearly every key, without a function call. */
bool json_reader_next_key(struct json *j, struct str *key)
{
    const struct json_quote_masks q = next_quotes(j);
    if (!q.open || q.open != j->p + 1 || (unsigned char)*j->p != j->lead || *q.open != '"' ||
        j->end - q.close < 3 || memcmp(q.close, "\":", 2) != 0 || (unsigned char)q.close[2] <= ' ')
        return next_key(j, key);
    *key = (struct str){q.open + 1, (size_t)(q.close - q.open - 1)};
    j->stops = q.stops;
    j->lead = ',';
    j->p = q.close + 2;
    return true;
}

bool json_reader_next_element(struct json *j)
{
    const char *const p = json_reader_next(j, ']');
    if (!p)
        return false;
    j->p = p;
    if (json_reader_peek(j) != JSON_AT_END)
        return true;
    json_set_error(j, p, "expected a value");
    return false;
}

bool json_reader_open_array(struct json *j, struct str value)
{
    json_init(j, value.p, value.len);
    return json_reader_enter_array(j);
}

bool json_reader_open_object(struct json *j, struct str value)
{
    json_init(j, value.p, value.len);
    return json_reader_enter_object(j);
}

bool json_reader_next_value(struct json *j, struct str *value)
{
    *value = (struct str){0};
    const bool more = json_reader_next_element(j);
    if (more)
        json_reader_skip(j, value);
    return more;
}

bool json_reader_next_member(struct json *j, struct str *key, struct str *value)
{
    *value = (struct str){0};
    const bool more = json_reader_next_key(j, key);
    if (more)
        json_reader_skip(j, value);
    return more;
}

__attribute__((__noinline__)) static bool json_read_string_slow(struct json *j, struct str *out)
{
    if (json_reader_rescan(j, j->p))
        return json_reader_read_string(j, out);
    if (!json_reader_expect(j, JSON_AT_STRING))
        return false;
    const char *const open = j->p, *const close = scan_string(j, open);
    if (!close)
        return false;
    *out = (struct str){open + 1, (size_t)(close - open - 1)};
    j->p = close + 1;
    return true;
}

bool json_reader_read_string(struct json *j, struct str *out)
{
    const struct json_quote_masks q = next_quotes(j);
    if (!q.open || q.open != j->p || *q.open != '"' || *q.close != '"')
        return json_read_string_slow(j, out);
    *out = (struct str){q.open + 1, (size_t)(q.close - q.open - 1)};
    j->stops = q.stops;
    j->p = q.close + 1;
    return true;
}

static bool json_reader_read_number(struct json *j, struct str *out)
{
    if (!json_reader_expect(j, JSON_AT_NUMBER))
        return false;
    *out = (struct str){0};
    json_reader_skip(j, out);
    return out->p != NULL;
}

bool json_reader_read_real(struct json *j, double *out)
{
    struct str number;
    return json_reader_read_number(j, &number) && json_parse_double(number, out);
}

/* Fast path for short integers: returns the position behind the digits; p: another form. */
static const char *read_digits(const char *p, const char *end, int64_t *out)
{
    const char *const begin = p;
    int64_t v = 0;
    while (p < end && *p >= '0' && *p <= '9' && p - begin < 18)
        v = v * 10 + (*p++ - '0');
    const bool more = p == end || *p == '.' || (*p | 0x20) == 'e' || (*p >= '0' && *p <= '9');
    if (p == begin || more || (*begin == '0' && p - begin > 1))
        return begin;
    *out = v;
    return p;
}

bool json_reader_read_int(struct json *j, int64_t *out)
{
    struct str number;
    const char *const behind = read_digits(j->p, j->end, out);
    if (behind == j->p)
        return json_reader_read_number(j, &number) && json_parse_int64(number, out);
    j->p = behind;
    return true;
}

bool json_reader_read_bool(struct json *j, bool *out)
{
    const enum json_type type = json_reader_peek(j);
    json_reader_skip(j, NULL);
    if (j->error || (type != JSON_AT_TRUE && type != JSON_AT_FALSE))
        return false;
    *out = type == JSON_AT_TRUE;
    return true;
}

int json_reader_finish(struct json *j)
{
    if (j->error)
        return -1;
    const char *const p = json_scan_space(j->p, j->end);
    if (j->depth > 0)
        json_set_error(j, p, "unfinished");
    else if (p < j->end)
        json_set_error(j, p, "more than one value");
    return j->error ? -1 : 0;
}
