/* SPDX-License-Identifier: MIT
 * A call of an instance's thread to the host's loop that waits for a result: submit a message,
 * cancel a turn, check a permission, decide a request. Reference-counted: the last side frees it,
 * so an abandoned wait and a late answer are both safe. */
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
    HOST_CALL_CHECK_PERMISSION,
    HOST_CALL_TICKET,
    HOST_CALL_ANSWER,
    HOST_CALL_KNOWS_CHAT,
    HOST_CALL_RESEND,
    HOST_CALL_RETRY
};

/* Created by the instance's thread, read on the loop until it is completed. */
struct host_call {
    enum host_call_kind kind;
    const char *instance;               /* name of the instance */
    enum language language;             /* configuration of the instance; set by inbound_handle */
    const struct tc_inbound *inbound;   /* HOST_CALL_SUBMIT, HOST_CALL_RETRY; checked: sizes, UTF-8,
                                         * required members */
    const struct tc_decision *decision; /* HOST_CALL_ANSWER; checked */
    const char *turn;    /* HOST_CALL_CANCEL, HOST_CALL_TICKET, HOST_CALL_RESEND, HOST_CALL_RETRY */
    const char *request; /* HOST_CALL_TICKET: completed with TC_ACCEPTED and the ticket */
    const char *user;    /* HOST_CALL_CANCEL, HOST_CALL_CHECK_PERMISSION, HOST_CALL_RESEND */
    const char *chat;    /* HOST_CALL_CHECK_PERMISSION, HOST_CALL_KNOWS_CHAT: completed with
                          * TC_ACCEPTED or TC_DENIED;    HOST_CALL_RESEND */
    const char *thread;  /* HOST_CALL_KNOWS_CHAT; or NULL */

    /* Private to host_call.c. */
    void (*told)(void *ctx, enum tc_accepted accepted, const char *turn, const char *answer);
    void *ctx;
    struct arena arena; /* owns copies of all strings above */
    _Atomic unsigned refs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool answered; /* protected by the lock, as the following members */
    enum tc_accepted accepted;
    char *answer_turn, *answer_text;
};

/* Loop thread, once per call, at once or later: wakes the instance. Copies the texts (or NULL). The
 * call must not be used afterwards. */
void host_call_complete(struct host_call *a, enum tc_accepted accepted, const char *turn,
                        const char *answer);

/* These copy their arguments, for host_call_wait and host_call_complete, each of which must be
 * called once. */
struct host_call *host_call_new_submit(const char *instance, const struct tc_inbound *inbound);
/* Submits the prompt of that turn again, if it is the newest of the conversation, on behalf of the
 * sender of `inbound`, whose text is ignored. */
struct host_call *host_call_new_retry(const char *instance, const struct tc_inbound *inbound,
                                      const char *turn);
struct host_call *host_call_new_cancel(const char *instance, const char *turn, const char *user);
struct host_call *host_call_new_check_permission(const char *instance, const char *user,
                                                 const char *chat);
struct host_call *host_call_new_knows_chat(const char *instance, const char *chat,
                                           const char *thread);
struct host_call *host_call_new_ticket(const char *instance, const char *turn, const char *request);
/* Resends the undelivered messages of a turn to that chat, for a person who may write there. */
struct host_call *host_call_new_resend(const char *instance, const char *turn, const char *user,
                                       const char *chat);
struct host_call *host_call_new_answer(const char *instance, const struct tc_decision *decision);
/* Instance's thread: waits for the result; TC_NOT_KEPT after ms of real time. Texts are copied to
 * `into`. */
enum tc_accepted host_call_wait(struct host_call *a, int64_t ms, struct arena *into,
                                struct tc_receipt *receipt);
/* Loop thread, instead of host_call_wait: does not block; host_call_complete calls `told`, which
 * borrows the texts of the result. */
void host_call_set_callback(struct host_call *a,
                            void (*told)(void *ctx, enum tc_accepted accepted, const char *turn,
                                         const char *answer),
                            void *ctx);
/* Instead of both, if the call was not made. */
void host_call_discard(struct host_call *a);
/* Any thread with a reference: ends the wait now, with TC_NOT_KEPT. */
void host_call_abandon(struct host_call *a);
struct host_call *host_call_ref(struct host_call *a);
void host_call_unref(struct host_call *a); /* NULL is allowed */

#endif
