/* SPDX-License-Identifier: MIT
 * Plays the recorded output of an agent to the instance on a fake host: the events that the host
 * makes of it, all of them visible, but for kinds that a connector has to ask for. */
#ifndef CLI_TESTING_FAKE_RECORDING_H
#define CLI_TESTING_FAKE_RECORDING_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "cli/testing/fake/fake_host.h"

/* As turn `id`, from start to done. The dialect is found from the first lines. -1 with err: the
 * file cannot be read, or is in no known format. */
int recording_play(struct fake_host *host, const char *id, const char *path,
                   struct tc_err *err) MUST_CHECK;

#endif
