/* SPDX-License-Identifier: MIT
 * Checks of the guarantees for every text, for tests with many sources and for fuzzing. */
#ifndef TESTS_TEXT_CHECK_H
#define TESTS_TEXT_CHECK_H

#include "text/render/render.h"

/* Return NULL, or a description of the violation (static). */
const char *text_check_doc(const struct doc *d);
const char *text_check_split(const struct doc *d, const struct render_target *target);
/* Checks the source parsed, folded, and verbatim; in each form, with small and real budgets. */
const char *text_check_source(struct str source);

#endif
