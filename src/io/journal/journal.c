/* SPDX-License-Identifier: MIT
 * The schema, opening and closing of the journal, and recovery of rows that were in flight. */
#include "io/journal/journal_internal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"

#define MINUTE ((int64_t)60 * 1000)
#define DAY (24 * 60 * MINUTE)

const struct journal_limits journal_default_limits = {
    .age = DAY,
    .keep_age = 2 * DAY,
    .rows = 20000,
    .bytes = (int64_t)64 << 20,
    .result_bytes = (int64_t)64 << 20,
    .dead_age = 30 * DAY,
    .dead_rows = 5000,
    .dead_bytes = (int64_t)64 << 20,
    .spent_age = 62 * DAY,
    .conversation_age = 180 * DAY,
};

const char *const journal_schema[] = {
    /* `code`: of an error, or the id of the turn into which this one was merged. */
    "create table turn("
    "  id text primary key, agent text not null, conv text not null, source text not null,"
    "  state text not null"
    "   check(state in('waiting','running','final','error','merged','cancelled')),"
    "  code text, boot_id text, agent_pid integer, agent_start integer, cgroup text,"
    "  admitted_at integer not null, ended_at integer,"
    "  route text, files text, prompt text) strict;"
    "create index turn_ended on turn(ended_at);"
    "create table inbox("
    "  source text, msg_id text, turn_id text not null, seen_at integer not null,"
    "  primary key(source, msg_id)) strict, without rowid;"
    "create index inbox_seen on inbox(seen_at);"
    /* pos and sub define the order: pos is the seq of the original row at this position, sub orders
     * the rows that have replaced it. body is last, because counting rows or adding their sizes
     * does not read it then. */
    "create table outbox("
    "  seq integer primary key autoincrement, pos integer not null, sub integer not null,"
    "  conn text not null, lane text not null, turn text not null,"
    "  kind text not null check(kind in('outcome','request')), priority integer not null,"
    "  state text not null default 'queued' check(state in('queued','sending')),"
    "  attempts integer not null default 0, crashes integer not null default 0,"
    "  in_doubt integer not null default 0, at integer not null, expires integer not null,"
    "  body blob not null) strict;"
    "create index outbox_order on outbox(conn, pos, sub);"
    "create index outbox_age on outbox(expires) where state='queued';"
    "create index outbox_turn on outbox(turn, conn);"
    "create unique index outbox_outcome on outbox(turn, conn) where kind='outcome';"
    "create table dead("
    "  id integer primary key autoincrement,"
    "  conn text not null, lane text not null, turn text not null, kind text not null,"
    "  priority integer not null, attempts integer not null, reason text not null,"
    "  at integer not null, body blob not null) strict;"
    "create table memory(conn text, turn text, text text not null, primary key(conn, turn))"
    " strict, without rowid;"
    "create table kv(key text primary key, value any not null) strict, without rowid;"
    "pragma user_version=1;",
    /* `seen`: instances to be told of a crash of the host; null: unknown. */
    "alter table turn add column seen text;"
    "pragma user_version=2;",
    /* Remembered approvals; conv '': in every conversation. */
    "create table approval("
    "  id integer primary key, agent text not null, conv text not null, key text not null,"
    "  tool text not null, shown text not null, by text not null, at integer not null,"
    "  unique(conv, key)) strict;"
    "pragma user_version=3;",
    /* Requests of agents to people; deleted with their turn. */
    "create table question("
    "  turn text, id text, agent text not null, tool text not null, shown text not null,"
    "  asked_at integer not null, decision text, by text, decided_at integer,"
    "  primary key(turn, id)) strict, without rowid;"
    "pragma user_version=4;",
    /* `owner`: the API client; `result`: JSON for later queries of the client. It is a blob and
     * last, so that its size can be determined without reading it. */
    "alter table turn add column owner text;"
    "alter table turn add column began_at integer;"
    "alter table turn add column result blob;"
    "pragma user_version=5;",
    /* `instances`: additional instances named by the client. */
    "alter table turn add column instances text;"
    "pragma user_version=6;",
    /* `person`: who asked for the turn. `spent`: sums of a day; day 20261127. kv.at: time of the
     * write. */
    "alter table turn add column person text;"
    "create table spent("
    "  day integer, scope text, name text,"
    "  turns integer not null, counted integer not null, input integer not null,"
    "  output integer not null, priced integer not null, micros integer not null,"
    "  primary key(day, scope, name)) strict, without rowid;"
    "alter table kv add column at integer not null default 0;"
    "update kv set at=1000*cast(strftime('%s') as integer);"
    "pragma user_version=7;",
    NULL,
};

