/* SPDX-License-Identifier: MIT
 * Scheduler for all conversations of one instance: chooses the next request, and the time of the
 * next check. Applies the rates that the connector declares and holds requested by the service;
 * shares fairly between conversations. Pure: time and random seed are the caller's; owns no
 * item. */
#ifndef IO_SEND_SEND_SCHEDULER_H
#define IO_SEND_SEND_SCHEDULER_H

#include <stddef.h>

#include "io/send/request_queue.h"
#include "io/send/retry_policy.h"

/* A rate applies either to each conversation separately or to the instance as a whole. */
struct send_rate {
    struct rate_limit rate;
    bool per_lane;
};

enum send_result {
    SEND_DECIDED,  /* by its last verdict */
    SEND_REPLACED, /* a live edit: superseded by a newer one of its message, or by the final */
    SEND_EXPIRED,  /* its deadline passed while it waited */
    SEND_CLOSED,   /* by send_scheduler_close */
};

struct send_scheduler;

struct send_scheduler_spec {
    const struct send_rate *rates; /* at most SEND_MAX_RATES; copied */
    size_t rate_count;
    uint64_t seed;
    /* Called once for every submitted item, after it has left its queue; may submit. */
    void (*ended)(void *ctx, struct queued_request *item, enum send_result end);
    void *ctx;
};

struct send_scheduler *send_scheduler_new(const struct send_scheduler_spec *spec);
/* Call it after send_scheduler_close, with no request in flight. NULL is allowed. */
void send_scheduler_free(struct send_scheduler *s);

/* conversation NULL: a separate one. */
void send_scheduler_submit(struct send_scheduler *s, const char *lane, struct queued_request *item,
                           int64_t now_ms);
/* An item to be started now, or NULL. The caller must settle each with send_scheduler_settle. */
struct queued_request *send_scheduler_next(struct send_scheduler *s, int64_t now_ms);
/* The rates of the item's conversation count from now. Call it when the request is sent, and when
 * it is answered, because the service may have counted it at any time in between. */
void send_scheduler_record_send_time(struct send_scheduler *s, struct queued_request *item,
                                     int64_t now_ms);
/* Delay until send_scheduler_next may return an item; -1: not before another call. */
int64_t send_scheduler_wait_ms(struct send_scheduler *s, int64_t now_ms);
/* The attempt was answered: the item ends, or waits for its next attempt. Items in the scope of a
 * hold wait in both cases. */
void send_scheduler_settle(struct send_scheduler *s, struct queued_request *item,
                           const struct retry_decision *v, int64_t now_ms);
/* There was no attempt: it does not count towards rates. Call it before send_scheduler_settle. */
void send_scheduler_refund_attempt(struct send_scheduler *s, const struct queued_request *item);
/* The attempt did not reach the service: it does not count towards rates, and the whole
 * conversation backs off. Call it before send_scheduler_settle. */
void send_scheduler_handle_unreachable(struct send_scheduler *s, struct queued_request *item);
/* The service has responded: items that did not reach it are retried soon, before their back-off
 * ends. */
void send_scheduler_handle_reachable(struct send_scheduler *s, int64_t now_ms);
/* Ends all waiting items. */
void send_scheduler_close(struct send_scheduler *s);
/* Number of remembered conversations: those with items, and those whose rates still apply. */
size_t send_scheduler_count(const struct send_scheduler *s);

#endif
