/* SPDX-License-Identifier: MIT
 * Owns the queue of changes; its first is the one in progress. */
#include "core/host/instance_changes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/log.h"
#include "core/host/host_reload.h"

#define ENDING "turncast is shutting down"

enum change_kind { CHANGE_START, CHANGE_RELOAD, CHANGE_RESTART, CHANGE_LEAD, CHANGE_STAND_BY };

struct change_order {
    STAILQ_ENTRY(change_order) next;
    struct changes *changes;
    enum change_kind kind;
    char *instance;               /* of one instance: its name; else NULL */
    struct conf *conf;            /* CHANGE_RELOAD, once it has begun: the next one */
    void (*seated)(void *ctx);    /* CHANGE_START */
    struct dispatch_reconfig *on; /* while it is being made */
    changes_done *done;
    void *ctx;
};

struct changes {
    struct changes_spec spec;
    STAILQ_HEAD(, change_order) orders; /* the first is being made, once it has begun */
    bool has_begun;
    bool refuses;
    struct loop_timer *timer; /* begins the first */
};

static void free_order(struct change_order *o)
{
    conf_unref(o->conf);
    free(o->instance);
    free(o);
}

static void change_order_report(struct change_order *o, const char *report,
                                const struct tc_err *err)
{
    if (o->done)
        o->done(o->ctx, report, err);
}

static void refuse_order(struct change_order *o)
{
    struct tc_err err;
    err_set(&err, NULL, ENDING);
    change_order_report(o, NULL, &err);
    free_order(o);
}

static void changes_pop_first(struct changes *c)
{
    STAILQ_REMOVE_HEAD(&c->orders, next);
    c->has_begun = false;
    loop_timer_set(c->timer, STAILQ_EMPTY(&c->orders) ? -1 : 0);
}

/* ---- end of a change ---- */

static void log_reload(const struct buf *summary, const struct tc_err *err)
{
    if (err)
        log_write(LOG_ERR, "host", "reload rejected, previous configuration still active: %s",
                  err_format(err));
    else
        log_write(LOG_INFO, "host", "configuration reloaded: %s", summary->p);
}

static void log_restart(const char *instance, const struct tc_err *err)
{
    if (err)
        log_write(LOG_ERR, "host", "instance %s: restart failed: %s", instance, err_format(err));
    else
        log_write(LOG_INFO, "host", "instance %s: restarted by operator", instance);
}

static void end_reload(struct change_order *o, const struct tc_err *err)
{
    const struct changes_spec *const spec = &o->changes->spec;
    CLEANUP_BUF struct buf report = {0}, summary = {0};
    if (!err) {
        host_reload_describe(&summary, spec->conf(spec->ctx), o->conf, o->on);
        host_reload_write_report(&report, spec->conf(spec->ctx), o->conf, o->on);
        spec->take(spec->ctx, o->conf);
        o->conf = NULL;
    }
    log_reload(&summary, err);
    spec->reloading(spec->ctx, false);
    change_order_report(o, report.p, err);
}

/* The order is off the queue before `done` is told, which may ask for another one. */
static void end_order(struct change_order *o, const struct tc_err *err)
{
    const struct changes_spec *const spec = &o->changes->spec;
    changes_pop_first(o->changes);
    if (o->kind == CHANGE_RELOAD) {
        end_reload(o, err);
    } else {
        if (o->kind == CHANGE_RESTART)
            log_restart(o->instance, err);
        change_order_report(o, NULL, err);
    }
    free_order(o);
    spec->changed(spec->ctx);
}

static void on_done(void *ctx, const struct tc_err *err)
{
    end_order(ctx, err);
}

static void instance_changes_on_seated(void *ctx)
{
    const struct change_order *const o = ctx;
    if (o->seated)
        o->seated(o->ctx);
}

/* ---- its beginning ---- */

static void begin_reload(struct change_order *o, const struct dispatch_change_spec *spec)
{
    struct changes *const c = o->changes;
    struct tc_err err = {0};
    c->spec.reloading(c->spec.ctx, true);
    o->conf = host_reload_load(c->spec.conf(c->spec.ctx), &err);
    if (o->conf)
        o->on = dispatch_change_conf(c->spec.dispatch, o->conf, spec);
    else
        end_order(o, &err);
}

