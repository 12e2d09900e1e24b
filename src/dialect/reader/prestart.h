/* SPDX-License-Identifier: MIT
 * Pre-start buffer: lines that arrive before the stream names its session, replayed after start.
 * Bounded; what does not fit is dropped. */
#ifndef DIALECT_READER_PRESTART_H
#define DIALECT_READER_PRESTART_H

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "base/str.h"

/* A struct of zeros is empty; excess lines are dropped. */
struct prestart {
    struct buf lines; /* compact JSON, newline after each */
};

void prestart_append(struct prestart *e, struct arena *scratch, struct str line);
/* Passes on every line in order, and empties the buffer. */
void prestart_replay(struct prestart *e, void (*take)(void *ctx, struct str line), void *ctx);
void prestart_fini(struct prestart *e);

#endif
