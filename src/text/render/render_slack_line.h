/* SPDX-License-Identifier: MIT
 * Line writer for Slack markup: escaping, line prefixes, and zero-width joints where markup would
 * not be recognised. */
#ifndef TEXT_RENDER_RENDER_SLACK_LINE_H
#define TEXT_RENDER_RENDER_SLACK_LINE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "base/str.h"

#define SLACK_PREFIX_MAX 16 /* bytes; quotes and lists nested deeper are shown less deep */

/* Shows nothing and parts words: markup is only read at the edges of words. */
#define SLACK_JOINT "\xe2\x80\x8b"

enum slack_start { SLACK_WITHIN, SLACK_FRESH, SLACK_DIGITS };

struct render_slack_line {
    struct buf *out;
    bool block;             /* the markdown block, else mrkdwn */
    bool line_begun;        /* its prefix is written */
    enum slack_start start; /* where in the text of a line we are: what opens a block there? */
    bool unjoined;          /* a closing mark was the last thing written */
    unsigned backticks;     /* in a row, in code */
    size_t prefix_len;
    char prefix[SLACK_PREFIX_MAX];
};

void slack_raw_str(struct render_slack_line *l, const char *s);
/* Text of the doc: nothing in it is markup or mentions anybody. */
void slack_text(struct render_slack_line *l, struct str s);
/* Text in a fence. */
void slack_code(struct render_slack_line *l, struct str s);
size_t slack_longest_backticks(struct str s);
void slack_backticks(struct render_slack_line *l, size_t n);
/* Code within a line, with its backticks around it. */
void slack_inline_code(struct render_slack_line *l, struct str code);
/* An address in a link; `&` escaped, and parentheses where they would end it. */
void slack_address(struct render_slack_line *l, const char *url);
/* What slack_text or slack_address make of it, at most. */
size_t render_slack_line_url_size(const char *url);
bool slack_is_word(char c);
bool slack_ends_in_word(const struct render_slack_line *l);
/* In front of every line from the next on. */
void render_slack_line_set_prefix(struct render_slack_line *l, const char *prefix, size_t n);

#endif
