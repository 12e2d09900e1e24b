/* SPDX-License-Identifier: MIT
 * Owns the order of a conversation. */
#include "io/send/request_queue.h"

#include <stddef.h>
#include <string.h>

void lane_init(struct lane *l)
{
    *l = (struct lane){0};
    for (int i = 0; i < LANE_PRIORITIES; i++)
        l->end[i] = &l->first[i];
}

/* Takes the item that `at` points to out of its list. */
static struct lane_item *unlink_item(struct lane *l, struct lane_item **at)
{
    struct lane_item *const item = *at;
    *at = item->next;
    if (!item->next)
        l->end[item->priority] = at;
    item->next = NULL;
    return item;
}

static void note_deadline(struct lane *l, int64_t deadline_ms)
{
    if (deadline_ms && (!l->next_deadline_ms || deadline_ms < l->next_deadline_ms))
        l->next_deadline_ms = deadline_ms;
}

static bool is_same_message(const struct lane_item *a, const struct lane_item *b)
{
    return a->key && b->key && strcmp(a->key, b->key) == 0;
}

static struct lane_item **find_edit(struct lane *l, const struct lane_item *of)
{
    for (struct lane_item **at = &l->first[LANE_LIVE]; *at; at = &(*at)->next)
        if (is_same_message(*at, of))
            return at;
    return NULL;
}

static struct lane_item *take_all(struct lane *l, enum lane_priority priority)
{
    struct lane_item *const chain = l->first[priority];
    l->first[priority] = NULL;
    l->end[priority] = &l->first[priority];
    return chain;
}

/* Its pause is the message's, not the text's: the newer text waits it out. */
static struct lane_item *replace(struct lane *l, struct lane_item **at, struct lane_item *item)
{
    struct lane_item *const old = *at;
    item->next = old->next;
    if (item->not_before_ms < old->not_before_ms)
        item->not_before_ms = old->not_before_ms;
    item->attempts = old->attempts;
    item->is_unsent = old->is_unsent;
    *at = item;
    if (!item->next)
        l->end[LANE_LIVE] = &item->next;
    old->next = NULL;
    return old;
}

static void put_first(struct lane *l, struct lane_item *item)
{
    item->next = l->first[item->priority];
    if (!item->next)
        l->end[item->priority] = &item->next;
    l->first[item->priority] = item;
}

struct lane_item *lane_push(struct lane *l, struct lane_item *item)
{
    item->lane = l;
    item->next = NULL;
    item->attempts = 0;
    item->is_unsent = false;
    note_deadline(l, item->deadline_ms);
    struct lane_item **const same = item->priority == LANE_LIVE ? find_edit(l, item) : NULL;
    if (same)
        return replace(l, same, item);
    struct lane_item *const pointless =
        item->priority == LANE_FINAL && !item->spares_live ? take_all(l, LANE_LIVE) : NULL;
    if (item->is_ahead) {
        put_first(l, item);
        return pointless;
    }
    *l->end[item->priority] = item;
    l->end[item->priority] = &item->next;
    return pointless;
}

struct lane_item *lane_head(const struct lane *l)
{
    for (int i = 0; i < LANE_PRIORITIES && !l->in_flight; i++)
        if (l->first[i])
            return l->first[i];
    return NULL;
}

struct lane_item *lane_take(struct lane *l)
{
    struct lane_item *const head = lane_head(l);
    if (head)
        l->in_flight = unlink_item(l, &l->first[head->priority]);
    return head;
}

void lane_land(struct lane *l)
{
    l->in_flight = NULL;
}

static bool has_outcome(const struct lane *l)
{
    const struct lane_item *item = l->first[LANE_FINAL];
    while (item && item->spares_live)
        item = item->next;
    return item != NULL;
}

bool lane_return(struct lane *l)
{
    struct lane_item *const item = l->in_flight;
    l->in_flight = NULL;
    if (item->priority == LANE_LIVE && (has_outcome(l) || find_edit(l, item)))
        return false;
    put_first(l, item);
    note_deadline(l, item->deadline_ms);
    return true;
}

void lane_hurry(struct lane *l, int64_t until_ms)
{
    for (int i = 0; i < LANE_PRIORITIES; i++)
        for (struct lane_item *item = l->first[i]; item; item = item->next)
            if (item->is_unsent && item->not_before_ms > until_ms)
                item->not_before_ms = until_ms;
}

struct lane_item *lane_expire(struct lane *l, int64_t now_ms)
{
    struct lane_item *chain = NULL, **end = &chain;
    if (!l->next_deadline_ms || now_ms < l->next_deadline_ms)
        return NULL;
    l->next_deadline_ms = 0;
    for (int i = 0; i < LANE_PRIORITIES; i++) {
        struct lane_item **at = &l->first[i];
        while (*at) {
            if ((*at)->deadline_ms && (*at)->deadline_ms <= now_ms) {
                *end = unlink_item(l, at);
                end = &(*end)->next;
            } else {
                note_deadline(l, (*at)->deadline_ms);
                at = &(*at)->next;
            }
        }
    }
    return chain;
}

struct lane_item *lane_clear(struct lane *l)
{
    struct lane_item *chain = NULL, **end = &chain;
    for (int i = 0; i < LANE_PRIORITIES; i++) {
        *end = take_all(l, (enum lane_priority)i);
        while (*end)
            end = &(*end)->next;
    }
    return chain;
}

bool lane_is_idle(const struct lane *l)
{
    return !l->in_flight && !lane_head(l);
}
