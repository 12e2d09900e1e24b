/* SPDX-License-Identifier: MIT
 * Bit-mask algebra shared by the SIMD implementations: escaped positions, \u escapes, UTF-8 well-
 * formedness. */
#ifndef EVENT_JSON_JSON_SIMD_INTERNAL_H
#define EVENT_JSON_JSON_SIMD_INTERNAL_H

#include "event/json/json_simd.h"

#if defined(__x86_64__)
#define JSON_HAS_AVX2 __builtin_cpu_supports("avx2")
#define JSON_HAS_AVX512                                                                            \
    (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&                 \
     __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2"))

/* See json_simd.h. */
uint64_t json_avx2_stop_mask(const char *p);
const char *json_avx2_find(const char *p, const char *end, uint64_t *stops);
const char *json_avx512_find(const char *p, const char *end, uint64_t *stops);
const char *json_avx512_unescape(char **out, const char *p, const char *end);
const char *json_avx512_check(char **out, const char *p, const char *end);
#endif

/* The bytes of 64 that a preceding backslash escapes: in a run of backslashes, every other one is
 * escaped. The addition carries through a run, and its end shows the parity of its start. */
static inline uint64_t json_mask_escaped(uint64_t backslashes)
{
    const uint64_t even = UINT64_C(0x5555555555555555);
    const uint64_t behind = backslashes << 1;
    const uint64_t odd_starts = backslashes & ~even & ~behind;
    const uint64_t runs = odd_starts + backslashes;
    return (even ^ (runs << 1)) & behind;
}

/* Removes complete escapes from the stops, short ones and \u with its four digits. One that the
 * block cuts remains a stop. */
static inline uint64_t json_mask_skip_escapes(uint64_t stops, uint64_t escaped)
{
    return stops & ~(escaped | escaped >> 1);
}

/* The positions u that precede four hexadecimal digits. */
static inline uint64_t json_mask_unicode_escapes(uint64_t us, uint64_t digits)
{
    return us & digits >> 1 & digits >> 2 & digits >> 3 & digits >> 4;
}

/* Classes of bytes for UTF-8 (Unicode 15, table 3-7), one bit for each byte: 80..BF; E0 and above,
 * F0 and above; invalid bytes; leads whose second byte is restricted, and their invalid second
 * bytes. */
struct json_utf8_masks {
    uint64_t beyond; /* ASCII */
    uint64_t tails, from_e0, from_f0, never;
    uint64_t e0, ed, f0, f4;
    uint64_t from_a0, from_90;
};

/* Computes these masks from functions for bytes that are `equal` to a value, or `above` it as
 * signed bytes. */
#define JSON_LOOK_MARKS(all, equal, above)                                                         \
    ((struct json_utf8_masks){                                                                     \
        .beyond = all,                                                                             \
        .tails = all & ~above('\xbf'),                                                             \
        .from_e0 = all & above('\xdf'),                                                            \
        .from_f0 = all & above('\xef'),                                                            \
        .never = (all & above('\xf4')) | equal('\xc0') | equal('\xc1'),                            \
        .e0 = equal('\xe0'),                                                                       \
        .ed = equal('\xed'),                                                                       \
        .f0 = equal('\xf0'),                                                                       \
        .f4 = equal('\xf4'),                                                                       \
        .from_a0 = above('\x9f'),                                                                  \
        .from_90 = above('\x8f'),                                                                  \
    })

/* The bytes of complete characters; 0 if any byte is invalid: they are then checked one by one. A
 * character that the block cuts, and the bytes behind it, are not included. */
static inline uint64_t json_mask_valid_utf8(const struct json_utf8_masks *m)
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

#endif
