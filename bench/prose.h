/* SPDX-License-Identifier: MIT
 * What a seeded agent says: words as they stand between the quotes of a JSON string. */
#ifndef BENCH_PROSE_H
#define BENCH_PROSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

struct prose {
    uint64_t random;
    uint32_t escapes, foreign; /* so many of 1,000 words */
    bool rich;                 /* escapes and letters of every kind there is */
};

/* A number below so many. */
uint32_t prose_draw(struct prose *p, uint32_t below);
/* Appends whole words until there are so many bytes more. */
void prose_add(struct prose *p, struct buf *to, size_t bytes);

#endif
