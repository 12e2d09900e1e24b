/* SPDX-License-Identifier: MIT
 * Line writer for Slack's markups and CommonMark: escaping, line prefixes, and zero-width joints
 * where markup would not be recognised. */
#ifndef TEXT_RENDER_MARKUP_LINE_H
#define TEXT_RENDER_MARKUP_LINE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "base/str.h"

#define MARKUP_PREFIX_MAX 16 /* bytes; quotes and lists nested deeper are shown less deep */

/* Shows nothing and parts words: markup is only read at the edges of words. */
#define MARKUP_JOINT "\xe2\x80\x8b"

enum markup_start { MARKUP_WITHIN, MARKUP_FRESH, MARKUP_DIGITS };

struct markup_line {
    struct buf *out;
    bool block;              /* Markdown, else mrkdwn */
    bool commonmark;         /* not Slack's Markdown: no character references, other mentions */
    bool line_begun;         /* its prefix is written */
    enum markup_start start; /* where in the text of a line we are: what opens a block there? */
    bool unjoined;           /* a closing mark was the last thing written */
    unsigned backticks;      /* in a row, in code */
    size_t prefix_len;
    char prefix[MARKUP_PREFIX_MAX];
};

void markup_raw_str(struct markup_line *l, const char *s);
/* Text of the doc: nothing in it is markup or mentions anybody. */
void markup_text(struct markup_line *l, struct str s);
/* Text in a fence. */
void markup_code(struct markup_line *l, struct str s);
size_t markup_longest_backticks(struct str s);
void markup_backticks(struct markup_line *l, size_t n);
/* Code within a line, with its backticks around it. */
void markup_inline_code(struct markup_line *l, struct str code);
/* An address in a link, or `bare` in angle brackets; what would end it or be read is escaped. */
void markup_address(struct markup_line *l, const char *url, bool bare);
/* Maximum size of the output of markup_text or markup_address for it. */
size_t markup_line_url_size(const char *url);
bool markup_is_word(char c);
bool markup_ends_in_word(const struct markup_line *l);
/* In front of every line from the next on. */
void markup_line_set_prefix(struct markup_line *l, const char *prefix, size_t n);

#endif
