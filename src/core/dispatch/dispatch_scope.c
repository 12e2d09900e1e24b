/* SPDX-License-Identifier: MIT
 * Decides which instances receive a turn completely, and which only its requests to them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "core/dispatch/dispatch_internal.h"
#include "io/journal/journal_async.h"

bool dispatch_scope_is_adopted(const struct dispatch_turn *t, size_t slot)
{
    const struct dispatch *const d = t->dispatch;
    const struct dispatch_slot *const s = &d->slots[slot];
    return s->is_led && !t->guest.instance && d->services.is_adopted &&
           d->services.is_adopted(d->services.ctx, connector_instance_name(s->instance),
                                  t->spec.id);
}

/* A guest has its memory from the host of the turn. */
static void *dispatch_scope_open_part(const struct dispatch_turn *t, struct connector_instance *r)
{
    const struct channel_turn turn = dispatch_describe_turn(t, connector_instance_name(r));
    return t->spec.is_known && !t->guest.instance ? connector_open_known_turn(r, &turn)
                                                  : connector_open_turn(r, &turn);
}

void *dispatch_scope_reopen(const struct dispatch_turn *t, struct connector_instance *r)
{
    const struct channel_turn turn = dispatch_describe_turn(t, connector_instance_name(r));
    if (t->decided)
        return NULL;
    return t->has_started ? connector_reopen_turn(r, &turn) : dispatch_scope_open_part(t, r);
}

void dispatch_scope_open(struct dispatch_turn *t)
{
    const struct dispatch *const d = t->dispatch;
    const struct conf_scope_turn named = {.agent = t->spec.agent,
                                          .conversation = t->spec.conversation,
                                          .source = t->spec.submitter,
                                          .instances = t->spec.instances};
    t->n = d->n;
    t->slots = xcalloc(d->n + 1, sizeof *t->slots);
    SLIST_INIT(&t->open_requests);
    for (size_t i = 0; i < d->n; i++) {
        struct connector_instance *const r = d->slots[i].instance;
        if (!r || !conf_scope_admits(d->slots[i].spec, &named))
            continue;
        t->slots[i].part = PART_ALL;
        if (!d->slots[i].stands_by && !dispatch_scope_is_adopted(t, i))
            t->slots[i].handle = dispatch_scope_open_part(t, r);
    }
}

void dispatch_scope_append_led(const struct dispatch_turn *t, struct buf *names)
{
    const struct dispatch *const d = t->dispatch;
    for (size_t i = 0; i < t->n; i++)
        if (d->slots[i].instance && d->slots[i].is_led && t->slots[i].part == PART_ALL)
            buf_printf(names, "%s%s", names->len ? "\n" : "",
                       connector_instance_name(d->slots[i].instance));
}

/* ---- requests sent to other instances ---- */

/* Names contain no characters that JSON escapes. */
bool dispatch_request_names(const char *to, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = to; p && (p = strstr(p, name)); p++)
        if (p - to >= 2 && p[-1] == '"' && (p[-2] == '[' || p[-2] == ',') &&
            (p[n] == '"' || p[n] == ':'))
            return true;
    return false;
}

static struct dispatch_open_request *dispatch_scope_find(const struct dispatch_turn *t, size_t slot,
                                                         const char *request)
{
    struct dispatch_open_request *g = SLIST_FIRST(&t->open_requests);
    while (g && (g->slot != slot || strcmp(g->request, request) != 0))
        g = SLIST_NEXT(g, next);
    return g;
}

static void dispatch_scope_add_open_request(struct dispatch_turn *t, size_t slot,
                                            const char *request)
{
    const size_t len = strlen(request);
    struct dispatch_open_request *const g = xmalloc(sizeof *g + len + 1);
    g->slot = slot;
    memcpy(g->request, request, len + 1);
    SLIST_INSERT_HEAD(&t->open_requests, g, next);
}

