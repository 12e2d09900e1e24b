/* SPDX-License-Identifier: MIT
 * Runs an agent for one turn: starts it, feeds its stream to the turn, enforces timeouts, ends it,
 * and retries after temporary errors. Loop thread only.
 *
 * After the outcome the agent may exit; a timeout or a cancellation interrupts it
 * (core/agent/agent_process.h). `ended` is called when no process of the agent is left. An agent
 * that closes stdout and keeps running counts as hung. The process of an agent that has answered
 * may stay alive for the next turn. */
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
    const char *message; /* prompt, passed verbatim to stdin */
    size_t message_len;
    const char *session_id;   /* session to resume, or NULL */
    const char *conversation; /* or NULL */
    /* Or NULL: called when an attempt's process starts; or when requests of the agent can no longer
     * be answered. The ctx is that of `ended`. */
    void (*spawned)(void *ctx, pid_t pid);
    void (*unasked)(void *ctx);
    /* Or NULL: receives standard output of the agent in pieces, before it is parsed. */
    void (*output)(void *ctx, const char *p, size_t n);
    /* Or NULL: an existing process for the turn, which the executor takes over, and its unread
     * output. If the process has exited, a new one is started. */
    struct agent_process *process;
    struct str unread;
    int64_t lease_ms; /* see executor_set_lease */
    /* Or NULL: where the agent runs, if it is not a child of this host. Borrowed for the turn. */
    const struct agent_place *place;
    bool by_agent;    /* the agent has started the turn by itself: there is no message */
    bool has_message; /* the agent has received the message already */
    /* Or NULL: called when the fate of a message of executor_steer is known. */
    void (*settled)(void *ctx, const char *id, enum dialect_settled how);
    /* Or NULL: called when a new process starts, which has none of the messages given to the
     * previous one. */
    void (*lost)(void *ctx);
    /* Or NULL: whether the process may outlive the turn after its answer; the callback then
     * receives the process and its unread output, and `ended` follows. The ctx is that of
     * `ended`. */
    bool (*may_stay)(void *ctx);
    void (*stay)(void *ctx, struct agent_process *p, const char *bytes, size_t n);
};

/* Starts the turn; `ended` is called once, from the loop, when the process tree is gone and done
 * was emitted. spawn_failed: the agent could not be started. Borrows the agent and the turn until
 * then. */
struct executor *executor_start(struct loop *l, struct turn *t, const struct executor_spec *spec,
                                void (*ended)(void *ctx, bool spawn_failed), void *ctx);
/* Offers the agent a message for the turn; false if it accepts none. */
enum dialect_steer executor_steer(struct executor *x, const char *id, struct str text);
/* Asks the agent to drop such a message; `settled` reports the result. False: it cannot be
 * asked. */
bool executor_withdraw(struct executor *x, const char *id);
/* Writes a decision to the agent. -1: the agent no longer waits for it. */
int executor_answer(struct executor *x, const struct dialect_answer *answer) MUST_CHECK;
/* Whether the agent waits for an answer to that request; it does not if the dialog refused the
 * request at once. */
bool executor_waits(const struct executor *x, const char *request_id);
/* Whether a person who allows that request may change its arguments. */
bool executor_accepts_args(const struct executor *x, const char *request_id);
/* Cancels: the first call interrupts the agent, the second kills it. */
void executor_cancel(struct executor *x);
/* The host shuts down: cancels with the error host_shutdown. */
void executor_cancel_for_exit(struct executor *x);
/* Another host has the lock of the conversation: kills the agent; the turn ends with the error
 * lock_lost. */
void executor_fence(struct executor *x);
/* The host that gave this one the turn has not been heard of for too long: the same. */
void executor_cut_off(struct executor *x);
/* End of the lease of the conversation (clock_mono_ms); the agent is killed then, even if the host
 * is stopped; 0: no limit. */
void executor_set_lease(struct executor *x, int64_t until_ms);
/* May be called from `ended`. Called earlier, it kills the agent, and the turn receives nothing
 * more. */
void executor_free(struct executor *x);

#endif
