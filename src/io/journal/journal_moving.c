/* SPDX-License-Identifier: MIT
 * Reads requests that go to another host, and stores those of other hosts: the row, the memory, the
 * record of the turn and the id of the offer in one transaction. */
#include "io/journal/journal_moving.h"

#include "base/sys/clock.h"
#include "io/journal/journal_internal.h"

/* ---- reading */

/* A row of a clock that was ahead is new. */
static int64_t journal_moving_age(int64_t now, int64_t at)
{
    return at < now ? now - at : 0;
}

static struct journal_moving journal_moving_read_row(const struct sql_rows *rows, const char *conn,
                                                     int64_t now)
{
    return (struct journal_moving){
        .conn = conn,
        .seq = sql_column_int(rows, 0),
        .place = {sql_column_int(rows, 1), sql_column_int(rows, 2)},
        .lane = sql_column_text(rows, 3).p,
        .turn = sql_column_text(rows, 4).p,
        .priority = sql_column_int(rows, 5),
        .attempts = sql_column_int(rows, 6),
        .crashes = sql_column_int(rows, 7),
        .in_doubt = sql_column_int(rows, 8) != 0,
        .age_ms = journal_moving_age(now, sql_column_int(rows, 9)),
        .left_ms = sql_column_int(rows, 10) - now,
        .agent = sql_column_text(rows, 11).p,
        .conversation = sql_column_text(rows, 12).p,
        .source = sql_column_text(rows, 13).p,
        .route = sql_column_text(rows, 14).p,
        .is_open = sql_column_int(rows, 15) != 0,
        .memory = sql_column_text(rows, 16).p,
        .has_outcome = sql_column_int(rows, 17) != 0,
        .body = sql_column_blob(rows, 18),
    };
}

/* The memory of the turn "" is not about one request: the other host has its own. */
enum journal_status journal_find_moving(struct journal *j, const char *conn,
                                        struct journal_place after, int64_t seq,
                                        void (*each)(void *ctx, const struct journal_moving *m),
                                        void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select o.seq, o.pos, o.sub, o.lane, o.turn, o.priority, o.attempts, o.crashes,"
                   " o.in_doubt, o.at, o.expires, t.agent, t.conv, t.source, t.route,"
                   " t.id is not null and t.ended_at is null,"
                   " (select text from memory m where m.conn=o.conn and m.turn=o.turn"
                   "  and o.turn<>''),"
                   " exists(select 1 from outbox x where x.turn=o.turn and x.conn=o.conn"
                   "  and x.kind='outcome'), o.body"
                   " from outbox o left join turn t on t.id=o.turn"
                   " where o.conn=?1 and o.kind='request' and o.state='queued'"
                   " and case when ?4 then o.seq=?4 else (o.pos, o.sub)>(?2, ?3) end"
                   " order by o.pos, o.sub limit 1",
                   sql_text(conn), sql_int(after.pos), sql_int(after.sub), sql_int(seq));
    const bool found = sql_next(&rows);
    if (found) {
        const struct journal_moving m = journal_moving_read_row(&rows, conn, journal_now_ms(j));
        each(ctx, &m);
    }
    return journal_finish_read(j, &rows, found ? JOURNAL_DONE : JOURNAL_NO_CHANGE);
}

/* ---- storing */

struct moving_store {
    struct journal *j;
    const char *id;
    const struct journal_moving *m;
    int64_t seq;
    bool is_stored;
};

static int journal_moving_is_known(struct sql *db, const struct moving_store *s, int64_t *known)
{
    const struct journal_moving *const m = s->m;
    *known = 0;
    return sql_select_int(db,
                          "select exists(select 1 from inbox where source=?1 and msg_id=?2)"
                          " or exists(select 1 from turn where id=?3 and source=?1 and"
                          " (boot_id is null or substr(boot_id, 1, length(?4))<>?4))",
                          known, sql_text(m->conn), sql_text(s->id), sql_text(m->turn),
                          sql_text(JOURNAL_GIVEN));
}

