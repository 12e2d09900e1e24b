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
    struct turn_locks *locks;                 /* or NULL: only this host has conversations */
    struct work *work;                        /* or NULL; see turn_scheduler_set_work */
    const struct conversation_guests *guests; /* or NULL: no turns of other hosts */
};

/* Enables running turns on other hosts; call it before the first turn. */
void turn_scheduler_set_work(struct turn_scheduler *cs, struct work *work);
/* After the drain: leaves turns that run on other hosts to them until the next start of this host;
 * their recipients receive nothing more before that. */
void turn_scheduler_detach_remote(struct turn_scheduler *cs);
struct turn_scheduler *turn_scheduler_new(const struct turn_scheduler_spec *spec);
/* Call it when drained, or when the settings worker is freed and the journal closed. NULL is
 * allowed. */
void turn_scheduler_free(struct turn_scheduler *cs);

/* A message of a permitted person. Borrowed for the call; members that may be NULL say so. */
struct turn_scheduler_message {
    const char *key;    /* key of its conversation */
    const char *source; /* its source: an instance, or CONVERSATIONS_HTTP… */
    const struct conf_agent *agent;
    const char *chat, *user, *route; /* or NULL */
    const char *owner;     /* the API client, or NULL; for DETACHED the route, which survives a
                            * restart */
    const char *instances; /* further instances that receive its turn (conf_scope_turn), or NULL */
    const char *id, *also; /* its id in that source, by which duplicates are refused; or NULL */
    const char *turn;      /* id for its turn (36 characters), or NULL */
    struct str prompt;
    struct str first; /* prompt to use if the agent has no session of the conversation; or none */
    enum language language; /* of replies to its sender */
    bool alone;             /* needs a separate turn: neither joined with others nor delayed by a
                             * burst */
    bool throwaway;         /* the conversation ends with the turn: the session is not stored */
    bool follows;           /* its sender receives turns that the agent starts by itself */
    bool given;             /* the waiting process of the conversation has received it already */
};
/* Sources other than instances. Queued messages of DETACHED are run after a restart. Clients of the
 * others stay connected and are lost with the host: their queued messages are removed when the host
 * begins to shut down, and may be sent again after the restart. */
#define TURN_SCHEDULER_DETACHED "http"
#define CONVERSATIONS_CHAT "openai"
#define CONVERSATIONS_AG_UI "ag-ui"
bool turn_scheduler_is_attached(const char *source);
bool turn_scheduler_is_api(const char *source); /* one of these sources */

/* Why a message was not accepted. */
enum conversations_refusal {
    CONVERSATIONS_NOT_REFUSED, /* accepted, or known already */
    CONVERSATIONS_QUEUE_FULL,
    CONVERSATIONS_TOO_LONG,
    CONVERSATIONS_DISK_FULL,
    CONVERSATIONS_NOT_KEPT, /* the journal cannot be written; the reason was logged */
    CONVERSATIONS_NO_AGENT, /* the agent or instance was removed since it was looked up */
    CONVERSATIONS_BUDGET,   /* a budget of today is used up */
    CONVERSATIONS_ENDING,   /* the host shuts down, and the source is attached */
};
/* Valid for the call. */
struct conversations_result {
    enum tc_accepted accepted;
    enum conversations_refusal refusal;
    const char *turn; /* turn of which the message is part: TC_ACCEPTED, TC_QUEUED, TC_KNOWN;
                       * otherwise NULL */
    const char *text; /* for people, or NULL */
    int64_t retry_s;  /* with CONVERSATIONS_BUDGET: seconds until the next day */
};
/* Called once, at once or later. */
typedef void conversations_done(void *ctx, const struct conversations_result *answer);
void turn_scheduler_submit(struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                           conversations_done *done, void *ctx);

/* NULL: it has no queued message and no turn. */
struct conversation *turn_scheduler_find(const struct turn_scheduler *cs, const char *key);
/* The conversation in which this turn runs, or is queued first. */
struct conversation *turn_scheduler_find_turn(const struct turn_scheduler *cs, const char *turn);
/* Withdraws queued messages of a turn that ends; returns their number. May free the
 * conversation. */
size_t turn_scheduler_drop_waiting(struct turn_scheduler *cs, struct conversation *c);
/* Withdraws queued messages while the turn continues; the agent may have taken some of them. `done`
 * is called once, at once or later. May free the conversation. */
