/* SPDX-License-Identifier: MIT
 * Splits a byte stream into lines at \n, with a cap: a longer line is skipped, the stream goes
 * on. No quadratic reassembly; pure but for its memory. */
#ifndef IO_LOOP_LINE_SPLITTER_H
#define IO_LOOP_LINE_SPLITTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

#define LINES_DEFAULT_CAP ((size_t)16 << 20)

struct line_splitter {
    /* A line without its \n (nor \r before it). complete: false only for the unterminated tail
     * given by line_splitter_finish. The bytes are valid during the call. */
    void (*line)(void *ctx, const char *p, size_t len, bool complete);
    /* A line of `bytes` bytes was longer than the cap and has been skipped. */
    void (*dropped)(void *ctx, uint64_t bytes);
    void *ctx;
    size_t cap;        /* longest line, without its \n; 0: LINES_DEFAULT_CAP */
    struct buf part;   /* the line begun in earlier chunks */
    uint64_t skipping; /* bytes of an over-long line so far; 0: none */
    bool stop;         /* set by `line`: line_splitter_feed takes nothing behind it */
};

/* Set line, dropped, ctx and cap; the rest is zero. Returns how many bytes it has taken: n, unless
 * `stop` was set, which it resets. */
size_t line_splitter_feed(struct line_splitter *s, const char *p, size_t n);
/* End of stream: gives the tail that had no newline, if there is one. */
void line_splitter_finish(struct line_splitter *s);
/* Appends what has come of the newest line to `rest`, and forgets it: with what is read next it
 * comes again, behind other bytes. The rest of a line over the cap is then a line. */
void line_splitter_give_back(struct line_splitter *s, struct buf *rest);
void line_splitter_fini(struct line_splitter *s);

#endif
