/* SPDX-License-Identifier: MIT
 * FNV-1a, 64 bits: for hash tables and for detecting changes. Not for input with which an attacker
 * may cause collisions, nor for stored data. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(14695981039346656037)

/* Continues from `hash` of the preceding data: HASH_START at first. */
static inline uint64_t hash_bytes(uint64_t hash, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Includes the NUL, so that "a", "bc" and "ab", "c" differ. */
static inline uint64_t hash_string(uint64_t hash, const char *s)
{
    do
        hash = hash_bytes(hash, s, 1);
    while (*s++);
    return hash;
}

#endif