void turn_scheduler_withdraw_all(struct turn_scheduler *cs, struct conversation *c,
                                 conversation_withdraw_done *done, void *ctx);
/* Cancels exactly the turn of this id if it runs, and withdraws it if it is queued; false: neither.
 * A message that the agent was given is cancelled when the agent has dropped it; if the agent has
 * taken it, it is merged into the running turn. */
bool turn_scheduler_cancel_turn(struct turn_scheduler *cs, const char *turn);
/* For a message that is not queued here: see turn_job_steer, turn_job_withdraw,
 * turn_job_emit_notice. */
enum dialect_steer turn_scheduler_steer_turn(struct turn_scheduler *cs, const char *turn,
                                             const char *id, struct str text);
bool turn_scheduler_withdraw_from_turn(struct turn_scheduler *cs, const char *turn, const char *id);
void turn_scheduler_emit_notice(struct turn_scheduler *cs, const char *turn, const char *code,
                                const char *text);
/* Ends the waiting process of a conversation; `why`, for the log. */
void turn_scheduler_end_process(struct turn_scheduler *cs, const char *key, const char *why);
/* The turn was given to this host by another one, which it has lost (bus.on_loss). */
void turn_scheduler_cut_off_turn(struct turn_scheduler *cs, const char *turn);

/* Restores a message that was queued before a restart. False: its sender no longer exists. */
bool turn_scheduler_restore(struct turn_scheduler *cs, const struct journal_turn *t);
/* Continues a turn that another host runs, or is about to run, according to the journal
 * (turn_record_is_elsewhere), before the queued messages of its conversation. False: it cannot be
 * continued here. */
bool turn_scheduler_resume(struct turn_scheduler *cs, const struct journal_turn *t);
/* Starts turns that were restored or resumed while the host serves, as far as limits permit. */
void turn_scheduler_start_ready(struct turn_scheduler *cs);
/* The API client that owns a turn from before a restart, or NULL. */
const char *turn_scheduler_owner(const struct journal_turn *t);
/* Sets the configuration for turns that start from now on, which must live until it is replaced.
 * Drops queued messages for removed instances or agents. Call it before the old configuration is
 * released. */
void turn_scheduler_set_conf(struct turn_scheduler *cs, const struct conf *conf);
/* Sets the agent of the conversation for turns that start from now on; ends a process that waits
 * for the next message. The agent is borrowed from the configuration. */
void turn_scheduler_rebind(struct turn_scheduler *cs, const char *key,
                           const struct conf_agent *agent);
/* Until turn_scheduler_start_restored, messages are admitted and queued, but no turn starts. */
void turn_scheduler_delay_starts(struct turn_scheduler *cs);
/* Starts restored turns and queued messages. */
void turn_scheduler_start_restored(struct turn_scheduler *cs);

/* Pauses or resumes turns on this host; messages are queued. */
void turn_scheduler_set_aside(struct turn_scheduler *cs, bool is_aside);
/* Starts no more turns: queued and new messages stay on disk for the next start, but those of
 * attached sources are removed or refused (CONVERSATIONS_ENDING). `drained` is called, from the
 * loop, when no turn runs; turns still running after the configured time are cancelled. Second
 * call: cancels them now; third call: kills them. */
void turn_scheduler_drain(struct turn_scheduler *cs, void (*drained)(void *ctx), void *ctx);

/* Ends background work of a conversation on this host; false: there was none. */
bool turn_scheduler_stop_background(struct turn_scheduler *cs, const char *key);
/* The same for the host that runs the conversation, if it is another one. `done` is called once, at
 * once or later. */
void turn_scheduler_stop_elsewhere(struct turn_scheduler *cs, const char *key,
                                   const struct conf_agent *agent,
                                   void (*done)(void *ctx, bool ended), void *ctx);
/* The next message starts a new session: ends the waiting process. */
void turn_scheduler_forget_process(struct turn_scheduler *cs, const char *key);
/* Number of agents that wait for a message, or work in the background. */
size_t turn_scheduler_warm(const struct turn_scheduler *cs);
/* Number of turns of that agent on this host. */
size_t turn_scheduler_count_agent(const struct turn_scheduler *cs, const char *agent);
/* Number of running turns; and of those that no other host runs. */
size_t turn_scheduler_count_running(const struct turn_scheduler *cs);
size_t turn_scheduler_count_here(const struct turn_scheduler *cs);

#endif
