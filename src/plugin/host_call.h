/* SPDX-License-Identifier: MIT
 * A question of an instance's thread to the host's loop, for whose answer it waits: a message to
 * submit, a turn to cancel, who may, what was decided. It belongs to both: whichever side leaves
 * last frees it, so neither a wait that was given up nor an answer that comes late does harm. */
#ifndef PLUGIN_HOST_CALL_H
#define PLUGIN_HOST_CALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <turncast/plugin.h>

#include "base/arena.h"

enum ask_kind { ASK_SUBMIT, ASK_CANCEL, ASK_MAY, ASK_TICKET, ASK_ANSWER, ASK_KNOWS };

/* Made by the instance's thread, read on the loop until it is answered. */
struct ask {
    enum ask_kind kind;
    const char *instance; /* its name */
    const struct tc_inbound
        *inbound; /* ASK_SUBMIT; checked: sizes, UTF-8, no NULL where not allowed */
    const struct tc_decision *decision; /* ASK_ANSWER; checked */
    const char *turn;                   /* ASK_CANCEL, ASK_TICKET */
    const char *request;                /* ASK_TICKET: answered with TC_ACCEPTED and the ticket */
    const char *user;                   /* ASK_CANCEL, ASK_MAY */
    const char *chat;   /* ASK_MAY, ASK_KNOWS: answered with TC_ACCEPTED or TC_DENIED */
    const char *thread; /* ASK_KNOWS; or NULL */

    /* Of ask.c alone. */
    void (*told)(void *ctx, enum tc_accepted accepted, const char *turn, const char *answer);
    void *ctx;
    struct arena arena; /* copies of all that is above */
    _Atomic unsigned refs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool answered; /* under lock, as what follows */
    enum tc_accepted accepted;
    char *answer_turn, *answer_text;
};

/* Loop thread, once per ask, at once or later: wakes the instance. The texts (or NULL) are copied.
 * After it the ask is gone. */
void ask_answer(struct ask *a, enum tc_accepted accepted, const char *turn, const char *answer);

/* Copies, for ask_wait and ask_answer, each of which has to be called once. */
struct ask *ask_new_submit(const char *instance, const struct tc_inbound *inbound);
struct ask *ask_new_cancel(const char *instance, const char *turn, const char *user);
struct ask *ask_new_may(const char *instance, const char *user, const char *chat);
struct ask *ask_new_knows(const char *instance, const char *chat, const char *thread);
struct ask *ask_new_ticket(const char *instance, const char *turn, const char *request);
struct ask *ask_new_answer(const char *instance, const struct tc_decision *decision);
/* Instance's thread: until it is answered; TC_NOT_KEPT when that takes longer than ms of real
 * time. The texts go to `into`. */
enum tc_accepted ask_wait(struct ask *a, int64_t ms, struct arena *into,
                          struct tc_receipt *receipt);
/* Loop thread, instead of ask_wait: nobody waits, `told` (texts borrowed) is called by
 * ask_answer. */
void ask_tell(struct ask *a,
              void (*told)(void *ctx, enum tc_accepted accepted, const char *turn,
                           const char *answer),
              void *ctx);
/* Instead of both: it was not asked. */
void ask_drop(struct ask *a);
/* Any thread that holds a reference: the wait ends now, with TC_NOT_KEPT. */
void ask_give_up(struct ask *a);
struct ask *ask_ref(struct ask *a);
void ask_unref(struct ask *a); /* NULL is fine */

#endif
