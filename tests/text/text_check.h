/* SPDX-License-Identifier: MIT
 * What holds for every text, whatever its source: for tests with many sources and for fuzzing. */
#ifndef TESTS_TEXT_CHECK_H
#define TESTS_TEXT_CHECK_H

#include "text/render/render.h"

/* NULL, or what does not hold (static). */
const char *text_check_doc(const struct doc *d);
const char *text_check_split(const struct doc *d, const struct render_target *target);
/* The source parsed, folded, and verbatim; in each form, with budgets small and real. */
const char *text_check_source(struct str source);

#endif
