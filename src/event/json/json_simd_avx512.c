/* SPDX-License-Identifier: MIT
 * AVX-512 implementation: 64 bytes at once, including unescaping. Used for long strings only; it
 * pays from the second block on. */
#include "base/bytes/utf8.h"
#include "event/json/json_scan.h"
#include "event/json/json_simd_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((__target__("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")))
#define AVX512_INLINE                                                                              \
    __attribute__((__target__("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt"),              \
                   __always_inline__)) static inline

AVX512_INLINE __m512i avx512_load(const char *p)
{
    return _mm512_loadu_si512((const void *)p);
}

AVX512_INLINE uint64_t avx512_equal(__m512i text, char c)
{
    return _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(c));
}

AVX512_INLINE uint64_t avx512_above(__m512i text, char c)
{
    return _mm512_cmpgt_epi8_mask(text, _mm512_set1_epi8(c));
}

AVX512 static uint64_t avx512_find_characters(__m512i text, uint64_t beyond)
{
#define EQUAL(c) avx512_equal(text, c)
#define ABOVE(c) avx512_above(text, c)
    return json_mask_valid_utf8(&JSON_LOOK_MARKS(beyond, EQUAL, ABOVE));
}

AVX512_INLINE uint64_t find_digits(__m512i text)
{
    const __m512i lower = _mm512_or_si512(text, _mm512_set1_epi8(0x20));
    return (avx512_above(text, '0' - 1) & ~avx512_above(text, '9')) |
           (avx512_above(lower, 'a' - 1) & ~avx512_above(lower, 'f'));
}

/* The character for each byte after a backslash; 0: none. The lookup ignores the highest bit, which
 * marks non-ASCII. */
AVX512_INLINE __m512i meanings(__m512i text)
{
    return _mm512_permutex2var_epi8(avx512_load(json_short_escapes), text,
                                    avx512_load(json_short_escapes + JSON_BLOCK));
}

AVX512_INLINE uint64_t avx512_find_escapes(__m512i text, uint64_t beyond, uint64_t backslashes)
{
    const uint64_t all = json_mask_escaped(backslashes);
    const uint64_t us = all & avx512_equal(text, 'u');
    const __m512i meant = meanings(text);
    const uint64_t shorts = all & ~beyond & _mm512_test_epi8_mask(meant, meant);
    return us ? shorts | json_mask_unicode_escapes(us, find_digits(text)) : shorts;
}

AVX512_INLINE uint64_t stops_of(__m512i text, uint64_t backslashes)
{
    /* As signed bytes, non-ASCII is below space, just as control characters are. */
    const uint64_t others = _mm512_cmplt_epi8_mask(text, _mm512_set1_epi8(' '));
    return others | avx512_equal(text, '"') | backslashes;
}

/* Tests for non-ASCII first, so that a mispredicted branch is detected before the other work is
 * done. */
AVX512 const char *json_avx512_find(const char *p, const char *end, uint64_t *stops)
{
    for (; end - p >= JSON_BLOCK; p += JSON_BLOCK) {
        const __m512i text = avx512_load(p);
        const uint64_t beyond = _mm512_movepi8_mask(text);
        const uint64_t backslashes = avx512_equal(text, '\\');
        *stops = json_mask_skip_escapes(stops_of(text, backslashes),
                                        avx512_find_escapes(text, beyond, backslashes));
        if (beyond)
            *stops &= ~avx512_find_characters(text, beyond);
        if (*stops)
            return p;
    }
    *stops = 0;
    return p;
}

/* The lowest n bits. */
AVX512_INLINE uint64_t low(unsigned n)
{
    return _bzhi_u64(~UINT64_C(0), n);
}

/* Number of bytes of the n that can be unescaped: up to the first \u, or to an escape that the
 * block cuts. *escaped are the second bytes of escapes, and *kept all bytes except the first ones
 * of escapes. */
AVX512_INLINE unsigned measure(__m512i text, unsigned n, uint64_t *escaped, uint64_t *kept)
{
    const uint64_t backslashes = avx512_equal(text, '\\');
    *escaped = json_mask_escaped(backslashes);
    const uint64_t begins = backslashes & ~*escaped, us = *escaped & avx512_equal(text, 'u');
    *kept = ~begins & low(n);
    /* A well-predicted branch: the next block does not wait for it. */
    if (__builtin_expect(us || begins >> 63, false)) {
        n = us ? (unsigned)__builtin_ctzll(us) - 1 : n - 1;
        *kept &= low(n);
    }
    return n;
}

/* Replaces the second byte of an escape by its character, and drops the first one: the cost is
 * independent of their number and positions. (Takes no address of a vector, which a sanitizer might
 * place unaligned.) */
