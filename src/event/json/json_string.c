/* SPDX-License-Identifier: MIT
 * Processes escaped text: unescaping, comparison, and JSON pointers. The slices come from the
 * cursor and are valid. */
#include "base/bytes/utf8.h"
#include "event/json/json_reader.h"
#include "event/json/json_scan.h"

#define REPLACEMENT 0xfffd

/* Text being unescaped; a high surrogate waits for the low one. */
struct json_unescaper {
    char *out;
    uint16_t high; /* 0: none */
};

static void json_string_put_char(struct json_unescaper *d, uint32_t cp)
{
    d->out += utf8_encode(d->out, cp);
}

static void json_string_replace_lone_surrogate(struct json_unescaper *d)
{
    if (d->high)
        json_string_put_char(d, REPLACEMENT);
    d->high = 0;
}

static void put_unit(struct json_unescaper *d, uint16_t unit)
{
    const bool low = (unit & 0xfc00) == 0xdc00;
    if (low && d->high) {
        json_string_put_char(d, 0x10000 + ((uint32_t)(d->high & 0x3ff) << 10) + (unit & 0x3ff));
        d->high = 0;
        return;
    }
    json_string_replace_lone_surrogate(d);
    if ((unit & 0xfc00) == 0xd800)
        d->high = unit;
    else
        json_string_put_char(d, low || unit == 0 ? REPLACEMENT : unit);
}

/* The position behind the escape at p. */
static const char *put_escape(struct json_unescaper *d, const char *p)
{
    if (p[1] == 'u') {
        put_unit(d, json_escape_unit(p));
        return p + 6;
    }
    json_string_replace_lone_surrogate(d);
    *d->out++ = json_short_escapes[(unsigned char)p[1]];
    return p + 2;
}

/* Unescapes at p; returns the end of the escape, or p: it needs the slow path. */
static inline const char *put_simple(struct json_unescaper *d, const char *p)
{
    if (p[1] != 'u') {
        *d->out++ = json_short_escapes[(unsigned char)p[1]];
        return p + 2;
    }
    const uint16_t unit = json_escape_unit(p);
    if (!json_unit_is_whole(unit))
        return p;
    json_string_put_char(d, unit);
    return p + 6;
}

/* Copies the block at p with its escapes replaced. Copies each run of plain text as a whole block:
 * excess bytes are overwritten by the following text, so that the length need not be known. Returns
 * the position reached: behind the block, or at an escape that is not simple. */
static const char *put_block(struct json_unescaper *d, const char *p)
{
    const char *const block = p, *const end = p + JSON_BLOCK;
    uint64_t backslashes = json_block_copy(d->out, p);
    while (backslashes) {
        const char *const escape = block + __builtin_ctzll(backslashes);
        d->out += escape - p;
        p = put_simple(d, escape);
        if (p == escape)
            return p;
        json_block_copy(d->out, p);
        if (p >= end)
            return p;
        backslashes &= ~UINT64_C(0) << (p - block);
    }
    d->out += end - p;
    return end;
}

/* Copies up to an escape that needs the slow path. */
static const char *put_plain(struct json_unescaper *d, const char *p, const char *end)
{
    for (;;) {
        const char *const block = p = json_simd_unescape(&d->out, p, end);
        /* A run that starts near the end of a block is copied beyond it. */
        if (end - p < 2 * JSON_BLOCK + 6)
            break;
        p = put_block(d, p);
        if (p < block + JSON_BLOCK)
            return p;
    }
    for (; end - p >= JSON_PART; p += JSON_PART, d->out += JSON_PART) {
        const unsigned backslashes = json_simd16_copy(d->out, p);
        if (backslashes) {
            const int plain = __builtin_ctz(backslashes);
            d->out += plain;
            return p + plain;
        }
    }
    while (p < end && *p != '\\')
        *d->out++ = *p++;
    return p;
}

static inline bool has_backslash(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), x = word ^ ones * '\\';
    return (x - ones) & ~x & ones << 7;
}

/* Copies a text of up to JSON_BLOCK bytes, its end by an overlapping copy; false: it contains a
 * backslash. */
static bool copy_short(char *out, struct str raw)
{
    const char *const p = raw.p;
    const size_t len = raw.len;
    if (len >= JSON_PART) {
        unsigned backslashes = json_simd16_copy(out + len - JSON_PART, p + len - JSON_PART);
        for (size_t i = 0; i + JSON_PART < len; i += JSON_PART)
            backslashes |= json_simd16_copy(out + i, p + i);
        return !backslashes;
    }
    if (len >= sizeof(uint64_t)) {
        uint64_t first, last;
        memcpy(&first, p, sizeof first);
        memcpy(&last, p + len - sizeof last, sizeof last);
        memcpy(out, &first, sizeof first);
        memcpy(out + len - sizeof last, &last, sizeof last);
        return !has_backslash(first) && !has_backslash(last);
    }
    for (size_t i = 0; i < len; i++)
        if ((out[i] = p[i]) == '\\')
            return false;
    return true;
}

