/* SPDX-License-Identifier: MIT
 * Normalises JSON: compacts a valid value for strict parsers, and repairs common producer errors
 * (BOM, invalid UTF-8, raw control characters, NaN, Infinity, NUL). */
#include "base/bytes/utf8.h"
#include "event/json/json_reader.h"
#include "event/json/json_scan.h"
#include "event/json/json_writer.h"

static bool json_repair_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool json_repair_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_surrogate(uint16_t unit, uint16_t half)
{
    return (unit & 0xfc00) == half;
}

/* Bytes of the escape at p, a pair of surrogates counting as one; *bad: it needs repair. */
static size_t json_repair_escape_length(const char *p, const char *end, bool *bad)
{
    *bad = false;
    if (p[1] != 'u')
        return 2;
    const uint16_t unit = json_escape_unit(p);
    if (is_surrogate(unit, 0xd800) && end - p >= 12 && p[6] == '\\' && p[7] == 'u' &&
        is_surrogate(json_escape_unit(p + 6), 0xdc00))
        return 12;
    *bad = unit == 0 || (unit & 0xf800) == 0xd800;
    return 6;
}

/* Appends the valid string that starts at p; returns its end. */
static const char *compact_string(struct buf *out, const char *p, const char *end)
{
    const char *from = p;
    for (p = json_scan_special(p + 1, end); p < end && *p == '\\'; p = json_scan_special(p, end)) {
        bool bad;
        const char *const escape = p;
        p += json_repair_escape_length(escape, end, &bad);
        if (!bad)
            continue;
        buf_add(out, from, (size_t)(escape - from));
        buf_add_str(out, "\\ufffd");
        from = p;
    }
    p += p < end;
    buf_add(out, from, (size_t)(p - from));
    return p;
}

/* Whether it is an integer of up to 18 digits, or a fraction without exponent, which all parsers
 * read alike. */
static bool json_repair_is_portable_number(struct str number)
{
    bool integer = true;
    for (size_t i = 0; i < number.len; i++) {
        if ((number.p[i] | 0x20) == 'e')
            return false;
        integer = integer && number.p[i] != '.';
    }
    return number.len <= (integer ? 18 : 300);
}

static bool is_integer(struct str number)
{
    for (size_t i = *number.p == '-'; i < number.len; i++)
        if (!json_repair_is_digit(number.p[i]))
            return false;
    return true;
}

static void compact_number(struct buf *out, struct str number)
{
    double v;
    int64_t n;
    if (json_repair_is_portable_number(number))
        buf_add(out, number.p, number.len);
    else if (!json_parse_double(number, &v))
        buf_add_str(out, "null");
    else if (is_integer(number) && !json_parse_int64(number, &n))
        jsonw_real(out, v);
    else
        buf_add(out, number.p, number.len);
}

/* The position behind the run of punctuation and literals at p. */
static const char *json_repair_skip_plain(const char *p, const char *end)
{
    while (p < end && *p != '"' && *p != '-' && !json_repair_is_digit(*p) &&
           !json_repair_is_space(*p))
        p++;
    return p;
}

void json_reader_compact(struct buf *out, struct str value)
{
    const char *const end = value.p + value.len;
    for (const char *p = value.p, *next; p < end; p = next) {
        if (json_repair_is_space(*p)) {
            next = p + 1;
        } else if (*p == '"') {
            next = compact_string(out, p, end);
        } else if (*p == '-' || json_repair_is_digit(*p)) {
            next = json_scan_number(p, end);
            compact_number(out, (struct str){p, (size_t)(next - p)});
        } else {
            next = json_repair_skip_plain(p, end);
            buf_add(out, p, (size_t)(next - p));
        }
    }
}

char *json_reader_compact_dup(struct arena *a, struct str value, size_t *len)
{
    if (!value.p)
        return NULL;
    CLEANUP_BUF struct buf b = {0};
    buf_reserve(&b, value.len); /* nearly always sufficient */
    json_reader_compact(&b, value);
    if (len)
        *len = b.len;
    return arena_strndup(a, b.p ? b.p : "", b.len);
}

/* A line being repaired. */
struct json_repairer {
    struct buf *out;
    const char *p, *end;
    size_t repairs;
};

static void copy_to(struct json_repairer *m, const char *to)
{
    buf_add(m->out, m->p, (size_t)(to - m->p));
    m->p = to;
}

/* Escapes bytes that the writer would escape. */
static void json_repair_control_char(struct json_repairer *m)
{
    CLEANUP_BUF struct buf quoted = {0};
    jsonw_string(&quoted, m->p, 1);
    buf_add(m->out, quoted.p + 1, quoted.len - 2);
    m->p++;
    m->repairs++;
}

static void json_repair_non_ascii(struct json_repairer *m)
{
    const char *to = m->p;
    while (to < m->end && (unsigned char)*to >= 0x80)
        to++;
    m->repairs += utf8_repair(m->out, m->p, (size_t)(to - m->p));
    m->p = to;
}

/* A backslash is kept with the byte that it escapes, unless that one is repaired itself: the
 * backslash is then a plain character. */
static void json_repair_escape(struct json_repairer *m)
{
    const bool stands_alone = m->p + 1 < m->end && (signed char)m->p[1] < ' ';
    if (stands_alone)
        buf_add_char(m->out, '\\');
    copy_to(m, m->end - m->p < 2 || stands_alone ? m->p + 1 : m->p + 2);
}

static void json_repair_string(struct json_repairer *m)
{
    copy_to(m, m->p + 1);
    while (m->p < m->end) {
        copy_to(m, json_scan_plain(m->p, m->end));
        if (m->p == m->end)
            return;
        if (*m->p == '"') {
            copy_to(m, m->p + 1);
            return;
        }
        if (*m->p == '\\')
            json_repair_escape(m);
        else if ((unsigned char)*m->p < 0x20)
            json_repair_control_char(m);
        else
            json_repair_non_ascii(m);
    }
}

static bool is_word_byte(char c)
{
    return json_repair_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Length of the word at p that is not valid JSON, but whose meaning is known. */
static size_t json_repair_foreign_number_length(const struct json_repairer *m)
{
    static const struct str words[] = {STR("NaN"), STR("Infinity"), STR("-Infinity")};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t len = words[i].len;
        if (!str_has_prefix((struct str){m->p, (size_t)(m->end - m->p)}, words[i]))
            continue;
        return m->p + len == m->end || !is_word_byte(m->p[len]) ? len : 0;
    }
    return 0;
}

/* Repairs one step outside of strings. */
static void json_repair_between_strings(struct json_repairer *m)
{
    const size_t foreign = json_repair_foreign_number_length(m);
    if (foreign) {
        buf_add_str(m->out, "null");
        m->p += foreign;
        m->repairs++;
    } else if (*m->p == '\0') {
        m->p++;
        m->repairs++;
    } else {
        const char *to = m->p + 1;
        while (to < m->end && is_word_byte(to[-1]) && is_word_byte(*to))
            to++;
        copy_to(m, to);
    }
}

size_t json_reader_repair(struct buf *out, const char *line, size_t len)
{
    const size_t before = out->len;
    struct json_repairer m = {.out = out, .p = line, .end = line + len};
    if (str_has_prefix((struct str){line, len}, STR("\xef\xbb\xbf"))) {
        m.p += 3;
        m.repairs++;
    }
    while (m.p < m.end) {
        if (*m.p == '"')
            json_repair_string(&m);
        else
            json_repair_between_strings(&m);
    }
    if (m.repairs)
        return m.repairs;
    out->len = before;
    if (out->p)
        out->p[before] = '\0';
    return 0;
}
