/* SPDX-License-Identifier: MIT
 * State of other hosts' turns in the turn log, and when their events are needed. */
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "core/turnlog/turnlog_internal.h"

void turnlog_set_source(struct turnlog *log, const struct turnlog_source *source)
{
    log->source = source ? *source : (struct turnlog_source){0};
}

void turnlog_remote_want(struct turnlog *log, struct turnlog_entry *e)
{
    if (!e->is_remote || e->is_complete || e->is_wanted || !log->source.wanted)
        return;
    e->is_wanted = true;
    log->source.wanted(log->source.ctx, &e->turn);
}

void turnlog_remote_unwant(struct turnlog *log, struct turnlog_entry *e)
{
    if (!e->is_wanted)
        return;
    e->is_wanted = false;
    if (log->source.unwanted)
        log->source.unwanted(log->source.ctx, e->turn.spec.id);
}

void turnlog_remote_take_over(struct turnlog *log, struct turnlog_entry *e)
{
    if (!e->is_remote && !e->sealed)
        return;
    turnlog_remote_unwant(log, e);
    turnlog_clear_events(log, e);
    if (e->sealed)
        log->n_sealed--;
    e->sealed = e->is_remote = e->is_complete = false;
    e->forgotten = 0;
    e->turn.spec.host = NULL;
    e->turn.last_seq = 0;
    e->turn.ended_ms = 0;
}

static struct turnlog_entry *turnlog_remote_find(const struct turnlog *log, const char *id)
{
    struct turnlog_entry *const e = turnlog_entry_find(log, id);
    return e && e->is_remote ? e : NULL;
}

/* A later report replaces the whole state. */
static void turnlog_remote_copy(struct turnlog_entry *e, const struct turnlog_turn *t)
{
    struct arena *const a = &e->said;
    const struct turnlog_spec *const spec = &t->spec;
    const char *const id = e->turn.spec.id;
    const uint64_t last_seq = e->turn.last_seq;
    arena_reset(a);
    e->turn = *t;
    if (e->turn.last_seq < last_seq) /* events arrive before the report of the state */
        e->turn.last_seq = last_seq;
    e->turn.spec = (struct turnlog_spec){
        .id = id,
        .agent = arena_strdup(a, spec->agent),
        .conversation = arena_strdup(a, spec->conversation),
        .source = arena_strdup(a, spec->source),
        .owner = arena_strdup(a, spec->owner),
        .task = arena_strdup(a, spec->task),
        .instances = arena_strdup(a, spec->instances),
        .led = arena_strdup(a, spec->led),
        .retry = arena_strdup(a, spec->retry),
        .host = arena_strdup(a, spec->host),
    };
    e->turn.code = arena_strdup(a, t->code);
    e->turn.into = arena_strdup(a, t->into);
    e->turn.late_result = arena_strdup(a, t->late_result);
    e->turn.requests = arena_strdup(a, t->requests);
}

/* Its followers continue with the turn into which it was merged. */
static void turnlog_remote_merge(struct turnlog *log, struct turnlog_entry *e)
{
    struct turnlog_entry *const head = e->turn.into ? turnlog_entry_find(log, e->turn.into) : NULL;
    if (!head || head == e || !e->followers)
        return;
    turnlog_move_followers(e, head);
    turnlog_remote_unwant(log, e);
}

void turnlog_put_remote(struct turnlog *log, const struct turnlog_turn *t, uint64_t order)
{
    const struct turnlog_spec bare = {.id = t->spec.id};
    ASSERT(t->spec.host);
    struct turnlog_entry *e = turnlog_entry_find(log, t->spec.id);
    if (e && (!e->is_remote || e->order > order))
        return;
    if (e && turnlog_turn_is_finished(&e->turn) && !turnlog_turn_is_finished(t))
        return;
    if (!e)
        e = turnlog_find_or_make(log, &bare);
    e->is_remote = true;
    e->order = order;
    turnlog_remote_copy(e, t);
    turnlog_remote_merge(log, e);
    turnlog_notify_watchers(log, &e->turn, false);
    if (turnlog_turn_is_finished(t))
        turnlog_seal(log, e, t->state);
}

void turnlog_restart_remote_order(struct turnlog *log)
{
    for (struct turnlog_entry *e = log->newest; e; e = e->older)
        e->order = 0;
}

void turnlog_append_remote(struct turnlog *log, const char *id, struct shared_event *shared,
                           bool hidden, struct shared_event *stripped)
{
    struct turnlog_entry *const e = turnlog_remote_find(log, id);
    if (e) {
        turnlog_append_event(log, e, shared, hidden, stripped);
        return;
    }
    shared_event_unref(shared);
    shared_event_unref(stripped);
}

void turnlog_skip_remote(struct turnlog *log, const char *id, uint64_t up_to)
{
    struct turnlog_entry *const e = turnlog_remote_find(log, id);
    if (!e)
        return;
    turnlog_clear_events(log, e);
    e->forgotten = up_to;
    turnlog_notify_followers(e);
}

void turnlog_complete_remote(struct turnlog *log, const char *id)
{
    struct turnlog_entry *const e = turnlog_remote_find(log, id);
    if (!e)
        return;
    e->is_complete = true;
    turnlog_notify_followers(e);
}

bool turnlog_is_complete(const struct turnlog *log, const char *id)
{
    const struct turnlog_entry *const e = turnlog_remote_find(log, id);
    return !e || e->is_complete;
}
