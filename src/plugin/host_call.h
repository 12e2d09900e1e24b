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
#include "base/language.h"

enum host_call_kind {
    HOST_CALL_SUBMIT,
    HOST_CALL_CANCEL,
    HOST_CALL_MAY,
    HOST_CALL_TICKET,
    HOST_CALL_ANSWER,
    HOST_CALL_KNOWS,
    HOST_CALL_RESEND,
    HOST_CALL_RETRY
};

/* Made by the instance's thread, read on the loop until it is answered. */
struct host_call {
    enum host_call_kind kind;
    const char *instance;               /* its name */
    enum language language;             /* of the instance; set by inbound_handle */
    const struct tc_inbound *inbound;   /* HOST_CALL_SUBMIT, HOST_CALL_RETRY; checked: sizes, UTF-8,
                                           no NULL where not allowed */
    const struct tc_decision *decision; /* HOST_CALL_ANSWER; checked */
    const char *turn;    /* HOST_CALL_CANCEL, HOST_CALL_TICKET, HOST_CALL_RESEND, HOST_CALL_RETRY */
    const char *request; /* HOST_CALL_TICKET: answered with TC_ACCEPTED and the ticket */
    const char *user;    /* HOST_CALL_CANCEL, HOST_CALL_MAY, HOST_CALL_RESEND */
    const char *chat;    /* HOST_CALL_MAY, HOST_CALL_KNOWS: answered with TC_ACCEPTED or TC_DENIED;
                            HOST_CALL_RESEND */
    const char *thread;  /* HOST_CALL_KNOWS; or NULL */

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
void host_call_complete(struct host_call *a, enum tc_accepted accepted, const char *turn,
                        const char *answer);

/* Copies, for host_call_wait and host_call_complete, each of which has to be called once. */
struct host_call *host_call_new_submit(const char *instance, const struct tc_inbound *inbound);
/* The prompt of that turn as another turn, if it is the newest one of the conversation; for who
 * sends `inbound`, whose text does not count. */
struct host_call *host_call_new_retry(const char *instance, const struct tc_inbound *inbound,
                                      const char *turn);
struct host_call *host_call_new_cancel(const char *instance, const char *turn, const char *user);
struct host_call *host_call_new_may(const char *instance, const char *user, const char *chat);
struct host_call *host_call_new_knows(const char *instance, const char *chat, const char *thread);
struct host_call *host_call_new_ticket(const char *instance, const char *turn, const char *request);
/* The undelivered messages of a turn to that chat once more, for a person who may write there. */
struct host_call *host_call_new_resend(const char *instance, const char *turn, const char *user,
                                       const char *chat);
struct host_call *host_call_new_answer(const char *instance, const struct tc_decision *decision);
/* Instance's thread: until it is answered; TC_NOT_KEPT when that takes longer than ms of real
 * time. The texts go to `into`. */
enum tc_accepted host_call_wait(struct host_call *a, int64_t ms, struct arena *into,
                                struct tc_receipt *receipt);
/* Loop thread, instead of host_call_wait: does not block; host_call_complete calls `told`, which
 * borrows its texts. */
void host_call_set_callback(struct host_call *a,
                            void (*told)(void *ctx, enum tc_accepted accepted, const char *turn,
                                         const char *answer),
                            void *ctx);
/* Instead of both: it was not asked. */
void host_call_discard(struct host_call *a);
/* Any thread that holds a reference: the wait ends now, with TC_NOT_KEPT. */
void host_call_abandon(struct host_call *a);
struct host_call *host_call_ref(struct host_call *a);
void host_call_unref(struct host_call *a); /* NULL is fine */

#endif
