/* SPDX-License-Identifier: MIT
 * Owns the table outbox: what is laid there, who takes it next, and what came of it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "io/journal_impl.h"

static const struct {
    const char *name;
    int64_t rank;
} slots[] = {
    [JOURNAL_FINAL] = {"final", 0},
    [JOURNAL_ERROR] = {"error", 0},
    [JOURNAL_NOTICE] = {"notice", 1},
    [JOURNAL_LIVE] = {"live", 2},
};

static enum journal_slot slot_named(struct str name)
{
    enum journal_slot slot = JOURNAL_FINAL;
    while (slot < JOURNAL_LIVE && !str_is(name, slots[slot].name))
        slot++;
    return slot;
}

int journal_drop_live(struct sql *db, const char *turn)
{
    if (sql_run(db,
                "delete from outbox where slot='live' and state='queued' and remote_id is null"
                " and (?1 is null or turn=?1) and not exists"
                " (select 1 from turn where id=outbox.turn and state='running')",
                sql_text(turn)) < 0)
        return -1;
    return sql_run(db,
                   "update outbox set state='sent' where slot='live' and state='queued'"
                   " and (?1 is null or turn=?1) and not exists"
                   " (select 1 from turn where id=outbox.turn and state='running')",
                   sql_text(turn));
}

struct laying {
    struct journal *j;
    enum journal_slot slot;
    const char *turn;
    const struct journal_target *target;
    bool changed;
};

static int turn_is_running(struct sql *db, const char *turn, bool *running)
{
    int64_t n = 0;
    if (sql_number(db, "select 1 from turn where id=?1 and state='running'", &n, sql_text(turn)) <
        0)
        return -1;
    *running = n != 0;
    return 0;
}

static int lay(struct sql *db, void *ctx)
{
    struct laying *const l = ctx;
    bool running = true;
    l->changed = false;
    if (l->slot == JOURNAL_LIVE && turn_is_running(db, l->turn, &running) < 0)
        return -1;
    if (!running)
        return 0;
    /* A row in flight stays so: journal_record sees the newer generation. */
    if (sql_run(db,
                "insert into outbox(conn, conv, turn, slot, rank, at, body)"
                " values(?1,?2,?3,?4,?5,?6,?7)"
                " on conflict(conn, conv, turn, slot) do update set body=excluded.body,"
                " gen=gen+1, at=excluded.at,"
                " state=case state when 'sent' then 'queued' else state end"
                " where body<>excluded.body",
                sql_text(l->target->conn), sql_text(l->target->conv), sql_text(l->turn),
                sql_text(slots[l->slot].name), sql_int(slots[l->slot].rank),
                sql_int(journal_now(l->j)),
                l->target->body.p ? sql_str(l->target->body) : sql_text("")) < 0)
        return -1;
    l->changed = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_put(struct journal *j, enum journal_slot slot, const char *turn,
                                const struct journal_target *t)
{
    if (!journal_key_fits(turn) || !journal_key_fits(t->conn) || !journal_key_fits(t->conv) ||
        t->body.len > JOURNAL_MAX_BODY)
        return JOURNAL_TOO_BIG;
    struct laying l = {.j = j, .slot = slot, .turn = turn, .target = t};
    return journal_transact(j, STORE_NORMAL, lay, &l, &l.changed);
}

/* The head of each lane, if the lane is idle and neither it nor its head has to wait; of those
 * the oldest of the best rank. `lanes` lists the conversations. */
