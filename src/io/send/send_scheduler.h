/* SPDX-License-Identifier: MIT
 * All lanes of one instance: which request goes now, and when to ask again. Applies the rates
 * that the connector declares, holds what a service asks to hold, shares fairly between lanes.
 * Pure: time and random seed are the caller's; owns no item. */
#ifndef IO_SEND_SEND_SCHEDULER_H
#define IO_SEND_SEND_SCHEDULER_H

#include <stddef.h>

#include "io/send/request_queue.h"
#include "io/send/retry_policy.h"

/* A rate counts either for each lane by itself or for the instance as a whole. */
struct lanes_rate {
    struct bucket_rate rate;
    bool per_lane;
};

enum lanes_end {
    LANES_DECIDED,  /* by its last verdict */
    LANES_REPLACED, /* a live edit: by a newer one of its message, or by the final */
    LANES_EXPIRED,  /* its deadline passed while it waited */
    LANES_CLOSED,   /* by lanes_close */
};

struct lanes;

struct lanes_spec {
    const struct lanes_rate *rates; /* at most LANE_MAX_RATES; copied */
    size_t rate_count;
    uint64_t seed;
    /* Called once for every item that was submitted, when it is out of its lane; may submit. */
    void (*ended)(void *ctx, struct lane_item *item, enum lanes_end end);
    void *ctx;
};

struct lanes *lanes_new(const struct lanes_spec *spec);
/* After lanes_close, with nothing in flight. NULL is fine. */
void lanes_free(struct lanes *s);

/* lane NULL: one of its own. */
void lanes_submit(struct lanes *s, const char *lane, struct lane_item *item, int64_t now_ms);
/* An item that has to be started now, or NULL. The caller answers each with lanes_decide. */
struct lane_item *lanes_next(struct lanes *s, int64_t now_ms);
/* The pace of the item's lane counts from now. For the moment when the request goes out, and for
 * the moment when it is answered: the service may have counted it at any time in between. */
void lanes_depart(struct lanes *s, struct lane_item *item, int64_t now_ms);
/* How long until lanes_next may have something to do; -1: not before another call. */
int64_t lanes_wait_ms(struct lanes *s, int64_t now_ms);
/* The attempt has been answered: the item ends, or waits for its next attempt. */
void lanes_decide(struct lanes *s, struct lane_item *item, const struct verdict *v, int64_t now_ms);
/* There was no attempt: it counts on no rate. Before lanes_decide. */
void lanes_spare(struct lanes *s, const struct lane_item *item);
/* The attempt did not reach the service: it counts on no rate, and the whole lane backs off.
 * Before lanes_decide. */
void lanes_miss(struct lanes *s, struct lane_item *item);
/* The service has answered something: what did not reach it goes again soon, not when its back-off
 * ends. */
void lanes_hit(struct lanes *s, int64_t now_ms);
/* Ends all that wait. */
void lanes_close(struct lanes *s);
/* Lanes that are remembered: those with work, and those whose pace still counts. */
size_t lanes_count(const struct lanes *s);

#endif
