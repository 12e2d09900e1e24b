/* SPDX-License-Identifier: MIT
 * Owns the open turns, and creates the shared events. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "core/dispatch/dispatch_internal.h"
#include "core/turnlog/turnlog.h"

/* Fraction of each queue that may be filled between two checks of its level. */
#define ROOM_PART 16

/* ---- turns ---- */

/* Only the instance that submitted the message gets the route. */
struct channel_turn dispatch_describe_turn(const struct dispatch_turn *t, const char *instance)
{
    const struct dispatch_turn_spec *const spec = &t->spec;
    const bool own = spec->submitter && strcmp(spec->submitter, instance) == 0;
    return (struct channel_turn){
        .id = spec->id,
        .agent = spec->agent ? spec->agent : "",
        .conversation = spec->conversation,
        .route = own ? spec->route : NULL,
        .memory = t->guest.memory,
    };
}

void dispatch_link_turn(struct dispatch *d, struct dispatch_turn *t)
{
    ASSERT(!t->next && !t->prev);
    t->next = d->turns;
    if (d->turns)
        d->turns->prev = t;
    d->turns = t;
}

static void dispatch_log_turn(struct dispatch_turn *t)
{
    CLEANUP_BUF struct buf led = {0};
    const struct dispatch_turn_spec *const spec = &t->spec;
    dispatch_scope_append_led(t, &led);
    t->entry =
        turnlog_start_turn(t->dispatch->services.turnlog, &(struct turnlog_spec){
                                                              .id = spec->id,
                                                              .agent = spec->agent,
                                                              .conversation = spec->conversation,
                                                              .source = spec->submitter,
                                                              .instances = spec->instances,
                                                              .led = led.p,
                                                              .visible = &spec->visibility,
                                                          });
}

struct dispatch_turn *dispatch_open_turn(struct dispatch *d, const struct dispatch_turn_spec *spec)
{
    struct dispatch_turn *const t = xcalloc(1, sizeof *t);
    struct arena *const a = &t->arena;
    t->dispatch = d;
    t->spec = (struct dispatch_turn_spec){
        .id = arena_strdup(a, spec->id),
        .agent = arena_strdup(a, spec->agent),
        .conversation = arena_strdup(a, spec->conversation),
        .submitter = arena_strdup(a, spec->submitter),
        .route = arena_strdup(a, spec->route),
        .instances = arena_strdup(a, spec->instances),
        .visibility = spec->visibility,
        .is_known = spec->is_known,
    };
    dispatch_link_turn(d, t);
    dispatch_scope_open(t);
    if (d->services.turnlog)
        dispatch_log_turn(t);
    return t;
}

void dispatch_close_turn(struct dispatch_turn *t)
{
    if (!t)
        return;
    ASSERT((t->prev ? t->prev->next : t->dispatch->turns) == t);
    if (t->entry)
        turnlog_finish_turn(t->dispatch->services.turnlog, t->entry);
    *(t->prev ? &t->prev->next : &t->dispatch->turns) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    for (size_t i = 0; i < t->n_showings; i++)
        view_pairing_fini(&t->showings[i]);
    free(t->showings);
    dispatch_scope_close(t);
    arena_fini(&t->arena);
    free(t);
}

static enum dispatch_form form_for(const struct dispatch_view *c, struct showing *s,
                                   const struct visibility *v, const struct event *ev)
{
    static const enum dispatch_form forms[] = {[VIEW_HIDE] = FORM_NONE,
                                               [VIEW_SHOW] = FORM_PLAIN,
                                               [VIEW_STRIP] = FORM_STRIPPED,
                                               [VIEW_FAILURE] = FORM_FAILURE};
    if ((ev->kind == TC_STATE && !c->wants_state) || (ev->kind == TC_RAW && !c->wants_raw))
        return FORM_NONE;
    const enum visibility_decision view = view_pairing_view(s, v, c->audience, ev);
    if (c->sees_all)
        return view == VIEW_HIDE ? FORM_HIDDEN : FORM_PLAIN;
    return forms[view];
}

/* Allocates the shared events of a burst from one pool, because they are released at about the same
 * time. */
static struct shared_event *share_draft(struct dispatch *d, const struct event *draft)
{
    return d->gathers ? shared_event_new_in_pool(&d->burst, draft) : shared_event_new(draft);
}

