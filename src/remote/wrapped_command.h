/* SPDX-License-Identifier: MIT
 * The agent's own command, when its events come from a transport: it has our standard input; its
 * standard output goes to our standard error, where the host keeps the last lines. */
#ifndef REMOTE_WRAPPED_COMMAND_H
#define REMOTE_WRAPPED_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

struct wrapped_command {
    pid_t pid; /* 0: none, or it has exited */
    int status;
};

/* Starts it with our environment. -1 with err. */
int wrapped_command_start(struct wrapped_command *c, char *const *argv,
                          struct tc_err *err) MUST_CHECK;
/* Whether it runs; does not wait. */
bool wrapped_command_runs(struct wrapped_command *c);
/* Waits for its end. Returns its exit status as a shell does: 128 and the signal that killed it. */
int wrapped_command_wait(struct wrapped_command *c);

#endif
