/* SPDX-License-Identifier: MIT
 * Grammar of escapes and numbers, and conversion of numbers. */
#include "event/json/json_scan.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

const char json_short_escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

const unsigned char json_hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

size_t json_scan_escape(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    if (json_short_escapes[(unsigned char)p[1]])
        return 2;
    if (p[1] != 'u' || end - p < 6)
        return 0;
    for (int i = 2; i < 6; i++)
        if (!json_hex_digits[(unsigned char)p[i]])
            return 0;
    return 6;
}

static bool json_scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The position behind one or more digits; NULL: none. */
static const char *scan_digits(const char *p, const char *end)
{
    if (p == end || !json_scan_is_digit(*p))
        return NULL;
    do
        p++;
    while (p < end && json_scan_is_digit(*p));
    return p;
}

static const char *scan_exponent(const char *p, const char *end)
{
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    return scan_digits(p, end);
}

const char *json_scan_number(const char *p, const char *end)
{
    if (p < end && *p == '-')
        p++;
    if (p < end && *p == '0')
        p++;
    else
        p = scan_digits(p, end);
    if (p && p < end && *p == '.')
        p = scan_digits(p + 1, end);
    if (p && p < end && (*p | 0x20) == 'e')
        p = scan_exponent(p + 1, end);
    return p;
}

/* strtod depends on the locale, which a plugin may have set. Using the C locale explicitly is free
 * of cost in libc. */
static double parse_double(const char *text)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double v = c ? strtod_l(text, NULL, c) : strtod(text, NULL);
    if (c)
        freelocale(c);
    return v;
}

bool json_parse_double(struct str number, double *out)
{
    char small[64];
    CLEANUP_FREE char *large = NULL;
    char *text = small;
    if (number.len >= sizeof small)
        text = large = xmalloc(number.len + 1);
    memcpy(text, number.p, number.len);
    text[number.len] = '\0';
    const double v = parse_double(text);
    if (!isfinite(v))
        return false;
    *out = v;
    return true;
}

/* Converts digits behind an optional sign. */
static bool json_scan_parse_int(struct str digits, int64_t *out)
{
    const char *p = digits.p, *const end = digits.p + digits.len;
    const bool negative = *p == '-';
    int64_t v = 0; /* negated, because the negative range is larger by one */
    for (p += negative; p < end; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, *p - '0', &v))
            return false;
    if (!negative && v == INT64_MIN)
        return false;
    *out = negative ? v : -v;
    return true;
}

static bool is_digits_only(struct str number)
{
    for (size_t i = *number.p == '-'; i < number.len; i++)
        if (!json_scan_is_digit(number.p[i]))
            return false;
    return true;
}

bool json_parse_int64(struct str number, int64_t *out)
{
    if (is_digits_only(number))
        return json_scan_parse_int(number, out);
    double v;
    if (!json_parse_double(number, &v) || v != trunc(v) || v < -0x1p63 || v >= 0x1p63)
        return false;
    *out = (int64_t)v;
    return true;
}
