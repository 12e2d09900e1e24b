/* SPDX-License-Identifier: MIT
 * Owns which leases this host asks for. */
#include "core/host/instance_leaders.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "core/bus/bus_lead.h"

struct instance_leader {
    LIST_ENTRY(instance_leader) next;
    struct instance_leaders *all;
    struct bus_lead *lead;
    bool is_wanted; /* while the list is compared */
    char name[];
};

struct instance_leaders {
    struct instance_leaders_spec spec;
    LIST_HEAD(, instance_leader) leaders;
    bool is_retired, is_aside;
};

static void instance_leaders_on_gained(void *ctx)
{
    const struct instance_leader *const i = ctx;
    i->all->spec.gained(i->all->spec.ctx, i->name);
}

static void instance_leaders_on_lost(void *ctx)
{
    const struct instance_leader *const i = ctx;
    i->all->spec.losing(i->all->spec.ctx, i->name);
    dispatch_silence(i->all->spec.dispatch, i->name);
    instance_changes_stand_by(i->all->spec.changes, i->name);
}

static struct instance_leader *instance_leaders_find(const struct instance_leaders *l,
                                                     const char *name)
{
    struct instance_leader *i;
    LIST_FOREACH (i, &l->leaders, next)
        if (strcmp(i->name, name) == 0)
            return i;
    return NULL;
}

static struct instance_leader *instance_leaders_add(struct instance_leaders *l, const char *name)
{
    const size_t len = strlen(name);
    struct instance_leader *const i = xmalloc(sizeof *i + len + 1);
    *i = (struct instance_leader){.all = l};
    memcpy(i->name, name, len + 1);
    LIST_INSERT_HEAD(&l->leaders, i, next);
    i->lead =
        bus_lead_join(l->spec.bus, &(struct bus_lead_spec){.instance = i->name,
                                                           .gained = instance_leaders_on_gained,
                                                           .lost = instance_leaders_on_lost,
                                                           .ctx = i});
    if (l->is_aside)
        bus_lead_set_aside(i->lead, true);
    return i;
}

static void instance_leaders_remove(struct instance_leader *i)
{
    LIST_REMOVE(i, next);
    bus_lead_release(i->lead);
    free(i);
}

static void instance_leaders_want(void *ctx, const char *name)
{
    struct instance_leaders *const l = ctx;
    struct instance_leader *i = instance_leaders_find(l, name);
    if (!i && !l->is_retired)
        i = instance_leaders_add(l, name);
    if (i)
        i->is_wanted = true;
}

void instance_leaders_update(struct instance_leaders *l)
{
    struct instance_leader *i, *next;
    LIST_FOREACH (i, &l->leaders, next)
        i->is_wanted = false;
    dispatch_each_led(l->spec.dispatch, instance_leaders_want, l);
    for (i = LIST_FIRST(&l->leaders); i; i = next) {
        next = LIST_NEXT(i, next);
        if (!i->is_wanted)
            instance_leaders_remove(i);
    }
}

bool instance_leaders_leads(const struct instance_leaders *l, const char *instance)
{
    const struct instance_leader *const i = instance_leaders_find(l, instance);
    return i && bus_lead_is_held(i->lead);
}

const char *instance_leaders_holder(const struct instance_leaders *l, const char *instance)
{
    const struct instance_leader *const i = instance_leaders_find(l, instance);
    return i ? bus_lead_holder(i->lead) : "";
}

void instance_leaders_retire(struct instance_leaders *l)
{
    struct instance_leader *i, *next;
    l->is_retired = true;
    for (i = LIST_FIRST(&l->leaders); i; i = next) {
        next = LIST_NEXT(i, next);
        if (!bus_lead_is_held(i->lead))
            instance_leaders_remove(i);
    }
}

void instance_leaders_set_aside(struct instance_leaders *l, bool is_aside)
{
    struct instance_leader *i;
    l->is_aside = is_aside;
    LIST_FOREACH (i, &l->leaders, next)
        bus_lead_set_aside(i->lead, is_aside);
}

struct instance_leaders *instance_leaders_new(const struct instance_leaders_spec *spec)
{
    struct instance_leaders *const l = xcalloc(1, sizeof *l);
    l->spec = *spec;
    LIST_INIT(&l->leaders);
    return l;
}

void instance_leaders_free(struct instance_leaders *l)
{
    if (!l)
        return;
    while (!LIST_EMPTY(&l->leaders))
        instance_leaders_remove(LIST_FIRST(&l->leaders));
    free(l);
}