/* At most raw.len + 3 bytes: an escape is never shorter than its character, and a pending high
 * surrogate may become U+FFFD. Returns the end of the text. */
static char *json_string_decode(char *out, struct str raw, uint16_t *pending)
{
    struct json_unescaper d = {out, *pending};
    const char *p = raw.p, *const end = raw.p + raw.len;
    if (!d.high)
        p = json_simd_unescape(&d.out, p, end);
    if (p == raw.p && raw.len <= JSON_BLOCK && !d.high && copy_short(out, raw))
        return out + raw.len;
    while (p < end) {
        if (*p == '\\') {
            p = put_escape(&d, p);
            continue;
        }
        json_string_replace_lone_surrogate(&d);
        p = put_plain(&d, p, end);
    }
    *pending = d.high;
    return d.out;
}

/* Like decode, for the last piece. */
static char *decode_whole(char *out, struct str raw)
{
    uint16_t high = 0;
    struct json_unescaper d = {.out = json_string_decode(out, raw, &high)};
    d.high = high;
    json_string_replace_lone_surrogate(&d);
    return d.out;
}

static size_t json_string_max_decoded(struct str raw)
{
    return raw.len + 4;
}

static char *json_string_terminate(char *text, char *end, size_t *len)
{
    *end = '\0';
    if (len)
        *len = (size_t)(end - text);
    return text;
}

char *json_reader_unescape(struct arena *a, struct str raw, size_t *len)
{
    if (!raw.p)
        return NULL;
    char *const text = arena_alloc_bytes(a, json_string_max_decoded(raw));
    return json_string_terminate(text, decode_whole(text, raw), len);
}

char *json_reader_unescape_piece(struct arena *a, struct str raw, uint16_t *pending, size_t *len)
{
    if (!raw.p)
        return NULL;
    char *const text = arena_alloc_bytes(a, json_string_max_decoded(raw));
    return json_string_terminate(text, json_string_decode(text, raw, pending), len);
}

/* The unit of the \u escape at p; -1: invalid. */
static int unit_at(const char *p, const char *end)
{
    const bool is = end - p >= 6 && p[0] == '\\' && p[1] == 'u' && json_scan_escape(p, end);
    return is ? json_escape_unit(p) : -1;
}

