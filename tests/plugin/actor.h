/* SPDX-License-Identifier: MIT
 * For tests of the services: an instance on this thread, whose callbacks do what the test says, and
 * a host that only writes down. */
#ifndef TESTS_PLUGIN_ACTOR_H
#define TESTS_PLUGIN_ACTOR_H

#include "base/bytes/buf.h"
#include "plugin/events.h"
#include "plugin/instance/instance.h"

#define ACTOR_BATCHES 32

/* What the host was told. */
extern struct callback_batch *actor_batches[ACTOR_BATCHES];
extern size_t actor_n_batches;
extern struct buf actor_told; /* routes, sockets, asks, frames */
extern bool actor_answers;    /* asks: with texts, and this: */
extern enum tc_accepted actor_accepts;
extern const struct channel_callbacks actor_host;

/* What the plugin does. */
extern void (*actor_inside)(struct tc_turn *); /* in each callback */
extern int actor_verdict;                      /* that each returns */
extern struct tc_verdict actor_wish;           /* of on_reply, with a reason */
extern struct buf actor_woken;                 /* ids of turns */
extern struct loaded_plugin actor_loaded;

void actor_begin_log(void);
/* What was logged since the last call; static. */
const char *actor_logged(void);
void actor_forget_batches(void);
/* All that is above is as in the beginning. */
struct instance *actor_make(const struct channel_callbacks *h);
struct instance_turn *actor_open(struct instance *in, const char *id);
/* One event of the kind; fn runs in its callback. */
void actor_deliver(struct instance *in, struct instance_turn *t, enum tc_kind kind,
                   void (*fn)(struct tc_turn *));
struct outbound_reply *actor_reply(uint64_t request, enum tc_outcome outcome, bool last);
void actor_end(void);

#endif
