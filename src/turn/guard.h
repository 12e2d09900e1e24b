/* SPDX-License-Identifier: MIT
 * Keeps the promises printed in <turncast/plugin.h>, whatever comes in: order, pairing, once,
 * and an outcome for every turn. A pure state machine between translator and visibility. */
#ifndef TURN_GUARD_H
#define TURN_GUARD_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "dialect/dialect.h"

struct guard_calls; /* tool calls, requests and steps that are open or were seen (guard.c) */

struct guard_stats {
    uint64_t late;       /* events after the outcome, not passed on */
    uint64_t duplicates; /* second finals, errors, usages, results, calls */
    uint64_t invented;   /* events the guard made */
};

struct guard {
    void (*emit)(void *ctx, struct event *ev); /* next stage; drafts as dialect_out.emit */
    void *ctx;
    const char *src;            /* borrowed: dialect name */
    const char *correlation_id; /* borrowed */
    char *session_id;           /* owned: newest the stream told */
    uint64_t seq;
    double (*now)(void); /* wall clock, injected */
    bool started, outcome, usage_told, done;
    struct guard_calls *open;
    struct buf last_text; /* newest narration since the last tool call: what a synthesized
                             final may use when the source ended well without one */
    struct event held_done;
    struct arena arena; /* what held events point to */
    struct guard_stats stats;
};

void guard_init(struct guard *g, const char *src, const char *correlation_id,
                void (*emit)(void *ctx, struct event *ev), void *ctx);
void guard_fini(struct guard *g);
/* Takes a draft of the translator (it may be changed: meta is filled in) and emits zero or more.
 * final and error pass at once (what is open is closed before them); done is held until
 * guard_end, so that "done" says the agent is gone. */
void guard_feed(struct guard *g, struct event *ev);
/* The stream is over: gives the outcome that is missing, then usage, notices and done.
 * Idempotent. */
void guard_end(struct guard *g, const struct stream_end_info *end);
/* The outcome has been told. */
bool guard_has_outcome(const struct guard *g);

#endif
