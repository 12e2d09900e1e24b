/* SPDX-License-Identifier: MIT
 * Lexer primitives shared by reader and string functions: plain runs, white space, escapes,
 * numbers. Pure; no scan reads outside p..end. */
#ifndef EVENT_JSON_JSON_SCAN_H
#define EVENT_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "event/json/json_simd.h"

/* The first byte that is not plain; `end`: none. */
static inline const char *json_scan_plain(const char *p, const char *end)
{
    for (; end - p >= JSON_PART; p += JSON_PART) {
        const unsigned stops = json_simd16_stops(p);
        if (stops)
            return p + __builtin_ctz(stops);
    }
    while (p < end && json_is_plain(*p))
        p++;
    return p;
}

/* Whether each of the n bytes is plain. */
static inline bool json_scan_is_plain(const char *p, size_t n)
{
    if (n < JSON_PART)
        return json_scan_plain(p, p + n) == p + n;
    unsigned stops = json_simd16_stops(p + n - JSON_PART);
    for (size_t i = 0; i + JSON_PART < n; i += JSON_PART)
        stops |= json_simd16_stops(p + i);
    return stops == 0;
}

/* In valid text: the first " or \\ at or behind p; `end`: none. */
static inline const char *json_scan_special(const char *p, const char *end)
{
    for (p = json_scan_plain(p, end); p < end && *p != '"' && *p != '\\';)
        p = json_scan_plain(p + 1, end);
    return p;
}

static inline const char *json_scan_space(const char *p, const char *end)
{
    /* Usually there is no white space: one test is sufficient. */
    while (p < end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Copies the text of a string from p on, unescaped, to *out, which must have room for the escaped
 * text, and advances *out. Returns the position reached: an invalid byte in a string (such as its
 * quote), or one that needs the slow path. For machines with json_simd_can_unescape. */
const char *json_scan_text(char **out, const char *p, const char *end);
/* The character of a backslash followed by this byte; 0: not a short escape. */
extern const char json_short_escapes[256];

/* Bytes of the valid escape that starts with the backslash at p; 0: invalid. */
size_t json_scan_escape(const char *p, const char *end);
/* The position behind the number that starts at p; NULL: none. */
const char *json_scan_number(const char *p, const char *end);
/* Its value; false if a double cannot represent it. */
bool json_parse_double(struct str number, double *out);
/* Its value if it is integral and fits. */
bool json_parse_int64(struct str number, int64_t *out);
/* The value of a hexadecimal digit, plus one; 0: invalid. */
extern const unsigned char json_hex_digits[256];

/* The UTF-16 unit of the valid \uXXXX at p. */
static inline uint16_t json_escape_unit(const char *p)
{
    unsigned unit = 0;
    for (int i = 2; i < 6; i++)
        unit = unit << 4 | (json_hex_digits[(unsigned char)p[i]] - 1u);
    return (uint16_t)unit;
}

/* Whether the unit is a character by itself: not half of a surrogate pair, and not NUL. */
static inline bool json_unit_is_whole(uint16_t unit)
{
    return unit != 0 && (unit & 0xf800) != 0xd800;
}

#endif
