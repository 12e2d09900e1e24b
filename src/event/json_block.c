/* SPDX-License-Identifier: MIT
 * Owns the look at 64 bytes: with AVX2 where the machine has it, else in parts of sixteen. */
#include "event/json_block.h"

#if defined(__x86_64__) && !defined(__AVX2__)
#include <immintrin.h>
#define WIDE __attribute__((__target__("avx2")))
#define WIDE_INLINE __attribute__((__target__("avx2"), __always_inline__)) static inline
#define IS_WIDE __builtin_cpu_supports("avx2")
#elif defined(__AVX2__)
#include <immintrin.h>
#define WIDE
#define WIDE_INLINE static inline
#define IS_WIDE true
#else
#define IS_WIDE false
#define wide_stops parts_stops
#define wide_find parts_find
#endif

/* Which of 64 bytes are escaped by a backslash in front of them: in a run of backslashes every
 * other one is. The sum carries through a run: its end tells the parity of its start. */
static inline uint64_t find_escaped(uint64_t backslashes)
{
    const uint64_t even = UINT64_C(0x5555555555555555);
    const uint64_t behind = backslashes << 1;
    const uint64_t odd_starts = backslashes & ~even & ~behind;
    const uint64_t runs = odd_starts + backslashes;
    return (even ^ (runs << 1)) & behind;
}

/* Short escapes need no look of their own. One that the block cuts stays a stop. */
static inline uint64_t without_escapes(uint64_t stops, uint64_t backslashes, uint64_t shorts)
{
    const uint64_t escaped = find_escaped(backslashes) & shorts;
    return stops & ~(escaped | escaped >> 1);
}

#ifdef WIDE
WIDE_INLINE __m256i load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

WIDE_INLINE __m256i is(__m256i text, char c)
{
    return _mm256_cmpeq_epi8(text, _mm256_set1_epi8(c));
}

WIDE_INLINE uint64_t bits(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)_mm256_movemask_epi8(high) << 32;
}

WIDE_INLINE __m256i is_stop(__m256i text)
{
    /* As signed bytes, non-ASCII is below space just as control characters are. */
    const __m256i others = _mm256_cmpgt_epi8(_mm256_set1_epi8(' '), text);
    return _mm256_or_si256(_mm256_or_si256(is(text, '"'), is(text, '\\')), others);
}

WIDE_INLINE __m256i is_short(__m256i text)
{
    const __m256i br = is(_mm256_andnot_si256(_mm256_set1_epi8(0x10), text), 'b');
    const __m256i fn = is(_mm256_andnot_si256(_mm256_set1_epi8(8), text), 'f');
    const __m256i letters = _mm256_or_si256(_mm256_or_si256(br, fn), is(text, 't'));
    const __m256i marks = _mm256_or_si256(is(text, '"'), is(text, '\\'));
    return _mm256_or_si256(_mm256_or_si256(letters, marks), is(text, '/'));
}

WIDE static uint64_t wide_stops(const char *p)
{
    const __m256i low = load(p), high = load(p + 32);
    const uint64_t stops = bits(is_stop(low), is_stop(high));
    const uint64_t backslashes = bits(is(low, '\\'), is(high, '\\'));
    if (!backslashes)
        return stops;
    return without_escapes(stops, backslashes, bits(is_short(low), is_short(high)));
}

/* Here it is not asked whether there are any backslashes: in long texts the answer would be
 * guessed, and often wrongly. */
WIDE static const char *wide_find(const char *p, const char *end, uint64_t *stops)
{
    for (; end - p >= JSON_BLOCK; p += JSON_BLOCK) {
        const __m256i low = load(p), high = load(p + 32);
        const uint64_t backslashes = bits(is(low, '\\'), is(high, '\\'));
        *stops = without_escapes(bits(is_stop(low), is_stop(high)), backslashes,
                                 bits(is_short(low), is_short(high)));
        if (*stops)
            return p;
    }
    *stops = 0;
    return p;
}
#endif

#define OF_PARTS(part, p)                                                                          \
    ((uint64_t)part(p) | (uint64_t)part((p) + 16) << 16 | (uint64_t)part((p) + 32) << 32 |         \
     (uint64_t)part((p) + 48) << 48)

static uint64_t parts_stops(const char *p)
{
    const uint64_t stops = OF_PARTS(json_part_stops, p);
    const uint64_t backslashes = OF_PARTS(json_part_backslashes, p);
    if (!backslashes)
        return stops;
    return without_escapes(stops, backslashes, OF_PARTS(json_part_shorts, p));
}

static const char *parts_find(const char *p, const char *end, uint64_t *stops)
{
    for (; end - p >= JSON_BLOCK; p += JSON_BLOCK)
        if ((*stops = parts_stops(p)))
            return p;
    *stops = 0;
    return p;
}

uint64_t json_block_stops(const char *p)
{
    return IS_WIDE ? wide_stops(p) : parts_stops(p);
}

const char *json_block_find(const char *p, const char *end, uint64_t *stops)
{
    return IS_WIDE ? wide_find(p, end, stops) : parts_find(p, end, stops);
}
