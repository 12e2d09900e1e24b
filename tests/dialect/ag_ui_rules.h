/* SPDX-License-Identifier: MIT
 * A checker for the rules of AG-UI's reference client: returns the first violation in the output of
 * a writer for one turn. A model of its own that shares no code with the
 * writer; tests/npm/ runs the published client itself. */
#ifndef TESTS_DIALECT_AG_UI_RULES_H
#define TESTS_DIALECT_AG_UI_RULES_H

#include <stdbool.h>

/* Lines of JSON; v1: for a reader of 1.0. NULL: all rules were kept; else static text. */
const char *ag_ui_rules(const char *lines, bool v1);

#endif
