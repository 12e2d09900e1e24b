/* SPDX-License-Identifier: MIT
 * The last bytes of a stream that nobody reads until something goes wrong: an agent's stderr. */
#ifndef CORE_AGENT_STDERR_TAIL_H
#define CORE_AGENT_STDERR_TAIL_H

#include <stdint.h>

#include "base/bytes/buf.h"

#define TAIL_CAP ((size_t)64 << 10)

/* An all-zero struct tail is valid and empty. */
struct tail {
    char *ring;     /* owned; made at the first byte */
    uint64_t total; /* bytes that came, kept or not */
};

void tail_add(struct tail *t, const char *p, size_t n);
/* Appends the last n bytes or what is there of them, beginning with a whole line where the cut
 * falls into one. */
void tail_copy(struct buf *out, const struct tail *t, size_t n);
/* Appends the last line that is not blank, n bytes of it at most. */
void tail_copy_line(struct buf *out, const struct tail *t, size_t n);
void tail_reset(struct tail *t);
void tail_fini(struct tail *t);

#endif
