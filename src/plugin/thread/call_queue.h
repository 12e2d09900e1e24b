/* SPDX-License-Identifier: MIT
 * From an instance's thread to the host's loop: what the instance hands over, in order. It belongs
 * to both sides and outlives whichever goes first: what comes too late is dropped. */
#ifndef PLUGIN_THREAD_CALL_QUEUE_H
#define PLUGIN_THREAD_CALL_QUEUE_H

#include "plugin/channel.h"
#include "plugin/queue/event_queue.h"

struct line;

/* `host` NULL: nothing is handed over. The queue is the thread's: it is told when the thread waits
 * for the loop. Two references: one for each side. */
struct line *line_new(const struct channel_host *host, struct queue *queue);
void line_unref(struct line *l);

/* Instance's thread: the host as the instance may call it; what `host` lacks is NULL. */
const struct channel_host *line_host(const struct line *l);
/* Instance's thread: from now on asks are taken, unless line_hush came first. */
void line_open(struct line *l);
/* Instance's thread: what on_hit answered; NULL: nothing. Copied. */
void line_answer(struct line *l, uint64_t hit, const struct tc_answer *answer);

/* Instance's thread: channel_host.changed is called on the loop's, held or not. */
void line_tell_change(struct line *l);

/* Loop thread: a new line holds what is handed over until this is called. */
void line_release(struct line *l);
/* Loop thread: a hit that will be answered, under its number. */
uint64_t line_expect(struct line *l, void (*answered)(void *arg, const struct tc_answer *answer),
                     void *arg);
/* Loop thread: no more asks; the instance does not wait for one any longer. */
void line_hush(struct line *l);
/* Loop thread: batches that were handed over reach the host (deliver, and it was released) or are
 * dropped, hits are answered, and from then on nothing calls the host. */
void line_close(struct line *l, bool deliver);

#endif
