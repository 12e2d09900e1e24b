/* SPDX-License-Identifier: MIT
 * Executes a change of the instances (dispatch.h) completely or not at all.
 *
 * Replaced instances end before the next ones start, because two instances with the same account or
 * file would conflict. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "core/dispatch/dispatch_reconfig.h"

#define TICK_MS 50 /* interval of deadline checks; the end of an instance is reported at once */

/* ---- slots ---- */

static void on_instance_change(void *ctx)
{
    const struct dispatch_reconfig *const c = ctx;
    loop_timer_set(c->timer, 0);
}

void dispatch_reconfig_watch(struct dispatch_reconfig *c, struct connector_instance *r)
{
    connector_instance_on_change(r, on_instance_change, c);
}

void dispatch_reconfig_end_instance(struct dispatch_reconfig *c, struct connector_instance *r)
{
    dispatch_reconfig_watch(c, r);
    dispatch_end_instance(c->dispatch, r);
}

/* Stops the instance in the slot; its replacement is not launched yet. */
void dispatch_reconfig_exchange(struct dispatch_reconfig *c, size_t slot,
                                const struct dispatch_slot *next)
{
    struct dispatch *const d = c->dispatch;
    ASSERT(slot < d->n && d->slots[slot].instance && next->instance);
    dispatch_reconfig_end_instance(c, d->slots[slot].instance);
    d->slots[slot] = *next;
    dispatch_reconfig_watch(c, next->instance);
    dispatch_reopen_turns(d, slot);
}

static void dispatch_reconfig_record_formers(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    c->n_formers = d->n;
    c->formers = xcalloc(d->n + 1, sizeof *c->formers);
    for (size_t i = 0; c->next && i < d->n; i++)
        if (d->slots[i].instance)
            c->formers[i] =
                (struct slot_before){d->slots[i].spec, d->slots[i].loaded, false, false};
    for (size_t i = 0; i < c->plan.n; i++) {
        const struct plan_step *const s = &c->plan.steps[i];
        if (s->refused || s->slot == NO_SLOT)
            continue;
        const struct dispatch_slot *const slot = &d->slots[s->slot];
        c->formers[s->slot] = s->what == DISPATCH_KEPT
                                  ? (struct slot_before){0}
                                  : (struct slot_before){slot->spec, slot->loaded, true, false};
    }
}

/* Creates an instance like the previous one of the slot, which queues turns that start meanwhile,
 * in case the change is undone. -1: failed, which is logged. */
static int dispatch_reconfig_create_former(struct dispatch_reconfig *c, size_t slot,
                                           struct dispatch_slot *out)
{
    ASSERT(c->formers[slot].spec);
    struct dispatch *const d = c->dispatch;
    const struct slot_before *const f = &c->formers[slot];
    struct tc_err err = {0};
    if (dispatch_start_slot(d, out, d->configured->conf, f->spec, f->loaded, &err) == 0) {
        loader_ref_plugin(f->loaded);
        return 0;
    }
    log_write(LOG_ERR, "host", "instance %s: cannot restart: %s", f->spec->name, err_format(&err));
    return -1;
}

static void dispatch_reconfig_stop_formers(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    struct dispatch_slot next;
    for (size_t i = 0; i < c->n_formers; i++) {
        const struct slot_before *const f = &c->formers[i];
        if (!f->spec || f->is_replaced)
            continue;
        if (dispatch_reconfig_create_former(c, i, &next) == 0) {
            dispatch_reconfig_exchange(c, i, &next);
            continue;
        }
        loader_ref_plugin(f->loaded); /* the slot releases it */
        dispatch_reconfig_end_instance(c, d->slots[i].instance);
        dispatch_clear_slot(d, i);
    }
}

/* Fills the slots. At the start of the host, all instances have a slot from the beginning. Later,
 * new instances get a slot when the change is complete, because no turn may use them before. */
