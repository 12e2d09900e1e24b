/* SPDX-License-Identifier: MIT
 * A whole turn under test: bytes of a stream through translate and guard, and the promises
 * checked on what comes out. Time and ids are fixed, so that the canonical lines are. */
#ifndef TESTS_DIALECT_CAST_H
#define TESTS_DIALECT_CAST_H

#include "promise.h"
#include "turn/guard.h"
#include "turn/translator.h"

struct cast {
    struct translator translate;
    struct guard guard;
    struct promise promise;
    struct buf line; /* bytes behind the last newline */
    struct buf told; /* canonical lines, when they are kept */
    bool keep;
    size_t turns;     /* that have ended, when the stream is split */
    char broken[256]; /* the first promise that one of them broke, or "" */
    size_t counts[TC_KINDS];
    enum tc_kind first, last;
    uint64_t seq; /* of the newest event */
    bool falls;   /* a seq was not greater than the one before */
};

void cast_init(struct cast *c, const struct dialect *dialect, bool keep);
/* The stream may have several turns: each has its own guard and keeps all promises. Called before
 * anything is fed. */
void cast_split(struct cast *c);
void cast_fini(struct cast *c);
/* Bytes in any pieces. */
void cast_feed(struct cast *c, const char *p, size_t n);
/* The stream is over. NULL, or the promise that was broken. */
const char *cast_end(struct cast *c);

/* All at once; for when only the promises matter. `broken` gets what cast_end said. Returns
 * whether they were kept. */
bool cast_keeps(const struct dialect *dialect, const char *p, size_t n, bool split,
                char broken[256]);

/* A cheap sequence of numbers, the same in every run. */
uint32_t cast_random(uint32_t *state);

#endif
