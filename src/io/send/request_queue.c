/* SPDX-License-Identifier: MIT
 * Orders the requests of a conversation. */
#include "io/send/request_queue.h"

#include <stddef.h>
#include <string.h>

#include "base/invariant.h"

void request_queue_init(struct request_queue *l)
{
    *l = (struct request_queue){0};
    for (int i = 0; i < PRIORITY_COUNT; i++)
        l->end[i] = &l->first[i];
}

/* Removes the item that `at` points to from its list. */
static struct queued_request *request_queue_unlink(struct request_queue *l,
                                                   struct queued_request **at)
{
    struct queued_request *const item = *at;
    ASSERT(item);
    ASSERT((int)item->priority < PRIORITY_COUNT);
    *at = item->next;
    if (!item->next)
        l->end[item->priority] = at;
    item->next = NULL;
    return item;
}

static void request_queue_update_deadline(struct request_queue *l, int64_t deadline_ms)
{
    if (deadline_ms && (!l->next_deadline_ms || deadline_ms < l->next_deadline_ms))
        l->next_deadline_ms = deadline_ms;
}

static bool request_queue_is_same_message(const struct queued_request *a,
                                          const struct queued_request *b)
{
    return a->key && b->key && strcmp(a->key, b->key) == 0;
}

static struct queued_request **request_queue_find_edit(struct request_queue *l,
                                                       const struct queued_request *of)
{
    for (struct queued_request **at = &l->first[PRIORITY_LIVE]; *at; at = &(*at)->next)
        if (request_queue_is_same_message(*at, of))
            return at;
    return NULL;
}

static struct queued_request *request_queue_pop_all(struct request_queue *l,
                                                    enum send_priority priority)
{
    struct queued_request *const chain = l->first[priority];
    l->first[priority] = NULL;
    l->end[priority] = &l->first[priority];
    return chain;
}

/* A delay applies to the message, not to a version of its text: the newer version inherits it. */
static struct queued_request *request_queue_replace(struct request_queue *l,
                                                    struct queued_request **at,
                                                    struct queued_request *item)
{
    struct queued_request *const old = *at;
    ASSERT(old && old != item);
    ASSERT(item->priority == PRIORITY_LIVE && old->priority == PRIORITY_LIVE);
    item->next = old->next;
    if (item->not_before_ms < old->not_before_ms)
        item->not_before_ms = old->not_before_ms;
    item->attempts = old->attempts;
    item->is_unsent = old->is_unsent;
    *at = item;
    if (!item->next)
        l->end[PRIORITY_LIVE] = &item->next;
    old->next = NULL;
    return old;
}

static void request_queue_push_first(struct request_queue *l, struct queued_request *item)
{
    item->next = l->first[item->priority];
    if (!item->next)
        l->end[item->priority] = &item->next;
    l->first[item->priority] = item;
}

struct queued_request *request_queue_push(struct request_queue *l, struct queued_request *item)
{
    ASSERT((int)item->priority < PRIORITY_COUNT);
    item->queue = l;
    item->next = NULL;
    item->attempts = 0;
    item->is_unsent = false;
    request_queue_update_deadline(l, item->deadline_ms);
    struct queued_request **const same =
        item->priority == PRIORITY_LIVE ? request_queue_find_edit(l, item) : NULL;
    if (same)
        return request_queue_replace(l, same, item);
    struct queued_request *const pointless = item->priority == PRIORITY_FINAL && !item->spares_live
                                                 ? request_queue_pop_all(l, PRIORITY_LIVE)
                                                 : NULL;
    if (item->is_ahead) {
        request_queue_push_first(l, item);
        return pointless;
    }
    ASSERT(!*l->end[item->priority]);
    *l->end[item->priority] = item;
    l->end[item->priority] = &item->next;
    return pointless;
}

struct queued_request *request_queue_peek(const struct request_queue *l)
{
    for (int i = 0; i < PRIORITY_COUNT && !l->in_flight; i++)
        if (l->first[i])
            return l->first[i];
    return NULL;
}

struct queued_request *request_queue_start(struct request_queue *l)
{
    ASSERT(!l->in_flight);
    struct queued_request *const head = request_queue_peek(l);
    if (head)
        l->in_flight = request_queue_unlink(l, &l->first[head->priority]);
    return head;
}

void request_queue_finish(struct request_queue *l)
{
    ASSERT(l->in_flight);
    l->in_flight = NULL;
}

static bool has_outcome(const struct request_queue *l)
{
    const struct queued_request *item = l->first[PRIORITY_FINAL];
    while (item && item->spares_live)
        item = item->next;
    return item != NULL;
}

bool request_queue_requeue(struct request_queue *l)
{
    struct queued_request *const item = l->in_flight;
    ASSERT(item && !item->next);
    l->in_flight = NULL;
    if (item->priority == PRIORITY_LIVE && (has_outcome(l) || request_queue_find_edit(l, item)))
        return false;
    request_queue_push_first(l, item);
    request_queue_update_deadline(l, item->deadline_ms);
    return true;
}

void request_queue_cap_delay(struct request_queue *l, int64_t until_ms)
{
    for (int i = 0; i < PRIORITY_COUNT; i++)
        for (struct queued_request *item = l->first[i]; item; item = item->next)
            if (item->is_unsent && item->not_before_ms > until_ms)
                item->not_before_ms = until_ms;
}

struct queued_request *request_queue_expire(struct request_queue *l, int64_t now_ms)
{
    struct queued_request *chain = NULL, **end = &chain;
    if (!l->next_deadline_ms || now_ms < l->next_deadline_ms)
        return NULL;
    l->next_deadline_ms = 0;
    for (int i = 0; i < PRIORITY_COUNT; i++) {
        struct queued_request **at = &l->first[i];
        while (*at) {
            if ((*at)->deadline_ms && (*at)->deadline_ms <= now_ms) {
                *end = request_queue_unlink(l, at);
                end = &(*end)->next;
            } else {
                request_queue_update_deadline(l, (*at)->deadline_ms);
                at = &(*at)->next;
            }
        }
    }
    return chain;
}

struct queued_request *request_queue_clear(struct request_queue *l)
{
    struct queued_request *chain = NULL, **end = &chain;
    for (int i = 0; i < PRIORITY_COUNT; i++) {
        *end = request_queue_pop_all(l, (enum send_priority)i);
        while (*end)
            end = &(*end)->next;
    }
    return chain;
}

bool request_queue_is_idle(const struct request_queue *l)
{
    return !l->in_flight && !request_queue_peek(l);
}
