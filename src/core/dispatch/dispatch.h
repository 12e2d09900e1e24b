/* SPDX-License-Identifier: MIT
 * Fan-out of turn events to all running connector instances. Applies visibility and audience once
 * per group of instances with the same view, then enqueues one shared event per group. An instance
 * gets the turns of its scope (conf/conf_scope.h), as it was when they started; of another turn,
 * only the requests sent to this instance, between a start and a done. Owns the instances and the
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

/* Loads and starts every enabled instance of the configuration and, with autoload, those of further
 * plugins in the plugin directories. An instance that cannot be started is logged and skipped;
 * *failed (may be NULL) counts them. services: NULL for events only. */
struct dispatch *dispatch_new(const struct conf *conf, const struct connector_services *services,
                              unsigned *failed);
/* Call it after dispatch_new, before the first turn, if there are services: delivers outcomes from
 * before a restart. */
void dispatch_resume_deliveries(struct dispatch *d);
/* For a host whose loop runs while instances start: has no instance until dispatch_change_start.
 * The services must have a loop. */
struct dispatch *dispatch_new_empty(const struct conf *conf,
                                    const struct connector_services *services);
/* For turns that no instance receives: only the turn log of the services does. */
struct dispatch *dispatch_new_mute(const struct conf *conf,
                                   const struct connector_services *services);
/* Calls `each` with the name of every instance that runs or is being started; before
 * dispatch_change_start has created any, of every configured one. */
void dispatch_each_name(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                        void *ctx);
/* Calls `each` for the instances that receive such a turn according to the current
 * configuration. */
void dispatch_each_admitted(const struct dispatch *d, const struct conf_scope_turn *turn,
                            void (*each)(void *ctx, const char *name), void *ctx);
/* Runs the loop until all instances have finished their work, or for grace_ms. False: some have not
 * finished. */
bool dispatch_drain(struct dispatch *d, int64_t grace_ms);
/* A pending change must have been freed. Stops all instances at once and waits up to grace_ms for
 * all; returns the number of abandoned ones. */
unsigned dispatch_free(struct dispatch *d, int64_t grace_ms);
/* Number of instances that run or are being started. */
size_t dispatch_count_running(const struct dispatch *d);

/* Why the enabled instance of that name did not start, with its place; NULL: it started, or does
 * not exist. */
const struct tc_err *dispatch_why_disabled(const struct dispatch *d, const char *name);

struct dispatch_instance {
    const char *name, *plugin, *path;
    const struct conf_instance *spec;
    bool busy;        /* see dispatch_drain */
    bool is_led;      /* only one of several hosts runs it (connector_instance_is_led) */
    bool stands_by;   /* another host runs it */
    bool has_service; /* a chat connector, or a plugin with a probe */
    struct channel_health health;
    struct outbox_stats outbox;
};
/* Calls `each` for every running instance. Checks each; a hanging one is logged. */
void dispatch_each_instance(const struct dispatch *d,
                            void (*each)(void *ctx, const struct dispatch_instance *i), void *ctx);

/* Another part of the host stored a row in the journal for an instance. False: the instance does
 * not run. */
bool dispatch_deliver_row(struct dispatch *d, const char *instance, int64_t seq);

/* clang-format off */
/* ---- a change of the instances, while turns run. It never blocks: results of processes, threads
 * and probed files arrive through the loop.
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
 * At the start of the host (dispatch_change_start) there is no instance, and failing ones are
 * skipped: START is followed by DONE only, and each instance is released as soon as it runs. The
 * restart of an instance that is down begins with START, which starts its process, and ends with
 * DONE.
 *
 * Turns continue during a change. A new instance in a slot receives start (resumed) of running
 * turns, then all events since its predecessor was stopped; it receives turns that have not started
 * before completely; all of this within the bounds of its queue. After UNDO, an instance receives
 * events from then on, and outcomes from the journal. */
/* clang-format on */

struct dispatch_reconfig;
struct dispatch_change_spec {
    /* All files were probed; turns may start now, and are queued for all instances that will run.
     * For dispatch_change_start only; or NULL. */
    void (*seated)(void *ctx);
    /* Called once, as the last callback. err NULL: the change was made; otherwise everything is as
     * before, except instances that could not be restarted, which were logged. Frees the change. */
    void (*done)(void *ctx, const struct tc_err *err);
    void *ctx;
};
/* Each of these functions starts a change; callbacks are called from the loop. One change at a
 * time. */

/* Starts every instance of dispatch_new_empty. Failures are logged. */
struct dispatch_reconfig *dispatch_change_start(struct dispatch *d,
                                                const struct dispatch_change_spec *spec);
/* Compares the configuration with the running instances: those without a changed key or file stay.
 * Journal records of an instance pass to its successor of the same name. */
struct dispatch_reconfig *dispatch_change_conf(struct dispatch *d, const struct conf *conf,
                                               const struct dispatch_change_spec *spec);
/* Stops one configured instance (dispatch_find_configured) and starts it again, as if only it had
 * changed; an instance that is down, or did not start, is started at once. */
