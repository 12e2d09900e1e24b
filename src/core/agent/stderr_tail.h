/* SPDX-License-Identifier: MIT
 * Ring buffer with the last 64 KiB of an agent's stderr, for error messages. */
#ifndef CORE_AGENT_STDERR_TAIL_H
#define CORE_AGENT_STDERR_TAIL_H

#include <stdint.h>

#include "base/bytes/buf.h"

#define TAIL_CAP ((size_t)64 << 10)

/* An all-zero struct stderr_tail is valid and empty. */
struct stderr_tail {
    char *ring;     /* owned; made at the first byte */
    uint64_t total; /* bytes that came, kept or not */
};

void stderr_tail_append(struct stderr_tail *t, const char *p, size_t n);
/* Appends the last n bytes or what is there of them, beginning with a whole line where the cut
 * falls into one. */
void stderr_tail_copy(struct buf *out, const struct stderr_tail *t, size_t n);
/* Appends the last line that is not blank, n bytes of it at most. */
void stderr_tail_copy_last_line(struct buf *out, const struct stderr_tail *t, size_t n);
void stderr_tail_fini(struct stderr_tail *t);

#endif
