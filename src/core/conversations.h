/* SPDX-License-Identifier: MIT
 * All conversations of the host: a person's message becomes a turn, waits, is refused, or is a
 * command. Commands are done at once, whatever waits or runs, and never get to the agent. Loop
 * thread only. */
#ifndef CORE_CONVERSATIONS_H
#define CORE_CONVERSATIONS_H

#include "conf/conf.h"
#include "core/dispatch.h"
#include "io/ledger.h"
#include "plugin/ask.h"

struct conversations;

struct conversations_spec {
    const struct conf *conf;
    struct loop *loop;
    struct ledger *ledger;
    struct dispatch *dispatch;
};

struct conversations *conversations_new(const struct conversations_spec *spec);
/* When they are drained, or the ledger is closed. NULL is fine. */
void conversations_free(struct conversations *cs);

/* Answers it, at once or when the message is on disk. */
void conversations_ask(struct conversations *cs, struct ask *a);
/* A message that waited when an earlier host ended. False: its instance is not there any more. */
bool conversations_restore(struct conversations *cs, const struct record_turn *t);
/* Begins what was restored. */
void conversations_begin(struct conversations *cs);

/* No turn begins any more: what comes or waits stays on disk for the next host. `drained` is
 * called, from the loop, when no turn runs; those that still do after the configured time are
 * ended. Again: they are ended now, and once more: killed. */
void conversations_drain(struct conversations *cs, void (*drained)(void *ctx), void *ctx);

/* Turns that run. */
size_t conversations_running(const struct conversations *cs);

#endif
