/* SPDX-License-Identifier: MIT
 * Queue from an instance's thread to the host's loop: output of the instance, in order.
 * Reference-counted by both sides: items for a side that is gone are dropped. */
#ifndef PLUGIN_THREAD_CALL_QUEUE_H
#define PLUGIN_THREAD_CALL_QUEUE_H

#include "plugin/channel.h"
#include "plugin/queue/event_queue.h"

struct call_queue;

/* `host` NULL: output is dropped. `queue` belongs to the thread, and is informed when the thread
 * waits for the loop. Has two references: one for each side. */
struct call_queue *call_queue_new(const struct channel_callbacks *host, struct event_queue *queue);
void call_queue_unref(struct call_queue *l);

/* Instance's thread: the host interface for the instance; functions that `host` lacks are NULL. */
const struct channel_callbacks *call_queue_callbacks(const struct call_queue *l);
/* Instance's thread: accepts calls from now on, unless call_queue_refuse_calls came first. */
void call_queue_accept_calls(struct call_queue *l);
/* Instance's thread: the response of on_hit; NULL: none. Copied. */
void call_queue_post_answer(struct call_queue *l, uint64_t hit, const struct tc_answer *answer);

/* Instance's thread: calls channel_host.changed on the loop's thread, even before the release. */
void call_queue_post_change(struct call_queue *l);

/* Loop thread: until this call, a new queue keeps its items. */
void call_queue_release(struct call_queue *l);
/* Loop thread: registers an HTTP request under its number, for a later response. */
uint64_t call_queue_register_hit(struct call_queue *l,
                                 void (*answered)(void *arg, const struct tc_answer *answer),
                                 void *arg);
/* Loop thread: refuses further calls; the instance no longer waits for a pending one. */
void call_queue_refuse_calls(struct call_queue *l);
/* Loop thread: passes queued batches to the host (deliver, and released) or drops them, answers
 * HTTP requests, and then never calls the host again. */
void call_queue_close(struct call_queue *l, bool deliver);

#endif
