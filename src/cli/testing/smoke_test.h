/* SPDX-License-Identifier: MIT
 * The test of a connector that has no script: a recorded turn is played to it, each of its requests
 * is answered with 200 and {}, and what it did is told. */
#ifndef CLI_TESTING_SMOKE_TEST_H
#define CLI_TESTING_SMOKE_TEST_H

#include "cli/testing/script.h"

/* One result: a callback that fails, or a service that is called wrongly, is a failure. */
void smoke_test_run(const struct script_subject *subject, const char *recording);

#endif
