/* SPDX-License-Identifier: MIT
 * Agents that have answered and wait, alive, for the next message of their conversation: it begins
 * without a start-up. Each conversation and each session has one process at most, always: two would
 * write to the same session without knowing of each other. Loop thread only.
 *
 * A process that has waited for keep_alive_s ends; so does the one that has waited longest when
 * there are more than max_warm, or when they use more memory than max_warm_mb together. One that
 * works in the background is not idle: it may take background_timeout_s, and others go first. One
 * that dies is logged, and the next message of its conversation resumes the session with a new
 * process. */
#ifndef CORE_AGENT_WARM_POOL_H
#define CORE_AGENT_WARM_POOL_H

#include "conf/conf.h"
#include "core/agent/agent_process.h"
#include "io/journal/journal_async.h"

struct warm;

/* What an agent process belongs to. Strings are borrowed. */
struct warm_place {
    const struct conf *conf; /* of its agent: it is kept */
    const char *turn;        /* id of the last turn */
    const char *conversation, *session_id;
    const char *source;    /* where the conversation's messages come from */
    const char *route;     /* of the last message, or NULL */
    const char *instances; /* that it named (conf_scope_turn), or NULL */
    const char *owner;     /* the API client, or NULL */
};

struct warm_events {
    /* The agent has begun a turn by itself. Its output is kept for warm_pool_take until then. */
    void (*begins)(void *ctx, const struct warm_place *place, const struct conf_agent *agent);
    /* Whether the agent works in the background behind that turn has changed. At first it does not.
     */
    void (*works)(void *ctx, const char *turn, bool works);
    /* A process of that conversation waits without work, or is gone. */
    void (*rests)(void *ctx, const char *conversation);
    void (*emptied)(void *ctx); /* there is none left; may be NULL */
};

/* The journal notes which processes wait. */
struct warm *warm_pool_new(struct loop *l, struct journal_async *journal, const struct conf *conf,
                           const struct warm_events *events, void *ctx);
/* Kills what there is. NULL is fine. */
void warm_pool_free(struct warm *w);

/* Takes the process, which has a stream, and `n` bytes that were not read of it. */
void warm_pool_keep(struct warm *w, const struct warm_place *place, struct agent_process *p,
                    const char *bytes, size_t n);
/* The one of that conversation, agent and session; NULL: there is none. What it has printed since
 * is appended to `unread`. session_id NULL: the one that has begun a turn by itself. */
struct agent_process *warm_pool_take(struct warm *w, const struct conf_agent *agent,
                                     const char *conversation, const char *session_id,
                                     struct buf *unread);
/* Ends what is there of that conversation; `why`, for the log. */
void warm_pool_end(struct warm *w, const char *conversation, const char *why);
/* Ends what is there of that conversation and of that session (or NULL), for another process. True:
 * `gone` is called, once, when none of it runs any more; false: none does. */
bool warm_pool_clear(struct warm *w, const char *conversation, const char *session_id,
                     void (*gone)(void *ctx), void *ctx);
/* `gone` is not called any more for that ctx. */
void warm_pool_forget_waiter(struct warm *w, const void *ctx);

/* Tells again that the agent of that conversation has begun a turn by itself, if it has. */
void warm_pool_tell_again(struct warm *w, const char *conversation);
/* Something of that conversation runs in the background. */
bool warm_pool_works(const struct warm *w, const char *conversation);
/* The same, or a process of it is being ended. */
bool warm_pool_is_busy(const struct warm *w, const char *conversation);
/* As executor_set_lease, for the processes of that conversation. */
void warm_pool_set_lease(struct warm *w, const char *conversation, int64_t until_ms);
/* Nothing is left, nor is anything being ended. */
bool warm_pool_is_empty(const struct warm *w);
/* Number of processes that wait for a message or work in the background. */
size_t warm_pool_count(const struct warm *w);
/* Ends all waiting processes, and at the end of their turn those that run with an earlier
 * configuration. */
void warm_pool_reconfigure(struct warm *w, const struct conf *conf);
/* The host ends: all end, and nothing is kept any more. Again: they are ended by force. */
void warm_pool_close(struct warm *w);

#endif
