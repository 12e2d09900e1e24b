/* SPDX-License-Identifier: MIT
 * AVX2 implementation: 64 bytes as two 32-byte halves. */
#include "event/json/json_simd_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((__target__("avx2")))
#define AVX2_INLINE __attribute__((__target__("avx2"), __always_inline__)) static inline

AVX2_INLINE __m256i avx2_load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

AVX2_INLINE __m256i is(__m256i text, char c)
{
    return _mm256_cmpeq_epi8(text, _mm256_set1_epi8(c));
}

AVX2_INLINE uint64_t bits(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)_mm256_movemask_epi8(high) << 32;
}

AVX2_INLINE __m256i is_stop(__m256i text)
{
    /* As signed bytes, non-ASCII is below space, just as control characters are. */
    const __m256i others = _mm256_cmpgt_epi8(_mm256_set1_epi8(' '), text);
    return _mm256_or_si256(_mm256_or_si256(is(text, '"'), is(text, '\\')), others);
}

AVX2_INLINE __m256i is_short(__m256i text)
{
    const __m256i br = is(_mm256_andnot_si256(_mm256_set1_epi8(0x10), text), 'b');
    const __m256i fn = is(_mm256_andnot_si256(_mm256_set1_epi8(8), text), 'f');
    const __m256i letters = _mm256_or_si256(_mm256_or_si256(br, fn), is(text, 't'));
    const __m256i marks = _mm256_or_si256(is(text, '"'), is(text, '\\'));
    return _mm256_or_si256(_mm256_or_si256(letters, marks), is(text, '/'));
}

AVX2_INLINE uint64_t avx2_equal(__m256i low, __m256i high, char c)
{
    return bits(is(low, c), is(high, c));
}

AVX2_INLINE uint64_t avx2_above(__m256i low, __m256i high, char c)
{
    const __m256i than = _mm256_set1_epi8(c);
    return bits(_mm256_cmpgt_epi8(low, than), _mm256_cmpgt_epi8(high, than));
}

AVX2 static uint64_t avx2_find_characters(const char *p)
{
    const __m256i low = avx2_load(p), high = avx2_load(p + 32);
    const uint64_t beyond = bits(low, high);
#define EQUAL(c) avx2_equal(low, high, c)
#define ABOVE(c) avx2_above(low, high, c)
    return json_mask_valid_utf8(&JSON_LOOK_MARKS(beyond, EQUAL, ABOVE));
}

AVX2_INLINE __m256i is_digit(__m256i text)
{
    const __m256i lower = _mm256_or_si256(text, _mm256_set1_epi8(0x20));
    const __m256i number = _mm256_and_si256(_mm256_cmpgt_epi8(text, _mm256_set1_epi8('0' - 1)),
                                            _mm256_cmpgt_epi8(_mm256_set1_epi8('9' + 1), text));
    const __m256i letter = _mm256_and_si256(_mm256_cmpgt_epi8(lower, _mm256_set1_epi8('a' - 1)),
                                            _mm256_cmpgt_epi8(_mm256_set1_epi8('f' + 1), lower));
    return _mm256_or_si256(number, letter);
}

AVX2_INLINE uint64_t avx2_find_escapes(__m256i low, __m256i high, uint64_t backslashes)
{
    const uint64_t all = json_mask_escaped(backslashes);
    const uint64_t us = all & avx2_equal(low, high, 'u');
    const uint64_t shorts = all & bits(is_short(low), is_short(high));
    return us ? shorts | json_mask_unicode_escapes(us, bits(is_digit(low), is_digit(high)))
              : shorts;
}

AVX2 uint64_t json_avx2_stop_mask(const char *p)
{
    const __m256i low = avx2_load(p), high = avx2_load(p + 32);
    uint64_t stops = bits(is_stop(low), is_stop(high));
    const uint64_t backslashes = avx2_equal(low, high, '\\');
    if (backslashes)
        stops = json_mask_skip_escapes(stops, avx2_find_escapes(low, high, backslashes));
    return bits(low, high) ? stops & ~avx2_find_characters(p) : stops;
}

/* Does not branch on the presence of backslashes: in long texts, the branch would often be
 * mispredicted. */
AVX2 const char *json_avx2_find(const char *p, const char *end, uint64_t *stops)
{
    for (; end - p >= JSON_BLOCK; p += JSON_BLOCK) {
        const __m256i low = avx2_load(p), high = avx2_load(p + 32);
        *stops = json_mask_skip_escapes(bits(is_stop(low), is_stop(high)),
                                        avx2_find_escapes(low, high, avx2_equal(low, high, '\\')));
        if (bits(low, high))
            *stops &= ~avx2_find_characters(p);
        if (*stops)
            return p;
    }
    *stops = 0;
    return p;
}
#endif
