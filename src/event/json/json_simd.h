/* SPDX-License-Identifier: MIT
 * SIMD scanners that classify 16 or 64 bytes of JSON text into bit masks: SSE2, NEON or portable
 * C at compile time, AVX2 and AVX-512 chosen at run time. */
#ifndef EVENT_JSON_JSON_SIMD_H
#define EVENT_JSON_JSON_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { JSON_BLOCK = 64, JSON_PART = 16 };

/* A string's text is plain except for ", \, control characters and non-ASCII. */
static inline bool json_is_plain(char c)
{
    return c != '"' && c != '\\' && (signed char)c >= ' ';
}

/* Whether a byte completes a short escape after a backslash; \u is handled elsewhere. */
static inline bool json_is_short_escape(char c)
{
    return c == '"' || c == '\\' || c == '/' || c == 't' || (c & ~0x10) == 'b' || (c & ~8) == 'f';
}

/* Operations on 16 bytes at p; the results have one bit each, the first in bit 0: not plain; equal
 * to c; greater than c as a signed byte; completes a short escape. json_simd16_copy copies the
 * bytes and finds backslashes. */
#if defined(__SSE2__)
static inline __m128i json_simd16_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i json_simd16_is(__m128i text, char c)
{
    return _mm_cmpeq_epi8(text, _mm_set1_epi8(c));
}

static inline unsigned json_simd16_stops(const char *p)
{
    const __m128i text = json_simd16_load(p);
    /* As signed bytes, non-ASCII is below space, just as control characters are. */
    const __m128i others = _mm_cmplt_epi8(text, _mm_set1_epi8(' '));
    const __m128i marks = _mm_or_si128(json_simd16_is(text, '"'), json_simd16_is(text, '\\'));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(marks, others));
}

static inline unsigned json_simd16_equal(const char *p, char c)
{
    return (unsigned)_mm_movemask_epi8(json_simd16_is(json_simd16_load(p), c));
}

static inline unsigned json_simd16_above(const char *p, char c)
{
    return (unsigned)_mm_movemask_epi8(_mm_cmpgt_epi8(json_simd16_load(p), _mm_set1_epi8(c)));
}

static inline unsigned json_simd16_shorts(const char *p)
{
    const __m128i text = json_simd16_load(p);
    const __m128i br = json_simd16_is(_mm_andnot_si128(_mm_set1_epi8(0x10), text), 'b');
    const __m128i fn = json_simd16_is(_mm_andnot_si128(_mm_set1_epi8(8), text), 'f');
    const __m128i letters = _mm_or_si128(_mm_or_si128(br, fn), json_simd16_is(text, 't'));
    const __m128i marks = _mm_or_si128(json_simd16_is(text, '"'), json_simd16_is(text, '\\'));
    const __m128i all = _mm_or_si128(_mm_or_si128(letters, marks), json_simd16_is(text, '/'));
    return (unsigned)_mm_movemask_epi8(all);
}

