/* SPDX-License-Identifier: MIT
 * Splits a byte stream into lines at \n, with a limit: a longer line is skipped, and the stream
 * continues. Linear time; pure, apart from its memory. */
#ifndef IO_LOOP_LINE_SPLITTER_H
#define IO_LOOP_LINE_SPLITTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

#define LINES_DEFAULT_CAP ((size_t)16 << 20)

struct line_splitter {
    /* A line without its \n (nor a \r before it). complete: false only for the unterminated rest
     * passed by line_splitter_finish. The bytes are valid during the call. */
    void (*line)(void *ctx, const char *p, size_t len, bool complete);
    /* A line of `bytes` bytes exceeded the limit and was skipped. */
    void (*dropped)(void *ctx, uint64_t bytes);
    void *ctx;
    size_t cap;        /* longest line, without its \n; 0: LINES_DEFAULT_CAP */
    struct buf part;   /* start of a line from earlier chunks */
    uint64_t skipping; /* bytes of a too long line so far; 0: none */
    bool stop;         /* set by `line`: line_splitter_feed stops after it */
};

/* Set line, dropped, ctx and cap; the rest must be zero. Returns the number of consumed bytes: n,
 * unless `stop` was set, which it resets. */
size_t line_splitter_feed(struct line_splitter *s, const char *p, size_t n);
/* End of stream: passes an unterminated rest, if any. */
void line_splitter_finish(struct line_splitter *s);
/* Moves the start of an incomplete line to `rest`, so that the caller can feed it again with later
 * bytes. The rest of a line over the limit then counts as a line. */
void line_splitter_return_rest(struct line_splitter *s, struct buf *rest);
void line_splitter_fini(struct line_splitter *s);

#endif
