/* SPDX-License-Identifier: MIT
 * The queue of changes to the set of running instances: the start of the host, reloads, restarts.
 * One is made at a time, in the order in which they were asked for; none waits. Loop thread only.
 *
 *   state   | event                            | next    | what is done
 *   --------+----------------------------------+---------+----------------------------------------
 *   WAITING | those before it are over         | RUNNING | it begins (dispatch_change_*)
 *   WAITING | instance_changes_refuse                   | OVER    | its `done` is told so
 *   RUNNING | it was made, or it failed        | OVER    | its `done` is told, the next one begins
 *   RUNNING | instance_changes_free                     | OVER    | it is broken off; `done` is
 * told so */
#ifndef CORE_HOST_INSTANCE_CHANGES_H
#define CORE_HOST_INSTANCE_CHANGES_H

#include "base/sys/err.h"
#include "conf/conf.h"
#include "core/dispatch/dispatch.h"

struct changes;

struct changes_spec {
    struct loop *loop;
    struct dispatch *dispatch;
    /* The configuration that counts. */
    const struct conf *(*conf)(void *ctx);
    /* Takes over another one: the instances are those of it already. */
    void (*take)(void *ctx, const struct conf *next);
    /* A reload begins, and has ended. */
    void (*reloading)(void *ctx, bool begins);
    /* A change has ended: other instances may run. */
    void (*changed)(void *ctx);
    void *ctx;
};

/* Once, from the loop or from instance_changes_refuse and instance_changes_free. err NULL: it was
 * made; `report` is then the JSON of a reload (host_reload_write_report), else NULL. */
typedef void changes_done(void *ctx, const char *report, const struct tc_err *err);

struct changes *instance_changes_new(const struct changes_spec *spec);
/* Starts all instances (dispatch_new_empty); `seated`: see dispatch_change_spec. Never fails. */
void instance_changes_start(struct changes *c, void (*seated)(void *ctx), changes_done *done,
                            void *ctx);
/* Reads the configuration's file anew, and takes it as a whole or not at all. */
void instance_changes_reload(struct changes *c, changes_done *done, void *ctx);
/* dispatch_change_restart. */
void instance_changes_restart(struct changes *c, const char *instance, changes_done *done,
                              void *ctx);
/* dispatch_change_lead, and dispatch_change_stand_by. */
void instance_changes_lead(struct changes *c, const char *instance);
void instance_changes_stand_by(struct changes *c, const char *instance);
/* A change is being made, or waits: instances may be starting. */
bool instance_changes_is_busy(const struct changes *c);
/* A reload waits that has not begun, and so will see the configuration as it is now. */
bool instance_changes_has_reload(const struct changes *c);
/* The host is about to end: what waits is refused, and so is what is asked for later. What is being
 * made goes on. */
void instance_changes_refuse(struct changes *c);
/* NULL is fine. Before dispatch_free. */
void instance_changes_free(struct changes *c);

#endif
