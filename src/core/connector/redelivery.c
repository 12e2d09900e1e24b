/* SPDX-License-Identifier: MIT
 * Redelivery after a restart: dispatches outcomes that the journal still holds for an instance
 * again, as start{resumed}, final or error, done. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/connector/connector_internal.h"
#include "event/codec.h"
#include "io/journal/journal_async.h"

struct redelivery {
    struct redelivery *next;
    struct connector_instance *instance; /* NULL: the instance has ended */
    int64_t seq;
    char *turn;
    struct buf line; /* outcome of the turn */
    void *handle;    /* NULL: not open */
    bool begun;      /* the journal was queried */
    bool is_owed;    /* counted in instance->owed */
};

/* ---- query of the journal ---- */

struct redelivery_scan {
    struct connector_instance *instance;
    int64_t only;     /* only this row; 0: all */
    const char *turn; /* only this turn; NULL: all */
};

static void redelivery_add_row(void *ctx, const struct journal_row *row)
{
    const struct redelivery_scan *const l = ctx;
    struct connector_instance *const r = l->instance;
    const bool is_resuming = !l->only && !l->turn;
    if (row->kind != JOURNAL_OUTCOME || (l->only && row->seq != l->only) ||
        (l->turn && strcmp(l->turn, row->turn) != 0) ||
        (is_resuming && early_turns_have(r, row->turn)))
        return;
    struct redelivery *const o = xcalloc(1, sizeof *o);
    o->instance = r;
    o->seq = row->seq;
    o->is_owed = is_resuming;
    r->owed += is_resuming;
    o->turn = xstrdup(row->turn);
    buf_add(&o->line, row->body.p, row->body.len);
    struct redelivery **at = &r->redeliveries;
    while (*at)
        at = &(*at)->next;
    *at = o;
}

void redelivery_load(struct connector_instance *r, int64_t only, const char *turn)
{
    struct redelivery_scan l = {r, only, turn};
    if (journal_async_list_open_list_rows(r->services.journal, r->name, redelivery_add_row, &l) ==
        JOURNAL_FAILED)
        log_write(LOG_ERR, "host", "instance %s: cannot read undelivered outcomes from the journal",
                  r->name);
}

static void redelivery_free(struct redelivery *o)
{
    for (struct redelivery **at = o->instance ? &o->instance->redeliveries : NULL; at && *at;
         at = &(*at)->next)
        if (*at == o) {
            *at = o->next;
            break;
        }
    buf_fini(&o->line);
    free(o->turn);
    free(o);
}

void redelivery_fini(struct connector_instance *r)
{
    for (struct redelivery *o = r->redeliveries; o; o = o->next)
        o->instance = NULL; /* freed when the journal has answered */
    r->redeliveries = NULL;
}

/* ---- turns from before a restart ---- */

struct redelivery_turn {
    struct arena arena;
    const char *instance;
    struct channel_turn turn;
};

static void redelivery_read_turn(void *ctx, const struct journal_turn *t)
{
    struct redelivery_turn *const k = ctx;
    k->turn.agent = arena_strdup(&k->arena, t->agent);
    if (*t->conv)
        k->turn.conversation = arena_strdup(&k->arena, t->conv);
    if (t->route && strcmp(t->source, k->instance) == 0)
        k->turn.route = arena_strdup(&k->arena, t->route);
}

static struct redelivery *redelivery_find(const struct connector_instance *r, const char *turn)
{
    struct redelivery *o = r->redeliveries;
    while (o && strcmp(o->turn, turn) != 0)
        o = o->next;
    return o;
}

void redelivery_recall(const struct connector_instance *r, const char *turn, struct buf *memory)
{
    if (r->services.journal &&
        journal_async_get(r->services.journal, r->name, turn, memory) == JOURNAL_FAILED)
        log_write(LOG_ERR, "host",
                  "instance %s: cannot read its stored data of turn %s from the journal", r->name,
                  turn);
}

static void *open_known(struct connector_instance *r, const struct channel_turn *turn)
{
    struct redelivery_turn k = {.instance = r->name, .turn = *turn};
    CLEANUP_BUF struct buf memory = {0};
    if (r->services.journal) {
        if (journal_async_list_open_find_turn(r->services.journal, turn->id, redelivery_read_turn,
                                              &k) == JOURNAL_FAILED ||
            journal_async_get(r->services.journal, r->name, turn->id, &memory) == JOURNAL_FAILED)
            log_write(LOG_ERR, "host", "turn %s: cannot read its record from the journal",
                      turn->id);
        if (memory.len)
            k.turn.memory = memory.p;
    }
    if (!k.turn.agent)
        k.turn.agent = "";
    void *const handle = r->channel->ops->open(r->channel, &k.turn);
    r->turns += handle != NULL;
    arena_fini(&k.arena);
    return handle;
}

