/* SPDX-License-Identifier: MIT
 * Display width of text in terminal columns: wide characters take two, combining marks none. A
 * terminal may show emoji sequences in fewer columns, never in more. Pure. */
#ifndef TEXT_DISPLAY_WIDTH_H
#define TEXT_DISPLAY_WIDTH_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* 0, 1 or 2. */
unsigned display_width_char(uint32_t cp);
/* Columns of valid UTF-8 without control characters. */
size_t display_width_text(struct str text);

#endif
