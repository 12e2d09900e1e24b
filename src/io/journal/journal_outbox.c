/* SPDX-License-Identifier: MIT
 * Owns the table outbox: what is laid there, in whose place, and what came of it. */
#include <stdio.h>

#include "io/journal/journal_internal.h"

int64_t journal_last_seq(struct journal *j)
{
    int64_t seq = 0;
    /* Without the table's own count a number could be given again: better none at all. */
    if (sql_number(store_sql(j->store), "select seq from sqlite_sequence where name='outbox'",
                   &seq) < 0)
        return -1;
    return seq;
}

/* Rows that are laid together: one behind the other from a place on. */
struct laying {
    struct journal *j;
    const char *conn;
    const struct record_request *requests;
    size_t n;
    int64_t seq; /* of the first */
    bool done;
};

struct place {
    int64_t pos, sub;
};

static int lay_one(struct sql *db, const struct laying *l, size_t i, struct place at)
{
    const struct record_request *const r = &l->requests[i];
    return sql_run(db,
                   "insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, at,"
                   " expires, body) values(?1,?2,?3,?4,?5,?6,'request',?7,?8,?9,?10)",
                   sql_int(l->seq + (int64_t)i), sql_int(at.pos), sql_int(at.sub),
                   sql_text(l->conn), sql_text(r->lane), sql_text(r->turn), sql_int(r->priority),
                   sql_int(journal_now(l->j)), sql_int(journal_expiry(l->j, r->max_age_ms)),
                   sql_blob(r->body));
}

static bool requests_fit(const char *conn, const struct record_request *requests, size_t n)
{
    bool fit = journal_key_fits(conn);
    for (size_t i = 0; i < n; i++)
        fit &= journal_key_fits(requests[i].lane) && journal_key_fits(requests[i].turn) &&
               requests[i].body.len <= RECORD_MAX_BODY;
    return fit;
}

static int add(struct sql *db, void *ctx)
{
    struct laying *const l = ctx;
    for (size_t i = 0; i < l->n; i++)
        if (lay_one(db, l, i, (struct place){l->seq, (int64_t)i}) < 0)
            return -1;
    l->done = true;
    return 0;
}

enum record_status journal_add(struct journal *j, const char *conn,
                               const struct record_request *requests, size_t n, int64_t seq)
{
    if (!requests_fit(conn, requests, n))
        return RECORD_TOO_BIG;
    struct laying l = {.j = j, .conn = conn, .requests = requests, .n = n, .seq = seq};
    return journal_transact(j, STORE_NORMAL, add, &l, &l.done);
}

static int start(struct sql *db, void *ctx)
{
    struct laying *const l = ctx;
    if (sql_run(db,
                "update outbox set state='sending', attempts=attempts+1"
                " where seq=?1 and state='queued'",
                sql_int(l->seq)) < 0)
        return -1;
    l->done = sql_changes(db) > 0;
    return 0;
}

enum record_status journal_start(struct journal *j, int64_t seq)
{
    struct laying l = {.seq = seq};
    const enum record_status status = journal_transact(j, STORE_NORMAL, start, &l, &l.done);
    if (status == RECORD_DONE)
        store_point(j->store, "before-send");
    return status;
}

static int take_over(struct sql *db, void *ctx)
{
    struct laying *const l = ctx;
    if (sql_run(db,
                "update outbox set state='queued', in_doubt=1 where conn=?1 and state='sending'",
                sql_text(l->conn)) < 0)
        return -1;
    l->done = sql_changes(db) > 0;
    return 0;
}

enum record_status journal_take_over(struct journal *j, const char *conn)
{
    struct laying l = {.conn = conn};
    return journal_transact(j, STORE_NORMAL, take_over, &l, &l.done);
}

struct settling {
    struct laying rows;
    const struct record_settlement *s;
    int64_t seq;
    const char *turn; /* or NULL: the row is the outcome of this turn for rows.conn */
    char conn[RECORD_MAX_KEY + 1];
    struct place at;
    bool known, buried;
};

static int lay_in_place(struct sql *db, const struct settling *s)
{
    const bool stays = s->s->verdict == RECORD_RETRY;
    /* Those that stand behind it in the same place make room. */
    if (sql_run(db, "update outbox set sub=sub+?4 where conn=?1 and pos=?2 and sub>?3",
                sql_text(s->conn), sql_int(s->at.pos), sql_int(s->at.sub),
                sql_int((int64_t)s->rows.n)) < 0)
        return -1;
    struct laying rows = s->rows;
    rows.conn = s->conn;
    for (size_t i = 0; i < rows.n; i++)
        if (lay_one(db, &rows, i, (struct place){s->at.pos, s->at.sub + stays + (int64_t)i}) < 0)
            return -1;
    store_point(rows.j->store, "in-settle");
    return 0;
}

