/* SPDX-License-Identifier: MIT
 * Leadership of an instance that only one of several hosts runs: silences it, lets it stand by, and
 * starts it. */
#include "base/invariant.h"
#include "core/dispatch/dispatch_reconfig.h"

void dispatch_each_led(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                       void *ctx)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->slots[i].instance && d->slots[i].is_led)
            each(ctx, connector_instance_name(d->slots[i].instance));
}

bool dispatch_stands_by(const struct dispatch *d, const char *instance)
{
    const size_t slot = dispatch_find_slot(d, instance);
    return slot == d->n || d->slots[slot].stands_by;
}

bool dispatch_deliver_outcome(struct dispatch *d, const char *instance, const char *turn)
{
    const size_t slot = dispatch_find_slot(d, instance);
    if (slot == d->n || d->slots[slot].stands_by)
        return false;
    connector_deliver_outcome(d->slots[slot].instance, turn);
    return true;
}

void dispatch_silence(struct dispatch *d, const char *name)
{
    const size_t slot = dispatch_find_slot(d, name);
    if (slot == d->n || d->slots[slot].stands_by)
        return;
    for (struct dispatch_turn *t = d->turns; t; t = t->next)
        if (slot < t->n)
            t->slots[slot].handle = NULL;
    d->slots[slot].stands_by = true;
    connector_instance_silence(d->slots[slot].instance);
}

/* The instance cannot start here: c->err has the reason. */
static void dispatch_lead_disable_slot(struct dispatch_reconfig *c, size_t slot)
{
    struct dispatch *const d = c->dispatch;
    struct connector_instance *const r = d->slots[slot].instance;
    dispatch_record_disabled(d, d->slots[slot].spec, &c->err);
    dispatch_clear_slot(d, slot);
    dispatch_reconfig_end_instance(c, r);
}

struct dispatch_reconfig *dispatch_change_stand_by(struct dispatch *d, const char *name,
                                                   const struct dispatch_change_spec *spec)
{
    struct dispatch_reconfig *const c = dispatch_reconfig_new(d, spec);
    const size_t slot = dispatch_find_slot(d, name);
    const struct dispatch_slot *const now = slot < d->n ? &d->slots[slot] : NULL;
    struct dispatch_slot next;
    if (!now || !connector_instance_is_silent(now->instance)) {
        dispatch_reconfig_enter(c, PHASE_DONE);
        return c;
    }
    if (dispatch_start_slot(d, &next, d->configured->conf, now->spec, now->loaded, &c->err) < 0) {
        dispatch_lead_disable_slot(c, slot);
        dispatch_reconfig_enter(c, PHASE_DONE);
        return c;
    }
    next.stands_by = true; /* even if this host leads again: dispatch_change_lead follows */
    dispatch_reconfig_exchange(c, slot, &next);
    dispatch_reconfig_enter(c, PHASE_STOP);
    return c;
}

struct dispatch_reconfig *dispatch_change_lead(struct dispatch *d, const char *name,
                                               const struct dispatch_change_spec *spec)
{
    struct dispatch_reconfig *const c = dispatch_reconfig_new(d, spec);
    const size_t slot = dispatch_find_slot(d, name);
    struct dispatch_slot *const s = slot < d->n ? &d->slots[slot] : NULL;
    if (!s || !s->stands_by || connector_instance_is_silent(s->instance) ||
        !d->services.leads(d->services.ctx, name)) {
        dispatch_reconfig_enter(c, PHASE_DONE);
        return c;
    }
    s->stands_by = false;
    c->takes_lead = true;
    c->revived = s->instance;
    dispatch_reconfig_watch(c, s->instance);
    dispatch_join_turns(d, slot);
    dispatch_launch_slot(s);
    dispatch_reconfig_enter(c, PHASE_START);
    return c;
}

void dispatch_reconfig_finish_lead(struct dispatch_reconfig *c)
{
    struct dispatch *const d = c->dispatch;
    struct connector_instance *const r = c->revived;
    const size_t slot = dispatch_find_slot(d, connector_instance_name(r));
    ASSERT(slot < d->n);
    if (*c->err.text)
        dispatch_lead_disable_slot(c, slot);
    else
        connector_resume_deliveries(r);
}
