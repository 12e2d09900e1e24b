/* SPDX-License-Identifier: MIT
 * Owns the look at 64 bytes: with AVX2 where the machine has it, else in parts of sixteen; and,
 * with AVX-512 only, the undoing of escapes in them. */
#include "event/json_block.h"

#include "event/json_scan.h"

#if defined(__x86_64__) && defined(__SSE2__)
#include <immintrin.h>
#define WIDE __attribute__((__target__("avx2")))
#define WIDE_INLINE __attribute__((__target__("avx2"), __always_inline__)) static inline
#define IS_WIDE __builtin_cpu_supports("avx2")
#define WIDEST __attribute__((__target__("avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")))
#define IS_WIDEST                                                                                  \
    (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&                 \
     __builtin_cpu_supports("avx512vbmi2"))
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

/* Escapes need no look of their own, short ones and \u with its four digits. One that the block
 * cuts stays a stop. */
static inline uint64_t pass_escapes(uint64_t stops, uint64_t escaped)
{
    return stops & ~(escaped | escaped >> 1);
}

/* Which of those u are in front of four digits. */
static inline uint64_t with_digits(uint64_t us, uint64_t digits)
{
    return us & digits >> 1 & digits >> 2 & digits >> 3 & digits >> 4;
}

/* What UTF-8 is told by (Unicode 15, table 3-7), a bit for each byte: 80..BF; E0 and above, F0 and
 * above; what is nowhere; the leads whose second byte is not any of 80..BF, and what those are of.
 */
struct utf8_marks {
    uint64_t beyond; /* ASCII */
    uint64_t tails, from_e0, from_f0, never;
    uint64_t e0, ed, f0, f4;
    uint64_t from_a0, from_90;
};

/* The bytes of characters that are whole; 0 where anything is wrong: then they are looked at one
 * by one. A character that the block cuts, and what is behind it, is not among them. */