/* Adds an instance to a running turn: it receives a start (resumed), or, after a crash of the host,
 * the outcome. */
static bool dispatch_scope_join(struct dispatch_turn *t, size_t slot)
{
    const struct dispatch *const d = t->dispatch;
    struct connector_instance *const r = d->slots[slot].instance;
    const char *const name = connector_instance_name(r);
    const struct channel_turn turn = dispatch_describe_turn(t, name);
    if (t->slots[slot].part == PART_REQUESTS)
        return t->slots[slot].handle;
    t->slots[slot].part = PART_REQUESTS;
    t->slots[slot].handle = connector_reopen_turn(r, &turn);
    if (d->services.journal && !t->guest.instance)
        journal_async_add_seen(d->services.journal, t->spec.id, name, NULL, NULL);
    return t->slots[slot].handle;
}

/* The host of a guest turn sends requests to its other instances itself. */
static bool dispatch_scope_may_request(const struct dispatch_turn *t, size_t slot)
{
    const struct dispatch_slot *const s = &t->dispatch->slots[slot];
    return !s->stands_by && (!t->guest.instance ||
                             strcmp(connector_instance_name(s->instance), t->guest.instance) == 0);
}

void dispatch_scope_open_requested(struct dispatch_turn *t, const struct event *ev)
{
    const struct dispatch *const d = t->dispatch;
    const struct tc_request *const request = &ev->u.request;
    if (ev->kind != TC_REQUEST || !request->to || !request->request_id)
        return;
    for (size_t i = 0; i < t->n; i++) {
        struct connector_instance *const r = d->slots[i].instance;
        if (r && dispatch_scope_may_request(t, i) && t->slots[i].part != PART_ALL &&
            dispatch_request_names(request->to, connector_instance_name(r)) &&
            !dispatch_scope_find(t, i, request->request_id) && dispatch_scope_join(t, i))
            dispatch_scope_add_open_request(t, i, request->request_id);
    }
}

bool dispatch_scope_delivers(const struct dispatch_turn *t, size_t slot, const struct event *ev)
{
    ASSERT(slot < t->n);
    const struct dispatch_turn_slot *const s = &t->slots[slot];
    if (!s->handle || s->part == PART_ALL || ev->kind == TC_DONE)
        return s->handle;
    return ev->kind == TC_REQUEST && ev->u.request.request_id &&
           dispatch_scope_find(t, slot, ev->u.request.request_id);
}

static bool dispatch_scope_is_open(const struct tc_request *request)
{
    return request->state && strcmp(request->state, "open") == 0;
}

void dispatch_scope_close_requested(struct dispatch_turn *t, const struct event *ev)
{
    struct dispatch_open_request *g = SLIST_FIRST(&t->open_requests), *next;
    if (ev->kind != TC_REQUEST || !ev->u.request.request_id ||
        dispatch_scope_is_open(&ev->u.request))
        return;
    for (; g; g = next) {
        next = SLIST_NEXT(g, next);
        if (strcmp(g->request, ev->u.request.request_id) != 0)
            continue;
        SLIST_REMOVE(&t->open_requests, g, dispatch_open_request, next);
        free(g);
    }
}

bool dispatch_shows(const struct dispatch *d, const char *instance, const char *turn)
{
    const size_t slot = dispatch_find_slot(d, instance);
    for (const struct dispatch_turn *t = d->turns; t; t = t->next)
        if (strcmp(t->spec.id, turn) == 0 && slot < t->n && t->slots[slot].part == PART_ALL &&
            t->slots[slot].handle)
            return true;
    return false;
}

void dispatch_scope_close(struct dispatch_turn *t)
{
    while (!SLIST_EMPTY(&t->open_requests)) {
        struct dispatch_open_request *const g = SLIST_FIRST(&t->open_requests);
        SLIST_REMOVE_HEAD(&t->open_requests, next);
        free(g);
    }
    free(t->slots);
}
