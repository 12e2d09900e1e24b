/* SPDX-License-Identifier: MIT
 * The shape of the newest lines. What stands around the body of a line is that of a line before but
 * for its uuid; and deltas are most of a stream, each the one before but for its text. Where all
 * other bytes are the same, they need not be read again. */
#ifndef DIALECT_CLAUDE_SHAPE_H
#define DIALECT_CLAUDE_SHAPE_H

#include "base/buf.h"
#include "dialect/claude_line.h"

/* Kinds of lines: events, messages of the agent, results of tools. */
#define CLAUDE_AROUNDS 3

/* A string that may differ. */
struct claude_hole {
    size_t at, len;
};

struct claude_shape {
    struct claude_around {
        struct buf text;         /* a line whose body is a 0; empty: none */
        size_t body_at;          /* of the 0 */
        struct claude_hole uuid; /* in the text, behind the body */
        struct claude_line line; /* read from the text; uuid and body are those of the newest */
    } around[CLAUDE_AROUNDS];
    unsigned oldest; /* of them */
    struct claude_delta {
        bool is_known;            /* the newest body was that of a delta */
        struct buf text;          /* its copy; that of any other body that is short */
        struct claude_hole piece; /* in the text */
        struct claude_body *body; /* where it was read to */
    } delta;
    struct claude_line line; /* what was read of one that is like none before */
};

/* As claude_line_read; NULL: not a JSON object. What is returned is valid until the next call. */
const struct claude_line *claude_shape_read(struct claude_shape *s, const char *line, size_t len)
    __attribute__((__warn_unused_result__));
void claude_shape_fini(struct claude_shape *s);

#endif
