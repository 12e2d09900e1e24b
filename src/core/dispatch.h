/* SPDX-License-Identifier: MIT
 * Fan-out: every running instance, what of a turn each may see, and casting it to them.
 * Loop thread only. */
#ifndef CORE_DISPATCH_H
#define CORE_DISPATCH_H

#include "base/attr.h"
#include "base/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "core/runner.h"
#include "plugin/post.h"
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
/* Calls `each` with the name of every instance that runs. */
void dispatch_each_name(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                        void *ctx);
/* Runs the loop until all instances have ended what they do, or grace_ms is over. False: some have
 * not. */
bool dispatch_drain(struct dispatch *d, int64_t grace_ms);
/* Stops all instances at once and waits up to grace_ms for them together; returns how many had to
 * be abandoned. */
unsigned dispatch_free(struct dispatch *d, int64_t grace_ms);
/* Instances that run. */
size_t dispatch_count(const struct dispatch *d);

/* Why the enabled instance of that name did not start, as an error with its place; NULL: it did, or
 * there is none. */
const struct tc_err *dispatch_why_disabled(const struct dispatch *d, const char *name);

struct dispatch_instance {
    const char *name, *plugin, *path;
    struct channel_health health;
    struct post_stats post;
};
/* Calls `each` for every instance that runs. Looks at each: what hangs is logged. */
void dispatch_each_instance(const struct dispatch *d,
                            void (*each)(void *ctx, const struct dispatch_instance *i), void *ctx);

/* A row of the ledger was laid for an instance by somebody else. False: it does not run. */
bool dispatch_take_row(struct dispatch *d, const char *instance, int64_t seq);

/* ---- another configuration, while turns run */

struct dispatch_change;
/* Compares it with what runs: instances of which no key and no file changed stay as they are. Those
 * that are new or changed are tried as far as that goes without running them. NULL with err. */
struct dispatch_change *dispatch_change_new(struct dispatch *d, const struct conf *conf,
                                            struct tc_err *err);
void dispatch_change_free(struct dispatch_change *c); /* NULL is fine */
/* Ends the instances that are changed or gone and starts the others. Turns that run are opened
 * again for one that has the same name: start (resumed), and what is cast from then on; what its
 * predecessor left in the ledger is its own. -1 with err: one did not start; what ran before runs
 * again. */
int dispatch_change_apply(struct dispatch_change *c, struct tc_err *err) MUST_CHECK;

/* What the configuration says of the instance of that name, whether it runs or not. NULL with err:
 * there is none, and which one may be meant. */
const struct conf_instance *dispatch_wants(const struct dispatch *d, const char *name,
                                           struct tc_err *err);
/* Ends an instance that is wanted, and starts it again, as if it alone had changed; one that is
 * down, or did not start, starts at once. -1 with err: all is as it was. */
int dispatch_restart(struct dispatch *d, const char *name, struct tc_err *err) MUST_CHECK;

enum dispatch_step { DISPATCH_KEPT, DISPATCH_STARTED, DISPATCH_RESTARTED, DISPATCH_STOPPED };
/* What it is about, by the name of the instance. */
void dispatch_change_each(const struct dispatch_change *c,
                          void (*each)(void *ctx, const char *name, enum dispatch_step step),
                          void *ctx);

/* ---- turns */

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
/* While it is on, instances may be told of several casts at once. */
void dispatch_gather(struct dispatch_turn *t, bool on);
void dispatch_close(struct dispatch_turn *t);
/* The outcome is being noted: calls `each` for every instance that would be cast this event: its
 * name, and the canonical line as it would get it. */
void dispatch_each_target(struct dispatch_turn *t, const struct event *ev,
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
