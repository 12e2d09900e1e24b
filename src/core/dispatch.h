/* SPDX-License-Identifier: MIT
 * Fan-out: every running instance, what of a turn each may see, and casting it to them.
 * Loop thread only. */
#ifndef CORE_DISPATCH_H
#define CORE_DISPATCH_H

#include "base/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "turn/visibility.h"

struct dispatch;
struct dispatch_turn;

/* Loads and starts every enabled instance of the config. An instance that cannot be started is
 * logged and left out; *failed (may be NULL) counts them. Borrows conf. */
struct dispatch *dispatch_new(const struct conf *conf, unsigned *failed);
/* Stops all instances at once and waits up to grace_ms for them together; returns how many had to
 * be abandoned. */
unsigned dispatch_free(struct dispatch *d, int64_t grace_ms);
size_t dispatch_count(const struct dispatch *d);

/* A turn; visibility is resolved and stays as it is for the whole turn. Strings are copied. */
struct dispatch_turn *dispatch_open(struct dispatch *d, const char *id, const char *agent,
                                    const char *conversation, struct visibility v);
/* Casts one draft of the guard: visibility and audience are decided here, once per class of
 * instances; boxed only if somebody gets it. */
void dispatch_cast(struct dispatch_turn *t, struct event *ev);
void dispatch_close(struct dispatch_turn *t);
/* For sources that can wait: blocks until every instance that still moves has room; one that
 * does not within patience_ms is no longer waited for. */
void dispatch_wait_room(struct dispatch *d, int patience_ms);

#endif
