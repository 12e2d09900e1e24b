/* SPDX-License-Identifier: MIT
 * Table dead: dead letters, until an operator retries or deletes them. */
#include <inttypes.h>

#include "base/sys/log.h"
#include "io/journal/journal_internal.h"

static int journal_dead_log_row(struct sql *db, int64_t seq, const char *reason)
{
    struct sql_rows rows =
        sql_select(db, "select conn, turn, kind, attempts from outbox where seq=?1", sql_int(seq));
    if (sql_next(&rows))
        log_write(LOG_ERR, sql_column_text(&rows, 0).p,
                  "turn %s: %s not delivered: %s (attempts: %" PRId64 "); run: turncast dead list",
                  sql_column_text(&rows, 1).p, sql_column_text(&rows, 2).p, reason,
                  sql_column_int(&rows, 3));
    return sql_finish(&rows);
}

int journal_move_to_dead(struct sql *db, int64_t seq, const char *reason, int64_t now)
{
    if (journal_dead_log_row(db, seq, reason) < 0 ||
        sql_run(db,
                "insert into dead(conn, lane, turn, kind, priority, attempts, reason, at, body)"
                " select conn, lane, turn, kind, priority, attempts, substr(?2,1,500), ?3, body"
                " from outbox where seq=?1",
                sql_int(seq), sql_text(reason), sql_int(now)) < 0)
        return -1;
    return sql_run(db, "delete from outbox where seq=?1", sql_int(seq));
}

static struct journal_dead journal_dead_read_row(const struct sql_rows *rows, bool with_body)
{
    return (struct journal_dead){
        .id = sql_column_int(rows, 0),
        .attempts = sql_column_int(rows, 1),
        .at = sql_column_int(rows, 2),
        .conn = sql_column_text(rows, 3).p,
        .lane = sql_column_text(rows, 4).p,
        .turn = sql_column_text(rows, 5).p,
        .kind = sql_column_text(rows, 6).p,
        .reason = sql_column_text(rows, 7).p,
        .body = with_body ? sql_column_blob(rows, 8) : (struct str){0},
    };
}

enum journal_status journal_dead_list(struct journal *j, const char *conn,
                                      void (*each)(void *ctx, const struct journal_dead *d),
                                      void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select id, attempts, at, conn, lane, turn, kind, reason from dead"
                   " where ?1 is null or conn=?1 order by id",
                   sql_text(conn));
    while (sql_next(&rows)) {
        const struct journal_dead d = journal_dead_read_row(&rows, false);
        each(ctx, &d);
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}

enum journal_status journal_dead_get(struct journal *j, int64_t id,
                                     void (*each)(void *ctx, const struct journal_dead *d),
                                     void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select id, attempts, at, conn, lane, turn, kind, reason, body from dead"
                   " where id=?1",
                   sql_int(id));
    const bool found = sql_next(&rows);
    if (found) {
        const struct journal_dead d = journal_dead_read_row(&rows, true);
        each(ctx, &d);
    }
    return journal_finish_read(j, &rows, found ? JOURNAL_DONE : JOURNAL_NO_CHANGE);
}

static int journal_dead_insert_tx(struct sql *db, void *ctx)
{
    const struct journal_dead *const d = ctx;
    return sql_run(db,
                   "insert into dead(conn, lane, turn, kind, priority, attempts, reason, at, body)"
                   " values(?1, '', ?2, 'event', 0, ?3, substr(?4,1,500), ?5, ?6)",
                   sql_text(d->conn), sql_text(d->turn), sql_int(d->attempts), sql_text(d->reason),
                   sql_int(d->at), sql_blob(d->body));
}

enum journal_status journal_dead_add(struct journal *j, const struct journal_dead *d)
{
    struct journal_dead now = *d;
    now.at = journal_now_ms(j);
    return journal_transact(j, STORE_NORMAL, journal_dead_insert_tx, &now, &(bool){true});
}

struct dead_retry {
    struct journal *j;
    int64_t id, seq;
    bool found, is_event;
};

