/* SPDX-License-Identifier: MIT
 * The bounded queue of one instance: a lock and two conditions around a backlog, which decides
 * what waits, joins and gives way (backlog.h). One producer (loop thread), one consumer (the
 * instance's thread). */
#ifndef PLUGIN_QUEUE_H
#define PLUGIN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"
#include "plugin/backlog.h"

struct queue;

struct queue *queue_new(const struct backlog_limits *limits);
/* No thread may be inside. Drops what is left. */
void queue_free(struct queue *q);

/* Producer: a lane for the events of one turn; it ends when its done event was popped. */
struct lane *queue_open(struct queue *q, void *turn);
/* Producer: takes over one reference of the box. Never blocks. */
void queue_push(struct queue *q, struct lane *lane, struct event_box *box);
/* Producer: nothing more comes; the consumer gets what is left, then 0. */
void queue_close(struct queue *q);
/* Any thread: how full it is, 0.0–1.0 and above. */
double queue_fill(const struct queue *q);
/* Producer: whether the queue is at most half full; if not, blocks until it is a quarter full, or
 * closed, or timeout_ms passed. For sources that can wait (replay). */
bool queue_wait_room(struct queue *q, int timeout_ms);

/* Consumer: waits and takes up to `max` items that are due, in order; 0: closed and empty, or
 * wait_ms passed (then *closed is false). The caller owns the boxes. */
size_t queue_pop(struct queue *q, struct backlog_item *items, size_t max, int wait_ms,
                 bool *closed);

struct backlog_stats queue_stats(struct queue *q);

#endif