int64_t journal_now_ms(const struct journal *j)
{
    return j->anchor_ms + clock_mono_ms();
}

int64_t journal_expiry_ms(const struct journal *j, int64_t max_age_ms)
{
    const int64_t age = max_age_ms ? max_age_ms : j->limits.age;
    const int64_t now = journal_now_ms(j);
    return age && age < INT64_MAX - now ? now + age : INT64_MAX;
}

enum journal_status journal_transact(struct journal *j, enum store_commit how,
                                     int (*body)(struct sql *db, void *ctx), void *ctx,
                                     const bool *changed)
{
    if (store_transact(j->store, how, body, ctx) < 0)
        return store_failure(j->store) == SQL_DISK_FULL ? JOURNAL_DISK_FULL : JOURNAL_FAILED;
    return *changed ? JOURNAL_DONE : JOURNAL_NO_CHANGE;
}

enum journal_status journal_finish_read(struct journal *j, struct sql_rows *rows,
                                        enum journal_status status)
{
    if (sql_finish(rows) == 0)
        return status;
    log_write(LOG_ERR, "store", "cannot read the journal: %s",
              sql_error_text(store_get_sql(j->store)));
    return JOURNAL_FAILED;
}

bool journal_is_key_valid(const char *key)
{
    return !key || strlen(key) <= JOURNAL_MAX_KEY;
}

/* Rows that were in flight at JOURNAL_MAX_CRASHES crashes are poison. */
static int journal_move_poison_to_dead(struct sql *db, int64_t now)
{
    for (;;) {
        int64_t seq = 0;
        if (sql_select_int(db, "select seq from outbox where crashes>=?1 order by seq limit 1",
                           &seq, sql_int(JOURNAL_MAX_CRASHES)) < 0)
            return -1;
        if (!seq)
            return 0;
        if (journal_move_to_dead(db, seq, "poison", now) < 0)
            return -1;
    }
}

/* A row with a future time was added under another clock: its lifetime restarts. */
static int journal_correct_times(struct sql *db, int64_t now)
{
    return sql_run(db, "update outbox set expires=expires-at+?1, at=?1 where at>?1", sql_int(now));
}

static int journal_resume(struct sql *db, void *ctx)
{
    struct journal *const j = ctx;
    const int64_t now = journal_now_ms(j);
    if (sql_run(db,
                "update outbox set state='queued', in_doubt=1, crashes=crashes+?1"
                " where state='sending'",
                sql_int(store_was_unclean(j->store))) < 0 ||
        journal_move_poison_to_dead(db, now) < 0 || journal_correct_times(db, now) < 0 ||
        journal_cancel_questions(db, now) < 0)
        return -1;
    return journal_apply_limits(j, db);
}

static struct journal *journal_open_once(const struct journal_spec *spec, bool *doubtful,
                                         struct tc_err *err)
{
    struct journal *const j = xcalloc(1, sizeof *j);
    j->limits = spec->limits ? *spec->limits : journal_default_limits;
    j->anchor_ms = (int64_t)(clock_wall_s() * 1000) - clock_mono_ms();
    j->store = store_open(&(struct store_spec){.dir = spec->dir,
                                               .schema = journal_schema,
                                               .beside = spec->beside,
                                               .in_use = spec->in_use,
                                               .point = spec->point,
                                               .ctx = spec->ctx},
                          err);
    if (!j->store) {
        free(j);
        return NULL;
    }
    if (!spec->beside && store_transact(j->store, STORE_DURABLE, journal_resume, j) < 0) {
        err_set(err, spec->dir, "cannot recover the journal: %s",
                sql_error_text(store_get_sql(j->store)));
        *doubtful = store_failure(j->store) != SQL_DISK_FULL;
        if (*doubtful)
            store_mark_damaged(j->store);
        journal_close(j);
        return NULL;
    }
    return j;
}

/* Nothing is checked after a clean stop. If resuming fails then, the journal is opened as after an
 * unclean stop, which sets a damaged file aside. */
struct journal *journal_open(const struct journal_spec *spec, struct tc_err *err)
{
    bool doubtful = false;
    struct journal *const j = journal_open_once(spec, &doubtful, err);
    return doubtful ? journal_open_once(spec, &doubtful, err) : j;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    store_close(j->store);
    free(j);
}

void journal_checkpoint(struct journal *j)
{
    store_checkpoint(j->store);
}
