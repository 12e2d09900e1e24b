/* SPDX-License-Identifier: MIT
 * Debug messages about the process of an agent: its command, its first output, its standard error,
 * its end and how long it took. Does nothing unless the level debug is logged. */
#ifndef CORE_AGENT_AGENT_LOG_H
#define CORE_AGENT_AGENT_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All-zero: no process has been started. */
struct agent_log {
    const char *name;  /* of the log; borrowed */
    int64_t began_ms;  /* monotonic */
    uint64_t out, err; /* bytes that it printed */
};

void agent_log_start(struct agent_log *l, const char *name, const char *const *argv,
                     const char *cwd);
void agent_log_output(struct agent_log *l, size_t n);
/* Each complete or incomplete line of the piece is a message. */
void agent_log_error(struct agent_log *l, const char *p, size_t n);
/* status: of waitpid(2). */
void agent_log_exit(const struct agent_log *l, pid_t pid, int status);

#endif