static void dispatch_reconfig_fill_slots(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    for (size_t i = 0; i < c->plan.n; i++) {
        struct plan_step *const s = &c->plan.steps[i];
        if (s->refused || s->what == DISPATCH_KEPT)
            continue;
        if (s->slot != NO_SLOT) {
            dispatch_reconfig_exchange(c, s->slot, &s->filled);
            s->filled = (struct dispatch_slot){0};
            continue;
        }
        dispatch_reconfig_watch(c, s->filled.instance);
        if (!c->plan.lenient)
            continue;
        s->slot = dispatch_add_slot(d);
        d->slots[s->slot] = s->filled;
        s->filled = (struct dispatch_slot){0};
    }
}

static const struct dispatch_slot *dispatch_reconfig_step_slot(const struct dispatch_reconfig *c,
                                                               const struct plan_step *s)
{
    ASSERT(s->filled.instance || s->slot < c->dispatch->n);
    return s->filled.instance ? &s->filled : &c->dispatch->slots[s->slot];
}

/* ---- the phases ---- */

void dispatch_reconfig_enter(struct dispatch_reconfig *c, enum dispatch_reconfig_phase phase)
{
    ASSERT(phase > c->phase);
    c->phase = phase;
    loop_timer_set(c->timer, 0);
}

static bool any_starts(const struct plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (!p->steps[i].refused)
            return true;
    return false;
}

static void examine(struct dispatch_reconfig *c)
{
    const bool lenient = c->plan.lenient;
    int rc = plan_finish(&c->plan, &c->err);
    if (rc == 0 && !lenient && !any_starts(&c->plan))
        rc = err_set(&c->err, c->plan.next->conf->file,
                     "the new configuration has no connector instance that can run");
    if (rc < 0) {
        dispatch_reconfig_enter(c, PHASE_DONE);
        return;
    }
    dispatch_reconfig_record_formers(c);
    dispatch_reconfig_stop_formers(c);
    dispatch_reconfig_fill_slots(c);
    c->dispatch->empty = false;
    if (c->spec.seated)
        c->spec.seated(c->spec.ctx);
    dispatch_reconfig_enter(c, PHASE_STOP);
}

static void on_tried(void *ctx)
{
    examine(ctx);
}

static void launch_next(struct dispatch_reconfig *c)
{
    for (size_t i = 0; i < c->plan.n; i++) {
        const struct plan_step *const s = &c->plan.steps[i];
        if (!s->refused && s->what != DISPATCH_KEPT)
            dispatch_launch_slot(dispatch_reconfig_step_slot(c, s));
    }
}

static void stop_phase(struct dispatch_reconfig *c)
{
    if (!dispatch_reap_ended(c->dispatch))
        return;
    launch_next(c);
    dispatch_reconfig_enter(c, PHASE_START);
}

/* Whether it has started or failed. */
static bool has_settled(struct connector_instance *r, bool *runs, struct tc_err *err)
{
    const enum channel_state state = connector_instance_state(r, err);
    *runs = state == CHANNEL_RUNNING;
    if (state == CHANNEL_DOWN || state == CHANNEL_ENDED)
        err_set(err, NULL, "instance %s: crashed immediately after the start",
                connector_instance_name(r));
    return state != CHANNEL_NEW && state != CHANNEL_STARTING && state != CHANNEL_STOPPING;
}

/* For the start of the host. */
static void dispatch_reconfig_disable_slot(struct dispatch_reconfig *c, struct plan_step *s)
{
    struct connector_instance *const r = c->dispatch->slots[s->slot].instance;
    dispatch_record_disabled(c->dispatch, s->spec, &s->err);
    dispatch_clear_slot(c->dispatch, s->slot);
    dispatch_reconfig_end_instance(c, r);
}

/* False: still pending. */
static bool dispatch_reconfig_check_step(struct dispatch_reconfig *c, struct plan_step *s)
{
    const struct dispatch_slot *const slot = dispatch_reconfig_step_slot(c, s);
    struct connector_instance *const r = slot->instance;
    bool runs;
    if (slot->stands_by) {
        s->up = true;
        return true;
    }
    if (!has_settled(r, &runs, &s->err))
        return false;
    s->failed = !runs;
    if (!c->plan.lenient) {
        s->up = runs; /* may change until the others run, too */
        return true;
    }
    s->up = true;
    if (runs)
        connector_resume_deliveries(r);
    else
        dispatch_reconfig_disable_slot(c, s);
    return true;
}