#define CLAIM(lanes)                                                                               \
    "with recursive lane(conv) as (" lanes ")"                                                     \
    " select o.seq, o.gen, o.attempts, o.at, o.slot, o.in_doubt, o.conn, o.conv, o.turn,"          \
    "  o.remote_id, (select l.remote_id from outbox l where l.conn=o.conn and l.conv=o.conv"       \
    "   and l.turn=o.turn and l.slot='live'), o.body"                                              \
    " from lane join outbox o on o.seq=(select h.seq from outbox h"                                \
    "  where h.conn=?1 and h.conv=lane.conv and h.state<>'sent' order by h.rank, h.seq limit 1)"   \
    " where o.not_before<=?2"                                                                      \
    "  and not exists(select 1 from outbox f"                                                      \
    "   where f.conn=?1 and f.conv=lane.conv and f.state='sending')"                               \
    "  and not exists(select 1 from kv where cast(value as integer)>?2"                            \
    "   and key in(" PAUSE_KEY("?1", "''") "," PAUSE_KEY(                                          \
        "?1", "lane.conv") "))"                                                                    \
                           " order by o.rank, o.seq limit 1"

/* From lane to lane by the index, however many rows wait in each. */
static const char any_lane[] =
    CLAIM("select min(conv) from outbox where conn=?1 and state<>'sent' union all"
          " select (select min(b.conv) from outbox b"
          "  where b.conn=?1 and b.state<>'sent' and b.conv>lane.conv)"
          " from lane where lane.conv is not null");
static const char one_lane[] = CLAIM("values(?3)");

static char *take(const struct sql_rows *rows, int column)
{
    const struct str s = sql_column_text(rows, column);
    return s.p ? xstrndup(s.p, s.len) : NULL;
}

static struct journal_row read_row(const struct sql_rows *rows)
{
    struct journal_row row = {
        .seq = sql_column(rows, 0),
        .gen = sql_column(rows, 1),
        .attempts = sql_column(rows, 2) + 1,
        .at = sql_column(rows, 3),
        .slot = slot_named(sql_column_text(rows, 4)),
        .in_doubt = sql_column(rows, 5) != 0,
        .conn = take(rows, 6),
        .conv = take(rows, 7),
        .turn = take(rows, 8),
        .remote_id = take(rows, 9),
        .live_id = take(rows, 10),
    };
    const struct str body = sql_column_text(rows, 11);
    buf_add(&row.body, body.p, body.len);
    return row;
}

struct claim {
    struct journal *j;
    const char *conn, *conv;
    struct journal_row *row;
    bool found;
};

static int claim(struct sql *db, void *ctx)
{
    struct claim *const c = ctx;
    const struct sql_value conn = sql_text(c->conn), now = sql_int(journal_now(c->j));
    struct sql_rows rows = c->conv ? sql_select(db, one_lane, conn, now, sql_text(c->conv))
                                   : sql_select(db, any_lane, conn, now);
    c->found = sql_next(&rows);
    if (c->found)
        *c->row = read_row(&rows);
    if (sql_end(&rows) < 0)
        return -1;
    if (!c->found)
        return 0;
    return sql_run(db, "update outbox set state='sending', attempts=attempts+1 where seq=?1",
                   sql_int(c->row->seq));
}

enum journal_status journal_claim(struct journal *j, const char *conn, const char *conv,
                                  struct journal_row *row)
{
    *row = (struct journal_row){0};
    struct claim c = {.j = j, .conn = conn, .conv = conv, .row = row};
    const enum journal_status status = journal_transact(j, STORE_NORMAL, claim, &c, &c.found);
    if (status == JOURNAL_DONE)
        store_point(j->store, "before-send");
    else
        journal_row_fini(row);
    return status;
}

void journal_row_fini(struct journal_row *row)
{
    free(row->conn);
    free(row->conv);
    free(row->turn);
    free(row->remote_id);
    free(row->live_id);
    buf_fini(&row->body);
    *row = (struct journal_row){0};
}

struct recording {
    struct journal *j;
    const struct journal_row *row;
    const struct journal_answer *answer;
    int64_t until; /* when the delay is over */
    bool known;    /* the row was in flight */
    bool buried;
};

static int hold(struct sql *db, const struct recording *r)
{
    if (r->answer->hold == JOURNAL_HOLD_NOTHING)
        return 0;
    return sql_run(
        db,
        "insert into kv(key, value) values(" PAUSE_KEY(
            "?1",
            "?2") ", ?3)"
                  " on conflict do update set value=max(cast(value as integer), excluded.value)",
        sql_text(r->row->conn), sql_text(r->answer->hold == JOURNAL_HOLD_LANE ? r->row->conv : ""),
        sql_int(r->until));
}

