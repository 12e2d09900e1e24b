/* SPDX-License-Identifier: MIT
 * Line writer for terminals: wraps words at a width, puts a prefix before each line, and sets the
 * style of each character. No line is wider than the width, unless a single character is. Every
 * line ends with styles and links off, so that lines can be shown alone. */
#ifndef TEXT_RENDER_TERMINAL_LINE_H
#define TEXT_RENDER_TERMINAL_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"
#include "base/str.h"

/* Limit in bytes; quotes and lists nested deeper are shown at this depth. */
#define TERMINAL_PREFIX_MAX 64
#define TERMINAL_WORD_RUNS 16 /* limit of style changes in one word; further ones are ignored */

enum terminal_color {
    TERMINAL_DEFAULT,
    TERMINAL_RED,
    TERMINAL_GREEN,
    TERMINAL_YELLOW,
    TERMINAL_MAGENTA,
    TERMINAL_CYAN,
};

struct terminal_style {
    bool bold, dim, italic, underline, strike;
    enum terminal_color color;
    const char *link; /* address, or NULL; borrowed */
};

struct terminal_run {
    size_t len; /* length in bytes */
    struct terminal_style style;
};

struct terminal_line {
    struct buf *out;
    size_t columns; /* 0: lines are not wrapped */
    bool styled;    /* write SGR sequences */
    bool verbatim;  /* keep white space, and wrap between any characters */
    bool begun;     /* the prefix of this line is written */
    bool joined;    /* the next character is a combining one */
    size_t column;
    size_t spaces;               /* columns before the word */
    struct terminal_style shown; /* style that the terminal has now */
    struct buf word;
    size_t word_width;
    unsigned last_width;
    struct terminal_run runs[TERMINAL_WORD_RUNS];
    size_t n_runs;
    size_t prefix_len, prefix_width;
    char prefix[TERMINAL_PREFIX_MAX + 1];
};

void terminal_line_fini(struct terminal_line *l);
/* Appends text without control characters other than LF and tab. */
void terminal_line_put(struct terminal_line *l, struct str text,
                       const struct terminal_style *style);
/* Writes the pending word. */
void terminal_line_flush(struct terminal_line *l);
/* Ends the line. */
void terminal_line_end(struct terminal_line *l);
/* Appends to the prefix of later lines. False: no room; the prefix is unchanged. */
bool terminal_line_add_prefix(struct terminal_line *l, const char *text, size_t width);
/* Restores an earlier prefix. */
void terminal_line_cut_prefix(struct terminal_line *l, size_t len, size_t width);

#endif
