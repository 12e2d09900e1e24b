/* SPDX-License-Identifier: MIT
 * One turn of a conversation from the journaled message to the journaled outcome: looks up
 * session and visibility, starts the executor, records the outcome before anybody is told, saves
 * the session. Loop thread only. */
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

/* The lock of its conversation. */
struct turn_job_lock {
    int64_t fence;    /* of session_store_save */
    int64_t until_ms; /* as of executor_set_lease */
    bool refused;     /* it could not be had: the turn ends as the error store_unavailable */
};

/* What becomes of messages of turn_job_steer; with the ctx of `over`. */
struct turn_job_steering {
    /* True: it is part of the turn, and had waited for that. */
    bool (*settled)(void *ctx, const char *id, enum dialect_settled how);
    /* No process has the messages any more that were given to one. */
    void (*lost)(void *ctx);
};

/* Other hosts, which may run it. */
struct turn_job_away {
    struct work *work; /* what they run for this one; or NULL */
    bool has_slot;     /* the agent may run here, as far as agents.*.slots says */
    bool again;        /* an earlier life of this host has chosen another one for it … */
    bool is_stored;    /* … and has stored it, so it may have been begun */
};

/* Ids of waiting turns that go into this one. */
struct turn_job_merged {
    const char *const *ids;
    size_t n;
};

/* All borrowed for turn_job_start, but for what it runs in. */
struct turn_job_spec {
    struct loop *loop;
    struct journal_async *journal;
    struct dispatch *dispatch;
    const struct conf *conf; /* of the agent: it is kept */
    const struct conf_agent *agent;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct session_history *history; /* with usage: of conversations of people; else NULL */
    struct usage_log *usage;
    struct budgets *budgets; /* or NULL */
    struct request_registry *requests;
    struct warm *warm;
    const char *id, *conversation;
    const char *submitter;
    const char *route, *owner; /* or NULL; owner: the API client */
    const char *instances;     /* that its message named (conf_scope_turn), or NULL */
    const char *user;          /* who began it in the chats of the submitter; or NULL */
    const char *const *askers; /* whose messages it answers; NULL: one is not known */
    size_t n_askers;
    struct str prompt;
    struct turn_job_lock lock;
    bool follows;      /* what the agent does behind its answer may be turns of their own */
    bool by_agent;     /* the agent has begun it by itself: no message, no session to find */
    bool keeps_result; /* an API client may ask for it later */
    bool has_message;  /* the process that waits has been given the prompt already */
    struct turn_job_steering steering;
    struct turn_job_away away;
    struct turn_job_merged merged;
};

/* `over` is called once, from the loop, never from within this call: nothing of it runs any more,
 * and all has been told. Then turn_job_free. */
struct turn_job *turn_job_start(const struct turn_job_spec *spec, void (*over)(void *ctx),
                                void *ctx);
/* The directory of the submitter's files, owned, when the prompt has sounds that its instance has
 * transcribed by *command, before the agent is given them; else NULL. */
char *turn_job_find_transcriber(const struct conf *conf, const char *submitter, struct str prompt,
                                char *const **command);
/* Offers the agent a message for the turn that runs: its id, and who wrote it (or NULL). */
enum dialect_steer turn_job_steer(struct turn_job *j, const char *id, const char *user,
                                  struct str text);
/* Asks the agent to drop such a message; `settled` tells whether it did. False: it cannot be asked,
 * which is so of j NULL. */
bool turn_job_withdraw(struct turn_job *j, const char *id);
/* Asks for its end: the first call interrupts the agent, the second kills it. */
void turn_job_cancel(struct turn_job *j);
/* The host goes down: the same, told as host_shutdown. Nothing if another host runs it. */
void turn_job_cancel_for_exit(struct turn_job *j);
/* Another host runs it, and the next life of this one can go on with it. */
bool turn_job_is_away(const struct turn_job *j);
/* The lock of its conversation was lost: the agent is killed, and its session is not kept. */
void turn_job_fence(struct turn_job *j);
/* As executor_set_lease. */
void turn_job_set_lease(struct turn_job *j, int64_t until_ms);
/* Its session is not kept. */
void turn_job_discard_session(struct turn_job *j);
const char *turn_job_id(const struct turn_job *j);
/* Since it began. */
int64_t turn_job_elapsed_ms(const struct turn_job *j);
/* Calls of tools so far; *last: the name of the newest, or NULL. Borrowed. */
unsigned turn_job_tool_count(const struct turn_job *j, const char **last);
/* It has answered, or failed; only its end is awaited. */
bool turn_job_has_outcome(const struct turn_job *j);
/* Of the agent; "" while it is not known. Borrowed. */
const char *turn_job_session(const struct turn_job *j);
/* Not before `over`, unless the journal has been closed. */
void turn_job_free(struct turn_job *j);

#endif
