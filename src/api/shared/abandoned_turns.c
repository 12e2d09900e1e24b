/* SPDX-License-Identifier: MIT
 * The list of abandoned turns in their grace period, each with a timer. */
#include "api/shared/abandoned_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "api/shared/chat_dedup.h"
#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"

struct abandoned_turn {
    struct abandoned_turn *next;
    struct abandoned *list;
    struct loop_timer *timer; /* at its end, the turn is cancelled unless a client waits for it */
    int64_t held_ms;          /* monotonic: until then a client of another host waits for it */
    char turn[37];
};

struct abandoned {
    struct api_context *api;
    struct abandoned_turn *first;
};

struct abandoned *abandoned_turns_new(struct api_context *a)
{
    struct abandoned *const list = xcalloc(1, sizeof *list);
    list->api = a;
    return list;
}

static void abandoned_turns_remove(struct abandoned_turn *t)
{
    struct abandoned_turn **at = &t->list->first;
    while (*at && *at != t)
        at = &(*at)->next;
    ASSERT(*at);
    *at = t->next;
    loop_timer_free(t->timer);
    free(t);
}

void abandoned_turns_free(struct abandoned *list)
{
    while (list && list->first)
        abandoned_turns_remove(list->first);
    free(list);
}

/* A request that is repeated after its turn was cancelled starts a new turn. */
static void abandoned_turns_cancel(const struct api_context *a, const char *turn)
{
    if (a->conf->http.continue_disconnected || event_stream_has_waiter(a, turn))
        return;
    if (turn_scheduler_cancel_turn(a->host.conversations, turn))
        chat_dedup_forget(a->chats, turn);
}

static void abandoned_turns_on_grace_end(void *arg)
{
    struct abandoned_turn *const t = arg;
    const int64_t held = t->held_ms - clock_mono_ms();
    if (held > 0) {
        loop_timer_set(t->timer, held);
        return;
    }
    abandoned_turns_cancel(t->list->api, t->turn);
    abandoned_turns_remove(t);
}

static struct abandoned_turn *abandoned_turns_find_turn(struct abandoned *list, const char *turn)
{
    struct abandoned_turn *t = list->first;
    while (t && strcmp(t->turn, turn) != 0)
        t = t->next;
    return t;
}

static struct abandoned_turn *abandoned_turns_add_turn(struct abandoned *list, const char *turn)
{
    struct abandoned_turn *const t = xcalloc(1, sizeof *t);
    snprintf(t->turn, sizeof t->turn, "%s", turn);
    t->list = list;
    t->timer = loop_timer_new(list->api->host.loop, abandoned_turns_on_grace_end, t);
    t->next = list->first;
    list->first = t;
    return t;
}

void abandoned_turns_record(struct abandoned *list, const char *turn)
{
    const int64_t grace = list->api->conf->http.disconnect_grace_ms;
    struct abandoned_turn *t = abandoned_turns_find_turn(list, turn);
    if (!grace && !t) {
        abandoned_turns_cancel(list->api, turn);
        return;
    }
    if (!t)
        t = abandoned_turns_add_turn(list, turn);
    loop_timer_set(t->timer, grace);
}

void abandoned_turns_extend(struct abandoned *list, const char *turn, int64_t ms)
{
    struct abandoned_turn *t = abandoned_turns_find_turn(list, turn);
    if (!t)
        t = abandoned_turns_add_turn(list, turn);
    t->held_ms = clock_mono_ms() + ms;
    loop_timer_set(t->timer, ms);
}
