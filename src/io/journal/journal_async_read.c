/* SPDX-License-Identifier: MIT
 * Owns what is read at the start. The loop's thread stands still, so what `each` touches is safe.
 */
#include "io/journal/journal_async_internal.h"

struct reading {
    struct ledger *ledger;
    enum record_status status;
    const char *conn, *turn;
    void (*each_turn)(void *ctx, const struct record_turn *t);
    void (*each_row)(void *ctx, const struct record_row *row);
    void (*each_approval)(void *ctx, const struct record_approval *a);
    void (*each_value)(void *ctx, const char *key, const char *value);
    void *ctx;
    const char *prefix;
    struct buf *text;
};

static void read_turns(void *arg)
{
    struct reading *const r = arg;
    r->status = journal_open_turns(r->ledger->journal, r->each_turn, r->ctx);
}

enum record_status
ledger_open_turns(struct ledger *l, void (*each)(void *ctx, const struct record_turn *t), void *ctx)
{
    struct reading r = {.ledger = l, .each_turn = each, .ctx = ctx};
    worker_wait(l->worker, read_turns, &r);
    return r.status;
}

static void read_turn(void *arg)
{
    struct reading *const r = arg;
    r->status = journal_find_turn(r->ledger->journal, r->turn, r->each_turn, r->ctx);
}

enum record_status ledger_find_turn(struct ledger *l, const char *turn,
                                    void (*each)(void *ctx, const struct record_turn *t), void *ctx)
{
    struct reading r = {.ledger = l, .turn = turn, .each_turn = each, .ctx = ctx};
    worker_wait(l->worker, read_turn, &r);
    return r.status;
}

static void read_rows(void *arg)
{
    struct reading *const r = arg;
    r->status = journal_load(r->ledger->journal, r->conn, r->each_row, r->ctx);
}

enum record_status ledger_load(struct ledger *l, const char *conn,
                               void (*each)(void *ctx, const struct record_row *row), void *ctx)
{
    struct reading r = {.ledger = l, .conn = conn, .each_row = each, .ctx = ctx};
    worker_wait(l->worker, read_rows, &r);
    return r.status;
}

static void read_memory(void *arg)
{
    struct reading *const r = arg;
    r->status = journal_recall(r->ledger->journal, r->conn, r->turn, r->text);
}

enum record_status ledger_recall(struct ledger *l, const char *conn, const char *turn,
                                 struct buf *text)
{
    struct reading r = {.ledger = l, .conn = conn, .turn = turn, .text = text};
    worker_wait(l->worker, read_memory, &r);
    return r.status;
}

static void read_values(void *arg)
{
    struct reading *const r = arg;
    r->status = journal_each_value(r->ledger->journal, r->prefix, r->each_value, r->ctx);
}

enum record_status ledger_each_value(struct ledger *l, const char *prefix,
                                     void (*each)(void *ctx, const char *key, const char *value),
                                     void *ctx)
{
    struct reading r = {.ledger = l, .prefix = prefix, .each_value = each, .ctx = ctx};
    worker_wait(l->worker, read_values, &r);
    return r.status;
}

static void read_approvals(void *arg)
{
    struct reading *const r = arg;
    r->status = journal_approval_list(r->ledger->journal, &(struct record_approvals){0},
                                      r->each_approval, r->ctx);
}

enum record_status ledger_approvals(struct ledger *l,
                                    void (*each)(void *ctx, const struct record_approval *a),
                                    void *ctx)
{
    struct reading r = {.ledger = l, .each_approval = each, .ctx = ctx};
    worker_wait(l->worker, read_approvals, &r);
    return r.status;
}
