/* SPDX-License-Identifier: MIT
 * The server-sent-events reader: lines in, frames out. One for every dialect that travels so;
 * a bad frame is the dialect's warning, never the end of the stream. Pure. */
#ifndef DIALECT_PROTOCOL_SSE_H
#define DIALECT_PROTOCOL_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

struct sse_event {
    const char *data; /* the data lines joined by \n; NUL-terminated */
    size_t len;
    const char *event; /* its name, valid UTF-8, or NULL */
    const char *id;    /* id of this frame or the last one before it that had one, or NULL */
};

struct sse_parser {
    /* A frame with data; its strings are valid during the call. */
    void (*frame)(void *ctx, const struct sse_event *frame);
    /* A frame of `bytes` bytes was longer than the cap and has been skipped. */
    void (*dropped)(void *ctx, uint64_t bytes);
    void *ctx;
    size_t cap;
    struct buf data, event, id;
    bool begun, has_data;
    uint64_t skipped; /* bytes of data beyond the cap in this frame */
};

/* One line without its \n. A \r inside ends a line too (WHATWG HTML, server-sent events, 9.2.6);
 * one at the end belongs to a \r\n. */
void sse_feed_line(struct sse_parser *s, const char *line, size_t len);
/* End of the stream: an unterminated frame counts. */
void sse_flush(struct sse_parser *s);
void sse_fini(struct sse_parser *s);
/* Whether a stream that begins with this line is framed this way. */
bool sse_is_first_line(const char *line, size_t len);

#endif
