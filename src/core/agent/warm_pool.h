/* SPDX-License-Identifier: MIT
 * Pool of agent processes that have answered and wait for the next message of their conversation,
 * which then needs no start-up. Each conversation and each session has at most one process, because
 * two would write to the same session independently. Loop thread only.
 *
 * A process that has waited for keep_alive_s is ended; so is the longest waiting one if there are
 * more than max_warm, or if they use more memory than max_warm_mb together. A process that works in
 * the background is not idle: it may run for background_timeout_s, and idle ones are ended first.
 * An unexpected exit is logged, and the next message of the conversation resumes the session with a
 * new process. */
#ifndef CORE_AGENT_WARM_POOL_H
#define CORE_AGENT_WARM_POOL_H

#include "conf/conf.h"
#include "core/agent/agent_process.h"
#include "io/journal/journal_async.h"

struct warm;

/* The owner of an agent process. Strings are borrowed. */
struct warm_place {
    const struct conf *conf; /* configuration of its agent; holds a reference */
    const char *turn;        /* id of the last turn */
    const char *conversation, *session_id;
    const char *source;    /* source of the conversation's messages */
    const char *route;     /* route of the last message, or NULL */
    const char *instances; /* instances named by it (conf_scope_turn), or NULL */
    const char *owner;     /* the API client, or NULL */
};

struct warm_events {
    /* The agent has started a turn by itself. Its output is buffered until warm_pool_acquire. */
    void (*begins)(void *ctx, const struct warm_place *place, const struct conf_agent *agent);
    /* Whether the agent works in the background after that turn has changed; initially it does
     * not. */
    void (*works)(void *ctx, const char *turn, bool works);
    /* A process of that conversation has become idle, or has exited. */
    void (*rests)(void *ctx, const char *conversation);
    void (*emptied)(void *ctx); /* no process is left; may be NULL */
};

/* Receives the waiting processes, so that the journal can record them. */
struct warm *warm_pool_new(struct loop *l, struct journal_async *journal, const struct conf *conf,
                           const struct warm_events *events, void *ctx);
/* Kills all processes. NULL is allowed. */
void warm_pool_free(struct warm *w);

/* Adds the process, which has a stream, and `n` bytes of its unread output. */
void warm_pool_add_process(struct warm *w, const struct warm_place *place, struct agent_process *p,
                           const char *bytes, size_t n);
/* The process of that conversation, agent and session; NULL: none. Appends its buffered output to
 * `unread`. session_id NULL: the process that has started a turn by itself. */
struct agent_process *warm_pool_acquire(struct warm *w, const struct conf_agent *agent,
                                        const char *conversation, const char *session_id,
                                        struct buf *unread);
/* Ends the process of that conversation; `why`, for the log. */
void warm_pool_end(struct warm *w, const char *conversation, const char *why);
/* Ends processes of that conversation and of that session (or NULL), before another process is
 * started. True: `gone` is called, once, when all have exited; false: there are none. */
bool warm_pool_clear(struct warm *w, const char *conversation, const char *session_id,
                     void (*gone)(void *ctx), void *ctx);
/* Cancels the call of `gone` with that ctx. */
void warm_pool_cancel_waiter(struct warm *w, const void *ctx);

/* Reports again a turn that the agent of that conversation has started by itself, if any. */
void warm_pool_report_begin_again(struct warm *w, const char *conversation);
/* Whether background work of that conversation runs. */
bool warm_pool_works(const struct warm *w, const char *conversation);
/* The same, or a process of the conversation is being ended. */
bool warm_pool_is_busy(const struct warm *w, const char *conversation);
/* See executor_set_lease, for the processes of that conversation. */
void warm_pool_set_lease(struct warm *w, const char *conversation, int64_t until_ms);
/* Whether the pool is empty and no process is being ended. */
bool warm_pool_is_empty(const struct warm *w);
/* Number of processes that wait for a message or work in the background. */
size_t warm_pool_count(const struct warm *w);
/* Ends all waiting processes; running ones with an earlier configuration end with their turn. */
void warm_pool_reconfigure(struct warm *w, const struct conf *conf);
/* The host shuts down: ends all processes, and keeps none any more. The second call kills them. */
void warm_pool_close(struct warm *w);

#endif
