/* SPDX-License-Identifier: MIT
 * Admission and scheduling of turns: writes an inbound message to the journal, then runs, queues
 * or refuses it within the limits of the conversation, the user and the host. Owns all
 * conversations. Loop thread only. */
#ifndef CORE_CONVERSATION_TURN_SCHEDULER_H
#define CORE_CONVERSATION_TURN_SCHEDULER_H

#include <turncast/plugin.h>

#include "conf/conf.h"
#include "core/conversation/conversation.h"
#include "core/dispatch/dispatch.h"
#include "core/lock/turn_lock.h"
#include "core/settings/bindings.h"
#include "core/turnlog/turnlog.h"
#include "io/journal/journal_async.h"

struct turn_scheduler;

struct turn_scheduler_spec {
    const struct conf *conf;
    struct loop *loop;
    struct journal_async *journal;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct session_history *history; /* or NULL, and so with usage */
    struct usage_log *usage;
    struct budgets *budgets; /* or NULL: no limit */
    const struct bindings *bindings;
    struct dispatch *dispatch;
    struct turnlog *turnlog; /* or NULL */
    struct request_registry *requests;
    struct turn_locks *locks; /* or NULL: the conversations are this host's alone */
    struct work *work;        /* or NULL; see turn_scheduler_set_work */
};

/* Other hosts run turns from now on; before the first turn. */
void turn_scheduler_set_work(struct turn_scheduler *cs, struct work *work);
/* After the drain: turns that other hosts run are left until the next start of this one; their
 * recipients are told nothing more before that. */
void turn_scheduler_leave_away(struct turn_scheduler *cs);
struct turn_scheduler *turn_scheduler_new(const struct turn_scheduler_spec *spec);
/* When they are drained, or the settings worker is freed and the journal closed. NULL is fine. */
void turn_scheduler_free(struct turn_scheduler *cs);

/* A message of somebody who may. Borrowed for the call; what may be NULL is said. */
struct turn_scheduler_message {
    const char *key;    /* of its conversation */
    const char *source; /* where it comes from: an instance, or CONVERSATIONS_HTTP… */
    const struct conf_agent *agent;
    const char *chat, *user, *route; /* or NULL */
    const char *owner; /* the API client, or NULL; of DETACHED the route, which outlives the host */
    const char *instances; /* that are told of its turn, too (conf_scope_turn), or NULL */
    const char *id, *also; /* its own in that source: what is known is not taken; or NULL */
    const char *turn;      /* the id its turn shall have (36 characters), or NULL */
    struct str prompt;
    struct str
        first; /* instead of it while the agent has no session of the conversation; or none */
    enum language language; /* of the replies to its sender */
    bool alone;             /* a turn of its own: neither joined with others nor waiting for them */
    bool throwaway;         /* the conversation ends with it: the session is not kept */
    bool follows;           /* its sender is told of turns that the agent begins by itself */
};
/* Sources that are no instance. What waits of DETACHED is run by the next host. The clients of the
 * others stay connected for the answer and are gone with the host: what waits of them is removed
 * when the host begins to end, and may be sent again to the next one. */
#define TURN_SCHEDULER_DETACHED "http"
#define CONVERSATIONS_CHAT "openai"
#define CONVERSATIONS_AG_UI "ag-ui"
bool turn_scheduler_is_attached(const char *source);
bool turn_scheduler_is_api(const char *source); /* one of these */

/* Why a message was not taken. */
enum conversations_refusal {
    CONVERSATIONS_NOT_REFUSED, /* it was, or it is known already */
    CONVERSATIONS_QUEUE_FULL,
    CONVERSATIONS_TOO_LONG,
    CONVERSATIONS_DISK_FULL,
    CONVERSATIONS_NOT_KEPT, /* the journal cannot be written; it is logged why */
    CONVERSATIONS_NO_AGENT, /* gone since it was looked up */
    CONVERSATIONS_BUDGET,   /* a budget of today is used up */
    CONVERSATIONS_ENDING,   /* the host ends, and the source is attached */
};
/* Valid for the call. */
struct conversations_result {
    enum tc_accepted accepted;
    enum conversations_refusal refusal;
    const char
        *turn; /* the one the message is part of: TC_ACCEPTED, TC_QUEUED, TC_KNOWN; else NULL */
    const char *text; /* for people, or NULL */
    int64_t retry_s;  /* of CONVERSATIONS_BUDGET: until the next day */
};
/* Once, at once or later. */
typedef void conversations_done(void *ctx, const struct conversations_result *answer);
void turn_scheduler_submit(struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                           conversations_done *done, void *ctx);