static const char *remote_id(const struct journal_answer *a)
{
    return journal_key_fits(a->remote_id) ? a->remote_id : NULL;
}

static int record_sent(struct sql *db, struct recording *r)
{
    return sql_run(db,
                   "update outbox set sent_gen=?2, remote_id=coalesce(?3, remote_id),"
                   " attempts=0, crashes=0, in_doubt=0, not_before=0,"
                   " state=case when gen>?2 then 'queued' else 'sent' end where seq=?1",
                   sql_int(r->row->seq), sql_int(r->row->gen), sql_text(remote_id(r->answer)));
}

static int record_retry(struct sql *db, struct recording *r)
{
    return sql_run(db,
                   "update outbox set state='queued', not_before=?2, in_doubt=max(in_doubt, ?3),"
                   " remote_id=coalesce(?4, remote_id) where seq=?1",
                   sql_int(r->row->seq), sql_int(r->until), sql_int(r->answer->in_doubt),
                   sql_text(remote_id(r->answer)));
}

static int give_up(struct sql *db, struct recording *r, const char *reason)
{
    if (r->row->slot == JOURNAL_LIVE)
        return sql_run(db, "delete from outbox where seq=?1", sql_int(r->row->seq));
    r->buried = true;
    return journal_bury(db, r->row->seq, reason, journal_now(r->j));
}

static int record_reject(struct sql *db, struct recording *r)
{
    return give_up(db, r, r->answer->reason ? r->answer->reason : "rejected");
}

static int record_crash(struct sql *db, struct recording *r)
{
    int64_t crashes = 0;
    if (sql_run(db,
                "update outbox set state='queued', in_doubt=1, crashes=crashes+1, not_before=?2"
                " where seq=?1",
                sql_int(r->row->seq), sql_int(r->until)) < 0 ||
        sql_number(db, "select crashes from outbox where seq=?1", &crashes, sql_int(r->row->seq)) <
            0)
        return -1;
    return crashes < JOURNAL_MAX_CRASHES ? 0 : give_up(db, r, "poison");
}

static int record(struct sql *db, void *ctx)
{
    static int (*const verdicts[])(struct sql * db, struct recording * r) = {
        [JOURNAL_SENT] = record_sent,
        [JOURNAL_RETRY] = record_retry,
        [JOURNAL_REJECT] = record_reject,
        [JOURNAL_CRASHED] = record_crash,
    };
    struct recording *const r = ctx;
    int64_t known = 0;
    if (sql_number(db, "select 1 from outbox where seq=?1 and state='sending'", &known,
                   sql_int(r->row->seq)) < 0)
        return -1;
    r->known = known != 0;
    r->buried = false;
    if (!r->known)
        return 0;
    if (verdicts[r->answer->verdict](db, r) < 0 || hold(db, r) < 0)
        return -1;
    return r->row->slot == JOURNAL_LIVE ? journal_drop_live(db, r->row->turn) : 0;
}

enum journal_status journal_record(struct journal *j, const struct journal_row *row,
                                   const struct journal_answer *a)
{
    int64_t delay = a->delay_ms > 0 ? a->delay_ms : 0;
    delay = delay < JOURNAL_MAX_DELAY_MS ? delay : JOURNAL_MAX_DELAY_MS;
    struct recording r = {.j = j, .row = row, .answer = a, .until = journal_now(j) + delay};
    const bool durable = a->verdict == JOURNAL_REJECT || a->verdict == JOURNAL_CRASHED;
    const enum journal_status status =
        journal_transact(j, durable ? STORE_DURABLE : STORE_NORMAL, record, &r, &r.known);
    if (status == JOURNAL_DONE)
        store_point(j->store, r.buried ? "after-deadletter" : "after-record");
    return status;
}