AVX512_INLINE __m512i undo(__m512i text, uint64_t escaped, uint64_t kept)
{
    return _mm512_maskz_compress_epi8(kept, _mm512_mask_mov_epi8(text, escaped, meanings(text)));
}

AVX512 const char *json_avx512_unescape(char **out, const char *p, const char *end)
{
    char *to = *out;
    uint64_t escaped, kept;
    unsigned read = JSON_BLOCK;
    while (end - p >= JSON_BLOCK && read >= JSON_BLOCK - 1) {
        const __m512i text = avx512_load(p);
        read = measure(text, JSON_BLOCK, &escaped, &kept);
        _mm512_storeu_si512((void *)to, undo(text, escaped, kept));
        to += __builtin_popcountll(kept);
        p += read;
    }
    if (p < end && read >= JSON_BLOCK - 1 && end - p < JSON_BLOCK) {
        const unsigned n = (unsigned)(end - p);
        const __m512i text = _mm512_maskz_loadu_epi8(low(n), (const void *)p);
        p += measure(text, n, &escaped, &kept);
        const unsigned written = (unsigned)__builtin_popcountll(kept);
        _mm512_mask_storeu_epi8((void *)to, low(written), undo(text, escaped, kept));
        to += written;
    }
    *out = to;
    return p;
}

/* A character or an escape that the block cuts begins the next one. */
enum { CUT = 5 };

/* Replaces each \u escape by its character at the position of the u, and drops the rest. Half of a
 * surrogate pair becomes a stop. */
AVX512 static __m512i put_units(__m512i text, uint64_t units, uint64_t *stops, uint64_t *dropped)
{
    char bytes[JSON_BLOCK];
    _mm512_storeu_si512((void *)bytes, text);
    for (; units; units &= units - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(units);
        const uint16_t unit = json_escape_unit(bytes + at - 1);
        if (!json_unit_is_whole(unit)) {
            *stops |= UINT64_C(1) << (at - 1);
            break;
        }
        const unsigned len = (unsigned)utf8_encode(bytes + at, unit);
        *dropped |= (low(5) & ~low(len)) << at;
    }
    return avx512_load(bytes);
}

/* For a block: number of valid bytes, mask of the bytes kept after unescaping, and these bytes. */
struct avx512_check_state {
    unsigned n;
    uint64_t kept;
    __m512i text;
};

AVX512_INLINE struct avx512_check_state check(__m512i text, unsigned n)
{
    const uint64_t beyond = _mm512_movepi8_mask(text), backslashes = avx512_equal(text, '\\');
    const uint64_t escaped = json_mask_escaped(backslashes);
    const __m512i meant = meanings(text);
    const uint64_t shorts = escaped & ~beyond & _mm512_test_epi8_mask(meant, meant);
    uint64_t stops = json_mask_skip_escapes(stops_of(text, backslashes), shorts) & low(n);
    uint64_t dropped = backslashes & ~escaped;
    if (beyond)
        stops &= ~avx512_find_characters(text, beyond);
    if (escaped & ~shorts) {
        const uint64_t us = escaped & avx512_equal(text, 'u');
        const uint64_t units = json_mask_unicode_escapes(us, find_digits(text));
        stops = json_mask_skip_escapes(stops, units);
        text = put_units(text, units, &stops, &dropped);
    }
    /* A well-predicted branch: the next block does not wait for it. */
    if (__builtin_expect(stops != 0, false))
        n = (unsigned)__builtin_ctzll(stops);
    const uint64_t kept = ~dropped & low(n);
    text = _mm512_mask_mov_epi8(text, shorts, meant);
    return (struct avx512_check_state){n, kept, _mm512_maskz_compress_epi8(kept, text)};
}

AVX512 const char *json_avx512_check(char **out, const char *p, const char *end)
{
    char *to = *out;
    unsigned read = JSON_BLOCK;
    for (; end - p >= JSON_BLOCK && read >= JSON_BLOCK - CUT; p += read) {
        const struct avx512_check_state c = check(avx512_load(p), JSON_BLOCK);
        _mm512_storeu_si512((void *)to, c.text);
        to += _mm_popcnt_u64(c.kept);
        read = c.n;
    }
    while (p < end && read >= JSON_BLOCK - CUT && end - p < JSON_BLOCK) {
        const unsigned left = (unsigned)(end - p);
        const struct avx512_check_state c =
            check(_mm512_maskz_loadu_epi8(low(left), (const void *)p), left);
        const unsigned written = (unsigned)_mm_popcnt_u64(c.kept);
        _mm512_mask_storeu_epi8((void *)to, low(written), c.text);
        to += written;
        p += read = c.n;
    }
    *out = to;
    return p;
}
#endif
