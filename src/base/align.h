/* SPDX-License-Identifier: MIT
 * Alignment constants (word, cache line, page) and align_up(). Pure. */
#ifndef BASE_ALIGN_H
#define BASE_ALIGN_H

#include <stddef.h>

#define ALIGN_WORD ((size_t)8)        /* bytes; alignment of numbers and pointers */
#define ALIGN_CACHE_LINE ((size_t)64) /* bytes; cache line */
#define ALIGN_PAGE ((size_t)64 << 10) /* bytes: a multiple of the page size on any machine */

/* n rounded up to a multiple of `to`, a power of two. */
static inline size_t align_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

#endif
