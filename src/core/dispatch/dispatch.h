/* SPDX-License-Identifier: MIT
 * Fan-out of turn events to all running connector instances. Applies visibility and audience once
 * per group of instances with the same view, then enqueues one shared event per group. An instance
 * gets the turns of its scope (conf/conf_scope.h), as that was when they began; of another turn,
 * what the agent asks for at this instance, between a start and a done. Owns the instances and the
 * open turns. Loop thread only. */
#ifndef CORE_DISPATCH_DISPATCH_H
#define CORE_DISPATCH_DISPATCH_H

#include "base/sys/err.h"
#include "conf/conf_scope.h"
#include "core/connector/connector_instance.h"
#include "event/event.h"
#include "plugin/outbox/outbox.h"
#include "turn/visibility/visibility.h"

struct dispatch;
struct dispatch_turn;

/* Loads and starts every enabled instance of the config, and with autoload what lies in the
 * plugin directories beside them. An instance that cannot be started is logged and left out;
 * *failed (may be NULL) counts them. services: or NULL, casting only. */
struct dispatch *dispatch_new(const struct conf *conf, const struct connector_services *services,
                              unsigned *failed);
/* After dispatch_new, before the first turn, when there are services: what an earlier host left to
 * be told is told. */
void dispatch_resume_deliveries(struct dispatch *d);
/* For a host whose loop runs while instances start: none is there until dispatch_change_start. The
 * services have a loop. */
struct dispatch *dispatch_new_empty(const struct conf *conf,
                                    const struct connector_services *services);
/* For turns that no instance is told of: the log of the services alone. */
struct dispatch *dispatch_new_mute(const struct conf *conf,
                                   const struct connector_services *services);
/* Calls `each` with the name of every instance that runs or is being started; before any is seated
 * (dispatch_change_start), of every one that the configuration wants. */
void dispatch_each_name(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                        void *ctx);
/* The same of those that such a turn is told to, by what the configuration says now. */
void dispatch_each_admitted(const struct dispatch *d, const struct conf_scope_turn *turn,
                            void (*each)(void *ctx, const char *name), void *ctx);
/* Runs the loop until all instances have ended what they do, or grace_ms is over. False: some have
 * not. */
bool dispatch_drain(struct dispatch *d, int64_t grace_ms);
/* A change that is under way has been freed before. Stops all instances at once and waits up to
 * grace_ms for them together; returns how many had to be abandoned. */
unsigned dispatch_free(struct dispatch *d, int64_t grace_ms);
/* Instances that run or are being started. */
size_t dispatch_count_running(const struct dispatch *d);

/* Why the enabled instance of that name did not start, as an error with its place; NULL: it did, or
 * there is none. */
const struct tc_err *dispatch_why_disabled(const struct dispatch *d, const char *name);

struct dispatch_instance {
    const char *name, *plugin, *path;
    const struct conf_instance *spec;
    bool busy;        /* see dispatch_drain */
    bool is_led;      /* of several hosts one runs it (connector_instance_is_led) */
    bool stands_by;   /* that is another host */
    bool has_service; /* a chat connector, or one that can be asked for its account */
    struct channel_health health;
    struct outbox_stats outbox;
};
/* Calls `each` for every instance that runs. Looks at each: what hangs is logged. */
void dispatch_each_instance(const struct dispatch *d,
                            void (*each)(void *ctx, const struct dispatch_instance *i), void *ctx);

/* A row of the journal was laid for an instance by somebody else. False: it does not run. */
bool dispatch_deliver_row(struct dispatch *d, const char *instance, int64_t seq);

/* clang-format off */
/* ---- a change of the instances, while turns run. Nothing of it waits: processes, threads and
 * files that are tried are heard of through the loop.
 *
 *   phase    | event                                       | next    | what is done
 *   ---------+---------------------------------------------+---------+-----------------------------
 *   EXAMINE  | every new file has been tried               | STOP    | those that do not stay are
 *            |                                             |         | stopped; slots hold the next
 *            |                                             |         | ones, which queue events
 *   EXAMINE  | a file or its options are refused           | DONE    | nothing was touched
 *   STOP     | all have ended, or were killed after END_MS | START   | the next ones are launched
 *   START    | all run                                     | DONE    | they are released; it counts
 *   START    | one has failed                              | UNDO    | next ones are stopped; slots
 *            |                                             |         | hold the earlier ones again
 *   UNDO     | all have ended, or were killed after END_MS | RESTORE | earlier ones are launched
 *   RESTORE  | each runs or has failed                     | DONE    | it failed
 *
 * The start of a host (dispatch_change_start) begins with no instance, and what fails is left out
 * instead: from START it goes to DONE alone, and each instance is released as soon as it runs.
 * A restart of an instance that is down goes from START, where its process begins, to DONE.
 *
 * Turns go on meanwhile. An instance whose slot is filled anew is told of those that run that they
 * go on (start, resumed), and then all that is cast from the moment on in which its predecessor was
 * stopped; of turns that begin meanwhile it is told everything; all of that within the bounds of
 * its queue. After UNDO it is told what is cast from then on, and outcomes from the journal. */
