/* SPDX-License-Identifier: MIT
 * Sanitises text for a chat service: valid UTF-8 without control characters, terminal sequences
 * and bidi overrides. */
#ifndef TEXT_TEXT_CLEAN_H
#define TEXT_TEXT_CLEAN_H

#include <stdint.h>

#include "base/bytes/buf.h"

/* Appends p: what is ill-formed as U+FFFD, terminal sequences left out, CR LF and CR as LF, control
 * characters but tab and LF as blanks, line separators and direction overrides left out. */
void text_clean_append(struct buf *out, const char *p, size_t n);
/* The same for one character, wherever it came from; LF becomes a blank too. */
void text_clean_append_char(struct buf *out, uint32_t cp);

#endif
