/* SPDX-License-Identifier: MIT
 * Converts one character of agent text to a form that is safe on a terminal (no control, bidi or
 * invisible characters). Pure. */
#ifndef CLI_GLYPH_H
#define CLI_GLYPH_H

#include <stdbool.h>
#include <stddef.h>

/* A character in its displayed form. */
struct glyph {
    size_t used;    /* bytes of the source */
    size_t len;     /* bytes of text */
    unsigned width; /* columns */
    char text[12];
};

/* The next character of n > 0 bytes. Newline and tab are unchanged (width 0 and 1; CRLF is one
 * newline); other controls in caret notation, C1 and invisible or reordering characters as
 * <U+009B>, bytes that are not UTF-8 as <9B>. Characters are independent, so text may be split
 * anywhere between characters. With `ascii`, other characters become "?". */
struct glyph glyph_next(const char *p, size_t n, bool ascii);

#endif