static struct shared_event *make_shared_event(const struct dispatch_turn *t, const struct event *ev,
                                              enum dispatch_form form)
{
    const bool hidden = form == FORM_HIDDEN || form == FORM_MUTE_HIDDEN;
    const bool whole = form == FORM_PLAIN || form == FORM_HIDDEN;
    if (whole && ev->meta.hidden == hidden)
        return share_draft(t->dispatch, ev);
    CLEANUP_BUF struct buf text = {0};
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    draft.meta.hidden = hidden;
    if (form == FORM_STRIPPED)
        visibility_strip(&t->spec.visibility, &draft);
    else if (form == FORM_FAILURE)
        visibility_tell_failure(&draft, &text);
    else if (form == FORM_MUTE || form == FORM_MUTE_HIDDEN)
        draft.u.request.choices = NULL;
    return share_draft(t->dispatch, &draft);
}

/* Only instances with the grant to answer get choices. */
static enum dispatch_form form_unless_granted(enum dispatch_form form,
                                              const struct dispatch_slot *s, const struct event *ev)
{
    if (ev->kind != TC_REQUEST || !ev->u.request.choices || (s->spec->grants & CONF_ANSWER))
        return form;
    return form == FORM_PLAIN ? FORM_MUTE : form == FORM_HIDDEN ? FORM_MUTE_HIDDEN : form;
}

/* The form of the current event for slot i < t->n. */
static enum dispatch_form form_of(const struct dispatch_turn *t, size_t i, const struct event *ev)
{
    ASSERT(i < t->n && t->n <= t->dispatch->n);
    const struct dispatch *const d = t->dispatch;
    const struct dispatch_slot *const s = &d->slots[i];
    const enum dispatch_form form = form_unless_granted(d->groups[s->group].form, s, ev);
    const enum tc_kind told = form == FORM_FAILURE ? TC_NOTICE : ev->kind;
    return (s->kinds >> told & 1) && dispatch_scope_delivers(t, i, ev) ? form : FORM_NONE;
}

/* Additional form for the turn log: the visible form, if it differs from the complete one. */
static enum dispatch_form log_shown(const struct dispatch *d)
{
    const enum dispatch_form form = d->groups[d->log_shown].form;
    return form == FORM_STRIPPED || form == FORM_FAILURE ? form : FORM_NONE;
}

/* Creates the needed forms of the event, with one reference for each receiver. */
static void make_shared_events(struct dispatch_turn *t, const struct event *ev,
                               struct shared_event *shared_events[FORMS])
{
    struct dispatch *const d = t->dispatch;
    unsigned wanted[FORMS] = {0};
    for (size_t i = 0; i < t->n; i++)
        wanted[d->slots[i].form = form_of(t, i, ev)]++;
    if (t->entry) {
        wanted[d->groups[d->log_all].form]++;
        wanted[log_shown(d)]++;
    }
    for (enum dispatch_form form = FORM_PLAIN; form < FORMS; form++)
        if (wanted[form])
            shared_events[form] =
                shared_event_ref_many(make_shared_event(t, ev, form), wanted[form] - 1);
}

/* A reload may add groups, but never removes them. */
static void add_showings(struct dispatch_turn *t)
{
    ASSERT(t->n_showings <= t->dispatch->n_groups);
    const size_t n = t->dispatch->n_groups;
    if (t->n_showings == n)
        return;
    t->showings = xrealloc(t->showings, n * sizeof *t->showings);
    memset(t->showings + t->n_showings, 0, (n - t->n_showings) * sizeof *t->showings);
    t->n_showings = n;
}

static void decide_forms(struct dispatch_turn *t, const struct event *ev)
{
    struct dispatch *const d = t->dispatch;
    add_showings(t);
    for (size_t i = 0; i < d->n_groups; i++)
        d->groups[i].form = form_for(&d->groups[i], &t->showings[i], &t->spec.visibility, ev);
}

void dispatch_each_recipient(struct dispatch_turn *t, const struct event *ev,
                             void (*each)(void *ctx, const char *instance, struct str line),
                             void *ctx)
{
    const struct dispatch *const d = t->dispatch;
    struct shared_event *shared_events[FORMS] = {NULL};
    decide_forms(t, ev);
    t->decided = true;
    for (size_t i = 0; i < t->n; i++) {
        const struct connector_instance *const r = d->slots[i].instance;
        const enum dispatch_form form = d->groups[d->slots[i].group].form;
        if (form == FORM_NONE || !r || t->slots[i].part != PART_ALL ||
            dispatch_scope_is_adopted(t, i))
            continue;
        if (!shared_events[form])
            shared_events[form] = make_shared_event(t, ev, form);
        struct str line;
        line.p = shared_event_json_line(shared_events[form], &line.len);
        each(ctx, connector_instance_name(r), line);
        if (d->slots[i].stands_by && d->services.kept)
            d->services.kept(d->services.ctx, connector_instance_name(r), t->spec.id, line);
    }
    for (enum dispatch_form form = FORM_PLAIN; form < FORMS; form++)
        shared_event_unref(shared_events[form]);
}

