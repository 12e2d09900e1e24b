/* SPDX-License-Identifier: MIT
 * TAP: numbered results, notes, and the plan at the end. */
#ifndef CLI_TESTING_TEST_REPORT_H
#define CLI_TESTING_TEST_REPORT_H

#include <stdbool.h>
#include <stdio.h>

struct test_report {
    FILE *out; /* line-buffered, so that earlier output survives a crash */
    unsigned run, failed;
};

/* One result. Escapes a title that contains a TAP directive. */
void test_report_result(struct test_report *r, bool success, const char *title);
/* Comment lines. */
void test_report_note(struct test_report *r, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
/* Prints the plan. 0; 1 if a test has failed. */
int test_report_finish(const struct test_report *r);

#endif
