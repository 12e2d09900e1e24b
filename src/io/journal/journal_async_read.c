/* SPDX-License-Identifier: MIT
 * Reads at the start. The loop's thread waits meanwhile, so `each` may access its data. */
#include "io/journal/journal_async_internal.h"

struct journal_read_op {
    struct journal_async *journal;
    enum journal_status status;
    const char *conn, *turn;
    void (*each_turn)(void *ctx, const struct journal_turn *t);
    void (*each_row)(void *ctx, const struct journal_row *row);
    void (*each_approval)(void *ctx, const struct journal_approval *a);
    void (*each_spent)(void *ctx, const struct journal_spent_row *row);
    int64_t day;
    void (*each_value)(void *ctx, const char *key, const char *value);
    void *ctx;
    const char *prefix;
    struct buf *text;
};

static void read_turns(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_list_open_turns(r->journal->journal, r->each_turn, r->ctx);
}

enum journal_status
journal_async_list_open_turns(struct journal_async *l,
                              void (*each)(void *ctx, const struct journal_turn *t), void *ctx)
{
    struct journal_read_op r = {.journal = l, .each_turn = each, .ctx = ctx};
    worker_run_sync(l->worker, read_turns, &r);
    return r.status;
}

static void journal_async_read_read_turn(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_find_turn(r->journal->journal, r->turn, r->each_turn, r->ctx);
}

enum journal_status
journal_async_list_open_find_turn(struct journal_async *l, const char *turn,
                                  void (*each)(void *ctx, const struct journal_turn *t), void *ctx)
{
    struct journal_read_op r = {.journal = l, .turn = turn, .each_turn = each, .ctx = ctx};
    worker_run_sync(l->worker, journal_async_read_read_turn, &r);
    return r.status;
}

static void read_rows(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_list_rows(r->journal->journal, r->conn, r->each_row, r->ctx);
}

enum journal_status
journal_async_list_open_list_rows(struct journal_async *l, const char *conn,
                                  void (*each)(void *ctx, const struct journal_row *row), void *ctx)
{
    struct journal_read_op r = {.journal = l, .conn = conn, .each_row = each, .ctx = ctx};
    worker_run_sync(l->worker, read_rows, &r);
    return r.status;
}

static void read_memory(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_memory_get(r->journal->journal, r->conn, r->turn, r->text);
}

enum journal_status journal_async_get(struct journal_async *l, const char *conn, const char *turn,
                                      struct buf *text)
{
    struct journal_read_op r = {.journal = l, .conn = conn, .turn = turn, .text = text};
    worker_run_sync(l->worker, read_memory, &r);
    return r.status;
}

static void journal_async_read_read_values(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_kv_each(r->journal->journal, r->prefix, r->each_value, r->ctx);
}

enum journal_status
journal_async_kv_each(struct journal_async *l, const char *prefix,
                      void (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
    struct journal_read_op r = {.journal = l, .prefix = prefix, .each_value = each, .ctx = ctx};
    worker_run_sync(l->worker, journal_async_read_read_values, &r);
    return r.status;
}

static void read_spent(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_list_spent(r->journal->journal, r->day, r->day, r->each_spent, r->ctx);
}

enum journal_status
journal_async_list_spent(struct journal_async *l, int64_t day,
                         void (*each)(void *ctx, const struct journal_spent_row *row), void *ctx)
{
    struct journal_read_op r = {.journal = l, .day = day, .each_spent = each, .ctx = ctx};
    worker_run_sync(l->worker, read_spent, &r);
    return r.status;
}

static void read_approvals(void *arg)
{
    struct journal_read_op *const r = arg;
    r->status = journal_approval_list(r->journal->journal, &(struct journal_approval_filter){0},
                                      r->each_approval, r->ctx);
}

enum journal_status journal_async_list_open_list_approvals(
    struct journal_async *l, void (*each)(void *ctx, const struct journal_approval *a), void *ctx)
{
    struct journal_read_op r = {.journal = l, .each_approval = each, .ctx = ctx};
    worker_run_sync(l->worker, read_approvals, &r);
    return r.status;
}
