/* SPDX-License-Identifier: MIT
 * What holds for every text that is rendered for a terminal. */
#ifndef TESTS_TEXT_TERMINAL_CHECK_H
#define TESTS_TEXT_TERMINAL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* No other control characters than LF and the sequences that are permitted; no line is wider than
 * `columns` (0: any); each line ends in the plain style. NULL, or what does not hold (static). */
const char *terminal_check(struct str text, size_t columns, bool styled, bool links);

#endif
