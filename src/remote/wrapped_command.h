/* SPDX-License-Identifier: MIT
 * Runs the agent's own command if its events come from a transport: the command inherits standard
 * input; its standard output is redirected to standard error, of which the host keeps the last
 * lines. */
#ifndef REMOTE_WRAPPED_COMMAND_H
#define REMOTE_WRAPPED_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

struct wrapped_command {
    pid_t pid; /* process id; 0: none, or exited */
    int status;
};

/* Starts the command with the current environment. -1 with err. */
int wrapped_command_start(struct wrapped_command *c, char *const *argv,
                          struct tc_err *err) MUST_CHECK;
/* Whether the command runs; does not wait. */
bool wrapped_command_runs(struct wrapped_command *c);
/* Waits for the exit. Returns the exit status like a shell: 128 plus the number of the signal that
 * killed it. */
int wrapped_command_wait(struct wrapped_command *c);

#endif