static void dispatch_reconfig_apply_configured(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    for (size_t i = 0; i < c->plan.n; i++) {
        const struct plan_step *const s = &c->plan.steps[i];
        if (s->refused)
            continue;
        ASSERT(s->slot < d->n);
        d->slots[s->slot].spec = s->spec;
    }
    struct configured_instances *const before = d->configured;
    d->configured = c->next;
    c->next = before; /* its names are still reported */
}

static void dispatch_reconfig_drop_formers(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    for (size_t i = 0; i < c->n_formers; i++) {
        struct slot_before *const f = &c->formers[i];
        struct connector_instance *const r = d->slots[i].instance;
        if (!f->spec)
            continue;
        if (!f->is_replaced && r) {
            dispatch_clear_slot(d, i);
            dispatch_reconfig_end_instance(c, r); /* was not launched */
        }
        loader_unref_plugin(f->loaded);
        f->loaded = NULL;
    }
}

static void dispatch_reconfig_commit(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    dispatch_reconfig_drop_formers(c);
    for (size_t i = 0; i < c->plan.n; i++) {
        struct plan_step *const s = &c->plan.steps[i];
        if (s->refused || s->what == DISPATCH_KEPT)
            continue;
        if (s->slot == NO_SLOT) {
            s->slot = dispatch_add_slot(d);
            d->slots[s->slot] = s->filled;
            s->filled = (struct dispatch_slot){0};
        }
        /* With a lenient plan, it was released when it started. */
        if (!c->plan.lenient && !d->slots[s->slot].stands_by)
            connector_resume_deliveries(d->slots[s->slot].instance);
    }
    if (c->next)
        dispatch_reconfig_apply_configured(c);
    dispatch_reap_ended(d);
    dispatch_reconfig_enter(c, PHASE_DONE);
}

/* Replaces each next instance by one like its predecessor. */
static void dispatch_reconfig_undo(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    struct dispatch_slot again;
    for (size_t i = 0; i < c->plan.n; i++) {
        struct plan_step *const s = &c->plan.steps[i];
        if (s->refused || s->what == DISPATCH_KEPT)
            continue;
        if (s->slot == NO_SLOT) {
            dispatch_reconfig_end_instance(c, s->filled.instance);
            loader_unref_plugin(s->filled.loaded);
            s->filled = (struct dispatch_slot){0};
            continue;
        }
        struct loaded_plugin *const loaded = d->slots[s->slot].loaded;
        if (dispatch_reconfig_create_former(c, s->slot, &again) == 0) {
            dispatch_reconfig_exchange(c, s->slot, &again);
            loader_unref_plugin(loaded);
            continue;
        }
        dispatch_reconfig_end_instance(c, d->slots[s->slot].instance);
        dispatch_clear_slot(d, s->slot);
    }
    dispatch_reconfig_enter(c, PHASE_UNDO);
}

static void start_phase(struct dispatch_reconfig *c)
{
    bool all = true;
    for (size_t i = 0; i < c->plan.n; i++) {
        struct plan_step *const s = &c->plan.steps[i];
        if (s->refused || s->what == DISPATCH_KEPT || (c->plan.lenient && s->up))
            continue;
        if (!dispatch_reconfig_check_step(c, s)) {
            all = false;
        } else if (s->failed && !c->plan.lenient) {
            c->err = s->err;
            dispatch_reconfig_undo(c);
            return;
        }
    }
    if (all)
        dispatch_reconfig_commit(c);
}