/* NULL: nothing waits or runs in it. */
struct conversation *turn_scheduler_find(const struct turn_scheduler *cs, const char *key);
/* The one in which this turn runs, or waits first. */
struct conversation *turn_scheduler_find_turn(const struct turn_scheduler *cs, const char *turn);
/* Takes back what waits, for a turn that ends; returns how many messages. The conversation may be
 * gone then. */
size_t turn_scheduler_drop_waiting(struct turn_scheduler *cs, struct conversation *c);
/* Takes back what waits while the turn goes on; the agent may have taken some of it already. `done`
 * is called once, at once or later. The conversation may be gone then. */
void turn_scheduler_take_back(struct turn_scheduler *cs, struct conversation *c,
                              conversation_taken_back *done, void *ctx);
/* The turn of this id, and no other, is ended if it runs, and taken back if it waits; false:
 * neither. One that the agent was given is cancelled when the agent has dropped it; if that has
 * taken it, it is merged into the turn that runs. */
bool turn_scheduler_cancel_turn(struct turn_scheduler *cs, const char *turn);

/* A message that waited when an earlier host ended. False: who sent it is not there any more. */
bool turn_scheduler_restore(struct turn_scheduler *cs, const struct journal_turn *t);
/* A turn that another host runs, or is about to, as the journal has it (turn_record_is_elsewhere):
 * goes on with it where it is, before what waits in its conversation. False: nobody here can. */
bool turn_scheduler_resume(struct turn_scheduler *cs, const struct journal_turn *t);
/* The API client that a turn of an earlier host belongs to, or NULL. */
const char *turn_scheduler_owner(const struct journal_turn *t);
/* The configuration of what begins from now on, which lives as long as it is the one. Messages that
 * wait for an instance or an agent that is gone are dropped. Before the old one is given back. */
void turn_scheduler_set_conf(struct turn_scheduler *cs, const struct conf *conf);
/* What begins in that conversation from now on is of this agent, which is the configuration's; a
 * process that waits for its next message ends. */
void turn_scheduler_rebind(struct turn_scheduler *cs, const char *key,
                           const struct conf_agent *agent);
/* Until turn_scheduler_start_restored, no turn begins; messages are admitted and wait. */
void turn_scheduler_hold(struct turn_scheduler *cs);
/* Begins what was restored, and what has waited. */
void turn_scheduler_start_restored(struct turn_scheduler *cs);

/* No turn begins that this host would run, until the contrary is said; what comes waits. */
void turn_scheduler_set_aside(struct turn_scheduler *cs, bool is_aside);
/* No turn begins any more: what comes or waits stays on disk for the next host, unless its source
 * is attached; then it is removed, and what comes is refused (CONVERSATIONS_ENDING). `drained` is
 * called, from the loop, when no turn runs; those that still do after the configured time are
 * ended. Again: they are ended now, and once more: killed. */
void turn_scheduler_drain(struct turn_scheduler *cs, void (*drained)(void *ctx), void *ctx);

/* Ends what works in the background of a conversation; false: nothing did. */
bool turn_scheduler_stop_background(struct turn_scheduler *cs, const char *key);
/* The next message begins another session: the process that waits for one ends. */
void turn_scheduler_forget_process(struct turn_scheduler *cs, const char *key);
/* Agents that wait for a message, or work in the background. */
size_t turn_scheduler_warm(const struct turn_scheduler *cs);
/* Turns of that agent that run on this host. */
size_t turn_scheduler_count_agent(const struct turn_scheduler *cs, const char *agent);
/* Turns that run, and those of them that no other host runs. */
size_t turn_scheduler_count_running(const struct turn_scheduler *cs);
size_t turn_scheduler_count_here(const struct turn_scheduler *cs);

#endif
