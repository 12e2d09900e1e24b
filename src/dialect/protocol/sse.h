/* SPDX-License-Identifier: MIT
 * Server-sent-events parser: lines in, frames out. Shared by all dialects with this framing; an
 * invalid frame causes a warning of the dialect, and never ends the stream. Pure. */
#ifndef DIALECT_PROTOCOL_SSE_H
#define DIALECT_PROTOCOL_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

struct sse_event {
    const char *data; /* the data lines joined by \n; NUL-terminated */
    size_t len;
    const char *event; /* its name, valid UTF-8, or NULL */
    const char *id;    /* id of this frame or of the last one that had one, or NULL */
};

struct sse_parser {
    /* A frame with data; its strings are valid during the call. */
    void (*frame)(void *ctx, const struct sse_event *frame);
    /* A frame of `bytes` bytes exceeded the limit and was skipped. */
    void (*dropped)(void *ctx, uint64_t bytes);
    void *ctx;
    size_t cap;
    struct buf data, event, id;
    bool begun, has_data;
    uint64_t skipped; /* bytes of data beyond the limit in this frame */
};

/* A line without its \n. A \r within it ends a line, too (WHATWG HTML, server-sent events, 9.2.6);
 * a \r at its end belongs to a \r\n. */
void sse_feed_line(struct sse_parser *s, const char *line, size_t len);
/* End of the stream: emits an unterminated frame. */
void sse_flush(struct sse_parser *s);
void sse_fini(struct sse_parser *s);
/* Whether a stream that begins with this line has this framing. */
bool sse_is_first_line(const char *line, size_t len);

#endif
