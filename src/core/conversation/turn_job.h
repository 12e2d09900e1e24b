/* SPDX-License-Identifier: MIT
 * One turn of a conversation, from the journaled message to the journaled outcome: looks up session
 * and visibility, starts the executor, journals the outcome before delivering it, saves the
 * session. Loop thread only. */
#ifndef CORE_CONVERSATION_TURN_JOB_H
#define CORE_CONVERSATION_TURN_JOB_H

#include "conf/conf.h"
#include "core/agent/warm_pool.h"
#include "core/dispatch/dispatch.h"
#include "core/request/request_registry.h"
#include "core/settings/session_history.h"
#include "core/settings/session_store.h"
#include "core/settings/usage_log.h"
#include "core/settings/visibility_cache.h"
#include "core/work/work.h"

struct turn_job;

/* Lock of the conversation. */
struct turn_job_lock {
    int64_t fence;    /* see session_store_save */
    int64_t until_ms; /* see executor_set_lease */
    bool refused;     /* not acquired: the turn ends with the error store_unavailable */
};

/* Fate of messages of turn_job_steer; with the ctx of `over`. */
struct turn_job_steering {
    /* True: it is part of the turn, and had been waiting for that. */
    bool (*settled)(void *ctx, const char *id, enum dialect_settled how);
    /* The process that had been given messages is gone; the new one has none of them. */
    void (*lost)(void *ctx);
};

/* Other hosts that may run the turn. */
struct turn_job_away {
    struct work *work;     /* the host for the turn; or NULL */
    bool has_slot;         /* agents.*.slots permits running the agent here */
    bool again;            /* this host has chosen another host before its restart … */
    bool is_stored;        /* … and stored the turn, so it may have been started */
    const char *late_host; /* host of a late result of an earlier turn; or NULL */
};

/* Ids of queued turns that are merged into this one. */
struct turn_job_merged {
    const char *const *ids;
    size_t n;
};

/* All borrowed for turn_job_start, except the objects in which it runs. */
struct turn_job_spec {
    struct loop *loop;
    struct journal_async *journal;
    struct dispatch *dispatch;
    const struct conf *conf; /* configuration of the agent; holds a reference */
    const struct conf_agent *agent;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct session_history *history; /* with `usage`: for conversations of people; otherwise NULL */
    struct usage_log *usage;
    struct budgets *budgets; /* or NULL */
    struct request_registry *requests;
    struct warm *warm;
    const char *id, *conversation;
    const char *submitter;
    const char *route, *owner; /* or NULL; owner: the API client */
    const char *instances;     /* named instances (conf_scope_turn), or NULL */
    const char *user;          /* who started it in the chats of the submitter; or NULL */
    const char *const *askers; /* authors of the answered messages; NULL: one is unknown */
    size_t n_askers;
    struct str prompt;
    struct turn_job_lock lock;
    bool follows;      /* results of background work may be separate turns */
    bool by_agent;     /* the agent has started it by itself: no message, no session lookup */
    bool keeps_result; /* an API client may ask for the outcome later */
    bool has_message;  /* the waiting process has received the prompt already */
    struct turn_job_steering steering;
    struct turn_job_away away;
    struct turn_job_merged merged;
};

/* `over` is called once, from the loop, never from within this call: no part of the turn runs any
 * more, and everything is delivered. Then call turn_job_free. */
struct turn_job *turn_job_start(const struct turn_job_spec *spec, void (*over)(void *ctx),
                                void *ctx);
/* Directory of the submitter's files, owned, if the prompt has sound files that the instance's
 * *command transcribes before the agent gets them; otherwise NULL. */
char *turn_job_find_transcriber(const struct conf *conf, const char *submitter, struct str prompt,
                                char *const **command);
/* Offers the agent a message for the running turn: its id, and its author (or NULL). */
enum dialect_steer turn_job_steer(struct turn_job *j, const char *id, const char *user,
                                  struct str text);
/* Asks the agent to drop such a message; `settled` reports the result. False: it cannot be asked,
 * or j is NULL. */
bool turn_job_withdraw(struct turn_job *j, const char *id);
/* Emits a notice, if the turn has started. */
void turn_job_emit_notice(struct turn_job *j, const char *code, const char *text);
/* Cancels: the first call interrupts the agent, the second kills it. */
void turn_job_cancel(struct turn_job *j);
/* The host shuts down: the same with the error host_shutdown. No effect if another host runs the
 * turn. */
void turn_job_cancel_for_exit(struct turn_job *j);
/* Whether another host runs the turn, and this host can continue with it after a restart. */
bool turn_job_is_away(const struct turn_job *j);
/* For a turn that is over: another host has run it, or was to run it. */
bool turn_job_was_away(const struct turn_job *j);
/* For a turn that is over: another host had adopted it before it began here, so nothing of it was
 * told. */
bool turn_job_was_released(const struct turn_job *j);
/* Emits the notice late_result about an earlier turn of the conversation, with the name of its
 * host. False: the turn has not started, or has an outcome. */
bool turn_job_emit_late_notice(struct turn_job *j, const char *host);
/* This host has lost the gateway of the turn (bus.on_loss): kills the agent. */
void turn_job_cut_off(struct turn_job *j);
/* The lock of the conversation was lost: kills the agent, and does not store its session. */
void turn_job_fence(struct turn_job *j);
/* See executor_set_lease. */
void turn_job_set_lease(struct turn_job *j, int64_t until_ms);
/* Does not store its session. */
void turn_job_discard_session(struct turn_job *j);
const char *turn_job_id(const struct turn_job *j);
/* Milliseconds since its start. */
int64_t turn_job_elapsed_ms(const struct turn_job *j);
/* Number of tool calls so far; *last: name of the newest, or NULL. Borrowed. */
unsigned turn_job_tool_count(const struct turn_job *j, const char **last);
/* Whether it has an outcome, and only its end is missing. */
bool turn_job_has_outcome(const struct turn_job *j);
/* Session of the agent; "" while unknown. Borrowed. */
const char *turn_job_session(const struct turn_job *j);
/* Call it after `over`, or after the journal was closed. */
void turn_job_free(struct turn_job *j);

#endif
