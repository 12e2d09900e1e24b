/* SPDX-License-Identifier: MIT
 * Tables turn and inbox: admission with duplicate detection, begin, end, agent process. */
#include "base/sys/clock.h"
#include "io/journal/journal_internal.h"

static int64_t journal_turn_wall_ms(void)
{
    return (int64_t)(clock_wall_s() * 1000);
}

struct turn_admission {
    const struct journal_turn *turn;
    struct buf *first;
    bool admitted;
};

/* Whether one of the ids is known; `first` gets its turn. */
static int journal_turn_find_by_message(struct sql *db, const struct turn_admission *a, bool *found)
{
    if (a->first)
        buf_reset(a->first);
    struct sql_rows rows =
        sql_select(db, "select turn_id from inbox where source=?1 and msg_id in(?2, ?3) limit 1",
                   sql_text(a->turn->source), sql_text(a->turn->msg_id), sql_text(a->turn->also));
    *found = sql_next(&rows);
    if (*found && a->first) {
        const struct str id = sql_column_text(&rows, 0);
        buf_add(a->first, id.p, id.len);
    }
    return sql_finish(&rows);
}

static int journal_turn_insert_message_id(struct sql *db, const struct journal_turn *t,
                                          const char *id)
{
    if (!id)
        return 0;
    return sql_run(db,
                   "insert into inbox(source, msg_id, turn_id, seen_at) values(?1,?2,?3,?4)"
                   " on conflict do nothing",
                   sql_text(t->source), sql_text(id), sql_text(t->id),
                   sql_int(journal_turn_wall_ms()));
}

static int journal_turn_insert(struct sql *db, const struct journal_turn *t)
{
    return sql_run(db,
                   "insert into turn(id, agent, conv, source, state, boot_id, agent_pid,"
                   " agent_start, cgroup, admitted_at, route, files, prompt, seen, owner, began_at,"
                   " instances, person)"
                   " values(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)",
                   sql_text(t->id), sql_text(t->agent), sql_text(t->conv), sql_text(t->source),
                   sql_text(t->waiting ? "waiting" : "running"), sql_text(t->boot_id),
                   sql_int(t->agent_pid), sql_int(t->agent_start), sql_text(t->cgroup),
                   sql_int(journal_turn_wall_ms()), sql_text(t->route), sql_text(t->files),
                   sql_text(t->prompt), sql_text(t->seen), sql_text(t->owner),
                   t->waiting ? sql_text(NULL) : sql_int(journal_turn_wall_ms()),
                   sql_text(t->instances), sql_text(t->person));
}

static int journal_turn_admit(struct sql *db, void *ctx)
{
    struct turn_admission *const a = ctx;
    bool found = false;
    a->admitted = false;
    if (journal_turn_find_by_message(db, a, &found) < 0)
        return -1;
    if (found)
        return 0;
    a->admitted = true;
    if (journal_turn_insert_message_id(db, a->turn, a->turn->msg_id) < 0 ||
        journal_turn_insert_message_id(db, a->turn, a->turn->also) < 0)
        return -1;
    return journal_turn_insert(db, a->turn);
}

static size_t journal_turn_text_length(const char *text)
{
    return text ? strlen(text) : 0;
}

static bool journal_turn_is_record_valid(const struct journal_turn *t)
{
    const char *const keys[] = {t->id,   t->agent,   t->conv,   t->source, t->msg_id,
                                t->also, t->boot_id, t->cgroup, t->owner,  t->person};
    bool fits = journal_turn_text_length(t->prompt) + journal_turn_text_length(t->route) +
                    journal_turn_text_length(t->files) + journal_turn_text_length(t->seen) +
                    journal_turn_text_length(t->instances) <=
                JOURNAL_MAX_PROMPT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fits &= journal_is_key_valid(keys[i]);
    return fits;
}

enum journal_status journal_admit_turn(struct journal *j, const struct journal_turn *t,
                                       struct buf *first)
{
    if (!journal_turn_is_record_valid(t))
        return JOURNAL_TOO_BIG;
    struct turn_admission a = {.turn = t, .first = first};
    const enum journal_status status =
        journal_transact(j, STORE_DURABLE, journal_turn_admit, &a, &a.admitted);
    if (status == JOURNAL_DONE)
        store_pass_test_point(j->store, "after-admit");
    return status;
}

