/* SPDX-License-Identifier: MIT
 * The shape of the newest lines. Deltas are most of a stream, each the one before but for its text
 * and its uuid; and what stands around the body of any line is that of a line before but for the
 * uuid. Where all other bytes are the same, they need not be read again. */
#ifndef DIALECT_CLAUDE_CLAUDE_LINE_CACHE_H
#define DIALECT_CLAUDE_CLAUDE_LINE_CACHE_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "dialect/claude/claude_line.h"

/* Of thinking, of text, of arguments. */
#define CLAUDE_DELTAS 3
/* Kinds of lines: events, messages of the agent, results of tools. */
#define CLAUDE_AROUNDS 3

/* A string that may differ. */
struct claude_line_gap {
    size_t at, len;
};

struct claude_shape {
    struct claude_delta {
        struct buf text;                    /* a line that was read; empty: none */
        struct claude_line_gap piece, uuid; /* in the text, in this order */
        /* Read from the text; both are those of the newest line. Owned; NULL: there was none. */
        struct claude_line *line;
    } deltas[CLAUDE_DELTAS];
    unsigned newest; /* of them */
    struct claude_line_frame {
        struct buf text;             /* a line whose body is a 0; empty: none */
        size_t body_at;              /* of the 0 */
        struct claude_line_gap uuid; /* in the text, behind the body */
        struct claude_line line;     /* read from the text; uuid and body are those of the newest */
    } around[CLAUDE_AROUNDS];
    unsigned oldest;         /* of these */
    struct claude_line line; /* what was read of one that is like none before */
    struct json_memo memo;   /* of the newest line, whatever it is like */
};

/* As claude_line_parse; NULL: not a JSON object. What is returned is valid until the next call. */
const struct claude_line *claude_line_cache_parse(struct claude_shape *s, const char *line,
                                                  size_t len) MUST_CHECK;
void claude_line_cache_fini(struct claude_shape *s);

#endif
