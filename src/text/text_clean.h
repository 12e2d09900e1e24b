/* SPDX-License-Identifier: MIT
 * Sanitises text for a chat service: valid UTF-8 without control characters, terminal sequences
 * and bidi overrides. */
#ifndef TEXT_TEXT_CLEAN_H
#define TEXT_TEXT_CLEAN_H

#include <stdint.h>

#include "base/bytes/buf.h"

/* Appends p sanitised: ill-formed bytes become U+FFFD; terminal sequences, line separators and
 * direction overrides are removed; CR LF and CR become LF; control characters except tab and LF
 * become blanks. */
void text_clean_append(struct buf *out, const char *p, size_t n);
/* The same for one code point; LF becomes a blank, too. */
void text_clean_append_char(struct buf *out, uint32_t cp);

#endif
