/* SPDX-License-Identifier: MIT
 * Orders to the journal's thread about requests that move between hosts. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "io/journal/journal_async_internal.h"
#include "io/journal/journal_moving.h"

/* Filled by the loop's thread, executed by the worker's, completed on the loop's. */
struct moving_order {
    struct journal_async *journal;
    struct arena memory; /* owns all texts */
    const char *conn, *id;
    struct journal_place after;
    int64_t seq; /* to be found (0: any), or of the new row */
    struct journal_moving moving;
    enum journal_status status;
    journal_found_moving *found;
    journal_stored_moving *done;
    void *ctx;
};

static struct moving_order *journal_moving_new_order(struct journal_async *l, const char *conn,
                                                     void *ctx)
{
    struct moving_order *const o = xcalloc(1, sizeof *o);
    o->journal = l;
    o->conn = arena_strdup(&o->memory, conn);
    o->ctx = ctx;
    return o;
}

static void journal_moving_report_status(void *arg)
{
    struct moving_order *const o = arg;
    o->done(o->ctx, o->status);
    arena_fini(&o->memory);
    free(o);
}

static void journal_moving_copy(void *ctx, const struct journal_moving *m)
{
    struct moving_order *const o = ctx;
    struct arena *const a = &o->memory;
    const char **const texts[] = {&o->moving.conn,  &o->moving.lane,         &o->moving.turn,
                                  &o->moving.agent, &o->moving.conversation, &o->moving.source,
                                  &o->moving.route, &o->moving.memory};
    o->moving = *m;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_strdup(a, *texts[i]);
    o->moving.body = (struct str){arena_memdup(a, m->body.p, m->body.len), m->body.len};
}

/* ---- the next one */

static void journal_moving_find(void *arg)
{
    struct moving_order *const o = arg;
    o->status =
        journal_find_moving(o->journal->journal, o->conn, o->after, o->seq, journal_moving_copy, o);
}

static void journal_moving_report_found(void *arg)
{
    struct moving_order *const o = arg;
    o->found(o->ctx, o->status, o->status == JOURNAL_DONE ? &o->moving : NULL);
    arena_fini(&o->memory);
    free(o);
}

void journal_async_find_moving(struct journal_async *l, const char *conn,
                               struct journal_place after, int64_t seq, journal_found_moving *found,
                               void *ctx)
{
    struct moving_order *const o = journal_moving_new_order(l, conn, ctx);
    o->after = after;
    o->seq = seq;
    o->found = found;
    worker_submit(l->worker, journal_moving_find, journal_moving_report_found, o);
}

/* ---- one of another host */

static void journal_moving_store(void *arg)
{
    struct moving_order *const o = arg;
    o->status = journal_store_moving(o->journal->journal, o->id, &o->moving, o->seq);
}

int64_t journal_async_store_moving(struct journal_async *l, const char *id,
                                   const struct journal_moving *m, journal_stored_moving *done,
                                   void *ctx)
{
    struct moving_order *const o = journal_moving_new_order(l, m->conn, ctx);
    const int64_t seq = l->next_seq++;
    o->id = arena_strdup(&o->memory, id);
    o->seq = seq;
    o->done = done;
    journal_moving_copy(o, m);
    worker_submit(l->worker, journal_moving_store, journal_moving_report_status, o);
    return seq;
}

static void journal_moving_find_offer(void *arg)
{
    struct moving_order *const o = arg;
    o->status = journal_find_offer(o->journal->journal, o->conn, o->id);
}

void journal_async_find_offer(struct journal_async *l, const char *conn, const char *id,
                              journal_stored_moving *done, void *ctx)
{
    struct moving_order *const o = journal_moving_new_order(l, conn, ctx);
    o->id = arena_strdup(&o->memory, id);
    o->done = done;
    worker_submit(l->worker, journal_moving_find_offer, journal_moving_report_status, o);
}
