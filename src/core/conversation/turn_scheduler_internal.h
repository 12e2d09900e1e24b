/* SPDX-License-Identifier: MIT
 * Internal interface of the scheduler's files: turn_scheduler.c (messages and their turns),
 * turn_scheduler_lock.c (locks shared with other hosts), turn_scheduler_warm.c (agents without a
 * turn), turn_scheduler_withdraw.c (withdrawn messages), turn_scheduler_drain.c (shutdown),
 * turn_scheduler_conf.c (a new configuration), turn_scheduler_restore.c (recovery after a restart),
 * turn_scheduler_away.c (other hosts). */
#ifndef CORE_CONVERSATION_TURN_SCHEDULER_INTERNAL_H
#define CORE_CONVERSATION_TURN_SCHEDULER_INTERNAL_H

#include "core/agent/warm_pool.h"
#include "core/conversation/turn_scheduler.h"

struct turn_scheduler {
    struct turn_scheduler_spec spec;
    const struct conf_conversations *limits;
    LIST_HEAD(, conversation) list;
    void *by_key; /* tree of search.h with all conversations */
    TAILQ_HEAD(, conversation)
    ready_list; /* in the order of readiness; some may no longer be
                 * ready */
    TAILQ_HEAD(, turn_scheduler_admission) deferred; /* messages on disk that wait for a lock */
    struct user_limits *user_limits;                 /* users with running turns */
    struct warm *warm;                               /* agents without a turn */
    TAILQ_HEAD(, late_notice) late; /* notices that are still to be emitted, the oldest first */
    size_t n_late, running;
    uint64_t ready; /* last assigned number */
    size_t admitting;
    bool holds; /* no turn may start yet */
    bool draining;
    bool is_aside;
    struct loop_timer *drain;
    void (*drained)(void *ctx); /* NULL: already called, or not set */
    void *ctx;
};

/* turn_scheduler.c */
struct conversation *conversations_find_or_make(struct turn_scheduler *cs,
                                                const struct turn_scheduler_message *m);
/* The parts of the host with which a turn runs. */
struct turn_job_spec conversations_place(const struct turn_scheduler *cs);
/* Shows the queued turn to clients. */
void conversations_log_waiting(const struct turn_scheduler *cs, const struct turnlog_spec *spec);
/* `over` of a conversation's job. */
void conversations_turn_over(void *conversation);
/* Starts turns that may start. */
void conversations_pump(struct turn_scheduler *cs);
/* The conversation's queued messages may start as soon as limits permit. */
void conversations_begin_now(struct turn_scheduler *cs, struct conversation *c);
void conversations_check_drained(struct turn_scheduler *cs);
/* Frees the conversation if it has no queued message and no turn. */
void conversations_drop_if_idle(struct turn_scheduler *cs, struct conversation *c);

/* Replies to messages that wait for the lock of that conversation. */
void conversations_admit_deferred(struct turn_scheduler *cs, const char *key);

/* turn_scheduler_lock.c */
void conversations_open_locks(struct turn_scheduler *cs);
/* Requests the lock, unless this host has it; the turn may start when it is held. */
bool conversations_lock(struct turn_scheduler *cs, const struct conversation *c);
/* Whether the reply to the request for the lock is pending. */
bool conversations_awaits_lock(const struct turn_scheduler *cs, const struct conversation *c);
/* Whether the lock is wanted and not held. */
bool conversations_waits_for_lock(const struct turn_scheduler *cs, const struct conversation *c);
void conversations_add_lock(const struct turn_scheduler *cs, const struct conversation *c,
                            struct turn_job_spec *spec);
/* Releases the lock if it is held and no agent of the conversation works. */
void conversations_unlock(struct turn_scheduler *cs, const char *key);
/* The same, and also withdraws a request: the conversation has no queued messages. */
void conversations_abandon_lock(struct turn_scheduler *cs, const char *key);

/* The conversation is ready, behind those that are ready already. */
void conversations_make_ready(struct turn_scheduler *cs, struct conversation *c);

/* turn_scheduler_away.c: number of turns that other hosts run and that continue without this
 * host. */
size_t conversations_count_away(const struct turn_scheduler *cs);
/* Whether this host runs no turns now, and no other host can run that conversation's. */
bool conversations_is_held(const struct turn_scheduler *cs, const struct conversation *c);
/* A turn begins in the conversation: takes what is to be told there of an earlier one. NULL:
 * nothing is. Owned. */
char *conversations_take_late_host(struct turn_scheduler *cs, const char *key);
void conversations_free_late(struct turn_scheduler *cs);
/* Fills in the id for the turn of a message: derived from the message if several hosts may receive
 * it. */
void conversations_make_id(const struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                           char id[37]);
/* The message was admitted: makes it known to the other hosts. */
void conversations_share(const struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                         const char *id);

/* turn_scheduler_budget.c */
/* journal_turn.person of the message's author, in the arena; or NULL. */
const char *conversations_person(struct arena *arena, const struct turn_scheduler_message *m);
/* True: a budget of today is used up, and `done` was called. */
bool conversations_refuse_over_budget(const struct turn_scheduler *cs,
                                      const struct turn_scheduler_message *m,
                                      conversations_done *done, void *ctx);

/* turn_scheduler_warm.c */
void conversations_open_warm(struct turn_scheduler *cs);

#endif
