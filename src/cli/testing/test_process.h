/* SPDX-License-Identifier: MIT
 * Runs a test in a separate process, so that a connector that crashes, exits or hangs fails only
 * its own test. */
#ifndef CLI_TESTING_TEST_PROCESS_H
#define CLI_TESTING_TEST_PROCESS_H

#include <stdbool.h>

#include "cli/testing/test_report.h"

/* Memory shared with the process, for the report on a test that did not finish. */
struct test_progress {
    int line;        /* line of the script; 0: none */
    bool is_told;    /* the result was printed, by test_report_result */
    char error[512]; /* the last logged error, or "" */
};

/* Runs `test`, which prints one result, and counts it. `title` and `path` (or NULL) are used if the
 * test printed no result. */
void test_process_run(struct test_report *report, const char *title, const char *path,
                      void (*test)(void *arg, struct test_progress *progress), void *arg);

#endif
