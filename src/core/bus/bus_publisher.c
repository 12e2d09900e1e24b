/* SPDX-License-Identifier: MIT
 * Owns the list of published turns. */
#include "core/bus/bus_publisher.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/bus/bus_line.h"
#include "core/bus/bus_turn.h"

/* Above this number, the oldest turns are dropped: first settled ones, whose events others may
 * still request; without a bus, ended turns that wait for it. */
#define TURNS_MAX 500

static struct bus_turn *bus_publisher_find(const struct bus_publisher *p, const char *id)
{
    struct bus_turn *t;
    TAILQ_FOREACH(t, &p->turns, next)
    if (strcmp(t->id, id) == 0)
        return t;
    return NULL;
}

static void bus_publisher_remove(struct bus_publisher *p, struct bus_turn *t)
{
    ASSERT(p->n > 0);
    TAILQ_REMOVE(&p->turns, t, next);
    p->n--;
    bus_turn_free(t);
}

/* Running turns are kept, bounded by the log's limits, and so are turns with a pending request. */
static bool bus_publisher_can_forget(const struct bus_turn *t)
{
    const struct turnlog_turn *const now = turnlog_find_turn(t->publisher->log, t->id);
    return !t->events.is_asked && !t->state.is_asked && (!now || turnlog_turn_is_finished(now));
}

static void bus_publisher_limit(struct bus_publisher *p)
{
    struct bus_turn *t = TAILQ_FIRST(&p->turns), *newer;
    for (; t && p->n > TURNS_MAX; t = newer) {
        newer = TAILQ_NEXT(t, next);
        if (!bus_publisher_can_forget(t))
            continue;
        p->link->counters.dropped += !bus_turn_is_settled(t);
        bus_publisher_remove(p, t);
    }
}

static void bus_publisher_on_changed(void *ctx, const struct turnlog_turn *now)
{
    struct bus_publisher *const p = ctx;
    if (now->spec.host || !bus_stream_is_token(now->spec.id))
        return;
    struct bus_turn *t = bus_publisher_find(p, now->spec.id);
    if (!t) {
        t = bus_turn_new(p, now->spec.id);
        TAILQ_INSERT_TAIL(&p->turns, t, next);
        p->n++;
        bus_publisher_limit(p);
    }
    bus_turn_note_state(t, now);
}

static bool bus_publisher_add(void *ctx, const struct turnlog_turn *now)
{
    bus_publisher_on_changed(ctx, now);
    return true;
}

static struct bus_publisher *bus_publisher_begin(struct bus_link *link, struct turnlog *log,
                                                 void *ctx)
{
    struct bus_publisher *const p = xcalloc(1, sizeof *p);
    p->link = link;
    p->log = log;
    p->ctx = ctx;
    TAILQ_INIT(&p->turns);
    return p;
}

static void bus_publisher_listen(struct bus_publisher *p)
{
    turnlog_each_turn(p->log, bus_publisher_add, p);
    p->watcher = turnlog_watch(p->log, bus_publisher_on_changed, p);
}

struct bus_publisher *bus_publisher_new(struct bus_link *link, bus_append_requests *requests,
                                        void *ctx)
{
    struct bus_publisher *const p = bus_publisher_begin(link, link->turnlog, ctx);
    p->requests = requests;
    bus_publisher_listen(p);
    return p;
}

struct bus_publisher *bus_publisher_new_for_runs(struct bus_link *link, struct turnlog *log,
                                                 const struct bus_publisher_runs *runs, void *ctx)
{
    struct bus_publisher *const p = bus_publisher_begin(link, log, ctx);
    p->runs = runs;
    bus_publisher_listen(p);
    return p;
}

void bus_publisher_free(struct bus_publisher *p)
{
    if (!p)
        return;
    turnlog_watcher_free(p->watcher);
    while (!TAILQ_EMPTY(&p->turns))
        bus_publisher_remove(p, TAILQ_FIRST(&p->turns));
    free(p);
}

/* Publishes the states of turns again, because the servers may have lost them. */
void bus_publisher_resume(struct bus_publisher *p)
{
    struct bus_turn *t;
    TAILQ_FOREACH(t, &p->turns, next)
    {
        t->is_dirty = true;
        bus_turn_go_on(t);
    }
}

int64_t bus_publisher_get_age_ms(const struct bus_publisher *p)
{
    const int64_t now_ms = clock_mono_ms();
    int64_t oldest_ms = now_ms;
    const struct bus_turn *t;
    TAILQ_FOREACH(t, &p->turns, next)
    {
        if (t->is_fenced)
            continue;
        if (t->events.is_pending && t->events.since_ms < oldest_ms)
            oldest_ms = t->events.since_ms;
        if (t->state.is_pending && t->state.since_ms < oldest_ms)
            oldest_ms = t->state.since_ms;
    }
    return now_ms - oldest_ms;
}

size_t bus_publisher_count_waiting(const struct bus_publisher *p)
{
    size_t n = 0;
    const struct bus_turn *t;
    TAILQ_FOREACH(t, &p->turns, next)
    n += !bus_turn_is_settled(t) && (t->events.is_pending || t->state.is_pending);
    return n;
}

bool bus_publisher_is_idle(const struct bus_publisher *p)
{
    const struct bus_turn *t;
    TAILQ_FOREACH(t, &p->turns, next)
    if (!bus_turn_is_settled(t))
        return false;
    return true;
}

/* ---- request "feed": events for hosts that missed some ---- */

/* False: the next event is not stored yet, or the reply is full. */
static bool bus_publisher_add_item(const struct bus_turn *t, const struct turnlog_item *item,
                                   size_t max, struct bus_batch *batch, struct buf *lines)
{
    if (item->seq > t->stored)
        return false;
    batch->more = lines->len >= max;
    if (batch->more)
        return false;
    bus_line_append(lines, item->shared, t->shift);
    batch->last = item->seq + t->shift;
    return true;
}

static void bus_publisher_collect(const struct bus_turn *t, size_t max, struct bus_batch *batch,
                                  struct buf *lines)
{
    struct turnlog_item item;
    enum turnlog_next_result step = TURNLOG_EVENT;
    const uint64_t after = batch->after > t->shift ? batch->after - t->shift : 0;
    struct turnlog_follower *const f =
        turnlog_follower_new(t->publisher->log, t->id, after, true, NULL, NULL);
    while (f && (step = turnlog_follower_next(f, &item)) <= TURNLOG_GAP)
        if (step == TURNLOG_GAP)
            batch->after = batch->last = item.to + t->shift;
        else if (!bus_publisher_add_item(t, &item, max, batch, lines))
            break;
    turnlog_follower_free(f);
}

bool bus_publisher_feed(const struct bus_publisher *p, const char *turn, uint64_t after, size_t max,
                        struct buf *out)
{
    CLEANUP_BUF struct buf lines = {0};
    const struct bus_turn *const t = bus_publisher_find(p, turn);
    if (!t || t->is_fenced || after < t->shift || !turnlog_find_turn(p->log, turn))
        return false;
    struct bus_batch batch = {.after = after, .last = after};
    batch.from = bus_link_next_origin(p->link);
    bus_publisher_collect(t, max, &batch, &lines);
    bus_batch_write(out, &batch, (struct str){lines.p, lines.len});
    return true;
}
