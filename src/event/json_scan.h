/* SPDX-License-Identifier: MIT
 * What the cursor and the JSON text functions share: scanning of strings and numbers. Pure;
 * every scan stays within p..end. */
#ifndef EVENT_JSON_SCAN_H
#define EVENT_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/str.h"

/* A string's text is plain but for ", \, control characters and non-ASCII. */
static inline bool json_is_plain(char c)
{
    return c != '"' && c != '\\' && (signed char)c >= ' ';
}

/* One bit for each of the 16 bytes at p, the first in bit 0: it is not plain. */
#ifdef __SSE2__
static inline unsigned json_scan_block(const char *p)
{
    const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i quotes = _mm_cmpeq_epi8(text, _mm_set1_epi8('"'));
    const __m128i backslashes = _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'));
    /* As signed bytes, non-ASCII is below space just as control characters are. */
    const __m128i others = _mm_cmplt_epi8(text, _mm_set1_epi8(' '));
    const __m128i stops = _mm_or_si128(_mm_or_si128(quotes, backslashes), others);
    return (unsigned)_mm_movemask_epi8(stops);
}
#else
static inline unsigned json_scan_block(const char *p)
{
    unsigned stops = 0;
    for (unsigned i = 0; i < 16; i++)
        stops |= (unsigned)!json_is_plain(p[i]) << i;
    return stops;
}
#endif

/* The first byte that is not plain; `end` when there is none. */
static inline const char *json_scan_plain(const char *p, const char *end)
{
    for (; end - p >= 16; p += 16) {
        const unsigned stops = json_scan_block(p);
        if (stops)
            return p + __builtin_ctz(stops);
    }
    while (p < end && json_is_plain(*p))
        p++;
    return p;
}

/* In text that is valid: the first " or \\ at or behind p; `end` when there is none. */
static inline const char *json_scan_valid(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - p >= 16; p += 16) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
        const unsigned mask = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(text, quote), _mm_cmpeq_epi8(text, backslash)));
        if (mask)
            return p + __builtin_ctz(mask);
    }
#endif
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline const char *json_scan_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* What the byte behind a backslash stands for; 0: it starts no escape of two bytes. */
extern const char json_short_escapes[256];

/* Bytes of the valid escape that starts with the backslash at p; 0: not one. */
size_t json_scan_escape(const char *p, const char *end);
/* Behind the number that starts at p; NULL when there is none. */
const char *json_scan_number(const char *p, const char *end);
/* Its value; false when a double cannot hold it. */
bool json_number_real(struct str number, double *out);
/* Its value if it is integral and fits. */
bool json_number_int(struct str number, int64_t *out);
/* The UTF-16 unit of the valid \uXXXX at p. */
uint16_t json_escape_unit(const char *p);

#endif