struct turn_beginning {
    const char *turn, *seen;
    const char *const *merged;
    size_t n;
    bool began;
};

/* Deletes data that a turn needs only to run; keeps its route, which is still used. */
#define ENDED "ended_at=?3, files=null, prompt=null, seen=null, instances=null"

static int journal_turn_merge(struct sql *db, const char *turn, const char *into)
{
    return sql_run(
        db, "update turn set state='merged', code=?2, " ENDED " where id=?1 and state='waiting'",
        sql_text(turn), sql_text(into), sql_int(journal_turn_wall_ms()));
}

/* Joins the prompts like prompt_append_prompt, because a turn that has not started yet is restored
 * from the journal. */
static int journal_turn_join_prompt(struct sql *db, const char *turn, const char *into)
{
    return sql_run(db,
                   "update turn set prompt=coalesce(prompt, '') || char(10, 10) ||"
                   " (select prompt from turn where id=?1) where id=?2"
                   " and exists (select 1 from turn where id=?1 and state='waiting'"
                   " and prompt is not null)",
                   sql_text(turn), sql_text(into));
}

static int journal_turn_begin_tx(struct sql *db, void *ctx)
{
    struct turn_beginning *const b = ctx;
    if (sql_run(db,
                "update turn set state='running', seen=?2, began_at=?3"
                " where id=?1 and state='waiting'",
                sql_text(b->turn), sql_text(b->seen), sql_int(journal_turn_wall_ms())) < 0)
        return -1;
    b->began = sql_changes(db) > 0;
    for (size_t i = 0; b->began && i < b->n; i++)
        if (journal_turn_join_prompt(db, b->merged[i], b->turn) < 0 ||
            journal_turn_merge(db, b->merged[i], b->turn) < 0)
            return -1;
    return 0;
}

struct merging {
    const char *turn, *into;
    bool merged;
};

