/* SPDX-License-Identifier: MIT
 * Followers of a turn: each has a read position, gets a callback when events are available, and
 * is told about gaps left by eviction. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "core/turnlog/turnlog_internal.h"

struct turnlog_follower {
    struct turnlog *log;
    struct loop *loop;
    struct turnlog_entry *entry; /* NULL: the turn was dropped */
    struct turnlog_follower *next;
    uint64_t after; /* delivered up to here */
    bool sees_all;
    bool posted; /* `ready` will be called */
    void (*ready)(void *ctx);
    void *ctx;
};

static void on_posted(void *arg)
{
    struct turnlog_follower *const f = arg;
    ASSERT(f->posted);
    f->posted = false;
    f->ready(f->ctx);
}

static void turnlog_follower_post(struct turnlog_follower *f)
{
    if (f->posted || !f->ready)
        return;
    f->posted = true;
    loop_post(f->loop, on_posted, f);
}

void turnlog_notify_followers(struct turnlog_entry *e)
{
    for (struct turnlog_follower *f = e->followers; f; f = f->next)
        turnlog_follower_post(f);
}

static void turnlog_follower_join(struct turnlog_follower *f, struct turnlog_entry *e)
{
    f->entry = e;
    f->next = e->followers;
    e->followers = f;
}

void turnlog_move_followers(struct turnlog_entry *from, struct turnlog_entry *to)
{
    ASSERT(from != to);
    while (from->followers) {
        struct turnlog_follower *const f = from->followers;
        from->followers = f->next;
        f->after = 0; /* a queued turn has no events */
        turnlog_follower_join(f, to);
        turnlog_follower_post(f);
        turnlog_remote_want(f->log, to);
    }
}

void turnlog_detach_followers(struct turnlog_entry *e)
{
    for (struct turnlog_follower *f = e->followers; f; f = f->next) {
        f->entry = NULL;
        turnlog_follower_post(f);
    }
    e->followers = NULL;
}

struct turnlog_follower *turnlog_follower_new(struct turnlog *log, const char *id, uint64_t after,
                                              bool sees_all, void (*ready)(void *ctx), void *ctx)
{
    struct turnlog_entry *e = turnlog_entry_find(log, id);
    if (e && e->turn.into)
        e = turnlog_entry_find(log, e->turn.into);
    if (!e)
        return NULL;
    struct turnlog_follower *const f = xcalloc(1, sizeof *f);
    *f = (struct turnlog_follower){.log = log,
                                   .loop = log->loop,
                                   .after = after,
                                   .sees_all = sees_all,
                                   .ready = ready,
                                   .ctx = ctx};
    turnlog_follower_join(f, e);
    if (e->sealed && after > e->turn.last_seq)
        f->after = 0; /* known from before a restart, without an outcome */
    if (ready && (e->n > e->first || e->sealed))
        turnlog_follower_post(f);
    if (ready)
        turnlog_remote_want(log, e);
    return f;
}

/* The first stored event after `after`; seqs are increasing. */
static size_t find_first_after(const struct turnlog_entry *e, uint64_t after)
{
    size_t low = e->first, high = e->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (e->events[middle].seq <= after)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum turnlog_next_result turnlog_follower_next(struct turnlog_follower *f,
                                               struct turnlog_item *item)
{
    const struct turnlog_entry *const e = f->entry;
    if (!e)
        return TURNLOG_OVER;
    if (f->after < e->forgotten) {
        *item = (struct turnlog_item){.from = f->after + 1, .to = e->forgotten};
        f->after = e->forgotten;
        return TURNLOG_GAP;
    }
    for (size_t i = find_first_after(e, f->after); i < e->n; i++) {
        const struct turnlog_event *const ev = &e->events[i];
        f->after = ev->seq;
        if (ev->hidden && !f->sees_all)
            continue;
        *item = (struct turnlog_item){
            .shared = ev->stripped && !f->sees_all ? ev->stripped : ev->shared,
            .seq = ev->seq,
            .age_us = (int64_t)(turnlog_now() - ev->added) * TURNLOG_UNIT_US,
        };
        return TURNLOG_EVENT;
    }
    return (e->is_remote ? e->is_complete : e->sealed) ? TURNLOG_OVER : TURNLOG_WAIT;
}

void turnlog_follower_free(struct turnlog_follower *f)
{
    if (!f)
        return;
    if (f->entry) {
        struct turnlog_follower **at = &f->entry->followers;
        while (*at && *at != f)
            at = &(*at)->next;
        ASSERT(*at);
        *at = f->next;
        if (!f->entry->followers)
            turnlog_remote_unwant(f->log, f->entry);
    }
    if (f->posted)
        loop_cancel_posted(f->loop, on_posted, f);
    free(f);
}
