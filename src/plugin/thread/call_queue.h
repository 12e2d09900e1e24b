/* SPDX-License-Identifier: MIT
 * From an instance's thread to the host's loop: what the instance hands over, in order. It belongs
 * to both sides and outlives whichever goes first: what comes too late is dropped. */
#ifndef PLUGIN_THREAD_CALL_QUEUE_H
#define PLUGIN_THREAD_CALL_QUEUE_H

#include "plugin/channel.h"
#include "plugin/queue/event_queue.h"

struct call_queue;

/* `host` NULL: nothing is handed over. The queue is the thread's: it is told when the thread waits
 * for the loop. Two references: one for each side. */
struct call_queue *call_queue_new(const struct channel_callbacks *host, struct event_queue *queue);
void call_queue_unref(struct call_queue *l);

/* Instance's thread: the host as the instance may call it; what `host` lacks is NULL. */
const struct channel_callbacks *call_queue_callbacks(const struct call_queue *l);
/* Instance's thread: from now on asks are taken, unless call_queue_refuse_calls came first. */
void call_queue_accept_calls(struct call_queue *l);
/* Instance's thread: what on_hit answered; NULL: nothing. Copied. */
void call_queue_post_answer(struct call_queue *l, uint64_t hit, const struct tc_answer *answer);

/* Instance's thread: channel_host.changed is called on the loop's, held or not. */
void call_queue_tell_change(struct call_queue *l);

/* Loop thread: a new line holds what is handed over until this is called. */
void call_queue_release(struct call_queue *l);
/* Loop thread: a hit that will be answered, under its number. */
uint64_t call_queue_register_hit(struct call_queue *l,
                                 void (*answered)(void *arg, const struct tc_answer *answer),
                                 void *arg);
/* Loop thread: no more asks; the instance does not wait for one any longer. */
void call_queue_refuse_calls(struct call_queue *l);
/* Loop thread: batches that were handed over reach the host (deliver, and it was released) or are
 * dropped, hits are answered, and from then on nothing calls the host. */
void call_queue_close(struct call_queue *l, bool deliver);

#endif
