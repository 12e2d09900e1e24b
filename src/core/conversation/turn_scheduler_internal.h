/* SPDX-License-Identifier: MIT
 * All conversations between their files: turn_scheduler.c (messages and their turns),
 * turn_scheduler_lock.c (locks shared with other hosts), turn_scheduler_warm.c (agents without a
 * turn), turn_scheduler_withdraw.c (messages that are taken back), turn_scheduler_drain.c (the end
 * of the host), turn_scheduler_conf.c (another configuration),
 * turn_scheduler_restore.c (what an earlier life has left), turn_scheduler_away.c (other hosts). */
#ifndef CORE_CONVERSATION_TURN_SCHEDULER_INTERNAL_H
#define CORE_CONVERSATION_TURN_SCHEDULER_INTERNAL_H

#include "core/agent/warm_pool.h"
#include "core/conversation/turn_scheduler.h"

struct turn_scheduler {
    struct turn_scheduler_spec spec;
    const struct conf_conversations *limits;
    LIST_HEAD(, conversation) list;
    void *by_key;                          /* a tree of search.h: all of them */
    TAILQ_HEAD(, conversation) ready_list; /* who became ready first; some are not any more */
    TAILQ_HEAD(, turn_scheduler_admission) deferred; /* on disk; wait for the answer of a lock */
    struct user_limits *user_limits;                 /* whose turns run */
    struct warm *warm;                               /* agents without a turn */
    size_t running;
    uint64_t ready; /* numbers given so far */
    size_t admitting;
    bool holds; /* no turn begins yet */
    bool draining;
    bool is_aside;
    struct loop_timer *drain;
    void (*drained)(void *ctx); /* NULL: it has been called, or nobody asked */
    void *ctx;
};

/* turn_scheduler.c */
struct conversation *conversations_find_or_make(struct turn_scheduler *cs,
                                                const struct turn_scheduler_message *m);
/* Where a turn runs: the parts of the host. */
struct turn_job_spec conversations_place(const struct turn_scheduler *cs);
/* For clients, a turn is there although it does not run yet. */
void conversations_note_waiting(const struct turn_scheduler *cs, const struct turnlog_spec *spec);
/* The `over` of a conversation's job. */
void conversations_turn_over(void *conversation);
/* Begins what may begin. */
void conversations_pump(struct turn_scheduler *cs);
/* What waits in the conversation begins as soon as there is room. */
void conversations_begin_now(struct turn_scheduler *cs, struct conversation *c);
void conversations_look_for_drained(struct turn_scheduler *cs);
/* Frees it when nothing waits or runs in it. */
void conversations_drop_if_idle(struct turn_scheduler *cs, struct conversation *c);

/* Answers what waits for the lock of that conversation. */
void conversations_admit_deferred(struct turn_scheduler *cs, const char *key);

/* turn_scheduler_lock.c */
void conversations_open_locks(struct turn_scheduler *cs);
/* Asks for the lock, unless this host has it: then the turn may begin. */
bool conversations_lock(struct turn_scheduler *cs, const struct conversation *c);
/* It has been asked for. */
bool conversations_waits_for_lock(const struct turn_scheduler *cs, const struct conversation *c);
void conversations_add_lock(const struct turn_scheduler *cs, const struct conversation *c,
                            struct turn_job_spec *spec);
/* Drops the lock if it is held and no agent of the conversation is at work. */
void conversations_unlock(struct turn_scheduler *cs, const char *key);
/* The same, also if it is asked for: nothing waits in the conversation any more. */
void conversations_give_up_lock(struct turn_scheduler *cs, const char *key);

/* It may begin, behind those that may already. */
void conversations_make_ready(struct turn_scheduler *cs, struct conversation *c);

/* turn_scheduler_away.c: turns that other hosts run and that go on without this one. */
size_t conversations_count_away(const struct turn_scheduler *cs);
/* This host runs no turns now, and no other one can run that conversation's. */
bool conversations_is_held(const struct turn_scheduler *cs, const struct conversation *c);

/* turn_scheduler_budget.c */
/* journal_turn.person of whoever wrote it, in the arena; or NULL. */
const char *conversations_person(struct arena *arena, const struct turn_scheduler_message *m);
/* True: a budget of today is used up, and `done` was called. */
bool conversations_refuse_over_budget(const struct turn_scheduler *cs,
                                      const struct turn_scheduler_message *m,
                                      conversations_done *done, void *ctx);

/* turn_scheduler_warm.c */
void conversations_open_warm(struct turn_scheduler *cs);

#endif
