/* SPDX-License-Identifier: MIT
 * Carries the requests of one instance to its service: in order per conversation, at the pace the
 * connector declares, again where that is right, each ended exactly once. Its owner says what goes
 * out when it is a request's turn, and what an answer means; a conversation is busy until then.
 * Joins send_scheduler.h and httpc.h on the loop. Loop thread only. */
#ifndef IO_SEND_SENDER_H
#define IO_SEND_SENDER_H

#include "io/http/client/httpc.h"
#include "io/send/send_scheduler.h"

struct sender;

/* A request under way. */
struct send_item;

/* Borrowed by sender_submit, which copies what it needs. */
struct send_spec {
    const char *lane; /* the conversation; NULL: none */
    enum send_priority priority;
    const char *key;    /* live edits: the message that is edited; or NULL */
    uint32_t rates;     /* bit i: counts on rate i of the instance */
    int64_t max_age_ms; /* no attempt starts later than this; 0: for ever */
    int64_t delay_ms;   /* nor earlier than this */
    bool is_ahead;      /* takes the place of one that is about to end */
    bool spares_live;   /* a final that is no turn's outcome: live edits stay */
    void *arg;
};

/* What the owner is asked and told; all come from the loop and may call the sender, but not
 * sender_free. */
struct sender_callbacks {
    /* It is its turn. Answered once, now or later, with sender_start_attempt or sender_settle. */
    void (*start)(void *ctx, struct send_item *p, void *arg);
    /* What came of sender_start_attempt. Answered once, now or later, with sender_settle. */
    void (*judge)(void *ctx, struct send_item *p, void *arg, const struct httpc_reply *reply);
    /* Nothing more comes of it; SEND_DECIDED: as sender_settle said. */
    void (*ended)(void *ctx, void *arg, enum send_result end);
    void *ctx;
};

/* Borrows http and loop. `rates` are copied; the seed is for back-off. */
struct sender *sender_new(struct loop *l, struct httpc *http, const struct send_rate *rates,
                          size_t rate_count, uint64_t seed, const struct sender_callbacks *owner);
/* Ends all requests: those in flight are cancelled. NULL is fine. */
void sender_free(struct sender *c);
void sender_submit(struct sender *c, const struct send_spec *request);
/* An attempt; the request is copied. */
void sender_start_attempt(struct send_item *p, const struct httpc_request *request);
/* The same for an attempt that the owner makes by itself. */
void sender_note_attempt(struct send_item *p);
/* It ends, or waits for its next turn. One without an attempt counts on no rate. */
void sender_settle(struct send_item *p, const struct retry_decision *v);

#endif
