/* SPDX-License-Identifier: MIT
 * Fan-out: every running instance, what of a turn each may see, and casting it to them.
 * Loop thread only. */
#ifndef CORE_DISPATCH_H
#define CORE_DISPATCH_H

#include "base/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "core/runner.h"
#include "turn/visibility.h"

struct dispatch;
struct dispatch_turn;

/* Loads and starts every enabled instance of the config, and with autoload what lies in the
 * plugin directories beside them. An instance that cannot be started is logged and left out;
 * *failed (may be NULL) counts them. services: or NULL, casting only. */
struct dispatch *dispatch_new(const struct conf *conf, const struct services *services,
                              unsigned *failed);
/* Before the first turn, when there are services: what an earlier host left to be told is told. */
void dispatch_resume(struct dispatch *d);
/* Calls `each` with the name of every instance that notes outcomes on disk. */
void dispatch_each_deliverer(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                             void *ctx);
/* Runs the loop until all instances have ended what they do, or grace_ms is over. False: some have
 * not. */
bool dispatch_drain(struct dispatch *d, int64_t grace_ms);
/* Stops all instances at once and waits up to grace_ms for them together; returns how many had to
 * be abandoned. */
unsigned dispatch_free(struct dispatch *d, int64_t grace_ms);
size_t dispatch_count(const struct dispatch *d);
/* Name and health of instance i < dispatch_count. The name is borrowed. */
const char *dispatch_health(struct dispatch *d, size_t i, struct channel_health *health);

struct dispatch_spec {
    const char *id, *agent, *conversation;
    const char *submitter, *route; /* or NULL: the instance whose message began it, and its JSON */
    struct visibility visibility;  /* resolved; it stays as it is for the whole turn */
};
/* A turn. Strings are copied. */
struct dispatch_turn *dispatch_open(struct dispatch *d, const struct dispatch_spec *spec);
/* Casts one draft of the guard: visibility and audience are decided here, once per class of
 * instances; boxed only if somebody gets it. */
void dispatch_cast(struct dispatch_turn *t, struct event *ev);
void dispatch_close(struct dispatch_turn *t);
/* Calls `each` for every instance that notes outcomes on disk and would be cast this event: its
 * name, and the canonical line as it would get it. */
void dispatch_each_target(const struct dispatch_turn *t, const struct event *ev,
                          void (*each)(void *ctx, const char *instance, struct str line),
                          void *ctx);

/* For a source that can wait (replay): from now on every cast waits first until each instance
 * that still moves has room, so that none ever drops or joins events because it is slow. One
 * that does not move within patience_ms is no longer waited for, until it has room again.
 * 0: casts never wait. */
void dispatch_set_patience(struct dispatch *d, int patience_ms);
/* The same wait, once. */
void dispatch_wait_room(struct dispatch *d, int patience_ms);

#endif
