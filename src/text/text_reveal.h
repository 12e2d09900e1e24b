/* SPDX-License-Identifier: MIT
 * Makes text from an agent readable without surprises, for a person who decides whether it may run.
 * Guarantees that two texts that do different things do not look alike because of characters that a
 * reader cannot see: invisible and direction-changing characters are spelled out as <U+202E>, runs
 * of blank lines and long runs of spaces are replaced by their number. Characters that merely
 * resemble others (Cyrillic and Latin letters) are left alone. Pure. */
#ifndef TEXT_TEXT_REVEAL_H
#define TEXT_TEXT_REVEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

#define REVEAL_BLANK_LINES 3 /* minimum length of a run that is replaced by its number */
#define REVEAL_SPACES 33     /* the same for spaces and tabs within a line */

/* Appends p. CR LF becomes LF; LF and tab stay; bytes that are not UTF-8 become U+FFFD.
 * Idempotent. */
void text_reveal_text(struct buf *out, const char *p, size_t n);
/* The same on one line: LF and tab are spelled out, too. For names and labels. */
void text_reveal_line(struct buf *out, const char *p, size_t n);
/* Like text_reveal_text; a text of more than one line begins with "[62 lines]" on a line of its
 * own. */
void text_reveal_with_line_count(struct buf *out, const char *p, size_t n);
/* Number of lines; an LF at the end begins no further line. */
size_t text_reveal_lines(const char *p, size_t n);
/* Whether the character is always spelled out. */
bool text_reveal_is_hidden(uint32_t cp);

#endif