static void undo_phase(struct dispatch_reconfig *c)
{
    if (!dispatch_reap_ended(c->dispatch))
        return;
    for (size_t i = 0; i < c->n_formers; i++)
        if (c->formers[i].spec && c->dispatch->slots[i].instance) {
            c->formers[i].restoring = !c->dispatch->slots[i].stands_by;
            dispatch_launch_slot(&c->dispatch->slots[i]);
        }
    dispatch_reconfig_enter(c, PHASE_RESTORE);
}

static void restore_slot(struct dispatch_reconfig *c, size_t slot, bool runs,
                         const struct tc_err *err)
{
    struct connector_instance *const r = c->dispatch->slots[slot].instance;
    ASSERT(r && c->formers[slot].restoring);
    c->formers[slot].restoring = false;
    if (runs) {
        connector_resume_deliveries(r);
        return;
    }
    log_write(LOG_ERR, "host", "instance %s: cannot restart after the rejected reload: %s",
              connector_instance_name(r), err_format(err));
    dispatch_clear_slot(c->dispatch, slot);
    dispatch_reconfig_end_instance(c, r);
}

static void restore_phase(struct dispatch_reconfig *c)
{
    bool all = true, runs;
    for (size_t i = 0; i < c->n_formers; i++) {
        struct tc_err err = {0};
        if (!c->formers[i].restoring)
            continue;
        if (has_settled(c->dispatch->slots[i].instance, &runs, &err))
            restore_slot(c, i, runs, &err);
        else
            all = false;
    }
    if (all && dispatch_reap_ended(c->dispatch))
        dispatch_reconfig_enter(c, PHASE_DONE);
}

/* ---- a single instance: down, or standing by ---- */

static void revive_phase(struct dispatch_reconfig *c)
{
    const enum channel_state state = connector_instance_state(c->revived, &c->err);
    if (state == CHANNEL_STARTING)
        return;
    if (state == CHANNEL_RUNNING)
        c->err = (struct tc_err){0};
    else if (!*c->err.text)
        err_set(&c->err, NULL, "instance %s: stopped", connector_instance_name(c->revived));
    if (c->takes_lead)
        dispatch_reconfig_finish_lead(c);
    dispatch_reconfig_enter(c, PHASE_DONE);
}

/* ---- create and free ---- */

/* Frees instances without a slot. */
static void dispatch_reconfig_drop_unplaced(struct dispatch_reconfig *c)
{
    for (size_t i = 0; i < c->plan.n; i++) {
        struct dispatch_slot *const s = &c->plan.steps[i].filled;
        if (!s->instance)
            continue;
        dispatch_end_instance(c->dispatch, s->instance);
        loader_unref_plugin(s->loaded);
        *s = (struct dispatch_slot){0};
    }
}

static void unwatch_all(struct dispatch_reconfig *c)
{
    const struct dispatch *const d = c->dispatch;
    for (size_t i = 0; i < d->n; i++)
        if (d->slots[i].instance)
            connector_instance_on_change(d->slots[i].instance, NULL, NULL);
    for (const struct ending_instance *l = d->ending; l; l = l->next)
        connector_instance_on_change(l->instance, NULL, NULL);
}

/* The next change may start in `done`. */
static void finish_change(struct dispatch_reconfig *c)
{
    ASSERT(!c->is_finished);
    ASSERT(c->phase == PHASE_DONE);
    dispatch_reconfig_drop_unplaced(c);
    unwatch_all(c);
    c->is_finished = true;
    c->spec.done(c->spec.ctx, *c->err.text ? &c->err : NULL);
    dispatch_reconfig_free(c);
}

static void dispatch_reconfig_on_timer(void *arg)
{
    struct dispatch_reconfig *const c = arg;
    static void (*const phases[])(struct dispatch_reconfig * c) = {
        [PHASE_STOP] = stop_phase,       [PHASE_START] = start_phase,  [PHASE_UNDO] = undo_phase,
        [PHASE_RESTORE] = restore_phase, [PHASE_DONE] = finish_change,
    };
    if (c->phase == PHASE_EXAMINE)
        return;
    const bool is_last = c->phase == PHASE_DONE;
    if (!is_last)
        loop_timer_set(c->timer, TICK_MS);
    if (c->revived && !is_last)
        revive_phase(c);
    else
        phases[c->phase](c);
}