struct dispatch_reconfig *dispatch_change_restart(struct dispatch *d, const char *name,
                                                  const struct dispatch_change_spec *spec);
/* Aborts a pending change without calling `done`; the instances must be ended then. NULL is
 * allowed. */
void dispatch_reconfig_free(struct dispatch_reconfig *c);

/* ---- several hosts (connector_services.leads): an instance that another host leads stands by.
 * Changes also start and stop such instances; they have no effect if the instance is already in the
 * requested state. */

/* Called when this host is no longer the leader: silences the instance at once, even if a change is
 * pending; dispatch_change_stand_by must follow. */
void dispatch_silence(struct dispatch *d, const char *name);
/* Replaces a silenced instance by an instance that stands by. */
struct dispatch_reconfig *dispatch_change_stand_by(struct dispatch *d, const char *name,
                                                   const struct dispatch_change_spec *spec);
/* Called when this host has become the leader: starts an instance that stands by. A failure is
 * logged, and the instance is skipped. */
struct dispatch_reconfig *dispatch_change_lead(struct dispatch *d, const char *name,
                                               const struct dispatch_change_spec *spec);
/* Calls `each` with the name of every instance that only one of several hosts runs. */
void dispatch_each_led(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                       void *ctx);

/* The configuration of the instance of that name, running or not. NULL with err: unknown, with a
 * suggestion. */
const struct conf_instance *dispatch_find_configured(const struct dispatch *d, const char *name,
                                                     struct tc_err *err);

enum dispatch_reconfig_action {
    DISPATCH_KEPT,
    DISPATCH_STARTED,
    DISPATCH_RESTARTED,
    DISPATCH_STOPPED
};
/* Calls a function for each instance that the change affects; only within `done`. */
void dispatch_reconfig_each(const struct dispatch_reconfig *c,
                            void (*each)(void *ctx, const char *name,
                                         enum dispatch_reconfig_action step),
                            void *ctx);

/* ---- turns */

/* Whether the instance receives all events of that running turn. */
bool dispatch_shows(const struct dispatch *d, const char *instance, const char *turn);
/* Whether another host leads the instance, or no instance has this name. */
bool dispatch_stands_by(const struct dispatch *d, const char *instance);
/* dispatch_deliver_row for the outcome of a turn that the instance did not receive. */
bool dispatch_deliver_outcome(struct dispatch *d, const char *instance, const char *turn);

struct dispatch_turn_spec {
    const char *id, *agent, *conversation;
    const char *submitter, *route; /* or NULL: the instance whose message started it, and its
                                    * JSON */
    const char *instances;         /* named instances (conf_scope_turn), or NULL */
    struct visibility visibility;  /* resolved; fixed for the whole turn */
    bool is_known;                 /* instances received it before a restart, or on another host */
};
/* Opens a turn. Copies strings. */
struct dispatch_turn *dispatch_open_turn(struct dispatch *d, const struct dispatch_turn_spec *spec);
/* Delivers one draft of the guard: decides visibility and audience once per class of instances;
 * creates a shared event only if an instance receives it. */
void dispatch_event(struct dispatch_turn *t, struct event *ev);
/* While enabled, instances may be woken once for several events. */
void dispatch_set_batching(struct dispatch_turn *t, bool on);
void dispatch_close_turn(struct dispatch_turn *t);

/* A turn of another host ("guest"), for one instance that this host leads. Its events are passed on
 * by dispatch_event, except the outcome and done; dispatch_close_turn frees it. It is in no turn
 * log and in no journal of this host. */
struct dispatch_guest_spec {
    struct dispatch_turn_spec turn; /* copied */
    const char *instance;
    const char *memory; /* that the instance has stored, or NULL */
    bool is_part;       /* the instance receives only the requests that are sent to it */
};
/* NULL: the instance does not run here. */
struct dispatch_turn *dispatch_open_guest(struct dispatch *d,
                                          const struct dispatch_guest_spec *spec);
/* Whether the instance still receives the guest's events. */
bool dispatch_has_guest(const struct dispatch_turn *t);
/* The outcome, which is in the journal for the instance in this form; then done. */
void dispatch_end_guest(struct dispatch_turn *t, struct event *outcome);
/* The guest goes on without being shown, or will be opened again: nothing of what the instance
 * shows of it is changed. */
void dispatch_suspend_guest(struct dispatch_turn *t);
/* Whether a request is sent to the instance: `to` is JSON, ["INSTANCE", "INSTANCE:CHAT"…], or NULL;
 * or any JSON that contains such a list. */
bool dispatch_request_names(const char *to, const char *name);

/* The outcome is being journaled: calls `each` for every instance that would receive this event,
 * with its name and the canonical line in its form. */
void dispatch_each_recipient(struct dispatch_turn *t, const struct event *ev,
                             void (*each)(void *ctx, const char *instance, struct str line),
                             void *ctx);

/* For a source that can be delayed (replay): from now on, every event first waits until each
 * responsive instance has room, so that none drops or joins events because it is slow. An instance
 * without progress for backpressure_ms is not waited for until it has room again. 0: never
 * waits. */
void dispatch_set_backpressure(struct dispatch *d, int backpressure_ms);

#endif
