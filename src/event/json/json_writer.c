/* SPDX-License-Identifier: MIT
 * Encodes strings and numbers as JSON. */
#include "event/json/json_writer.h"

#include <math.h>

#include "base/bytes/decimal.h"
#include "event/json/json_scan.h"

/* Appends the escape of the control character, quote or backslash c. */
static void json_writer_add_escape(struct buf *b, char c)
{
    static const char shorts[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                  ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    static const char hex[] = "0123456789abcdef";
    const unsigned char u = (unsigned char)c;
    if (shorts[u])
        buf_add(b, (const char[]){'\\', shorts[u]}, 2);
    else
        buf_add(b, (const char[]){'\\', 'u', '0', '0', hex[u >> 4], hex[u & 15]}, 6);
}

/* U+2028 and U+2029 end a line in JavaScript, and in some log readers. */
static bool is_line_separator(const char *p, const char *end)
{
    return end - p >= 3 && memcmp(p, "\xe2\x80", 2) == 0 && (p[2] & ~1) == (char)0xa8;
}

/* The first byte at or behind p that cannot be copied. */
static const char *scan_copied(const char *p, const char *end)
{
    for (; p < end; p++) {
        p = json_scan_plain(p, end);
        if (p == end || (unsigned char)*p < 0x80 || is_line_separator(p, end))
            break;
    }
    return p;
}

void jsonw_string(struct buf *b, const char *s, size_t len)
{
    const char *const end = s + len;
    buf_reserve(b, len + 2);
    buf_add_char(b, '"');
    while (s < end) {
        const char *const stop = scan_copied(s, end);
        buf_add(b, s, (size_t)(stop - s));
        s = stop;
        if (s == end)
            break;
        if ((unsigned char)*s < 0x80) {
            json_writer_add_escape(b, *s++);
        } else {
            buf_add_str(b, s[2] == (char)0xa8 ? "\\u2028" : "\\u2029");
            s += 3;
        }
    }
    buf_add_char(b, '"');
}

void jsonw_int(struct buf *b, int64_t v)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--p = '-';
    buf_add(b, p, (size_t)(digits + sizeof digits - p));
}

/* The form of ECMAScript; integers beyond 64 bits get an exponent, because integer parsers would
 * refuse them. */
static void json_writer_add_positive(struct buf *b, double v)
{
    const struct decimal d = decimal_shortest(v);
    if (v >= 0x1p63 || d.point < -5)
        decimal_add_exponential(b, &d, "+", 1);
    else
        decimal_add_fixed(b, &d);
}

void jsonw_real(struct buf *b, double v)
{
    if (!isfinite(v)) {
        buf_add_str(b, "null");
    } else if (fabs(v) < 0x1p53 && v == trunc(v)) {
        jsonw_int(b, (int64_t)v);
    } else {
        if (v < 0)
            buf_add_char(b, '-');
        json_writer_add_positive(b, fabs(v));
    }
}

void jsonw_key(struct buf *b, const char *key)
{
    const char last = b->len ? b->p[b->len - 1] : '{';
    if (last != '{' && last != '[' && last != ',' && last != ':')
        buf_add_char(b, ',');
    buf_add_char(b, '"');
    buf_add_str(b, key);
    buf_add_str(b, "\":");
}

void jsonw_member_str(struct buf *b, const char *key, const char *s)
{
    if (!s)
        return;
    jsonw_key(b, key);
    jsonw_string(b, s, strlen(s));
}

void jsonw_member_int(struct buf *b, const char *key, int64_t v)
{
    jsonw_key(b, key);
    jsonw_int(b, v);
}

void jsonw_member_real(struct buf *b, const char *key, double v)
{
    jsonw_key(b, key);
    jsonw_real(b, v);
}

void jsonw_member_bool(struct buf *b, const char *key, bool v)
{
    jsonw_key(b, key);
    buf_add_str(b, v ? "true" : "false");
}

void jsonw_member_json(struct buf *b, const char *key, const char *json)
{
    if (!json)
        return;
    jsonw_key(b, key);
    buf_add_str(b, json);
}
