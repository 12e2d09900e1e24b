/* SPDX-License-Identifier: MIT
 * Detects the dialect of a stream from its first lines and buffers them until it is known.
 * Bounded. Pure. */
#ifndef DIALECT_DIALECT_SNIFF_H
#define DIALECT_DIALECT_SNIFF_H

#include "dialect/dialect.h"

/* A struct of zeros is ready. */
struct dialect_sniff {
    struct buf held; /* per line: frame event, NUL, length, bytes */
    size_t lines;
    const struct dialect *best;
    int score;
};

/* Stores the line. Returns the dialect when it is certain, or enough lines were seen; NULL:
 * continue. */
const struct dialect *dialect_sniff_feed(struct dialect_sniff *s, const char *line, size_t len,
                                         const char *event);
/* Examines a line without storing it: the last one, which may be truncated. */
void dialect_sniff_score(struct dialect_sniff *s, const char *line, size_t len, const char *event);
/* The stream has ended: the most likely dialect so far, otherwise the first of the table. */
const struct dialect *dialect_sniff_guess(const struct dialect_sniff *s);
/* Passes on every stored line, in order. */
void dialect_sniff_replay(const struct dialect_sniff *s,
                          void (*line)(void *ctx, const char *line, size_t len, const char *event),
                          void *ctx);
void dialect_sniff_fini(struct dialect_sniff *s);

#endif