struct dispatch_reconfig *dispatch_reconfig_new(struct dispatch *d,
                                                const struct dispatch_change_spec *spec)
{
    struct dispatch_reconfig *const c = xcalloc(1, sizeof *c);
    c->dispatch = d;
    c->spec = *spec;
    c->plan = (struct plan){.dispatch = d, .next = d->configured};
    c->timer = loop_timer_new(d->services.loop, dispatch_reconfig_on_timer, c);
    return c;
}

struct dispatch_reconfig *dispatch_change_start(struct dispatch *d,
                                                const struct dispatch_change_spec *spec)
{
    struct dispatch_reconfig *const c = dispatch_reconfig_new(d, spec);
    c->plan.lenient = true;
    dispatch_log_switched_off(d->configured->conf);
    plan_begin(&c->plan, NULL, on_tried, c);
    return c;
}

struct dispatch_reconfig *dispatch_change_conf(struct dispatch *d, const struct conf *conf,
                                               const struct dispatch_change_spec *spec)
{
    struct dispatch_reconfig *const c = dispatch_reconfig_new(d, spec);
    c->plan.next = c->next = configured_instances_new(conf);
    plan_begin(&c->plan, NULL, on_tried, c);
    return c;
}

static void revive(struct dispatch_reconfig *c, struct connector_instance *r)
{
    const int rc = connector_restart_now(r, &c->err);
    c->revived = r;
    dispatch_reconfig_watch(c, r);
    dispatch_reconfig_enter(c, rc < 0 ? PHASE_DONE : PHASE_START);
}

struct dispatch_reconfig *dispatch_change_restart(struct dispatch *d, const char *name,
                                                  const struct dispatch_change_spec *spec)
{
    struct dispatch_reconfig *const c = dispatch_reconfig_new(d, spec);
    const struct conf_instance *const wanted = dispatch_find_configured(d, name, &c->err);
    const size_t slot = dispatch_find_slot(d, name);
    struct connector_instance *const r = slot < d->n ? d->slots[slot].instance : NULL;
    if (wanted && r && d->slots[slot].stands_by)
        err_set(&c->err, NULL, "instance %s: another host runs it; restart it there", name);
    if (*c->err.text)
        dispatch_reconfig_enter(c, PHASE_DONE);
    else if (r && connector_is_down(r) && plan_stays(&d->slots[slot], wanted))
        revive(c, r);
    else
        plan_begin(&c->plan, wanted, on_tried, c);
    return c;
}

/* Releases the loaded files of an aborted change. */
static void dispatch_reconfig_free_formers(struct dispatch_reconfig *c)
{
    for (size_t i = 0; i < c->n_formers; i++)
        if (c->formers[i].spec)
            loader_unref_plugin(c->formers[i].loaded);
    free(c->formers);
}

void dispatch_reconfig_free(struct dispatch_reconfig *c)
{
    if (!c)
        return;
    dispatch_reconfig_drop_unplaced(c);
    if (!c->is_finished)
        unwatch_all(c);
    plan_fini(&c->plan);
    dispatch_reconfig_free_formers(c);
    configured_instances_free(c->next);
    loop_timer_free(c->timer);
    free(c);
}

void dispatch_reconfig_each(const struct dispatch_reconfig *c,
                            void (*each)(void *ctx, const char *name,
                                         enum dispatch_reconfig_action step),
                            void *ctx)
{
    for (size_t i = 0; i < c->plan.n; i++)
        if (!c->plan.steps[i].refused && !c->plan.steps[i].failed)
            each(ctx, c->plan.steps[i].spec->name, c->plan.steps[i].what);
    for (size_t i = 0; i < c->n_formers; i++)
        if (c->formers[i].spec && !c->formers[i].is_replaced)
            each(ctx, c->formers[i].spec->name, DISPATCH_STOPPED);
}
