/* SPDX-License-Identifier: MIT
 * Plays a recorded agent output to an instance on a fake host: delivers the resulting events, all
 * visible, except kinds that a connector must request. */
#ifndef CLI_TESTING_FAKE_RECORDING_H
#define CLI_TESTING_FAKE_RECORDING_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "cli/testing/fake/fake_host.h"

/* Plays it as turn `id`, from start to done. Detects the dialect from the first lines. -1 with err:
 * the file cannot be read, or has an unknown format. */
int recording_play(struct fake_host *host, const char *id, const char *path,
                   struct tc_err *err) MUST_CHECK;

#endif