static int journal_dead_delete_tx(struct sql *db, void *ctx)
{
    struct dead_retry *const e = ctx;
    if (sql_run(db, "delete from dead where id=?1", sql_int(e->id)) < 0)
        return -1;
    e->found = sql_changes(db) > 0;
    return 0;
}

/* Queues the request again, as in doubt, because it is unknown whether an earlier attempt
 * succeeded. */
static int journal_dead_retry_tx(struct sql *db, void *ctx)
{
    struct dead_retry *const e = ctx;
    struct sql_rows rows =
        sql_select(db, "select 1 from dead where id=?1 and kind='event'", sql_int(e->id));
    e->is_event = sql_next(&rows);
    if (sql_finish(&rows) < 0)
        return -1;
    if (e->is_event)
        return 0;
    if (sql_run(
            db,
            "insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, in_doubt, at,"
            " expires, body) select ?2, ?2, 0, conn, lane, turn, kind, priority, 1, ?3, ?4, body"
            " from dead where id=?1",
            sql_int(e->id), sql_int(e->seq), sql_int(journal_now_ms(e->j)),
            sql_int(journal_expiry_ms(e->j, 0))) < 0)
        return -1;
    return journal_dead_delete_tx(db, ctx);
}

struct dead_retry_turn {
    struct journal *j;
    const struct journal_dead *which;
    int64_t seq, most, count;
    bool found;
};

/* The lane of a thread begins with that of its chat and a colon. */
#define DEAD_OF_TURN                                                                               \
    "from dead where conn=?1 and turn=?2 and kind='request'"                                       \
    " and (lane=?3 or substr(lane, 1, length(?3) + 1)=?3||':')"

/* In the order of their insertion. */
static int journal_dead_retry_turn_tx(struct sql *db, void *ctx)
{
    struct dead_retry_turn *const e = ctx;
    const struct journal_dead *const w = e->which;
    if (sql_run(db,
                "insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, in_doubt, at,"
                " expires, body) select ?4+n, ?4+n, 0, conn, lane, turn, kind, priority, 1, ?6, ?7,"
                " body from (select *, row_number() over (order by id) - 1 as n " DEAD_OF_TURN
                ") where n < ?5",
                sql_text(w->conn), sql_text(w->turn), sql_text(w->lane), sql_int(e->seq),
                sql_int(e->most), sql_int(journal_now_ms(e->j)),
                sql_int(journal_expiry_ms(e->j, 0))) < 0 ||
        sql_run(db,
                "delete from dead where id in (select id " DEAD_OF_TURN " order by id limit ?4)",
                sql_text(w->conn), sql_text(w->turn), sql_text(w->lane), sql_int(e->most)) < 0)
        return -1;
    e->count = sql_changes(db);
    e->found = e->count > 0;
    return 0;
}

enum journal_status journal_dead_retry_turn(struct journal *j, const struct journal_dead *which,
                                            int64_t seq, int64_t most, int64_t *count)
{
    struct dead_retry_turn e = {.j = j, .which = which, .seq = seq, .most = most};
    const enum journal_status status =
        journal_transact(j, STORE_DURABLE, journal_dead_retry_turn_tx, &e, &e.found);
    *count = status == JOURNAL_DONE ? e.count : 0;
    return status;
}

enum journal_status journal_dead_retry(struct journal *j, int64_t id, int64_t seq)
{
    struct dead_retry e = {.j = j, .id = id, .seq = seq};
    const enum journal_status status =
        journal_transact(j, STORE_DURABLE, journal_dead_retry_tx, &e, &e.found);
    return e.is_event && status <= JOURNAL_NO_CHANGE ? JOURNAL_REFUSED : status;
}

enum journal_status journal_dead_delete(struct journal *j, int64_t id)
{
    struct dead_retry e = {.j = j, .id = id};
    return journal_transact(j, STORE_DURABLE, journal_dead_delete_tx, &e, &e.found);
}
