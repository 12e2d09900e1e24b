/* SPDX-License-Identifier: MIT
 * Debug messages about an agent's process: its command, its first output, its standard error, its
 * exit and duration. No effect unless the level debug is logged. */
#ifndef CORE_AGENT_AGENT_LOG_H
#define CORE_AGENT_AGENT_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A struct of zeros: no process was started. */
struct agent_log {
    const char *name;  /* name of the agent in the log; borrowed */
    int64_t began_ms;  /* start, monotonic */
    uint64_t out, err; /* bytes of output */
};

void agent_log_start(struct agent_log *l, const char *name, const char *const *argv,
                     const char *cwd);
void agent_log_output(struct agent_log *l, size_t n);
/* Logs each line of the piece, complete or not, as a message. */
void agent_log_error(struct agent_log *l, const char *p, size_t n);
/* status: from waitpid(2). */
void agent_log_exit(const struct agent_log *l, pid_t pid, int status);

#endif
