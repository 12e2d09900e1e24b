/* SPDX-License-Identifier: MIT
 * Cache of the structure of the newest lines. Most lines are deltas that differ from the previous
 * one only in text and uuid; and the parts around the body of any line usually differ from those of
 * an earlier line only in the uuid. Identical bytes need not be parsed again. */
#ifndef DIALECT_CLAUDE_CLAUDE_LINE_CACHE_H
#define DIALECT_CLAUDE_CLAUDE_LINE_CACHE_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "dialect/claude/claude_line.h"

/* Deltas of thinking, of text, of arguments. */
#define CLAUDE_DELTAS 3
/* Kinds of lines: events, messages of the agent, results of tools. */
#define CLAUDE_AROUNDS 3

/* A variable string. */
struct claude_line_gap {
    size_t at, len;
};

struct claude_shape {
    struct claude_delta {
        struct buf text;                    /* a parsed line; empty: none */
        struct claude_line_gap piece, uuid; /* positions in the text, in this order */
        /* Parsed from the text; both have the values of the newest line. Owned; NULL: none. */
        struct claude_line *line;
    } deltas[CLAUDE_DELTAS];
    unsigned newest; /* number of entries */
    struct claude_line_frame {
        struct buf text;             /* a line whose body was replaced by 0; empty: none */
        size_t body_at;              /* position of the 0 */
        struct claude_line_gap uuid; /* position in the text, behind the body */
        struct claude_line line;     /* parsed from the text; uuid and body are those of the newest
                                      * line */
    } around[CLAUDE_AROUNDS];
    unsigned oldest;         /* number of entries */
    struct claude_line line; /* result for a line without a similar one */
    struct json_memo memo;   /* result for the newest line */
};

/* Like claude_line_parse; NULL: not a JSON object. The result is valid until the next call. */
const struct claude_line *claude_line_cache_parse(struct claude_shape *s, const char *line,
                                                  size_t len) MUST_CHECK;
void claude_line_cache_fini(struct claude_shape *s);

#endif
