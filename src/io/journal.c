/* SPDX-License-Identifier: MIT
 * Owns the schema, and opening and closing: what the last host left in flight. */
#include "io/journal_impl.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"

#define MINUTE ((int64_t)60 * 1000)
#define DAY (24 * 60 * MINUTE)

const struct journal_limits journal_default_limits = {
    .outcome_age = DAY,
    .live_age = MINUTE,
    .keep_age = 2 * DAY,
    .dead_age = 30 * DAY,
    .rows = 20000,
    .bytes = (int64_t)64 << 20,
    .dead_rows = 5000,
};

static const char *const schema[] = {
    "create table turn("
    "  id text primary key, agent text not null, conv text not null, source text not null,"
    "  route text, prompt_ref text,"
    "  state text not null check(state in('running','final','error')), code text,"
    "  boot_id text, agent_pid integer, agent_start integer, cgroup text,"
    "  admitted_at integer not null, ended_at integer) strict;"
    "create index turn_running on turn(id) where state='running';"
    "create index turn_ended on turn(ended_at) where state<>'running';"
    "create table inbox("
    "  source text, msg_id text, turn_id text not null, seen_at integer not null,"
    "  primary key(source, msg_id)) strict, without rowid;"
    "create index inbox_seen on inbox(seen_at);"
    /* seq gives the order, rank the class of it; sent_gen < gen: a newer body waits. */
    "create table outbox("
    "  seq integer primary key autoincrement,"
    "  conn text not null, conv text not null, turn text not null,"
    "  slot text not null check(slot in('final','error','notice','live')), rank integer not null,"
    "  gen integer not null default 1, sent_gen integer not null default 0,"
    "  state text not null default 'queued' check(state in('queued','sending','sent')),"
    "  attempts integer not null default 0, crashes integer not null default 0,"
    "  in_doubt integer not null default 0, not_before integer not null default 0,"
    "  at integer not null, remote_id text, body text not null,"
    "  unique(conn, conv, turn, slot)) strict;"
    "create index outbox_lane on outbox(conn, conv, rank, seq) where state<>'sent';"
    "create index outbox_flight on outbox(conn, conv) where state='sending';"
    "create index outbox_turn on outbox(turn);"
    "create index outbox_age on outbox(at);"
    "create table dead("
    "  id integer primary key autoincrement,"
    "  conn text not null, conv text not null, turn text not null, slot text not null,"
    "  rank integer not null, attempts integer not null, remote_id text, reason text not null,"
    "  body text not null, at integer not null) strict;"
    "create table kv(key text primary key, value any not null) strict, without rowid;"
    "pragma user_version=1;",
    NULL,
};

int64_t journal_now(const struct journal *j)
{
    return j->anchor_ms + clock_mono_ms();
}

enum journal_status journal_failed(struct journal *j)
{
    return store_failure(j->store) == SQL_DISK_FULL ? JOURNAL_DISK_FULL : JOURNAL_FAILED;
}

enum journal_status journal_transact(struct journal *j, enum store_commit how,
                                     int (*body)(struct sql *db, void *ctx), void *ctx,
                                     const bool *changed)
{
    if (store_transact(j->store, how, body, ctx) < 0)
        return journal_failed(j);
    return *changed ? JOURNAL_DONE : JOURNAL_UNCHANGED;
}

bool journal_key_fits(const char *key)
{
    return !key || strlen(key) <= JOURNAL_MAX_KEY;
}

/* Rows that were in flight at JOURNAL_MAX_CRASHES deaths are poison. */
static int bury_poison(struct sql *db, int64_t now)
{
    if (sql_run(db, "delete from outbox where state='queued' and slot='live' and crashes>=?1",
                sql_int(JOURNAL_MAX_CRASHES)) < 0)
        return -1;
    for (;;) {
        int64_t seq = 0;
        if (sql_number(db, "select seq from outbox where state='queued' and crashes>=?1 limit 1",
                       &seq, sql_int(JOURNAL_MAX_CRASHES)) < 0)
            return -1;
        if (!seq)
            return 0;
        if (journal_bury(db, seq, "poison", now) < 0)
            return -1;
    }
}

/* A deadline of another life may be of another clock: it ends within the longest delay. */
static int clamp_deadlines(struct sql *db, int64_t latest)
{
    if (sql_run(db, "update outbox set not_before=?1 where state<>'sent' and not_before>?1",
                sql_int(latest)) < 0)
        return -1;
    return sql_run(db,
                   "update kv set value=?1 where key>='pause:' and key<'pause;'"
                   " and cast(value as integer)>?1",
                   sql_int(latest));
}

static int resume(struct sql *db, void *ctx)
{
    struct journal *const j = ctx;
    const int64_t now = journal_now(j);
    if (sql_run(db,
                "update outbox set state='queued', in_doubt=1, crashes=crashes+?1"
                " where state='sending'",
                sql_int(store_was_unclean(j->store))) < 0 ||
        journal_drop_live(db, NULL) < 0 || bury_poison(db, now) < 0)
        return -1;
    return clamp_deadlines(db, now + JOURNAL_MAX_DELAY_MS);
}

struct journal *journal_open(const struct journal_spec *spec, struct tc_err *err)
{
    struct journal *const j = xcalloc(1, sizeof *j);
    j->limits = spec->limits ? *spec->limits : journal_default_limits;
    j->anchor_ms = (int64_t)(clock_wall() * 1000) - clock_mono_ms();
    j->store = store_open(
        &(struct store_spec){
            .dir = spec->dir, .schema = schema, .point = spec->point, .ctx = spec->ctx},
        err);
    if (!j->store) {
        free(j);
        return NULL;
    }
    if (store_transact(j->store, STORE_DURABLE, resume, j) < 0) {
        err_set(err, spec->dir, "cannot be resumed: %s", sql_message(store_sql(j->store)));
        journal_close(j);
        return NULL;
    }
    return j;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    store_close(j->store);
    free(j);
}

void journal_tidy(struct journal *j)
{
    store_tidy(j->store);
}
