/* SPDX-License-Identifier: MIT
 * Scans 64 bytes in four parts of sixteen, and selects the implementation for this machine. */
#include "event/json/json_simd_internal.h"

#define OF_PARTS(part, p, ...)                                                                     \
    ((uint64_t)part(p __VA_ARGS__) | (uint64_t)part((p) + 16 __VA_ARGS__) << 16 |                  \
     (uint64_t)part((p) + 32 __VA_ARGS__) << 32 | (uint64_t)part((p) + 48 __VA_ARGS__) << 48)

static uint64_t parts_equal(const char *p, char c)
{
    return OF_PARTS(json_simd16_equal, p, , c);
}

static uint64_t parts_above(const char *p, char c)
{
    return OF_PARTS(json_simd16_above, p, , c);
}

static uint64_t parts_characters(const char *p)
{
    const uint64_t beyond = ~parts_above(p, -1);
#define EQUAL(c) parts_equal(p, c)
#define ABOVE(c) parts_above(p, c)
    return json_mask_valid_utf8(&JSON_LOOK_MARKS(beyond, EQUAL, ABOVE));
}

static uint64_t parts_digits(const char *p)
{
    return (parts_above(p, '0' - 1) & ~parts_above(p, '9')) |
           (parts_above(p, 'a' - 1) & ~parts_above(p, 'f')) |
           (parts_above(p, 'A' - 1) & ~parts_above(p, 'F'));
}

static uint64_t parts_escapes(const char *p, uint64_t backslashes)
{
    const uint64_t all = json_mask_escaped(backslashes);
    const uint64_t us = all & parts_equal(p, 'u');
    const uint64_t shorts = all & OF_PARTS(json_simd16_shorts, p);
    return us ? shorts | json_mask_unicode_escapes(us, parts_digits(p)) : shorts;
}

static uint64_t parts_stops(const char *p)
{
    uint64_t stops = OF_PARTS(json_simd16_stops, p);
    const uint64_t backslashes = parts_equal(p, '\\');
    if (backslashes)
        stops = json_mask_skip_escapes(stops, parts_escapes(p, backslashes));
    return parts_above(p, -1) == ~UINT64_C(0) ? stops : stops & ~parts_characters(p);
}

static const char *parts_find(const char *p, const char *end, uint64_t *stops)
{
    for (; end - p >= JSON_BLOCK; p += JSON_BLOCK)
        if ((*stops = parts_stops(p)))
            return p;
    *stops = 0;
    return p;
}

#if defined(__x86_64__) && defined(__SSE2__)
#define CHOOSES 1
#endif

uint64_t json_simd_stop_mask(const char *p)
{
#ifdef CHOOSES
    if (JSON_HAS_AVX2)
        return json_avx2_stop_mask(p);
#endif
    return parts_stops(p);
}

const char *json_simd_find_stop(const char *p, const char *end, uint64_t *stops)
{
#ifdef CHOOSES
    if (JSON_HAS_AVX512)
        return json_avx512_find(p, end, stops);
    if (JSON_HAS_AVX2)
        return json_avx2_find(p, end, stops);
#endif
    return parts_find(p, end, stops);
}

const char *json_simd_unescape(char **out, const char *p, const char *end)
{
#ifdef CHOOSES
    if (JSON_HAS_AVX512)
        return json_avx512_unescape(out, p, end);
#endif
    (void)out;
    (void)end;
    return p; /* Without it, this is not faster than json_text. */
}

bool json_simd_can_unescape(void)
{
#ifdef CHOOSES
    return JSON_HAS_AVX512;
#else
    return false;
#endif
}

const char *json_simd_unescape_checked(char **out, const char *p, const char *end)
{
#ifdef CHOOSES
    if (JSON_HAS_AVX512)
        return json_avx512_check(out, p, end);
#endif
    (void)out;
    (void)end;
    return p;
}
