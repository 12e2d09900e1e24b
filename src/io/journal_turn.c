/* SPDX-License-Identifier: MIT
 * Owns the tables turn and inbox: how a turn begins and how it ends. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "io/journal_impl.h"

static int64_t wall_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

struct admission {
    const struct journal_turn *turn;
    struct buf *first;
    bool admitted;
};

static int read_first(struct sql *db, const struct admission *a)
{
    struct sql_rows rows = sql_select(db, "select turn_id from inbox where source=?1 and msg_id=?2",
                                      sql_text(a->turn->source), sql_text(a->turn->msg_id));
    if (a->first)
        buf_reset(a->first);
    if (sql_next(&rows) && a->first) {
        const struct str id = sql_column_text(&rows, 0);
        buf_add(a->first, id.p, id.len);
    }
    return sql_end(&rows);
}

static int insert_turn(struct sql *db, const struct journal_turn *t)
{
    return sql_run(db,
                   "insert into turn(id, agent, conv, source, route, prompt_ref, state, boot_id,"
                   " agent_pid, agent_start, cgroup, admitted_at)"
                   " values(?1,?2,?3,?4,?5,?6,'running',?7,?8,?9,?10,?11)",
                   sql_text(t->id), sql_text(t->agent), sql_text(t->conv), sql_text(t->source),
                   sql_text(t->route), sql_text(t->prompt_ref), sql_text(t->boot_id),
                   sql_int(t->agent_pid), sql_int(t->agent_start), sql_text(t->cgroup),
                   sql_int(wall_ms()));
}

static int admit(struct sql *db, void *ctx)
{
    struct admission *const a = ctx;
    const struct journal_turn *const t = a->turn;
    a->admitted = false;
    if (t->msg_id) {
        if (sql_run(db,
                    "insert into inbox(source, msg_id, turn_id, seen_at) values(?1,?2,?3,?4)"
                    " on conflict do nothing",
                    sql_text(t->source), sql_text(t->msg_id), sql_text(t->id),
                    sql_int(wall_ms())) < 0)
            return -1;
        if (sql_changes(db) == 0)
            return read_first(db, a);
    }
    a->admitted = true;
    return insert_turn(db, t);
}

enum journal_status journal_admit(struct journal *j, const struct journal_turn *t,
                                  struct buf *first)
{
    const char *const keys[] = {t->id,    t->agent,      t->conv,    t->source, t->msg_id,
                                t->route, t->prompt_ref, t->boot_id, t->cgroup};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!journal_key_fits(keys[i]))
            return JOURNAL_TOO_BIG;
    struct admission a = {.turn = t, .first = first};
    const enum journal_status status = journal_transact(j, STORE_DURABLE, admit, &a, &a.admitted);
    if (status == JOURNAL_DONE)
        store_point(j->store, "after-admit");
    return status;
}

struct note {
    const struct journal_turn *turn;
    bool changed;
};

static int note_agent(struct sql *db, void *ctx)
{
    struct note *const n = ctx;
    const struct journal_turn *const t = n->turn;
    if (sql_run(db,
                "update turn set boot_id=?2, agent_pid=?3, agent_start=?4, cgroup=?5"
                " where id=?1 and state='running'",
                sql_text(t->id), sql_text(t->boot_id), sql_int(t->agent_pid),
                sql_int(t->agent_start), sql_text(t->cgroup)) < 0)
        return -1;
    n->changed = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_note_agent(struct journal *j, const struct journal_turn *t)
{
    if (!journal_key_fits(t->boot_id) || !journal_key_fits(t->cgroup))
        return JOURNAL_TOO_BIG;
    struct note n = {.turn = t};
    return journal_transact(j, STORE_NORMAL, note_agent, &n, &n.changed);
}

struct ending {
    struct journal *j;
    const struct journal_outcome *outcome;
    bool ended;
};

static int lay_outcome(struct sql *db, const struct journal_outcome *o,
                       const struct journal_target *t, int64_t now)
{
    return sql_run(db,
                   "insert into outbox(conn, conv, turn, slot, rank, at, body)"
                   " values(?1,?2,?3,?4,0,?5,?6) on conflict do nothing",
                   sql_text(t->conn), sql_text(t->conv), sql_text(o->turn),
                   sql_text(o->error ? "error" : "final"), sql_int(now),
                   t->body.p ? sql_str(t->body) : sql_text(""));
}

/* The guard of the whole design: whoever finds the turn running ends it, and nobody after. */
static int end_turn(struct sql *db, void *ctx)
{
    struct ending *const e = ctx;
    const struct journal_outcome *const o = e->outcome;
    e->ended = false;
    if (sql_run(db,
                "update turn set state=?2, code=?3, ended_at=?4 where id=?1 and state='running'",
                sql_text(o->turn), sql_text(o->error ? "error" : "final"), sql_text(o->error),
                sql_int(wall_ms())) < 0)
        return -1;
    if (sql_changes(db) == 0)
        return 0;
    store_point(e->j->store, "in-outcome");
    for (size_t i = 0; i < o->n; i++)
        if (lay_outcome(db, o, &o->targets[i], journal_now(e->j)) < 0)
            return -1;
    e->ended = true;
    return journal_drop_live(db, o->turn);
}

