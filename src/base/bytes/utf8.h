/* SPDX-License-Identifier: MIT
 * UTF-8 validation, repair (maximal ill-formed subparts become U+FFFD), encoding and decoding.
 * Pure. */
#ifndef BASE_BYTES_UTF8_H
#define BASE_BYTES_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/buf.h"

/* Length of the longest valid prefix (== n: all valid). Overlong forms, surrogates and values
 * above U+10FFFF are invalid (Unicode 15, table 3-7). */
size_t utf8_valid_prefix(const char *p, size_t n);
/* The same up to the first ASCII byte: the run of valid multi-byte characters. */
size_t utf8_multibyte_prefix(const char *p, size_t n);
bool utf8_is_valid(const char *p, size_t n);
/* Number of characters of valid text. */
size_t utf8_count(const char *p, size_t n);
/* Appends p with each maximal ill-formed subpart replaced by U+FFFD; returns the number of
 * replacements. */
size_t utf8_repair(struct buf *out, const char *p, size_t n);
/* Writes cp (surrogates and values out of range as U+FFFD) to out[4]; returns its length. */
size_t utf8_encode(char *out, uint32_t cp);
/* Decodes one character of valid text, n > 0; *len is its length. */
uint32_t utf8_decode(const char *p, size_t n, size_t *len);
/* Greatest cut <= max bytes that splits neither a character nor a grapheme (combining marks,
 * variation selectors, ZWJ sequences, emoji modifiers, regional indicator pairs and CRLF are
 * considered). Returns n if the text fits; never 0 while n > 0 and max >= 4: a grapheme longer than
 * max is cut between its characters. The text is valid. */
size_t utf8_truncated_len(const char *p, size_t n, size_t max);
/* Least cut >= at that does not split a character; n: none. */
size_t utf8_next_start(const char *p, size_t n, size_t at);
/* Copies valid text (NULL: empty) to to[size], cut so that it fits with its NUL. */
void utf8_copy_truncated(char *to, size_t size, const char *text);

#endif
