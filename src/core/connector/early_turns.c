/* SPDX-License-Identifier: MIT
 * Turns that were opened before connector_resume_deliveries. Their events are queued while the
 * instance starts, but outcomes that the journal still holds are only delivered when it runs. So
 * that the outcomes of a conversation keep their order, the outcome of an early turn, with what
 * follows it, is held back until those have been delivered. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/connector/connector_internal.h"

/* Limit of the events that are held back; beyond it, the order of outcomes is given up. */
#define HELD_MAX ((size_t)32 << 20)

struct held_event {
    STAILQ_ENTRY(held_event) next;
    void *handle;
    struct shared_event *event;
};

void early_turns_init(struct connector_instance *r)
{
    STAILQ_INIT(&r->held);
    r->holds_outcomes = r->services.loop && r->services.journal;
}

void early_turns_add(struct connector_instance *r, const char *id, void *handle)
{
    struct connector_early_turn *const e = xmalloc(sizeof *e + strlen(id) + 1);
    *e = (struct connector_early_turn){.next = r->early, .handle = handle};
    memcpy(e->id, id, strlen(id) + 1);
    r->early = e;
}

bool early_turns_have(const struct connector_instance *r, const char *turn)
{
    const struct connector_early_turn *e = r->early;
    while (e && strcmp(e->id, turn) != 0)
        e = e->next;
    return e != NULL;
}

static bool early_turns_is_held(const struct connector_instance *r, const void *handle,
                                const struct event *ev)
{
    struct connector_early_turn *e = r->holds_outcomes ? r->early : NULL;
    while (e && e->handle != handle)
        e = e->next;
    if (e)
        e->is_decided |= ev->kind == TC_FINAL || ev->kind == TC_ERROR;
    return e && e->is_decided;
}

void connector_send_event(struct connector_instance *r, void *handle, struct shared_event *shared)
{
    if (!early_turns_is_held(r, handle, shared_event_get(shared))) {
        r->channel->ops->send(r->channel, handle, shared);
        return;
    }
    struct held_event *const h = xmalloc(sizeof *h);
    *h = (struct held_event){.handle = handle, .event = shared};
    STAILQ_INSERT_TAIL(&r->held, h, next);
    r->held_bytes += shared_event_size(shared);
    if (r->held_bytes > HELD_MAX)
        early_turns_release(r);
}

void early_turns_release(struct connector_instance *r)
{
    r->holds_outcomes = false;
    for (struct held_event *h; (h = STAILQ_FIRST(&r->held));) {
        STAILQ_REMOVE_HEAD(&r->held, next);
        r->channel->ops->send(r->channel, h->handle, h->event);
        free(h);
    }
}

void early_turns_fini(struct connector_instance *r)
{
    for (struct connector_early_turn *e; (e = r->early);) {
        r->early = e->next;
        free(e);
    }
    for (struct held_event *h; (h = STAILQ_FIRST(&r->held));) {
        STAILQ_REMOVE_HEAD(&r->held, next);
        shared_event_unref(h->event);
        free(h);
    }
}