/* clang-format on */

struct dispatch_reconfig;
struct dispatch_change_spec {
    /* All files have been tried; from now on turns may begin, and are told to all instances that
     * are to run. Of dispatch_change_start only; or NULL. */
    void (*seated)(void *ctx);
    /* Once, and the last call. err NULL: the change was made; else all is as it was, but for what
     * does not start again, which has been logged. Frees the change. */
    void (*done)(void *ctx, const struct tc_err *err);
    void *ctx;
};
/* Each begins one; callbacks come through the loop. One at a time. */

/* Every instance of dispatch_new_empty. What cannot be started is logged. */
struct dispatch_reconfig *dispatch_change_start(struct dispatch *d,
                                                const struct dispatch_change_spec *spec);
/* Compares the configuration with what runs: instances of which no key and no file changed stay as
 * they are. What a predecessor of the same name left in the journal is the instance's own. */
struct dispatch_reconfig *dispatch_change_conf(struct dispatch *d, const struct conf *conf,
                                               const struct dispatch_change_spec *spec);
/* Ends one instance that is wanted (dispatch_find_configured), and starts it again, as if it alone
 * had changed; one that is down, or did not start, starts at once. */
struct dispatch_reconfig *dispatch_change_restart(struct dispatch *d, const char *name,
                                                  const struct dispatch_change_spec *spec);
/* In the middle it is broken off without a call of `done`, and the instances are to be ended. NULL
 * is fine. */
void dispatch_reconfig_free(struct dispatch_reconfig *c);

/* ---- several hosts (connector_services.leads): an instance that another host leads stands by. It
 * is started and stopped by changes, too, which do nothing where the instance does already what is
 * asked for. */

/* This host does not lead the instance any more: it falls silent now, whatever change is under way;
 * dispatch_change_stand_by follows. */
void dispatch_silence(struct dispatch *d, const char *name);
/* Ends an instance that is silent; one that stands by takes its place. */
struct dispatch_reconfig *dispatch_change_stand_by(struct dispatch *d, const char *name,
                                                   const struct dispatch_change_spec *spec);
/* This host leads the instance: starts one that stands by. What fails is logged, and left out. */
struct dispatch_reconfig *dispatch_change_lead(struct dispatch *d, const char *name,
                                               const struct dispatch_change_spec *spec);
/* Calls `each` with the name of every instance that one of several hosts runs. */
void dispatch_each_led(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                       void *ctx);

/* What the configuration says of the instance of that name, whether it runs or not. NULL with err:
 * there is none, and which one may be meant. */
const struct conf_instance *dispatch_find_configured(const struct dispatch *d, const char *name,
                                                     struct tc_err *err);

enum dispatch_reconfig_action {
    DISPATCH_KEPT,
    DISPATCH_STARTED,
    DISPATCH_RESTARTED,
    DISPATCH_STOPPED
};
/* Calls a function for each instance that the change concerns; only within `done`. */
void dispatch_reconfig_each(const struct dispatch_reconfig *c,
                            void (*each)(void *ctx, const char *name,
                                         enum dispatch_reconfig_action step),
                            void *ctx);

/* ---- turns */

/* dispatch_deliver_row for the outcome of a turn that the instance was not told of. */
bool dispatch_deliver_outcome(struct dispatch *d, const char *instance, const char *turn);

struct dispatch_turn_spec {
    const char *id, *agent, *conversation;
    const char *submitter, *route; /* or NULL: the instance whose message began it, and its JSON */
    const char *instances;         /* that it named (conf_scope_turn), or NULL */
    struct visibility visibility;  /* resolved; it stays as it is for the whole turn */
};
/* A turn. Strings are copied. */
struct dispatch_turn *dispatch_open_turn(struct dispatch *d, const struct dispatch_turn_spec *spec);
/* Casts one draft of the guard: visibility and audience are decided here, once per class of
 * instances; boxed only if somebody gets it. */
void dispatch_event(struct dispatch_turn *t, struct event *ev);
/* While it is on, instances may be told of several casts at once. */
void dispatch_set_batching(struct dispatch_turn *t, bool on);
void dispatch_close_turn(struct dispatch_turn *t);
/* The outcome is being noted: calls `each` for every instance that would be cast this event: its
 * name, and the canonical line as it would get it. */
void dispatch_each_recipient(struct dispatch_turn *t, const struct event *ev,
                             void (*each)(void *ctx, const char *instance, struct str line),
                             void *ctx);

/* For a source that can wait (replay): from now on every cast waits first until each instance
 * that still moves has room, so that none ever drops or joins events because it is slow. One
 * that does not move within backpressure_ms is no longer waited for, until it has room again.
 * 0: casts never wait. */
void dispatch_set_backpressure(struct dispatch *d, int backpressure_ms);

#endif
