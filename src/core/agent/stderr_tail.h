/* SPDX-License-Identifier: MIT
 * Ring buffer with the last 64 KiB of an agent's stderr, for error messages. */
#ifndef CORE_AGENT_STDERR_TAIL_H
#define CORE_AGENT_STDERR_TAIL_H

#include <stdint.h>

#include "base/bytes/buf.h"

#define TAIL_CAP ((size_t)64 << 10)

/* A struct of zeros is valid and empty. */
struct stderr_tail {
    char *ring;     /* owned; allocated at the first byte */
    uint64_t total; /* number of bytes received, kept or not */
};

void stderr_tail_append(struct stderr_tail *t, const char *p, size_t n);
/* Appends the last n bytes, or fewer if there are not so many, without an incomplete first line. */
void stderr_tail_copy(struct buf *out, const struct stderr_tail *t, size_t n);
/* Appends the last line that is not blank, at most n bytes of it. */
void stderr_tail_copy_last_line(struct buf *out, const struct stderr_tail *t, size_t n);
void stderr_tail_fini(struct stderr_tail *t);

#endif
