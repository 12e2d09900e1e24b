/* SPDX-License-Identifier: MIT
 * Table outbox: inserts rows, records attempts, replaces a row by its successors in one
 * transaction. */
#include <stdio.h>

#include "io/journal/journal_internal.h"

int64_t journal_last_seq(struct journal *j)
{
    int64_t seq = 0;
    /* Without the table's counter, a number could be used twice, so this is an error. */
    if (sql_select_int(store_get_sql(j->store),
                       "select seq from sqlite_sequence where name='outbox'", &seq) < 0)
        return -1;
    return seq;
}

/* New rows, inserted consecutively from a position. */
struct journal_row_insert {
    struct journal *j;
    const char *conn;
    const struct journal_request *requests;
    size_t n;
    int64_t seq; /* of the first row */
    bool done;
};

struct journal_row_position {
    int64_t pos, sub;
};

static int journal_outbox_insert_row(struct sql *db, const struct journal_row_insert *l, size_t i,
                                     struct journal_row_position at)
{
    const struct journal_request *const r = &l->requests[i];
    return sql_run(db,
                   "insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, at,"
                   " expires, body) values(?1,?2,?3,?4,?5,?6,'request',?7,?8,?9,?10)",
                   sql_int(l->seq + (int64_t)i), sql_int(at.pos), sql_int(at.sub),
                   sql_text(l->conn), sql_text(r->lane), sql_text(r->turn), sql_int(r->priority),
                   sql_int(journal_now_ms(l->j)), sql_int(journal_expiry_ms(l->j, r->max_age_ms)),
                   sql_blob(r->body));
}

static bool journal_outbox_are_requests_valid(const char *conn,
                                              const struct journal_request *requests, size_t n)
{
    bool fit = journal_is_key_valid(conn);
    for (size_t i = 0; i < n; i++)
        fit &= journal_is_key_valid(requests[i].lane) && journal_is_key_valid(requests[i].turn) &&
               requests[i].body.len <= JOURNAL_MAX_BODY;
    return fit;
}

static int journal_outbox_add(struct sql *db, void *ctx)
{
    struct journal_row_insert *const l = ctx;
    for (size_t i = 0; i < l->n; i++)
        if (journal_outbox_insert_row(db, l, i, (struct journal_row_position){l->seq, (int64_t)i}) <
            0)
            return -1;
    l->done = true;
    return 0;
}

enum journal_status journal_add_requests(struct journal *j, const char *conn,
                                         const struct journal_request *requests, size_t n,
                                         int64_t seq)
{
    if (!journal_outbox_are_requests_valid(conn, requests, n))
        return JOURNAL_TOO_BIG;
    struct journal_row_insert l = {.j = j, .conn = conn, .requests = requests, .n = n, .seq = seq};
    return journal_transact(j, STORE_NORMAL, journal_outbox_add, &l, &l.done);
}

static int journal_outbox_start_tx(struct sql *db, void *ctx)
{
    struct journal_row_insert *const l = ctx;
    if (sql_run(db,
                "update outbox set state='sending', attempts=attempts+1"
                " where seq=?1 and state='queued'",
                sql_int(l->seq)) < 0)
        return -1;
    l->done = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_start_attempt(struct journal *j, int64_t seq)
{
    struct journal_row_insert l = {.seq = seq};
    const enum journal_status status =
        journal_transact(j, STORE_NORMAL, journal_outbox_start_tx, &l, &l.done);
    if (status == JOURNAL_DONE)
        store_pass_test_point(j->store, "before-send");
    return status;
}

static int journal_outbox_take_over(struct sql *db, void *ctx)
{
    struct journal_row_insert *const l = ctx;
    if (sql_run(db,
                "update outbox set state='queued', in_doubt=1 where conn=?1 and state='sending'",
                sql_text(l->conn)) < 0)
        return -1;
    l->done = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_take_over(struct journal *j, const char *conn)
{
    struct journal_row_insert l = {.conn = conn};
    return journal_transact(j, STORE_NORMAL, journal_outbox_take_over, &l, &l.done);
}

struct journal_row_settling {
    struct journal_row_insert rows;
    const struct journal_settlement *s;
    int64_t seq;
    const char *turn; /* or NULL: the row is the outcome of this turn for rows.conn */
    char conn[JOURNAL_MAX_KEY + 1];
    struct journal_row_position at;
    bool known, buried;
};

/* Requests become rows in the order in which the connector sends them, so those of an outcome
 * follow earlier requests, even if the outcome's row is older. */
static int journal_outbox_append(struct sql *db, const struct journal_row_settling *s)
{
    struct journal_row_insert rows = s->rows;
    rows.conn = s->conn;
    const int rc = journal_outbox_add(db, &rows);
    store_pass_test_point(rows.j->store, "in-settle");
    return rc;
}

static int journal_outbox_insert_in_place(struct sql *db, const struct journal_row_settling *s)
{
    const bool stays = s->s->verdict == JOURNAL_RETRY;
    /* Moves later rows at the same position back. */
    if (sql_run(db, "update outbox set sub=sub+?4 where conn=?1 and pos=?2 and sub>?3",
                sql_text(s->conn), sql_int(s->at.pos), sql_int(s->at.sub),
                sql_int((int64_t)s->rows.n)) < 0)
        return -1;
    struct journal_row_insert rows = s->rows;
    rows.conn = s->conn;
    for (size_t i = 0; i < rows.n; i++)
        if (journal_outbox_insert_row(
                db, &rows, i,
                (struct journal_row_position){s->at.pos, s->at.sub + stays + (int64_t)i}) < 0)
            return -1;
    store_pass_test_point(rows.j->store, "in-settle");
    return 0;
}

static int journal_outbox_remove_row(struct sql *db, struct journal_row_settling *s)
{
    const struct journal_settlement *const what = s->s;
    if (what->verdict == JOURNAL_RETRY)
        return sql_run(db,
                       "update outbox set state='queued', in_doubt=max(in_doubt, ?2) where seq=?1",
                       sql_int(s->seq), sql_int(what->in_doubt));
    s->buried = what->verdict == JOURNAL_FAIL && what->n == 0;
    if (s->buried)
        return journal_move_to_dead(db, s->seq, what->reason ? what->reason : "rejected",
                                    journal_now_ms(s->rows.j));
    return sql_run(db, "delete from outbox where seq=?1", sql_int(s->seq));
}

static int journal_outbox_find_row_tx(struct sql *db, struct journal_row_settling *s)
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
        s->seq = sql_column_int(&row, 0);
        s->at = (struct journal_row_position){sql_column_int(&row, 1), sql_column_int(&row, 2)};
        snprintf(s->conn, sizeof s->conn, "%s", sql_column_text(&row, 3).p);
    }
    return sql_finish(&row);
}

