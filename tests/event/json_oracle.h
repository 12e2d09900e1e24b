/* SPDX-License-Identifier: MIT
 * What must hold of the cursor and its text functions for any bytes at all, with jansson as the
 * judge: shared by the differential test and the fuzz target. */
#ifndef TESTS_EVENT_JSON_ORACLE_H
#define TESTS_EVENT_JSON_ORACLE_H

#include <stddef.h>

/* NULL, or a static text that says what does not hold. */
const char *json_oracle_check(const char *text, size_t len);

#endif