static bool outcome_fits(const struct journal_outcome *o)
{
    bool fits = journal_key_fits(o->turn) && journal_key_fits(o->error);
    for (size_t i = 0; i < o->n; i++) {
        const struct journal_target *const t = &o->targets[i];
        fits &= journal_key_fits(t->conn) && journal_key_fits(t->conv);
        fits &= t->body.len <= JOURNAL_MAX_BODY;
    }
    return fits;
}

enum journal_status journal_end_turn(struct journal *j, const struct journal_outcome *o)
{
    if (!outcome_fits(o))
        return JOURNAL_TOO_BIG;
    struct ending e = {.j = j, .outcome = o};
    const enum journal_status status = journal_transact(j, STORE_MUST, end_turn, &e, &e.ended);
    if (status == JOURNAL_DONE)
        store_point(j->store, "after-outcome-commit");
    return status;
}

/* A running turn, its texts owned. */
struct open_turn {
    char *text[9];
    struct journal_turn turn;
};

static char *take(const struct sql_rows *rows, int column)
{
    const struct str s = sql_column_text(rows, column);
    return s.p ? xstrndup(s.p, s.len) : NULL;
}

static struct open_turn read_turn(const struct sql_rows *rows)
{
    struct open_turn o;
    for (int i = 0; i < 9; i++)
        o.text[i] = take(rows, i);
    o.turn = (struct journal_turn){
        .id = o.text[0],
        .agent = o.text[1],
        .conv = o.text[2],
        .source = o.text[3],
        .route = o.text[4],
        .prompt_ref = o.text[5],
        .boot_id = o.text[6],
        .cgroup = o.text[7],
        .msg_id = o.text[8],
        .agent_pid = sql_column(rows, 9),
        .agent_start = sql_column(rows, 10),
    };
    return o;
}

/* The next running turn after this id. 1, 0 when there is none, or -1. */
static int next_open_turn(struct journal *j, const char *after, struct open_turn *o)
{
    struct sql_rows rows = sql_select(
        store_sql(j->store),
        "select id, agent, conv, source, route, prompt_ref, boot_id, cgroup,"
        " (select msg_id from inbox where inbox.source=turn.source and turn_id=turn.id),"
        " agent_pid, agent_start from turn where state='running' and id>?1 order by id limit 1",
        sql_text(after));
    const bool found = sql_next(&rows);
    if (found)
        *o = read_turn(&rows);
    return sql_end(&rows) < 0 ? -1 : found;
}

int64_t journal_end_open_turns(struct journal *j,
                               size_t (*who)(void *ctx, const struct journal_turn *t,
                                             const struct journal_target **targets),
                               void *ctx)
{
    CLEANUP_FREE char *after = xstrdup("");
    int64_t ended = 0;
    struct open_turn o;
    int found;
    while ((found = next_open_turn(j, after, &o)) > 0) {
        const struct journal_target *targets = NULL;
        const size_t n = who(ctx, &o.turn, &targets);
        const enum journal_status status =
            journal_end_turn(j, &(struct journal_outcome){o.turn.id, "host_restart", targets, n});
        free(after);
        after = o.text[0];
        for (int i = 1; i < 9; i++)
            free(o.text[i]);
        if (status != JOURNAL_DONE)
            return -1;
        ended++;
    }
    return found < 0 ? -1 : ended;
}
