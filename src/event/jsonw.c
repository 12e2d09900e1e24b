/* SPDX-License-Identifier: MIT
 * Owns how strings and numbers are written as JSON. */
#include "event/jsonw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "event/json_scan.h"

/* Appends the escape of the control character, quote or backslash c. */
static void add_escape(struct buf *b, char c)
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
            add_escape(b, *s++);
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

/* A positive double as decimal digits: 0.DIGITS times ten to the power of `point`. */
struct decimal {
    char digits[20];
    int count, point;
};

static struct decimal to_decimal(double v, int precision)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", precision - 1, v);
    struct decimal d = {.point = atoi(strchr(text, 'e') + 1) + 1};
    for (const char *p = text; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') /* whatever the locale's point is */
            d.digits[d.count++] = *p;
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    return d;
}

static void add_zeros(struct buf *b, int n)
{
    while (n-- > 0)
        buf_add_char(b, '0');
}

static void add_exponential(struct buf *b, const struct decimal *d)
{
    buf_add_char(b, d->digits[0]);
    if (d->count > 1) {
        buf_add_char(b, '.');
        buf_add(b, d->digits + 1, (size_t)d->count - 1);
    }
    buf_printf(b, "e%+d", d->point - 1);
}

static void add_decimal(struct buf *b, const struct decimal *d, bool exponential)
{
    if (exponential || d->point > 21 || d->point < -5) {
        add_exponential(b, d);
    } else if (d->point <= 0) {
        buf_add_str(b, "0.");
        add_zeros(b, -d->point);
        buf_add(b, d->digits, (size_t)d->count);
    } else if (d->count <= d->point) {
        buf_add(b, d->digits, (size_t)d->count);
        add_zeros(b, d->point - d->count);
    } else {
        buf_add(b, d->digits, (size_t)d->point);
        buf_add_char(b, '.');
        buf_add(b, d->digits + d->point, (size_t)(d->count - d->point));
    }
}

/* Fifteen digits always name a normal double when fewer do; 17 name every one. */
static void add_shortest(struct buf *b, double v)
{
    const bool beyond_int64 = v >= 0x1p63;
    const size_t start = b->len;
    for (int precision = v < 0x1p-1022 ? 1 : 15; precision <= 17; precision++) {
        const struct decimal d = to_decimal(v, precision);
        b->len = start;
        add_decimal(b, &d, beyond_int64);
        double back;
        const struct str text = {b->p + start, b->len - start};
        if (json_number_real(text, &back) && back == v)
            return;
    }
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
        add_shortest(b, fabs(v));
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
