/* SPDX-License-Identifier: MIT
 * Interface between an agent process (agent_process.h) and its implementation: a child of this
 * host, or an equivalent such as a run on another host. Loop thread only. */
#ifndef CORE_AGENT_AGENT_BACKEND_H
#define CORE_AGENT_AGENT_BACKEND_H

#include <stddef.h>
#include <sys/types.h>

#include "base/sys/err.h"
#include "io/process/process.h"

/* Each function corresponds to the function of process.h with that name. */
struct agent_backend {
    void (*write)(void *run, const char *bytes, size_t n);
    void (*close_stdin)(void *run);
    void (*signal)(void *run, int signo);
    unsigned (*kill_tree)(void *run);
    unsigned (*count_killed)(void *run);
    pid_t (*pid)(void *run); /* 0: no process id */
    void (*free)(void *run);
};

/* Starts agents that are not child processes of this host. */
struct agent_place {
    const struct agent_backend *backend;
    /* Starts the agent; `events` are those of process.h. NULL with err. Borrows events and their
     * ctx. */
    void *(*start)(void *ctx, const char *session_id, const struct process_events *events,
                   void *events_ctx, struct tc_err *err);
    void *ctx;
};

/* Starts a child of this host. */
extern const struct agent_backend agent_backend_child;

#endif