static int leave(struct sql *db, struct settling *s)
{
    const struct record_settlement *const what = s->s;
    if (what->verdict == RECORD_RETRY)
        return sql_run(db,
                       "update outbox set state='queued', in_doubt=max(in_doubt, ?2) where seq=?1",
                       sql_int(s->seq), sql_int(what->in_doubt));
    s->buried = what->verdict == RECORD_FAIL && what->n == 0;
    if (s->buried)
        return journal_bury(db, s->seq, what->reason ? what->reason : "rejected",
                            journal_now(s->rows.j));
    return sql_run(db, "delete from outbox where seq=?1", sql_int(s->seq));
}

static int find(struct sql *db, struct settling *s)
{
    struct sql_rows row =
        s->turn ? sql_select(db,
                             "select seq, pos, sub, conn from outbox where turn=?1 and conn=?2"
                             " and kind='outcome'",
                             sql_text(s->turn), sql_text(s->rows.conn))
                : sql_select(db, "select seq, pos, sub, conn from outbox where seq=?1",
                             sql_int(s->seq));
    s->known = sql_next(&row);
    if (s->known) {
        s->seq = sql_column(&row, 0);
        s->at = (struct place){sql_column(&row, 1), sql_column(&row, 2)};
        snprintf(s->conn, sizeof s->conn, "%s", sql_column_text(&row, 3).p);
    }
    return sql_end(&row);
}

static int settle(struct sql *db, void *ctx)
{
    struct settling *const s = ctx;
    s->buried = false;
    if (find(db, s) < 0)
        return -1;
    if (!s->known)
        return 0;
    if (s->rows.n && lay_in_place(db, s) < 0)
        return -1;
    return leave(db, s);
}

static enum record_status do_settle(struct journal *j, struct settling *s)
{
    const struct record_settlement *const what = s->s;
    if (!requests_fit(s->rows.conn, what->requests, what->n))
        return RECORD_TOO_BIG;
    s->rows.j = j;
    s->rows.requests = what->requests;
    s->rows.n = what->n;
    const bool durable = what->verdict == RECORD_FAIL && what->n == 0;
    const enum record_status status =
        journal_transact(j, durable ? STORE_DURABLE : STORE_NORMAL, settle, s, &s->known);
    if (status == RECORD_DONE)
        store_point(j->store, s->buried ? "after-deadletter"
                              : s->turn ? "after-expand"
                                        : "after-record");
    return status;
}

enum record_status journal_settle(struct journal *j, int64_t seq, const struct record_settlement *s,
                                  int64_t first)
{
    return do_settle(j, &(struct settling){.rows = {.seq = first}, .s = s, .seq = seq});
}

enum record_status journal_settle_outcome(struct journal *j, const char *conn, const char *turn,
                                          const struct record_settlement *s, int64_t first)
{
    return do_settle(
        j, &(struct settling){.rows = {.conn = conn, .seq = first}, .s = s, .turn = turn});
}

static struct record_row read_row(const struct sql_rows *rows, int64_t now)
{
    return (struct record_row){
        .seq = sql_column(rows, 0),
        .kind = str_is(sql_column_text(rows, 1), "outcome") ? RECORD_OUTCOME : RECORD_REQUEST,
        .conn = sql_column_text(rows, 2).p,
        .lane = sql_column_text(rows, 3).p,
        .turn = sql_column_text(rows, 4).p,
        .priority = (int)sql_column(rows, 5),
        .attempts = sql_column(rows, 6),
        .in_doubt = sql_column(rows, 7) != 0,
        .age_ms = now - sql_column(rows, 8),
        .left_ms = sql_column(rows, 9) - now,
        .body = sql_column_blob(rows, 10),
    };
}

enum record_status journal_load(struct journal *j, const char *conn,
                                void (*each)(void *ctx, const struct record_row *row), void *ctx)
{
    const int64_t now = journal_now(j);
    struct sql_rows rows =
        sql_select(store_sql(j->store),
                   "select seq, kind, conn, lane, turn, priority, attempts, in_doubt, at, expires,"
                   " body from outbox where conn=?1 order by pos, sub",
                   sql_text(conn));
    while (sql_next(&rows)) {
        const struct record_row row = read_row(&rows, now);
        each(ctx, &row);
    }
    return journal_read_end(j, &rows, RECORD_DONE);
}
