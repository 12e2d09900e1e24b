/* SPDX-License-Identifier: MIT
 * The promises of <turncast/plugin.h> as a checker: shown the events of one turn, it says which
 * promise they break first. A model of its own that shares no rule with the guard. */
#ifndef TESTS_PROMISE_H
#define TESTS_PROMISE_H

#include "event/event.h"

struct promise {
    uint64_t seen; /* events so far */
    bool started, outcome, failed, usage, done;
    size_t open_calls, open_steps, open_requests;
    void *things;         /* tree of what was ever opened */
    char correlation[64]; /* of the first event */
    char broken[256];     /* the first broken promise, or "" */
};

/* All zero is ready. */
void promise_fini(struct promise *p);
/* The next event of the turn, as a connector that sees everything gets it. */
void promise_see(struct promise *p, const struct event *ev);
/* No more events come. NULL: every promise was kept; else the first broken one. */
const char *promise_end(struct promise *p);

#endif