static int journal_moving_add_turn(struct sql *db, const struct moving_store *s, int64_t wall_ms)
{
    const struct journal_moving *const m = s->m;
    if (m->memory && sql_run(db,
                             "insert into memory(conn, turn, text) values(?1,?2,?3)"
                             " on conflict do nothing",
                             sql_text(m->conn), sql_text(m->turn), sql_text(m->memory)) < 0)
        return -1;
    return m->agent ? sql_run(db,
                              "insert into turn(id, agent, conv, source, state, boot_id,"
                              " admitted_at, began_at, ended_at, route)"
                              " values(?1,?2,?3,?4,'final',?5||?6,?7,?7,?7,?8)"
                              " on conflict do nothing",
                              sql_text(m->turn), sql_text(m->agent), sql_text(m->conversation),
                              sql_text(m->source), sql_text(JOURNAL_GIVEN), sql_text(m->conn),
                              sql_int(wall_ms), sql_text(m->route))
                    : 0;
}

static int journal_moving_add_row(struct sql *db, const struct moving_store *s)
{
    const struct journal_moving *const m = s->m;
    const int64_t now = journal_now_ms(s->j);
    const int64_t expires = m->left_ms < INT64_MAX - now ? now + m->left_ms : INT64_MAX;
    return sql_run(db,
                   "insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, attempts,"
                   " crashes, in_doubt, at, expires, body)"
                   " values(?1,?1,0,?2,?3,?4,'request',?5,?6,?7,?8,?9,?10,?11)",
                   sql_int(s->seq), sql_text(m->conn), sql_text(m->lane), sql_text(m->turn),
                   sql_int(m->priority), sql_int(m->attempts), sql_int(m->crashes),
                   sql_int(m->in_doubt), sql_int(m->age_ms < now ? now - m->age_ms : 0),
                   sql_int(expires), sql_blob(m->body));
}

static int journal_moving_store_tx(struct sql *db, void *ctx)
{
    struct moving_store *const s = ctx;
    const int64_t wall_ms = (int64_t)(clock_wall_s() * 1000);
    int64_t known;
    s->is_stored = false;
    if (journal_moving_is_known(db, s, &known) < 0)
        return -1;
    if (known)
        return 0;
    s->is_stored = true;
    if (sql_run(db, "insert into inbox(source, msg_id, turn_id, seen_at) values(?1,?2,?3,?4)",
                sql_text(s->m->conn), sql_text(s->id), sql_text(s->m->turn), sql_int(wall_ms)) < 0)
        return -1;
    return journal_moving_add_turn(db, s, wall_ms) < 0 ? -1 : journal_moving_add_row(db, s);
}

static bool journal_moving_is_valid(const char *id, const struct journal_moving *m)
{
    return journal_is_key_valid(id) && journal_is_key_valid(m->conn) &&
           journal_is_key_valid(m->lane) && journal_is_key_valid(m->turn) &&
           journal_is_key_valid(m->agent) && journal_is_key_valid(m->conversation) &&
           journal_is_key_valid(m->source) && m->body.len <= JOURNAL_MAX_BODY &&
           (!m->route || strlen(m->route) <= JOURNAL_MAX_PROMPT) &&
           (!m->memory || strlen(m->memory) <= JOURNAL_MAX_MEMORY);
}

enum journal_status journal_store_moving(struct journal *j, const char *id,
                                         const struct journal_moving *m, int64_t seq)
{
    if (!journal_moving_is_valid(id, m))
        return JOURNAL_TOO_BIG;
    struct moving_store s = {.j = j, .id = id, .m = m, .seq = seq};
    return journal_transact(j, STORE_DURABLE, journal_moving_store_tx, &s, &s.is_stored);
}

enum journal_status journal_find_offer(struct journal *j, const char *conn, const char *id)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store), "select 1 from inbox where source=?1 and msg_id=?2",
                   sql_text(conn), sql_text(id));
    const bool found = sql_next(&rows);
    return journal_finish_read(j, &rows, found ? JOURNAL_DONE : JOURNAL_NO_CHANGE);
}
