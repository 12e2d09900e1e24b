/* SPDX-License-Identifier: MIT
 * The process of an agent, and the dialog with it: writes to it, reads from it, ends it. The
 * process may outlive a turn and serve the next one (core/agent/warm_pool.h). Loop thread only.
 *
 * A process is always ended by the same steps, each after the grace period of the previous one.
 * `over` is called when no process of its tree is left.
 *
 * - Its stdin is closed, or it is interrupted: the dialect's control message, or SIGINT.
 * - After exit_grace: SIGTERM.
 * - After term_grace: SIGKILL to its process tree, i.e. all processes that it has started,
 *   including those in other sessions.
 *
 * The process tree is also ended if the process exits by itself. A process that closes stdout and
 * keeps running for twice exit_grace is reported as `mute`. */
#ifndef CORE_AGENT_AGENT_PROCESS_H
#define CORE_AGENT_AGENT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/sys/err.h"
#include "conf/conf.h"
#include "core/agent/agent_backend.h"
#include "core/agent/stderr_tail.h"
#include "core/turn/agent_stream.h"
#include "io/loop/loop.h"
#include "turn/agent_input.h"

struct agent_process_spec {
    const struct conf_agent *agent;
    const char *session_id;          /* session to resume, or NULL */
    const char *conversation;        /* or NULL */
    const char *turn;                /* id of the turn for which it is started */
    const struct agent_place *place; /* where it runs; NULL: as a child of this host */
};

struct agent_process_events {
    /* The process could not be started. Only agent_process_free may be called then, and not from
     * this callback. */
    void (*failed)(void *ctx, const struct tc_err *err);
    void (*out)(void *ctx, const char *p, size_t n); /* bytes of its stdout */
    void (*mute)(void *ctx);
    /* The process has exited and all its output was passed on; descendants may still run. See
     * agent_process_status. */
    void (*exited)(void *ctx);
    /* `left` processes cannot be killed and are abandoned. `over` follows. */
    void (*stuck)(void *ctx, unsigned left);
    void (*over)(void *ctx); /* the callback may free the process */
};

struct agent_process;

/* NULL with err. Borrows the agent and the events; `spec` for the call only. Keeps the end of
 * stderr. */
struct agent_process *agent_process_spawn(struct loop *l, const struct agent_process_spec *spec,
                                          const struct agent_process_events *events, void *ctx,
                                          struct tc_err *err);
/* Sets the receiver of further events. */
void agent_process_hand_over(struct agent_process *p, const struct agent_process_events *events,
                             void *ctx);
/* Kills remaining processes. NULL is allowed. */
void agent_process_free(struct agent_process *p);

/* Sends the first message. Closes stdin after it if the dialect requires that. */
void agent_process_begin(struct agent_process *p, const struct dialect *dialect,
                         const struct dialect_prompt *prompt);
/* Sends the next message, if agent_input_goes_on. */
void agent_process_next(struct agent_process *p, const struct dialect_prompt *prompt);
/* Sends a message for the running turn. */
enum dialect_steer agent_process_steer(struct agent_process *p, const char *id, struct str text);
/* Requests that the agent drop a message that it has not accepted. False: its protocol has no such
 * request, or it does not have the message. */
bool agent_process_withdraw(struct agent_process *p, const char *id);
/* Passes a line of its output to the dialog, which may reply. */
void agent_process_line(struct agent_process *p, const char *line, size_t len);
/* -1: the agent does not wait for that answer. */
int agent_process_answer(struct agent_process *p, const struct dialect_answer *answer);
struct agent_input *agent_process_dialog(struct agent_process *p);

/* Steps of the stop sequence. Each has no effect if a later step was taken already. */
void agent_process_close_input(struct agent_process *p);
void agent_process_interrupt(struct agent_process *p);
void agent_process_terminate(struct agent_process *p);
void agent_process_kill(struct agent_process *p);
/* See process_set_lease. */
void agent_process_set_lease(struct agent_process *p, int64_t until_ms);

pid_t agent_process_pid(const struct agent_process *p);        /* process id of its shim; 0: it runs
                                                                * elsewhere */
const char *agent_process_turn(const struct agent_process *p); /* agent for which it was started */
bool agent_process_runs(const struct agent_process *p);        /* the stop sequence has not begun */
int agent_process_status(const struct agent_process *p);       /* status of waitid, once it has
                                                                * exited */
struct stderr_tail *agent_process_tail(struct agent_process *p);
const struct conf_agent *agent_process_agent(const struct agent_process *p);

/* Buffer of its output while no turn reads it; or NULL. Owned by the process until detached. */
struct agent_stream *agent_process_stream(const struct agent_process *p);
struct agent_stream *agent_process_detach_stream(struct agent_process *p);
void agent_process_attach_stream(struct agent_process *p, struct agent_stream *s);

#endif
