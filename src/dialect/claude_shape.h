/* SPDX-License-Identifier: MIT
 * The shape of the newest delta. Deltas are most of a stream, and each is the line before it but
 * for two strings: its text and its uuid. Where all other bytes are the same, they need not be
 * read again. */
#ifndef DIALECT_CLAUDE_SHAPE_H
#define DIALECT_CLAUDE_SHAPE_H

#include "base/buf.h"
#include "dialect/claude_line.h"

struct claude_shape {
    bool is_known;           /* the newest line that was read was such a delta */
    struct buf text;         /* its copy; that of any other line that is short */
    struct claude_line line; /* read from it, but for what differed since */
    struct claude_hole {
        size_t at, len; /* of the string that differs, in the copy */
    } piece, uuid;
};

/* As claude_line_read; NULL: not a JSON object. The line is valid until the next call. */
const struct claude_line *claude_shape_read(struct claude_shape *s, const char *line, size_t len)
    __attribute__((__warn_unused_result__));
void claude_shape_fini(struct claude_shape *s);

#endif
