/* SPDX-License-Identifier: MIT
 * For tests of the services: an instance in this thread whose callbacks run functions of the test,
 * and a host that records its calls. */
#ifndef TESTS_PLUGIN_ACTOR_H
#define TESTS_PLUGIN_ACTOR_H

#include "base/bytes/buf.h"
#include "plugin/events.h"
#include "plugin/instance/instance.h"

#define ACTOR_BATCHES 32

/* The calls that the host has received. */
extern struct callback_batch *actor_batches[ACTOR_BATCHES];
extern size_t actor_n_batches;
extern struct buf actor_told; /* routes, sockets, calls, frames */
extern bool actor_answers;    /* whether calls are answered with texts, and with: */
extern enum tc_accepted actor_accepts;
extern const struct channel_callbacks actor_host;

/* The actions of the plugin. */
extern void (*actor_inside)(struct tc_turn *); /* called in each callback */
extern int actor_verdict;                      /* the result of each callback */
extern struct tc_verdict actor_wish;           /* the verdict of on_reply, with a reason */
extern struct buf actor_woken;                 /* the ids of turns */
extern struct loaded_plugin actor_loaded;

void actor_begin_log(void);
/* Returns the log since the last call, valid until the next call. */
const char *actor_logged(void);
void actor_forget_batches(void);
/* Resets everything above. */
struct instance *actor_make(const struct channel_callbacks *h);
struct instance_turn *actor_open(struct instance *in, const char *id);
/* Delivers one event of the kind; fn runs in its callback. */
void actor_deliver(struct instance *in, struct instance_turn *t, enum tc_kind kind,
                   void (*fn)(struct tc_turn *));
struct outbound_reply *actor_reply(uint64_t request, enum tc_outcome outcome, bool last);
void actor_end(void);

#endif
