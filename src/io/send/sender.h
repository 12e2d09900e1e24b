/* SPDX-License-Identifier: MIT
 * Carries the letters of one instance to its service: in order per conversation, at the pace the
 * connector declares, again where that is right, each ended exactly once. Its owner says what goes
 * out when it is a letter's turn, and what an answer means; a lane is busy until then. Joins
 * send_scheduler.h and httpc.h on the loop. Loop thread only. */
#ifndef IO_SEND_SENDER_H
#define IO_SEND_SENDER_H

#include "io/http/client/httpc.h"
#include "io/send/send_scheduler.h"

struct courier;

/* A letter under way. */
struct parcel;

/* Borrowed by courier_send, which copies what it needs. */
struct courier_letter {
    const char *lane; /* the conversation; NULL: none */
    enum lane_priority priority;
    const char *key;    /* live edits: the message that is edited; or NULL */
    uint32_t rates;     /* bit i: counts on rate i of the instance */
    int64_t max_age_ms; /* no attempt starts later than this; 0: for ever */
    int64_t delay_ms;   /* nor earlier than this */
    bool is_ahead;      /* takes the place of one that is about to end */
    bool spares_live;   /* a final that is no turn's outcome: live edits stay */
    void *arg;
};

/* What the owner is asked and told; all come from the loop and may call the courier, but not
 * courier_free. */
struct courier_owner {
    /* It is its turn. Answered once, now or later, with courier_go or courier_decide. */
    void (*start)(void *ctx, struct parcel *p, void *arg);
    /* What came of courier_go. Answered once, now or later, with courier_decide. */
    void (*judge)(void *ctx, struct parcel *p, void *arg, const struct httpc_reply *reply);
    /* Nothing more comes of it; LANES_DECIDED: as courier_decide said. */
    void (*ended)(void *ctx, void *arg, enum lanes_end end);
    void *ctx;
};

/* Borrows http and loop. `rates` are copied; the seed is for back-off. */
struct courier *courier_new(struct loop *l, struct httpc *http, const struct lanes_rate *rates,
                            size_t rate_count, uint64_t seed, const struct courier_owner *owner);
/* Ends all letters: those in flight are cancelled. NULL is fine. */
void courier_free(struct courier *c);
void courier_send(struct courier *c, const struct courier_letter *letter);
/* An attempt; the request is copied. */
void courier_go(struct parcel *p, const struct httpc_request *request);
/* It ends, or waits for its next turn. One without an attempt counts on no rate. */
void courier_decide(struct parcel *p, const struct verdict *v);

#endif
