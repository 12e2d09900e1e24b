/* SPDX-License-Identifier: MIT
 * One test in a process of its own, so that a connector that crashes, ends its process or never
 * returns fails its test and no other. */
#ifndef CLI_TESTING_TEST_PROCESS_H
#define CLI_TESTING_TEST_PROCESS_H

#include <stdbool.h>

#include "cli/testing/test_report.h"

/* Shared with the process: what is told of a test that did not come to its end. */
struct test_progress {
    int line;        /* of the script; 0: none */
    bool is_told;    /* the result was printed, by test_report_result */
    char error[512]; /* the last error that was logged, or "" */
};

/* Runs `test`, which prints one result, and counts it. `title` and `path` (or NULL) are for a test
 * that did not print it. */
void test_process_run(struct test_report *report, const char *title, const char *path,
                      void (*test)(void *arg, struct test_progress *progress), void *arg);

#endif