static inline uint64_t find_characters(const struct utf8_marks *m)
{
    const uint64_t leads = m->beyond & ~m->tails;
    const uint64_t expected = leads << 1 | m->from_e0 << 2 | m->from_f0 << 3;
    const uint64_t narrow = (m->e0 << 1 & ~m->from_a0) | (m->ed << 1 & m->from_a0) |
                            (m->f0 << 1 & ~m->from_90) | (m->f4 << 1 & m->from_90);
    if ((expected ^ m->tails) | m->never | narrow)
        return 0;
    const uint64_t cut = (leads & UINT64_C(1) << 63) | (m->from_e0 & UINT64_C(3) << 62) |
                         (m->from_f0 & UINT64_C(7) << 61);
    return cut ? m->beyond & ((cut & -cut) - 1) : m->beyond;
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

WIDE_INLINE uint64_t equal(__m256i low, __m256i high, char c)
{
    return bits(is(low, c), is(high, c));
}

WIDE_INLINE uint64_t above(__m256i low, __m256i high, char c)
{
    const __m256i than = _mm256_set1_epi8(c);
    return bits(_mm256_cmpgt_epi8(low, than), _mm256_cmpgt_epi8(high, than));
}

WIDE static uint64_t wide_characters(const char *p)
{
    const __m256i low = load(p), high = load(p + 32);
    const uint64_t beyond = bits(low, high);
    const struct utf8_marks marks = {
        .beyond = beyond,
        .tails = beyond & ~above(low, high, '\xbf'),
        .from_e0 = beyond & above(low, high, '\xdf'),
        .from_f0 = beyond & above(low, high, '\xef'),
        .never = (beyond & above(low, high, '\xf4')) | equal(low, high, '\xc0') |
                 equal(low, high, '\xc1'),
        .e0 = equal(low, high, '\xe0'),
        .ed = equal(low, high, '\xed'),
        .f0 = equal(low, high, '\xf0'),
        .f4 = equal(low, high, '\xf4'),
        .from_a0 = above(low, high, '\x9f'),
        .from_90 = above(low, high, '\x8f'),
    };
    return find_characters(&marks);
}

WIDE_INLINE __m256i is_digit(__m256i text)
{
    const __m256i lower = _mm256_or_si256(text, _mm256_set1_epi8(0x20));
    const __m256i number = _mm256_and_si256(_mm256_cmpgt_epi8(text, _mm256_set1_epi8('0' - 1)),
                                            _mm256_cmpgt_epi8(_mm256_set1_epi8('9' + 1), text));
    const __m256i letter = _mm256_and_si256(_mm256_cmpgt_epi8(lower, _mm256_set1_epi8('a' - 1)),
                                            _mm256_cmpgt_epi8(_mm256_set1_epi8('f' + 1), lower));
    return _mm256_or_si256(number, letter);
}

WIDE_INLINE uint64_t wide_escapes(__m256i low, __m256i high, uint64_t backslashes)
{
    const uint64_t all = find_escaped(backslashes);
    const uint64_t us = all & equal(low, high, 'u');
    const uint64_t shorts = all & bits(is_short(low), is_short(high));
    return us ? shorts | with_digits(us, bits(is_digit(low), is_digit(high))) : shorts;
}

WIDE static uint64_t wide_stops(const char *p)
{
    const __m256i low = load(p), high = load(p + 32);
    uint64_t stops = bits(is_stop(low), is_stop(high));
    const uint64_t backslashes = equal(low, high, '\\');
    if (backslashes)
        stops = pass_escapes(stops, wide_escapes(low, high, backslashes));
    return bits(low, high) ? stops & ~wide_characters(p) : stops;
}

/* Here it is not asked whether there are any backslashes: in long texts the answer would be
 * guessed, and often wrongly. */
WIDE static const char *wide_find(const char *p, const char *end, uint64_t *stops)
{
    for (; end - p >= JSON_BLOCK; p += JSON_BLOCK) {
        const __m256i low = load(p), high = load(p + 32);
        *stops = pass_escapes(bits(is_stop(low), is_stop(high)),
                              wide_escapes(low, high, equal(low, high, '\\')));
        if (*stops && bits(low, high))
            *stops &= ~wide_characters(p);
        if (*stops)
            return p;
    }
    *stops = 0;
    return p;
}
#endif

#define OF_PARTS(part, p, ...)                                                                     \
    ((uint64_t)part(p __VA_ARGS__) | (uint64_t)part((p) + 16 __VA_ARGS__) << 16 |                  \
     (uint64_t)part((p) + 32 __VA_ARGS__) << 32 | (uint64_t)part((p) + 48 __VA_ARGS__) << 48)

static uint64_t parts_equal(const char *p, char c)
{
    return OF_PARTS(json_part_equal, p, , c);
}

static uint64_t parts_above(const char *p, char c)
{
    return OF_PARTS(json_part_above, p, , c);
}

static uint64_t parts_characters(const char *p)
{
    const uint64_t beyond = ~parts_above(p, -1);
    const struct utf8_marks marks = {
        .beyond = beyond,
        .tails = beyond & ~parts_above(p, '\xbf'),
        .from_e0 = beyond & parts_above(p, '\xdf'),
        .from_f0 = beyond & parts_above(p, '\xef'),
        .never =
            (beyond & parts_above(p, '\xf4')) | parts_equal(p, '\xc0') | parts_equal(p, '\xc1'),
        .e0 = parts_equal(p, '\xe0'),
        .ed = parts_equal(p, '\xed'),
        .f0 = parts_equal(p, '\xf0'),
        .f4 = parts_equal(p, '\xf4'),
        .from_a0 = parts_above(p, '\x9f'),
        .from_90 = parts_above(p, '\x8f'),
    };
    return find_characters(&marks);
}

static uint64_t parts_digits(const char *p)
{
    return (parts_above(p, '0' - 1) & ~parts_above(p, '9')) |
           (parts_above(p, 'a' - 1) & ~parts_above(p, 'f')) |
           (parts_above(p, 'A' - 1) & ~parts_above(p, 'F'));
}

static uint64_t parts_escapes(const char *p, uint64_t backslashes)
{
    const uint64_t all = find_escaped(backslashes);
    const uint64_t us = all & parts_equal(p, 'u');
    const uint64_t shorts = all & OF_PARTS(json_part_shorts, p);
    return us ? shorts | with_digits(us, parts_digits(p)) : shorts;
}

static uint64_t parts_stops(const char *p)
{
    uint64_t stops = OF_PARTS(json_part_stops, p);
    const uint64_t backslashes = parts_equal(p, '\\');
    if (backslashes)
        stops = pass_escapes(stops, parts_escapes(p, backslashes));
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

#ifdef WIDEST
/* What a short escape stands for is put in the place of its second byte, and its first one is left
 * out of what is written: how many there are, and where, costs nothing. */
WIDEST static const char *widest_unescape(char **out, const char *p, const char *end)
{
    const __m512i low = _mm512_loadu_si512((const void *)json_short_escapes);
    const __m512i high = _mm512_loadu_si512((const void *)(json_short_escapes + JSON_BLOCK));
    char *to = *out;
    uint64_t us = 0;
    while (end - p >= JSON_BLOCK && !us) {
        const __m512i text = _mm512_loadu_si512((const void *)p);
        const uint64_t backslashes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('\\'));
        const uint64_t escaped = find_escaped(backslashes), begins = backslashes & ~escaped;
        us = escaped & _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('u'));
        /* Up to the first \u, or to an escape that the block cuts. */
        const unsigned n = us ? (unsigned)__builtin_ctzll(us) - 1 : 64 - (unsigned)(begins >> 63);
        const uint64_t kept = ~begins & (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1);
        const __m512i told = _mm512_permutex2var_epi8(low, text, high);
        const __m512i meant = _mm512_mask_mov_epi8(text, escaped, told);
        _mm512_storeu_si512((void *)to, _mm512_maskz_compress_epi8(kept, meant));
        to += __builtin_popcountll(kept);
        p += n;
    }
    *out = to;
    return p;
}
#endif

const char *json_block_unescape(char **out, const char *p, const char *end)
{
#ifdef WIDEST
    if (IS_WIDEST)
        return widest_unescape(out, p, end);
#endif
    (void)out;
    (void)end;
    return p; /* Without, it is no faster than json_text is by itself. */
}

uint64_t json_block_stops(const char *p)
{
    return IS_WIDE ? wide_stops(p) : parts_stops(p);
}

const char *json_block_find(const char *p, const char *end, uint64_t *stops)
{
    return IS_WIDE ? wide_find(p, end, stops) : parts_find(p, end, stops);
}
