/* SPDX-License-Identifier: MIT
 * Operations on one turn that has started: its receivers, the stored outcome, and lookup. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "io/journal/journal_async_internal.h"

/* Filled by the loop's thread, executed by the worker's, completed on the loop's. */
struct past_order {
    struct journal_async *journal;
    struct arena memory;         /* owns all texts */
    const char *turn, *instance; /* turn: of a list, the source */
    struct buf ids;
    struct str result;
    struct journal_spent spent;
    struct journal_turn record;
    enum journal_status status;
    journal_done_fn *done; /* or NULL */
    void (*found)(void *ctx, enum journal_status status, const struct journal_turn *turn);
    void *ctx;
};

static struct past_order *journal_async_past_new_op(struct journal_async *l, const char *turn,
                                                    void *ctx)
{
    struct past_order *const o = xcalloc(1, sizeof *o);
    o->journal = l;
    o->turn = arena_strdup(&o->memory, turn);
    o->ctx = ctx;
    return o;
}

static void journal_async_past_free_op(struct past_order *o)
{
    arena_fini(&o->memory);
    buf_fini(&o->ids);
    free(o);
}

static void journal_async_past_report_done(void *arg)
{
    struct past_order *const o = arg;
    if (o->done)
        o->done(o->ctx, o->status, NULL);
    journal_async_past_free_op(o);
}

/* ---- receivers */

static void journal_async_past_add_seen(void *arg)
{
    struct past_order *const o = arg;
    o->status = journal_add_seen(o->journal->journal, o->turn, o->instance);
}

void journal_async_add_seen(struct journal_async *l, const char *turn, const char *instance,
                            journal_done_fn *done, void *ctx)
{
    struct past_order *const o = journal_async_past_new_op(l, turn, ctx);
    o->instance = arena_strdup(&o->memory, instance);
    o->done = done;
    worker_submit(l->worker, journal_async_past_add_seen, journal_async_past_report_done, o);
}

/* ---- stored outcome */

static void journal_async_past_set_result(void *arg)
{
    struct past_order *const o = arg;
    o->status = journal_set_late_result(o->journal->journal, o->turn, o->result);
}

void journal_async_set_late_result(struct journal_async *l, const char *turn, struct str result,
                                   journal_done_fn *done, void *ctx)
{
    struct past_order *const o = journal_async_past_new_op(l, turn, ctx);
    o->result = (struct str){arena_memdup(&o->memory, result.p, result.len), result.len};
    o->done = done;
    worker_submit(l->worker, journal_async_past_set_result, journal_async_past_report_done, o);
}

static void journal_async_past_add_spent(void *arg)
{
    struct past_order *const o = arg;
    o->status = journal_add_spent(o->journal->journal, o->turn, &o->spent);
}

void journal_async_add_spent(struct journal_async *l, const char *turn,
                             const struct journal_spent *spent)
{
    struct past_order *const o = journal_async_past_new_op(l, turn, NULL);
    o->spent = *spent;
    worker_submit(l->worker, journal_async_past_add_spent, journal_async_past_report_done, o);
}

/* ---- lookup */

static void copy_record(void *ctx, const struct journal_turn *t)
{
    struct past_order *const o = ctx;
    struct arena *const a = &o->memory;
    o->record = (struct journal_turn){
        .id = arena_strdup(a, t->id),
        .agent = arena_strdup(a, t->agent),
        .conv = arena_strdup(a, t->conv),
        .source = arena_strdup(a, t->source),
        .route = arena_strdup(a, t->route),
        .boot_id = arena_strdup(a, t->boot_id),
        .owner = arena_strdup(a, t->owner),
        .state = arena_strdup(a, t->state),
        .code = arena_strdup(a, t->code),
        .admitted_ms = t->admitted_ms,
        .began_ms = t->began_ms,
        .ended_ms = t->ended_ms,
        .result = {arena_memdup(a, t->result.p, t->result.len), t->result.len},
    };
}

static void journal_async_past_find(void *arg)
{
    struct past_order *const o = arg;
    o->status = journal_find_turn(o->journal->journal, o->turn, copy_record, o);
}

static void journal_async_past_report_found(void *arg)
{
    struct past_order *const o = arg;
    o->found(o->ctx, o->status, &o->record);
    journal_async_past_free_op(o);
}

void journal_async_look_up(struct journal_async *l, const char *turn,
                           void (*found)(void *ctx, enum journal_status status,
                                         const struct journal_turn *turn),
                           void *ctx)
{
    struct past_order *const o = journal_async_past_new_op(l, turn, ctx);
    o->found = found;
    worker_submit(l->worker, journal_async_past_find, journal_async_past_report_found, o);
}

/* ---- what is left to be told */

static void journal_async_past_list_untold(void *arg)
{
    struct past_order *const o = arg;
    o->status = journal_list_untold(o->journal->journal, o->turn, &o->ids);
}

static void journal_async_past_report_list(void *arg)
{
    struct past_order *const o = arg;
    o->done(o->ctx, o->status, o->ids.p);
    journal_async_past_free_op(o);
}

void journal_async_list_untold(struct journal_async *l, const char *source, journal_done_fn *done,
                               void *ctx)
{
    struct past_order *const o = journal_async_past_new_op(l, source, ctx);
    o->done = done;
    worker_submit(l->worker, journal_async_past_list_untold, journal_async_past_report_list, o);
}

static void journal_async_past_remove(void *arg)
{
    struct past_order *const o = arg;
    o->status = journal_remove_turn(o->journal->journal, o->turn);
}

void journal_async_remove_turn(struct journal_async *l, const char *turn, journal_done_fn *done,
                               void *ctx)
{
    struct past_order *const o = journal_async_past_new_op(l, turn, ctx);
    o->done = done;
    worker_submit(l->worker, journal_async_past_remove, journal_async_past_report_done, o);
}
