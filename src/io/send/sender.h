/* SPDX-License-Identifier: MIT
 * Sends the requests of one instance to its service: in order per conversation, within the rates
 * that the connector declares, with retries; each request ends exactly once. When a request may be
 * sent, its owner provides it, and later decides what the reply means; the conversation is busy
 * until then. Connects send_scheduler.h and httpc.h. Loop thread only. */
#ifndef IO_SEND_SENDER_H
#define IO_SEND_SENDER_H

#include "io/http/client/httpc.h"
#include "io/send/send_scheduler.h"

struct sender;

/* A request in progress. */
struct send_item;

/* Borrowed by sender_submit, which copies what it needs. */
struct send_spec {
    const char *lane; /* the conversation; NULL: none */
    enum send_priority priority;
    const char *key;    /* live edits: the edited message; or NULL */
    uint32_t rates;     /* bit i: counts towards rate i of the instance */
    int64_t max_age_ms; /* latest start of an attempt; 0: none */
    int64_t delay_ms;   /* earliest start */
    bool is_ahead;      /* sent before others of its priority: it replaces a request that ends */
    bool spares_live;   /* a final that is not a turn's outcome: live edits stay */
    void *arg;
};

/* Callbacks of the owner, called from the loop. They may call the sender, except sender_free. */
struct sender_callbacks {
    /* The request may be sent. Respond once, now or later, with sender_start_attempt or
     * sender_settle. */
    void (*start)(void *ctx, struct send_item *p, void *arg);
    /* The result of sender_start_attempt. Respond once, now or later, with sender_settle. */
    void (*judge)(void *ctx, struct send_item *p, void *arg, const struct httpc_reply *reply);
    /* The request has ended; SEND_DECIDED: by sender_settle. */
    void (*ended)(void *ctx, void *arg, enum send_result end);
    void *ctx;
};

/* Borrows http and loop. Copies `rates`; the seed is for back-off. */
struct sender *sender_new(struct loop *l, struct httpc *http, const struct send_rate *rates,
                          size_t rate_count, uint64_t seed, const struct sender_callbacks *owner);
/* Ends all requests: cancels those in flight. NULL is allowed. */
void sender_free(struct sender *c);
void sender_submit(struct sender *c, const struct send_spec *request);
/* Starts an attempt; copies the request. */
void sender_start_attempt(struct send_item *p, const struct httpc_request *request);
/* The same for an attempt that the owner makes itself. */
void sender_record_attempt(struct send_item *p);
/* Ends the request or queues it for another attempt. Without an attempt, it does not count towards
 * rates. */
void sender_settle(struct send_item *p, const struct retry_decision *v);

#endif
