/* SPDX-License-Identifier: MIT
 * The rules AG-UI's reference client enforces, as a checker: shown what a writer wrote of one
 * turn, it says which rule is broken first. A model of its own that shares no code with the
 * writer; tests/npm/ runs the published client itself. */
#ifndef TESTS_DIALECT_AG_UI_RULES_H
#define TESTS_DIALECT_AG_UI_RULES_H

#include <stdbool.h>

/* Lines of JSON; v1: for a reader of 1.0. NULL: all rules were kept; else static text. */
const char *ag_ui_rules(const char *lines, bool v1);

#endif