/* A turn with a request and an outcome is opened once. */
void *redelivery_open_turn(void *instance, const struct channel_turn *turn)
{
    struct connector_instance *const r = instance;
    struct redelivery *const o = redelivery_find(r, turn->id);
    struct channel_turn opened = *turn;
    opened.over = !o;
    void *const handle = open_known(r, &opened);
    if (o)
        o->handle = handle;
    return handle;
}

/* ---- delivery ---- */

static void redelivery_send(const struct connector_instance *r, void *handle,
                            const struct event *ev)
{
    r->channel->ops->send(r->channel, handle, shared_event_new(ev));
}

/* The events around an outcome have its source. */
static void redelivery_copy_origin(struct event *ev, const struct event *outcome)
{
    ev->meta.src = outcome ? outcome->meta.src : "turncast";
    ev->meta.session_id = outcome ? outcome->meta.session_id : "";
}

static void send_start(const struct connector_instance *r, void *handle, const char *turn,
                       const struct event *outcome)
{
    struct event start;
    event_init_resumed(&start, turn, clock_wall_s());
    redelivery_copy_origin(&start, outcome);
    redelivery_send(r, handle, &start);
}

void *connector_reopen_turn(struct connector_instance *r, const struct channel_turn *turn)
{
    void *const handle = connector_open_turn(r, turn);
    if (handle)
        send_start(r, handle, turn->id, NULL);
    return handle;
}

/* outcome NULL: the stored outcome is corrupt. */
static void redelivery_cast(const struct redelivery *o, struct event *outcome)
{
    ASSERT(o->instance && o->handle);
    send_start(o->instance, o->handle, o->turn, outcome);
    if (outcome) {
        outcome->u.meta = &outcome->meta;
        redelivery_send(o->instance, o->handle, outcome);
    }
    struct event done;
    event_init(&done, TC_DONE);
    redelivery_copy_origin(&done, outcome);
    done.meta.ts = clock_wall_s();
    done.meta.correlation_id = o->turn;
    done.meta.seq = outcome ? outcome->meta.seq + 1 : 2;
    done.u.done.reason = !outcome ? "lost" : outcome->kind == TC_FINAL ? "completed" : "error";
    redelivery_send(o->instance, o->handle, &done);
}

static void redelivery_drop_corrupt(const struct redelivery *o, const char *why)
{
    const struct journal_settlement failed = {.verdict = JOURNAL_FAIL, .reason = "damaged"};
    log_write(LOG_ERR, "host", "turn %s: stored outcome is corrupt: %s", o->turn, why);
    journal_async_settle_row(o->instance->services.journal, o->seq, &failed, NULL, NULL);
    redelivery_cast(o, NULL);
}

static void redelivery_deliver(const struct redelivery *o, enum journal_status status)
{
    struct arena arena = {0};
    struct event ev;
    const char *why = "";
    if (status != JOURNAL_DONE)
        redelivery_cast(o, NULL);
    else if (codec_decode(&ev, &arena, o->line.p ? o->line.p : "", o->line.len, &why) == 0)
        redelivery_cast(o, &ev);
    else
        redelivery_drop_corrupt(o, why);
    arena_fini(&arena);
}

static void redelivery_on_started(void *ctx, enum journal_status status, const char *text)
{
    struct redelivery *const o = ctx;
    struct connector_instance *const r = o->instance;
    (void)text;
    if (r && o->handle)
        redelivery_deliver(o, status);
    const bool is_last = r && o->is_owed && --r->owed == 0;
    redelivery_free(o);
    if (is_last)
        early_turns_release(r);
}

void redelivery_start(struct connector_instance *r)
{
    for (struct redelivery *o = r->redeliveries, *next; o; o = next) {
        next = o->next;
        if (o->begun)
            continue;
        o->begun = true;
        if (!o->handle && (o->handle = open_known(r, &(struct channel_turn){.id = o->turn})) &&
            r->outbox)
            outbox_open_turn(r->outbox, o->turn, o->handle);
        journal_async_start_attempt(r->services.journal, o->seq, redelivery_on_started, o);
    }
}
