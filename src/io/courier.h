/* SPDX-License-Identifier: MIT
 * Carries the requests of one instance to its service: in order per conversation, at the pace
 * the connector declares, again where that is right, each ended exactly once. Joins lanes.h and
 * httpc.h on the loop. Loop thread only. */
#ifndef IO_COURIER_H
#define IO_COURIER_H

#include "io/httpc.h"
#include "io/lanes.h"

struct courier_result {
    enum lanes_end end;
    /* LANES_DECIDED: of the last attempt. Otherwise of the attempts so far: HTTPC_AMBIGUOUS once
     * one was that, HTTPC_NOT_SENT when none was made. */
    enum httpc_outcome outcome;
    unsigned attempts;
    const struct httpc_reply *reply; /* LANES_DECIDED; else NULL */
};

/* Borrowed by courier_send, which copies what it needs. */
struct courier_letter {
    const char *lane; /* the conversation */
    enum lane_priority priority;
    const char *key;    /* live edits: the message that is edited; or NULL */
    uint32_t rates;     /* bit i: counts on rate i of the instance */
    int64_t max_age_ms; /* no attempt starts later than this; 0: for ever */
    struct httpc_request http;
    /* What the answer means where header and status do not say it: changes what verdict_of said.
     * Called for answers only (status not 0); NULL: nothing to add. */
    void (*read)(void *arg, const struct httpc_reply *reply, struct verdict *v);
    /* Once, from the loop; may send. */
    void (*done)(void *arg, const struct courier_result *result);
    void *arg;
};

struct courier;

/* Borrows http and loop. `rates` are copied; the seed is for back-off. */
struct courier *courier_new(struct loop *l, struct httpc *http, const struct lanes_rate *rates,
                            size_t rate_count, uint64_t seed);
/* Ends all letters: those in flight are cancelled. Not from a callback. NULL is fine. */
void courier_free(struct courier *c);
void courier_send(struct courier *c, const struct courier_letter *letter);

#endif
