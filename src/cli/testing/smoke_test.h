/* SPDX-License-Identifier: MIT
 * Test of a connector without a script: plays a recorded turn, answers each request with 200 and
 * {}, and reports the connector's actions. */
#ifndef CLI_TESTING_SMOKE_TEST_H
#define CLI_TESTING_SMOKE_TEST_H

#include "cli/testing/script.h"

/* Reports one result: failing callbacks and invalid requests are failures. */
void smoke_test_run(const struct script_subject *subject, const char *recording);

#endif