static void cast_to_log(struct dispatch_turn *t, struct shared_event *const shared_events[FORMS])
{
    const struct dispatch *const d = t->dispatch;
    const enum dispatch_form whole = d->groups[d->log_all].form, shown = log_shown(d);
    if (whole != FORM_NONE)
        turnlog_append_event(d->services.turnlog, t->entry, shared_events[whole],
                             whole == FORM_HIDDEN,
                             shown == FORM_NONE ? NULL : shared_events[shown]);
}

static void use_room(struct dispatch_budget *room, struct shared_event *const shared_events[FORMS])
{
    room->events--;
    for (enum dispatch_form form = FORM_PLAIN; form < FORMS; form++)
        if (shared_events[form])
            room->bytes -= (int64_t)shared_event_size(shared_events[form]);
}

/* Waits until every instance has room, see dispatch_set_backpressure. */
static void dispatch_wait_capacity(struct dispatch *d);

void dispatch_event(struct dispatch_turn *t, struct event *ev)
{
    struct dispatch *const d = t->dispatch;
    if (d->backpressure_ms > 0 && (d->room.events <= 0 || d->room.bytes <= 0))
        dispatch_wait_capacity(d);
    t->has_started |= ev->kind == TC_START;
    decide_forms(t, ev);
    dispatch_scope_open_requested(t, ev);
    struct shared_event *shared_events[FORMS] = {NULL};
    make_shared_events(t, ev, shared_events);
    if (d->backpressure_ms > 0)
        use_room(&d->room, shared_events);
    if (t->entry)
        cast_to_log(t, shared_events);
    for (size_t i = 0; i < t->n; i++) {
        const struct dispatch_slot *const s = &d->slots[i];
        if (s->form == FORM_NONE)
            continue;
        ASSERT(s->instance && t->slots[i].handle && shared_events[s->form]);
        connector_send_event(s->instance, t->slots[i].handle, shared_events[s->form]);
        if (ev->kind == TC_DONE)
            t->slots[i].handle = NULL;
    }
    dispatch_scope_close_requested(t, ev);
}

/* ---- bursts ---- */

static void gather_all(const struct dispatch *d, bool on)
{
    for (size_t i = 0; i < d->n; i++) {
        struct channel *const c =
            d->slots[i].instance ? connector_instance_channel(d->slots[i].instance) : NULL;
        if (c)
            c->ops->set_batching(c, on);
    }
}

void dispatch_set_batching(struct dispatch_turn *t, bool on)
{
    struct dispatch *const d = t->dispatch;
    d->gathers = on;
    gather_all(d, on);
    if (!on)
        chunk_pool_finish(&d->burst);
}

/* ---- sources that can be delayed ---- */

void dispatch_set_backpressure(struct dispatch *d, int backpressure_ms)
{
    d->backpressure_ms = backpressure_ms;
    d->room = (struct dispatch_budget){0};
}

static bool dispatch_has_room(const struct dispatch_slot *s)
{
    struct channel *const c = connector_instance_channel(s->instance);
    return c->ops->wait_room(c, 0);
}

/* While waiting for one instance, the others have already received their events. */
static bool dispatch_wait_for(const struct dispatch *d, const struct dispatch_slot *s)
{
    struct channel *const c = connector_instance_channel(s->instance);
    if (d->gathers)
        gather_all(d, false);
    const bool room = c->ops->wait_room(c, d->backpressure_ms);
    if (d->gathers)
        gather_all(d, true);
    return room;
}

static int64_t dispatch_at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

/* Flushes all instances first, so that all work while the first is awaited. */
static void dispatch_find_room(struct dispatch *d)
{
    d->room = (struct dispatch_budget){INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < d->n; i++) {
        struct dispatch_slot *const s = &d->slots[i];
        if (!s->instance)
            continue;
        d->room.events = dispatch_at_most(d->room.events, s->spec->queue_events / ROOM_PART);
        d->room.bytes = dispatch_at_most(d->room.bytes, s->spec->queue_bytes / ROOM_PART);
        s->room = dispatch_has_room(s);
        s->stalled = s->stalled && !s->room;
    }
}

static void dispatch_wait_capacity(struct dispatch *d)
{
    dispatch_find_room(d);
    for (size_t i = 0; i < d->n; i++) {
        struct dispatch_slot *const s = &d->slots[i];
        if (!s->instance || s->room)
            continue;
        const bool room = !s->stalled && dispatch_wait_for(d, s);
        if (!room && !s->stalled)
            log_write(LOG_WARN, "host",
                      "instance %s: queue full and not draining; the replay no longer waits for it "
                      "(events may be dropped)",
                      connector_instance_name(s->instance));
        s->stalled = !room;
    }
}
