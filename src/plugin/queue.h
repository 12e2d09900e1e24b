/* SPDX-License-Identifier: MIT
 * The bounded queue of one instance: events of many turns in order, merged where nothing is
 * lost, shrunk and dropped by kind when it is full, reserved room for what must arrive.
 * One producer (loop thread), one consumer (the instance's thread). */
#ifndef PLUGIN_QUEUE_H
#define PLUGIN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct queue;

struct queue_limits {
    size_t events, bytes; /* soft bounds: above them only reserved kinds enter */
    uint32_t pace_ms;     /* hold narration and thinking back to merge; 0: do not */
};

struct queue_item {
    void *turn; /* the tag given to queue_push */
    struct event_box *box;
};

struct queue *queue_new(const struct queue_limits *limits);
/* No thread may be inside. Drops what is left. */
void queue_free(struct queue *q);

/* Producer: takes over one reference of the box. Never blocks. What had to be dropped is told
 * to the consumer as a notice{warn, dropped} of that turn with the count in x. */
void queue_push(struct queue *q, void *turn, struct event_box *box);
/* Producer: nothing more comes; the consumer gets what is left, then 0. */
void queue_close(struct queue *q);
/* Producer: throws away everything that waits (a hung consumer). */
void queue_discard(struct queue *q);
/* Any thread: how full it is, 0.0–1.0 and above. */
double queue_fill(struct queue *q);
/* Any thread: blocks until the queue is at most half full, or closed, or timeout_ms passed;
 * whether there is room. For sources that can wait (replay). */
bool queue_wait_room(struct queue *q, int timeout_ms);

/* Consumer: waits and takes up to `max` items that are due, in order; 0: closed and empty, or
 * wait_ms passed (then *closed is false). The caller owns the boxes. */
size_t queue_pop(struct queue *q, struct queue_item *items, size_t max, int wait_ms, bool *closed);

struct queue_stats {
    uint64_t pushed, merged, replaced, shrunk, dropped;
    size_t events, bytes;
};
struct queue_stats queue_stats(struct queue *q);

#endif