static int journal_outbox_settle_tx(struct sql *db, void *ctx)
{
    struct journal_row_settling *const s = ctx;
    s->buried = false;
    if (journal_outbox_find_row_tx(db, s) < 0)
        return -1;
    if (!s->known)
        return 0;
    if (s->rows.n && (s->turn ? journal_outbox_append : journal_outbox_insert_in_place)(db, s) < 0)
        return -1;
    return journal_outbox_remove_row(db, s);
}

static enum journal_status journal_outbox_settle(struct journal *j, struct journal_row_settling *s)
{
    const struct journal_settlement *const what = s->s;
    if (!journal_outbox_are_requests_valid(s->rows.conn, what->requests, what->n))
        return JOURNAL_TOO_BIG;
    s->rows.j = j;
    s->rows.requests = what->requests;
    s->rows.n = what->n;
    const bool durable = what->verdict == JOURNAL_FAIL && what->n == 0;
    const enum journal_status status = journal_transact(j, durable ? STORE_DURABLE : STORE_NORMAL,
                                                        journal_outbox_settle_tx, s, &s->known);
    if (status == JOURNAL_DONE)
        store_pass_test_point(j->store, s->buried ? "after-deadletter"
                                        : s->turn ? "after-expand"
                                                  : "after-record");
    return status;
}

enum journal_status journal_settle_row(struct journal *j, int64_t seq,
                                       const struct journal_settlement *s, int64_t first)
{
    return journal_outbox_settle(
        j, &(struct journal_row_settling){.rows = {.seq = first}, .s = s, .seq = seq});
}

enum journal_status journal_settle_outcome(struct journal *j, const char *conn, const char *turn,
                                           const struct journal_settlement *s, int64_t first)
{
    return journal_outbox_settle(
        j,
        &(struct journal_row_settling){.rows = {.conn = conn, .seq = first}, .s = s, .turn = turn});
}

static struct journal_row read_row(const struct sql_rows *rows, int64_t now)
{
    return (struct journal_row){
        .seq = sql_column_int(rows, 0),
        .kind = str_is(sql_column_text(rows, 1), "outcome") ? JOURNAL_OUTCOME : JOURNAL_REQUEST,
        .conn = sql_column_text(rows, 2).p,
        .lane = sql_column_text(rows, 3).p,
        .turn = sql_column_text(rows, 4).p,
        .priority = (int)sql_column_int(rows, 5),
        .attempts = sql_column_int(rows, 6),
        .in_doubt = sql_column_int(rows, 7) != 0,
        .age_ms = now - sql_column_int(rows, 8),
        .left_ms = sql_column_int(rows, 9) - now,
        .body = sql_column_blob(rows, 10),
    };
}

enum journal_status journal_list_rows(struct journal *j, const char *conn,
                                      void (*each)(void *ctx, const struct journal_row *row),
                                      void *ctx)
{
    const int64_t now = journal_now_ms(j);
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select seq, kind, conn, lane, turn, priority, attempts, in_doubt, at, expires,"
                   " body from outbox where conn=?1 order by pos, sub",
                   sql_text(conn));
    while (sql_next(&rows)) {
        const struct journal_row row = read_row(&rows, now);
        each(ctx, &row);
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}
