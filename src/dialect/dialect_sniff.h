/* SPDX-License-Identifier: MIT
 * Detects the dialect of a stream from its first lines and buffers them until it is known.
 * Bounded. Pure. */
#ifndef DIALECT_DIALECT_SNIFF_H
#define DIALECT_DIALECT_SNIFF_H

#include "dialect/dialect.h"

/* All zero is ready. */
struct dialect_sniff {
    struct buf held; /* per line: frame event, NUL, length, bytes */
    size_t lines;
    const struct dialect *best;
    int score;
};

/* Keeps the line. The dialect once it is sure, or when enough was seen; NULL: go on. */
const struct dialect *dialect_sniff_feed(struct dialect_sniff *s, const char *line, size_t len,
                                         const char *event);
/* Looks at a line without keeping it: the last one, which may be cut off. */
void dialect_sniff_score(struct dialect_sniff *s, const char *line, size_t len, const char *event);
/* The stream ended: the likeliest one so far, the table's first when there is none. */
const struct dialect *dialect_sniff_guess(const struct dialect_sniff *s);
/* Gives every line that was kept, in order. */
void dialect_sniff_replay(const struct dialect_sniff *s,
                          void (*line)(void *ctx, const char *line, size_t len, const char *event),
                          void *ctx);
void dialect_sniff_fini(struct dialect_sniff *s);

#endif
