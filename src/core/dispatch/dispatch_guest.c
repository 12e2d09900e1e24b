/* SPDX-License-Identifier: MIT
 * Turns of other hosts, for instances that this host leads. */
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/dispatch/dispatch_internal.h"

struct dispatch_turn *dispatch_open_guest(struct dispatch *d,
                                          const struct dispatch_guest_spec *spec)
{
    const size_t slot = dispatch_find_slot(d, spec->instance);
    if (slot == d->n || d->slots[slot].stands_by)
        return NULL;
    struct dispatch_turn *const t = xcalloc(1, sizeof *t);
    struct arena *const a = &t->arena;
    t->dispatch = d;
    t->spec = (struct dispatch_turn_spec){
        .id = arena_strdup(a, spec->turn.id),
        .agent = arena_strdup(a, spec->turn.agent),
        .conversation = arena_strdup(a, spec->turn.conversation),
        .submitter = arena_strdup(a, spec->turn.submitter),
        .route = arena_strdup(a, spec->turn.route),
        .visibility = spec->turn.visibility,
        .is_known = spec->memory != NULL,
    };
    t->guest = (struct dispatch_guest){.instance = arena_strdup(a, spec->instance),
                                       .memory = arena_strdup(a, spec->memory)};
    t->n = d->n;
    t->slots = xcalloc(d->n + 1, sizeof *t->slots);
    SLIST_INIT(&t->open_requests);
    dispatch_link_turn(d, t);
    if (!spec->is_part) {
        const struct channel_turn turn = dispatch_describe_turn(t, spec->instance);
        t->slots[slot].part = PART_ALL;
        t->slots[slot].handle = connector_open_turn(d->slots[slot].instance, &turn);
    }
    return t;
}

static struct dispatch_turn_slot *dispatch_guest_slot(const struct dispatch_turn *t)
{
    ASSERT(t->guest.instance);
    const size_t slot = dispatch_find_slot(t->dispatch, t->guest.instance);
    return slot < t->n && !t->dispatch->slots[slot].stands_by ? &t->slots[slot] : NULL;
}

bool dispatch_has_guest(const struct dispatch_turn *t)
{
    const struct dispatch_turn_slot *const s = dispatch_guest_slot(t);
    return s && (s->handle || s->part != PART_ALL);
}

/* Nothing if the instance does not receive the guest. */
static void dispatch_guest_send(struct dispatch_turn *t, const struct event *ev)
{
    struct dispatch_turn_slot *const s = dispatch_guest_slot(t);
    if (!s || !s->handle)
        return;
    const size_t slot = dispatch_find_slot(t->dispatch, t->guest.instance);
    connector_send_event(t->dispatch->slots[slot].instance, s->handle, shared_event_new(ev));
    if (ev->kind == TC_DONE)
        s->handle = NULL;
}

static void dispatch_guest_send_done(struct dispatch_turn *t, const struct event *outcome,
                                     const char *reason)
{
    struct event done;
    event_init(&done, TC_DONE);
    done.meta.src = outcome ? outcome->meta.src : "turncast";
    done.meta.session_id = outcome ? outcome->meta.session_id : "";
    done.meta.ts = clock_wall_s();
    done.meta.correlation_id = t->spec.id;
    done.meta.seq = outcome ? outcome->meta.seq + 1 : 0;
    done.u.done.reason = reason;
    dispatch_guest_send(t, &done);
}

void dispatch_end_guest(struct dispatch_turn *t, struct event *outcome)
{
    outcome->u.meta = &outcome->meta;
    dispatch_guest_send(t, outcome);
    dispatch_guest_send_done(t, outcome, outcome->kind == TC_FINAL ? "completed" : "error");
}

void dispatch_suspend_guest(struct dispatch_turn *t)
{
    dispatch_guest_send_done(t, NULL, "suspended");
}