static int journal_turn_merge_one(struct sql *db, void *ctx)
{
    struct merging *const m = ctx;
    if (journal_turn_merge(db, m->turn, m->into) < 0)
        return -1;
    m->merged = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_merge(struct journal *j, const char *turn, const char *into)
{
    struct merging m = {.turn = turn, .into = into};
    return journal_transact(j, STORE_NORMAL, journal_turn_merge_one, &m, &m.merged);
}

enum journal_status journal_begin_turn(struct journal *j, const char *turn, const char *seen,
                                       const char *const *merged, size_t n)
{
    if (journal_turn_text_length(seen) > JOURNAL_MAX_PROMPT)
        return JOURNAL_TOO_BIG;
    struct turn_beginning b = {.turn = turn, .seen = seen, .merged = merged, .n = n};
    return journal_transact(j, STORE_NORMAL, journal_turn_begin_tx, &b, &b.began);
}

static int journal_turn_cancel(struct sql *db, void *ctx)
{
    struct turn_beginning *const b = ctx;
    if (sql_run(db,
                "update turn set state='cancelled', code=?2, " ENDED
                " where id=?1 and state='waiting'",
                sql_text(b->turn), sql_text(NULL), sql_int(journal_turn_wall_ms())) < 0)
        return -1;
    b->began = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_cancel_turn(struct journal *j, const char *turn)
{
    struct turn_beginning b = {.turn = turn};
    return journal_transact(j, STORE_NORMAL, journal_turn_cancel, &b, &b.began);
}

static int journal_turn_delete_waiting_tx(struct sql *db, void *ctx)
{
    struct turn_beginning *const b = ctx;
    if (sql_run(db, "delete from turn where id=?1 and state='waiting'", sql_text(b->turn)) < 0)
        return -1;
    b->began = sql_changes(db) > 0;
    return b->began ? sql_run(db, "delete from inbox where turn_id=?1", sql_text(b->turn)) : 0;
}

enum journal_status journal_delete_waiting_turn(struct journal *j, const char *turn)
{
    struct turn_beginning b = {.turn = turn};
    return journal_transact(j, STORE_NORMAL, journal_turn_delete_waiting_tx, &b, &b.began);
}

struct turn_joining {
    const char *turn, *instance;
    bool joined;
};

static int journal_turn_add_seen(struct sql *db, void *ctx)
{
    struct turn_joining *const n = ctx;
    if (sql_run(db,
                "update turn set seen=case when seen='' then ?2 else seen||char(10)||?2 end"
                " where id=?1 and state='running' and seen is not null",
                sql_text(n->turn), sql_text(n->instance)) < 0)
        return -1;
    n->joined = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_add_seen(struct journal *j, const char *turn, const char *instance)
{
    struct turn_joining n = {.turn = turn, .instance = instance};
    return journal_transact(j, STORE_NORMAL, journal_turn_add_seen, &n, &n.joined);
}

struct turn_agent_update {
    const struct journal_turn *turn;
    bool changed;
};

static int journal_turn_set_agent_tx(struct sql *db, void *ctx)
{
    struct turn_agent_update *const n = ctx;
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

enum journal_status journal_set_agent_process(struct journal *j, const struct journal_turn *t)
{
    if (!journal_is_key_valid(t->boot_id) || !journal_is_key_valid(t->cgroup))
        return JOURNAL_TOO_BIG;
    struct turn_agent_update n = {.turn = t};
    return journal_transact(j, STORE_NORMAL, journal_turn_set_agent_tx, &n, &n.changed);
}

struct turn_ending {
    struct journal *j;
    const struct journal_outcome *outcome;
    int64_t seq;
    bool ended;
};

static int journal_turn_insert_outcome(struct sql *db, const struct turn_ending *e, size_t i)
{
    const struct journal_target *const t = &e->outcome->targets[i];
    return sql_run(db,
                   "insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, at,"
                   " expires, body) values(?1,?1,0,?2,?3,?4,'outcome',0,?5,?6,?7)"
                   " on conflict(turn, conn) where kind='outcome' do nothing",
                   sql_int(e->seq + (int64_t)i), sql_text(t->conn), sql_text(t->lane),
                   sql_text(e->outcome->turn), sql_int(journal_now_ms(e->j)),
                   sql_int(journal_expiry_ms(e->j, 0)), sql_blob(t->body));
}

/* Ensures a single outcome: only the operation that finds the turn running can end it. */
static int journal_turn_end_tx(struct sql *db, void *ctx)
{
    struct turn_ending *const e = ctx;
    const struct journal_outcome *const o = e->outcome;
    e->ended = false;
    if (sql_run(db,
                "update turn set state=?4, code=?2, " ENDED
                ", result=case when owner is null then null else ?5 end"
                " where id=?1 and state='running'",
                sql_text(o->turn), sql_text(o->error), sql_int(journal_turn_wall_ms()),
                sql_text(o->error ? "error" : "final"), sql_blob(o->result)) < 0)
        return -1;
    if (sql_changes(db) == 0)
        return 0;
    store_pass_test_point(e->j->store, "in-outcome");
    if (o->spent && journal_spent_add(db, o->turn, o->spent) < 0)
        return -1;
    for (size_t i = 0; i < o->n; i++)
        if (journal_turn_insert_outcome(db, e, i) < 0)
            return -1;
    e->ended = true;
    return 0;
}

static bool journal_turn_is_outcome_valid(const struct journal_outcome *o)
{
    bool fits = journal_is_key_valid(o->turn) && journal_is_key_valid(o->error) &&
                o->result.len <= JOURNAL_MAX_RESULT;
    for (size_t i = 0; i < o->n; i++) {
        const struct journal_target *const t = &o->targets[i];
        fits &= journal_is_key_valid(t->conn) && journal_is_key_valid(t->lane);
        fits &= t->body.len <= JOURNAL_MAX_BODY;
    }
    return fits;
}

enum journal_status journal_end_turn(struct journal *j, const struct journal_outcome *o,
                                     int64_t seq)
{
    if (!journal_turn_is_outcome_valid(o))
        return JOURNAL_TOO_BIG;
    struct turn_ending e = {.j = j, .outcome = o, .seq = seq};
    const enum journal_status status =
        journal_transact(j, STORE_DURABLE_RESERVE, journal_turn_end_tx, &e, &e.ended);
    if (status == JOURNAL_DONE)
        store_pass_test_point(j->store, "after-outcome-commit");
    return status;
}

struct late_result {
    const char *turn;
    struct str result;
    bool changed;
};

static int journal_turn_set_result_tx(struct sql *db, void *ctx)
{
    struct late_result *const l = ctx;
    if (sql_run(db,
                "update turn set result=?2 where id=?1 and ended_at is not null"
                " and owner is not null",
                sql_text(l->turn), sql_blob(l->result)) < 0)
        return -1;
    l->changed = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_set_late_result(struct journal *j, const char *turn, struct str result)
{
    if (result.len > JOURNAL_MAX_RESULT)
        return JOURNAL_TOO_BIG;
    struct late_result l = {.turn = turn, .result = result};
    return journal_transact(j, STORE_NORMAL, journal_turn_set_result_tx, &l, &l.changed);
}

static struct journal_turn journal_turn_read_turn(const struct sql_rows *rows)
{
    return (struct journal_turn){
        .id = sql_column_text(rows, 0).p,
        .agent = sql_column_text(rows, 1).p,
        .conv = sql_column_text(rows, 2).p,
        .source = sql_column_text(rows, 3).p,
        .waiting = str_is(sql_column_text(rows, 4), "waiting"),
        .boot_id = sql_column_text(rows, 5).p,
        .agent_pid = sql_column_int(rows, 6),
        .agent_start = sql_column_int(rows, 7),
        .cgroup = sql_column_text(rows, 8).p,
        .route = sql_column_text(rows, 9).p,
        .files = sql_column_text(rows, 10).p,
        .prompt = sql_column_text(rows, 11).p,
        .seen = sql_column_text(rows, 12).p,
        .state = sql_column_text(rows, 4).p,
        .code = sql_column_text(rows, 13).p,
        .admitted_ms = sql_column_int(rows, 14),
        .began_ms = sql_column_int(rows, 15),
        .ended_ms = sql_column_int(rows, 16),
        .owner = sql_column_text(rows, 17).p,
        .result = sql_column_blob(rows, 18),
        .instances = sql_column_text(rows, 19).p,
        .person = sql_column_text(rows, 20).p,
    };
}

#define TURN                                                                                       \
    "select id, agent, conv, source, state, boot_id, agent_pid, agent_start, cgroup, route,"       \
    " files, prompt, seen, code, admitted_at, began_at, ended_at, owner, result, instances, "      \
    "person"                                                                                       \
    " from turn"

enum journal_status journal_list_open_turns(struct journal *j,
                                            void (*each)(void *ctx, const struct journal_turn *t),
                                            void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store), TURN " where ended_at is null and state in"
                                                 "('waiting','running') order by rowid");
    while (sql_next(&rows)) {
        const struct journal_turn t = journal_turn_read_turn(&rows);
        each(ctx, &t);
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}

enum journal_status journal_list_untold(struct journal *j, const char *source, struct buf *ids)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select 'b'||id from turn where ended_at is null and source=?1"
                   " and state in('waiting','running')"
                   " union select case when max(kind='outcome') then 'o'"
                   " when min(priority)=0 then 'r' else 'l' end||turn"
                   " from outbox where conn=?1 group by turn",
                   sql_text(source));
    while (sql_next(&rows)) {
        const struct str id = sql_column_text(&rows, 0);
        buf_add(ids, id.p, id.len);
        buf_add_char(ids, '\n');
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}

static int journal_turn_remove(struct sql *db, void *ctx)
{
    struct turn_beginning *const b = ctx;
    if (sql_run(db,
                "delete from outbox where turn=?1 and conn=(select source from turn where id=?1)",
                sql_text(b->turn)) < 0 ||
        sql_run(db, "delete from turn where id=?1", sql_text(b->turn)) < 0)
        return -1;
    b->began = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_remove_turn(struct journal *j, const char *turn)
{
    struct turn_beginning b = {.turn = turn};
    return journal_transact(j, STORE_NORMAL, journal_turn_remove, &b, &b.began);
}

enum journal_status journal_find_turn(struct journal *j, const char *id,
                                      void (*each)(void *ctx, const struct journal_turn *t),
                                      void *ctx)
{
    struct sql_rows rows = sql_select(store_get_sql(j->store), TURN " where id=?1", sql_text(id));
    const bool found = sql_next(&rows);
    if (found) {
        const struct journal_turn t = journal_turn_read_turn(&rows);
        each(ctx, &t);
    }
    return journal_finish_read(j, &rows, found ? JOURNAL_DONE : JOURNAL_NO_CHANGE);
}
