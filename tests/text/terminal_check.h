/* SPDX-License-Identifier: MIT
 * Checks of every text that is rendered for a terminal. */
#ifndef TESTS_TEXT_TERMINAL_CHECK_H
#define TESTS_TEXT_TERMINAL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Checks that the text has no control characters except LF and the permitted sequences, that no
 * line is wider than `columns` (0: any), and that each line ends in the plain style. Returns NULL,
 * or a description of the error (static). */
const char *terminal_check(struct str text, size_t columns, bool styled, bool links);

#endif
