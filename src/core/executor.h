/* SPDX-License-Identifier: MIT
 * Runs an agent for one turn: spawns it, feeds its stream to the turn, watches the clocks, walks
 * the shutdown ladder, tries again when the error may pass. Loop thread only. */
#ifndef CORE_EXECUTOR_H
#define CORE_EXECUTOR_H

#include "conf/conf.h"
#include "core/turn.h"
#include "io/loop.h"

struct executor;

struct executor_spec {
    const struct conf_agent *agent;
    const char *message; /* what goes to the agent, verbatim */
    size_t message_len;
    const char *session_id;   /* resume this session, or NULL */
    const char *conversation; /* or NULL */
};

/* Begins; `ended` is called once, after the tree of processes is gone and done was told.
 * spawn_failed: the agent could not be started. Borrows spec's agent and the turn. */
struct executor *executor_start(struct loop *l, struct turn *t, const struct executor_spec *spec,
                                void (*ended)(void *ctx, bool spawn_failed), void *ctx);
/* Asks for an end: the first call interrupts, the second kills. */
void executor_cancel(struct executor *x);
/* The host goes down: as a cancel that is told as host_shutdown. */
void executor_shutdown(struct executor *x);
void executor_free(struct executor *x);

#endif