static void begin_first(void *arg)
{
    struct changes *const c = arg;
    struct change_order *const o = STAILQ_FIRST(&c->orders);
    const struct dispatch_change_spec spec = {
        .seated = instance_changes_on_seated, .done = on_done, .ctx = o};
    c->has_begun = true;
    if (o->kind == CHANGE_START)
        o->on = dispatch_change_start(c->spec.dispatch, &spec);
    else if (o->kind == CHANGE_RESTART)
        o->on = dispatch_change_restart(c->spec.dispatch, o->instance, &spec);
    else if (o->kind == CHANGE_LEAD)
        o->on = dispatch_change_lead(c->spec.dispatch, o->instance, &spec);
    else if (o->kind == CHANGE_STAND_BY)
        o->on = dispatch_change_stand_by(c->spec.dispatch, o->instance, &spec);
    else
        begin_reload(o, &spec);
}

static void add_order(struct changes *c, const struct change_order *order)
{
    struct change_order *const o = xmalloc(sizeof *o);
    *o = *order;
    o->changes = c;
    if (c->refuses) {
        refuse_order(o);
        return;
    }
    STAILQ_INSERT_TAIL(&c->orders, o, next);
    if (!c->has_begun)
        loop_timer_set(c->timer, 0);
}

void instance_changes_start(struct changes *c, void (*seated)(void *ctx), changes_done *done,
                            void *ctx)
{
    add_order(c, &(struct change_order){
                     .kind = CHANGE_START, .seated = seated, .done = done, .ctx = ctx});
}

void instance_changes_reload(struct changes *c, changes_done *done, void *ctx)
{
    add_order(c, &(struct change_order){.kind = CHANGE_RELOAD, .done = done, .ctx = ctx});
}

void instance_changes_restart(struct changes *c, const char *instance, changes_done *done,
                              void *ctx)
{
    add_order(c,
              &(struct change_order){
                  .kind = CHANGE_RESTART, .instance = xstrdup(instance), .done = done, .ctx = ctx});
}

void instance_changes_lead(struct changes *c, const char *instance)
{
    add_order(c, &(struct change_order){.kind = CHANGE_LEAD, .instance = xstrdup(instance)});
}

void instance_changes_stand_by(struct changes *c, const char *instance)
{
    add_order(c, &(struct change_order){.kind = CHANGE_STAND_BY, .instance = xstrdup(instance)});
}

bool instance_changes_is_busy(const struct changes *c)
{
    return !STAILQ_EMPTY(&c->orders);
}

bool instance_changes_has_reload(const struct changes *c)
{
    const struct change_order *o;
    STAILQ_FOREACH (o, &c->orders, next)
        if (o->kind == CHANGE_RELOAD && !(o == STAILQ_FIRST(&c->orders) && c->has_begun))
            return true;
    return false;
}

/* ---- its life ---- */

struct changes *instance_changes_new(const struct changes_spec *spec)
{
    struct changes *const c = xcalloc(1, sizeof *c);
    c->spec = *spec;
    STAILQ_INIT(&c->orders);
    c->timer = loop_timer_new(spec->loop, begin_first, c);
    return c;
}

static struct change_order *first_behind(const struct changes *c, const struct change_order *begun)
{
    return begun ? STAILQ_NEXT(begun, next) : STAILQ_FIRST(&c->orders);
}

void instance_changes_refuse(struct changes *c)
{
    struct change_order *const begun = c->has_begun ? STAILQ_FIRST(&c->orders) : NULL;
    c->refuses = true;
    if (!begun)
        loop_timer_set(c->timer, -1);
    for (struct change_order *o; (o = first_behind(c, begun));) {
        STAILQ_REMOVE(&c->orders, o, change_order, next);
        refuse_order(o);
    }
}

void instance_changes_free(struct changes *c)
{
    if (!c)
        return;
    instance_changes_refuse(c);
    struct change_order *const begun = STAILQ_FIRST(&c->orders);
    if (begun) {
        dispatch_reconfig_free(begun->on);
        refuse_order(begun);
    }
    loop_timer_free(c->timer);
    free(c);
}
