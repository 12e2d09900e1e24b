/* SPDX-License-Identifier: MIT
 * Runs an agent for one turn: spawns it, feeds its stream to the turn, watches the clocks, ends it,
 * tries again when the error may pass. Loop thread only.
 *
 * When the outcome has been read the agent may leave, at a timeout or a cancel it is interrupted
 * (core/agent/agent_process.h), and `ended` is called once no process of it is left. An agent that
 * closes stdout and goes on running counts as hung. The process of an agent that has answered may
 * wait for the next turn instead. */
#ifndef CORE_AGENT_EXECUTOR_H
#define CORE_AGENT_EXECUTOR_H

#include <sys/types.h>

#include "base/attr.h"
#include "base/str.h"
#include "conf/conf.h"
#include "core/agent/agent_process.h"
#include "core/turn/turn.h"
#include "io/loop/loop.h"

struct executor;

struct executor_spec {
    const struct conf_agent *agent;
    const char *message; /* what goes to the agent, verbatim, by stdin */
    size_t message_len;
    const char *session_id;   /* resume this session, or NULL */
    const char *conversation; /* or NULL */
    /* Or NULL: an attempt's process runs; what it asked can no longer be answered. Called with the
     * ctx of `ended`. */
    void (*spawned)(void *ctx, pid_t pid);
    void (*unasked)(void *ctx);
    /* Or NULL: what the agent prints on standard output, in pieces, before it is read. */
    void (*output)(void *ctx, const char *p, size_t n);
    /* Or NULL: the process that is to serve the turn, which belongs to the executor then, and what
     * it has printed and nobody has read. Should it be dead, a new one is started. */
    struct agent_process *process;
    struct str unread;
    int64_t lease_ms; /* see executor_set_lease */
    /* Or NULL: where the agent runs, if it is no child of this host. Borrowed for the turn. */
    const struct agent_place *place;
    bool by_agent;    /* it has begun the turn by itself: there is no message */
    bool has_message; /* it has been given the message already */
    /* Or NULL: what has become of a message of executor_steer. */
    void (*settled)(void *ctx, const char *id, enum dialect_settled how);
    /* Or NULL: a process begins that has none of the messages which another was given. */
    void (*lost)(void *ctx);
    /* Or NULL. Whether the process may outlive the turn, behind its answer; then it is given away,
     * with bytes that it has printed since, and `ended` follows. Called with the ctx of `ended`. */
    bool (*may_stay)(void *ctx);
    void (*stay)(void *ctx, struct agent_process *p, const char *bytes, size_t n);
};

/* Begins; `ended` is called once, from the loop, after the tree of processes is gone and done was
 * told. spawn_failed: the agent could not be started. Borrows the agent and the turn until then. */
struct executor *executor_start(struct loop *l, struct turn *t, const struct executor_spec *spec,
                                void (*ended)(void *ctx, bool spawn_failed), void *ctx);
/* Offers the agent a message for the turn, if it can take one. */
enum dialect_steer executor_steer(struct executor *x, const char *id, struct str text);
/* Asks the agent to drop such a message; `settled` tells whether it did. False: it cannot be asked.
 */
bool executor_withdraw(struct executor *x, const char *id);
/* Writes a decision to the agent. -1: the agent does not wait for it any more. */
int executor_answer(struct executor *x, const struct dialect_answer *answer) MUST_CHECK;
/* Whether the agent waits for an answer to that request: not when the dialog refused it at once. */
bool executor_waits(const struct executor *x, const char *request_id);
/* Whether who allows that request may change its arguments. */
bool executor_takes_args(const struct executor *x, const char *request_id);
/* Asks for an end: the first call interrupts, the second kills. */
void executor_cancel(struct executor *x);
/* The host goes down: as a cancel that is told as host_shutdown. */
void executor_cancel_for_exit(struct executor *x);
/* The conversation is another host's: kills the agent, told as the error lock_lost. */
void executor_fence(struct executor *x);
/* Until when the conversation is this host's (clock_mono_ms), then the agent is killed, also while
 * the host stands still; 0: for any time. */
void executor_set_lease(struct executor *x, int64_t until_ms);
/* May be called by `ended`. Before that it kills, and the turn is not told. */
void executor_free(struct executor *x);

#endif