static inline unsigned json_simd16_copy(char *to, const char *p)
{
    _mm_storeu_si128((__m128i *)(void *)to, json_simd16_load(p));
    return json_simd16_equal(p, '\\');
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
static inline uint8x16_t json_simd16_load(const char *p)
{
    return vld1q_u8((const uint8_t *)p);
}

static inline uint8x16_t json_simd16_is(uint8x16_t text, char c)
{
    return vceqq_u8(text, vdupq_n_u8((uint8_t)c));
}

/* Bit mask of sixteen bytes that are 0 or 0xff. */
static inline unsigned json_simd16_mask(uint8x16_t is)
{
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t set = vandq_u8(is, vld1q_u8(bits));
    return (unsigned)vaddv_u8(vget_low_u8(set)) | (unsigned)vaddv_u8(vget_high_u8(set)) << 8;
}

static inline unsigned json_simd16_stops(const char *p)
{
    const uint8x16_t text = json_simd16_load(p);
    const uint8x16_t others = vcltq_s8(vreinterpretq_s8_u8(text), vdupq_n_s8(' '));
    const uint8x16_t marks = vorrq_u8(json_simd16_is(text, '"'), json_simd16_is(text, '\\'));
    return json_simd16_mask(vorrq_u8(marks, others));
}

static inline unsigned json_simd16_equal(const char *p, char c)
{
    return json_simd16_mask(json_simd16_is(json_simd16_load(p), c));
}

static inline unsigned json_simd16_above(const char *p, char c)
{
    return json_simd16_mask(vcgtq_s8(vreinterpretq_s8_u8(json_simd16_load(p)), vdupq_n_s8(c)));
}

static inline unsigned json_simd16_shorts(const char *p)
{
    const uint8x16_t text = json_simd16_load(p);
    const uint8x16_t br = json_simd16_is(vbicq_u8(text, vdupq_n_u8(0x10)), 'b');
    const uint8x16_t fn = json_simd16_is(vbicq_u8(text, vdupq_n_u8(8)), 'f');
    const uint8x16_t letters = vorrq_u8(vorrq_u8(br, fn), json_simd16_is(text, 't'));
    const uint8x16_t marks = vorrq_u8(json_simd16_is(text, '"'), json_simd16_is(text, '\\'));
    return json_simd16_mask(vorrq_u8(vorrq_u8(letters, marks), json_simd16_is(text, '/')));
}

static inline unsigned json_simd16_copy(char *to, const char *p)
{
    vst1q_u8((uint8_t *)to, json_simd16_load(p));
    return json_simd16_equal(p, '\\');
}
#else
static inline unsigned json_simd16_stops(const char *p)
{
    unsigned stops = 0;
    for (unsigned i = 0; i < JSON_PART; i++)
        stops |= (unsigned)!json_is_plain(p[i]) << i;
    return stops;
}

static inline unsigned json_simd16_equal(const char *p, char c)
{
    unsigned equal = 0;
    for (unsigned i = 0; i < JSON_PART; i++)
        equal |= (unsigned)(p[i] == c) << i;
    return equal;
}

static inline unsigned json_simd16_above(const char *p, char c)
{
    unsigned above = 0;
    for (unsigned i = 0; i < JSON_PART; i++)
        above |= (unsigned)((signed char)p[i] > (signed char)c) << i;
    return above;
}

static inline unsigned json_simd16_shorts(const char *p)
{
    unsigned shorts = 0;
    for (unsigned i = 0; i < JSON_PART; i++)
        shorts |= (unsigned)json_is_short_escape(p[i]) << i;
    return shorts;
}

static inline unsigned json_simd16_copy(char *to, const char *p)
{
    memcpy(to, p, JSON_PART);
    return json_simd16_equal(p, '\\');
}
#endif

static inline uint64_t json_block_copy(char *to, const char *p)
{
    return (uint64_t)json_simd16_copy(to, p) | (uint64_t)json_simd16_copy(to + 16, p + 16) << 16 |
           (uint64_t)json_simd16_copy(to + 32, p + 32) << 32 |
           (uint64_t)json_simd16_copy(to + 48, p + 48) << 48;
}

/* Stops: bytes over which a string does not simply continue, i.e. bytes that are not plain, except
 * complete escapes and characters. A bit for each of the 64 bytes at p; the first must not be
 * escaped by a preceding backslash. */
uint64_t json_simd_stop_mask(const char *p);
/* The stops of the first block from p on that has any. 0: none before fewer than 64 bytes are left,
 * at the returned position. */
const char *json_simd_find_stop(const char *p, const char *end, uint64_t *stops);
/* If supported, copies valid text from p on with its short escapes replaced to *out, which must
 * have room for the escaped text, and advances *out. Returns the position reached: the end, or a
 * \u. Without support: p. */
const char *json_simd_unescape(char **out, const char *p, const char *end);
/* Like json_simd_unescape, for text that may be invalid: also stops there. */
const char *json_simd_unescape_checked(char **out, const char *p, const char *end);
/* Whether the machine supports it. */
bool json_simd_can_unescape(void);

#endif