/* The character of one or two \u escapes at p; 0: none, or half of one. */
static uint32_t character_at(const char *p, const char *end, size_t *len)
{
    const int unit = unit_at(p, end);
    *len = 6;
    if (unit <= 0 || (unit & 0xf800) != 0xd800)
        return unit > 0 ? (uint32_t)unit : 0;
    const int low = unit_at(p + 6, end);
    *len = 12;
    if (unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
        return 0;
    return 0x10000 + ((uint32_t)(unit & 0x3ff) << 10) + (uint32_t)(low & 0x3ff);
}

/* Unescapes at p; returns the position behind, or that of an escape that is invalid or no
 * character. */
static const char *put_escapes(struct json_unescaper *d, const char *p, const char *end)
{
    while (end - p >= 2 && *p == '\\') {
        const char plain = json_short_escapes[(unsigned char)p[1]];
        size_t len = 2;
        const uint32_t cp = plain ? (uint32_t)plain : character_at(p, end, &len);
        if (!cp)
            break;
        json_string_put_char(d, cp);
        p += len;
    }
    return p;
}

/* Processes the escapes or the character at p; returns the position behind; p: needs the slow
 * path. */
static const char *put_special(struct json_unescaper *d, const char *p, const char *end)
{
    if (*p == '\\')
        return put_escapes(d, p, end);
    const size_t len = (signed char)*p < 0 ? utf8_multibyte_prefix(p, (size_t)(end - p)) : 0;
    d->out = mempcpy(d->out, p, len);
    return p + len;
}

const char *json_scan_text(char **out, const char *p, const char *end)
{
    struct json_unescaper d = {.out = *out};
    for (const char *special = NULL; p != special && p < end;) {
        special = json_simd_unescape_checked(&d.out, p, end);
        p = special < end ? put_special(&d, special, end) : end;
    }
    *out = d.out;
    return p;
}

/* Largest buffer that is kept, so that one huge string does not occupy memory for ever. */
#define MEMO_KEEP ((size_t)256 << 10)

void json_reader_memo_reset(struct json_memo *m)
{
    m->raw = (struct str){0};
    if (m->text.cap > MEMO_KEEP)
        buf_fini(&m->text);
    else
        buf_reset(&m->text);
}

bool json_memo_decode(struct json_memo *m, struct str raw)
{
    json_reader_memo_reset(m);
    if (!json_simd_can_unescape())
        return false;
    char *const text = buf_reserve(&m->text, json_string_max_decoded(raw)), *end = text;
    const bool good = json_scan_text(&end, raw.p, raw.p + raw.len) == raw.p + raw.len;
    json_string_terminate(text, end, &m->text.len);
    m->raw = good ? raw : (struct str){0};
    return good;
}

const struct buf *json_reader_memo_text(const struct json_memo *m, struct str raw)
{
    return raw.p && raw.p == m->raw.p && raw.len == m->raw.len ? &m->text : NULL;
}

bool json_reader_string_is(struct str raw, const char *lit)
{
    if (!raw.p)
        return false;
    const char *p = raw.p, *const end = raw.p + raw.len;
    for (; *lit && p < end; lit++) {
        unsigned unit = (unsigned char)*p;
        size_t len = 1;
        if (*p == '\\') {
            len = p[1] == 'u' ? 6 : 2;
            unit = len == 6 ? json_escape_unit(p)
                            : (unsigned char)json_short_escapes[(unsigned char)p[1]];
        }
        if (unit != (unsigned char)*lit)
            return false;
        p += len;
    }
    return !*lit && p == end;
}

/* A step of a pointer: its name, unescaped. */
struct json_pointer_step {
    struct buf name;
    struct buf key; /* scratch memory: a key with escapes, unescaped */
};

/* Reads the step behind the slash at p; returns the start of the next one. */
static const char *read_step(struct json_pointer_step *step, const char *p)
{
    buf_reset(&step->name);
    for (p++; *p && *p != '/'; p++) {
        const bool tilde = *p == '~' && (p[1] == '0' || p[1] == '1');
        buf_add_char(&step->name, !tilde ? *p : p[1] == '0' ? '~' : '/');
        p += tilde;
    }
    return p;
}

static bool json_string_step_matches(struct json_pointer_step *step, struct str key)
{
    const struct str name = {step->name.p, step->name.len};
    if (!key.len || !memchr(key.p, '\\', key.len))
        return str_equal(key, name);
    buf_reset(&step->key);
    char *const text = buf_reserve(&step->key, json_string_max_decoded(key));
    return str_equal((struct str){text, (size_t)(decode_whole(text, key) - text)}, name);
}

/* The array index of a step; SIZE_MAX: not an index. */
static size_t step_index(const struct json_pointer_step *step)
{
    const char *const digits = step->name.p ? step->name.p : "";
    if (step->name.len == 0 || step->name.len > 9 || (digits[0] == '0' && step->name.len > 1))
        return SIZE_MAX;
    size_t index = 0;
    for (const char *p = digits; *p; p++) {
        if (*p < '0' || *p > '9')
            return SIZE_MAX;
        index = index * 10 + (size_t)(*p - '0');
    }
    return index;
}

/* Of members with the same key, the last one counts, as everywhere. */
static struct str json_string_member(struct str doc, struct json_pointer_step *step)
{
    struct json j;
    struct str key, found = {0};
    json_reader_open_object(&j, doc);
    while (json_reader_next_key(&j, &key))
        json_reader_skip(&j, json_string_step_matches(step, key) ? &found : NULL);
    return found;
}

static struct str json_string_find_element(struct str doc, size_t index)
{
    struct json j;
    struct str found = {0};
    json_reader_open_array(&j, doc);
    for (size_t i = 0; i <= index && json_reader_next_element(&j); i++)
        json_reader_skip(&j, i == index ? &found : NULL);
    return found;
}

bool json_reader_is_valid(struct str text)
{
    struct json j;
    json_init(&j, text.p, text.len);
    json_reader_skip(&j, NULL);
    return json_reader_finish(&j) == 0;
}

static enum json_type json_string_type_of(struct str doc)
{
    struct json j;
    json_init(&j, doc.p, doc.len);
    return json_reader_peek(&j);
}

struct str json_reader_pointer(struct str doc, const char *pointer)
{
    struct json_pointer_step step = {0};
    while (doc.p && *pointer == '/') {
        pointer = read_step(&step, pointer);
        doc = json_string_type_of(doc) == JSON_AT_ARRAY
                  ? json_string_find_element(doc, step_index(&step))
                  : json_string_member(doc, &step);
    }
    buf_fini(&step.name);
    buf_fini(&step.key);
    return *pointer ? (struct str){0} : doc;
}
