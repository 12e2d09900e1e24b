/* SPDX-License-Identifier: MIT
 * The bounded queue of one instance: a lock and two conditions around a backlog, which decides
 * what waits, joins and gives way (backlog.h). One producer (loop thread), one consumer (the
 * instance's thread). */
#ifndef PLUGIN_QUEUE_EVENT_QUEUE_H
#define PLUGIN_QUEUE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"
#include "plugin/queue/backlog.h"

struct queue;
struct mail;

struct queue *queue_new(const struct backlog_limits *limits);
/* No thread may be inside. Drops what is left. */
void queue_free(struct queue *q);

/* Producer: a lane for the events of one turn; it ends when its done event was popped. */
struct lane *queue_open(struct queue *q, void *turn);
/* Producer: takes over one reference of the box. Never blocks. */
void queue_push(struct queue *q, struct lane *lane, struct event_box *box);
/* Producer: until it is turned off again, the consumer may learn of several events at once. */
void queue_gather(struct queue *q, bool on);
/* Producer: nothing more comes; the consumer gets what is left, then 0. */
void queue_close(struct queue *q);
/* Any thread: how full it is, 0.0–1.0 and above. */
double queue_fill(const struct queue *q);
/* Producer: whether the queue is at most half full, where a large one counts as of 2,048 events or
 * 2 MiB; if not, blocks until it is a quarter full, or closed, or timeout_ms passed. For sources
 * that can wait (replay). */
bool queue_wait_room(struct queue *q, int timeout_ms);

/* Producer: takes over. Never dropped, and the consumer learns of it at once. */
void queue_put_mail(struct queue *q, struct mail *m);
/* Consumer: whether there is mail, and the oldest, or NULL; no lock. The caller owns it. */
bool queue_has_mail(const struct queue *q);
struct mail *queue_take_mail(struct queue *q);
/* Consumer: it is going to wait for the producer, which therefore must not wait for room: it gets
 * true, until the consumer is back in queue_pop. */
void queue_excuse(struct queue *q);

/* Consumer: waits and takes up to `max` items that are due, in order; 0: closed and all is taken,
 * or (then *closed is false) there is mail, or wait_ms passed. The caller owns the boxes. */
size_t queue_pop(struct queue *q, struct backlog_item *items, size_t max, int wait_ms,
                 bool *closed);

/* Producer. */
struct backlog_stats queue_stats(struct queue *q);

#endif
