/* SPDX-License-Identifier: MIT
 * How many columns of a terminal a text takes: wide characters two, marks none. A terminal may
 * show sequences of emoji in fewer columns, never in more. Pure. */
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
