/* SPDX-License-Identifier: MIT
 * Line writer for Slack's markups and CommonMark: escaping, line prefixes, and zero-width joints
 * where markup would not be recognised. */
#ifndef TEXT_RENDER_MARKUP_LINE_H
#define TEXT_RENDER_MARKUP_LINE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "base/str.h"

/* Limit in bytes; quotes and lists nested deeper are shown at this depth. */
#define MARKUP_PREFIX_MAX 16

/* An invisible character that separates words; markup is recognised only at word boundaries. */
#define MARKUP_JOINT "\xe2\x80\x8b"

enum markup_start { MARKUP_WITHIN, MARKUP_FRESH, MARKUP_DIGITS };

struct markup_line {
    struct buf *out;
    bool block;              /* Markdown, otherwise mrkdwn */
    bool commonmark;         /* CommonMark, not Slack's Markdown: no character references, other
                              * mentions */
    bool line_begun;         /* the prefix of the line is written */
    enum markup_start start; /* position in the line, to recognise characters that would start a
                              * block */
    bool unjoined;           /* the last output was a closing mark */
    unsigned backticks;      /* length of a run of backticks in code */
    size_t prefix_len;
    char prefix[MARKUP_PREFIX_MAX];
};

void markup_raw_str(struct markup_line *l, const char *s);
/* Appends text of the doc: escapes markup and mentions. */
void markup_text(struct markup_line *l, struct str s);
/* Appends text in a fence. */
void markup_code(struct markup_line *l, struct str s);
size_t markup_longest_backticks(struct str s);
void markup_backticks(struct markup_line *l, size_t n);
/* Appends inline code with its backticks. */
void markup_inline_code(struct markup_line *l, struct str code);
/* Appends an address in a link, or `bare` in angle brackets; escapes characters that would end it
 * or be interpreted. */
void markup_address(struct markup_line *l, const char *url, bool bare);
/* Maximum output size of markup_text or markup_address for this text. */
size_t markup_line_url_size(const char *url);
bool markup_is_word(char c);
bool markup_ends_in_word(const struct markup_line *l);
/* Sets the prefix of every line from the next one on. */
void markup_line_set_prefix(struct markup_line *l, const char *prefix, size_t n);

#endif
