/* SPDX-License-Identifier: MIT
 * All conversations of one instance: which request goes now, and when to ask again. Applies the
 * rates that the connector declares, holds what a service asks to hold, shares fairly between
 * conversations. Pure: time and random seed are the caller's; owns no item. */
#ifndef IO_SEND_SEND_SCHEDULER_H
#define IO_SEND_SEND_SCHEDULER_H

#include <stddef.h>

#include "io/send/request_queue.h"
#include "io/send/retry_policy.h"

/* A rate counts either for each conversation by itself or for the instance as a whole. */
struct send_rate {
    struct rate_limit rate;
    bool per_lane;
};

enum send_result {
    SEND_DECIDED,  /* by its last verdict */
    SEND_REPLACED, /* a live edit: by a newer one of its message, or by the final */
    SEND_EXPIRED,  /* its deadline passed while it waited */
    SEND_CLOSED,   /* by send_scheduler_close */
};

struct send_scheduler;

struct send_scheduler_spec {
    const struct send_rate *rates; /* at most SEND_MAX_RATES; copied */
    size_t rate_count;
    uint64_t seed;
    /* Called once for every item that was submitted, when it is out of its conversation; may
     * submit. */
    void (*ended)(void *ctx, struct queued_request *item, enum send_result end);
    void *ctx;
};

struct send_scheduler *send_scheduler_new(const struct send_scheduler_spec *spec);
/* After send_scheduler_close, with nothing in flight. NULL is fine. */
void send_scheduler_free(struct send_scheduler *s);

/* conversation NULL: one of its own. */
void send_scheduler_submit(struct send_scheduler *s, const char *lane, struct queued_request *item,
                           int64_t now_ms);
/* An item that has to be started now, or NULL. The caller answers each with send_scheduler_settle.
 */
struct queued_request *send_scheduler_next(struct send_scheduler *s, int64_t now_ms);
/* The pace of the item's conversation counts from now. For the moment when the request goes out,
 * and for the moment when it is answered: the service may have counted it at any time in between.
 */
void send_scheduler_note_sent(struct send_scheduler *s, struct queued_request *item,
                              int64_t now_ms);
/* How long until send_scheduler_next may have something to do; -1: not before another call. */
int64_t send_scheduler_wait_ms(struct send_scheduler *s, int64_t now_ms);
/* The attempt has been answered: the item ends, or waits for its next attempt. Either way those in
 * the scope of a hold wait for it. */
void send_scheduler_settle(struct send_scheduler *s, struct queued_request *item,
                           const struct retry_decision *v, int64_t now_ms);
/* There was no attempt: it counts on no rate. Before send_scheduler_settle. */
void send_scheduler_refund_attempt(struct send_scheduler *s, const struct queued_request *item);
/* The attempt did not reach the service: it counts on no rate, and the whole conversation backs
 * off. Before send_scheduler_settle. */
void send_scheduler_note_unreached(struct send_scheduler *s, struct queued_request *item);
/* The service has answered something: what did not reach it goes again soon, not when its back-off
 * ends. */
void send_scheduler_note_reached(struct send_scheduler *s, int64_t now_ms);
/* Ends all that wait. */
void send_scheduler_close(struct send_scheduler *s);
/* Lanes that are remembered: those with work, and those whose pace still counts. */
size_t send_scheduler_count(const struct send_scheduler *s);

#endif
