/* SPDX-License-Identifier: MIT
 * The bounded queue of one instance: a lock and two conditions around a backlog, which decides
 * about waiting, joining and dropping (backlog.h). One producer (loop thread), one consumer (the
 * instance's thread). */
#ifndef PLUGIN_QUEUE_EVENT_QUEUE_H
#define PLUGIN_QUEUE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"
#include "plugin/queue/backlog.h"

struct event_queue;
struct control_msg;

struct event_queue *event_queue_new(const struct backlog_limits *limits);
/* No thread may be using it. Drops remaining events. */
void event_queue_free(struct event_queue *q);

/* Producer: opens a turn, which ends when its done event was popped. */
struct turn_backlog *event_queue_open_turn(struct event_queue *q, void *turn);
/* Producer: takes over one reference of the shared event. Never blocks. */
void event_queue_push(struct event_queue *q, struct turn_backlog *turn_backlog,
                      struct shared_event *shared);
/* Producer: while enabled, the consumer may be woken once for several events. */
void event_queue_set_batching(struct event_queue *q, bool on);
/* Producer: no more events; the consumer gets the remaining ones, then 0. */
void event_queue_close(struct event_queue *q);
/* Any thread: fill level, 0.0 to 1.0 and above. */
double event_queue_fill_ratio(const struct event_queue *q);
/* Producer: whether the queue is at most half full, where a large one counts as one of 2,048 events
 * or 2 MiB; if not, blocks until it is a quarter full, or closed, or timeout_ms have passed. For
 * sources that can be delayed (replay). */
bool event_queue_wait_for_room(struct event_queue *q, int timeout_ms);

/* Producer: takes ownership. Never dropped; wakes the consumer at once. */
void event_queue_put_control(struct event_queue *q, struct control_msg *m);
/* Consumer: whether there is a control message, and the oldest, or NULL; without the lock. The
 * caller owns it. */
bool event_queue_has_control(const struct event_queue *q);
struct control_msg *event_queue_take_control(struct event_queue *q);
/* Consumer: it is about to wait for the producer, which must not wait for room then: that wait
 * returns true, until the consumer calls event_queue_pop. */
void event_queue_release_producer(struct event_queue *q);

/* Consumer: waits and takes up to `max` due items, in order; 0: closed and empty, or (*closed is
 * false) there is a control message, or wait_ms have passed. The caller owns the shared events. */
size_t event_queue_pop(struct event_queue *q, struct backlog_item *items, size_t max, int wait_ms,
                       bool *closed);

/* Called by the producer. */
struct backlog_stats event_queue_stats(struct event_queue *q);

#endif
