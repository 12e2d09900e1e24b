/* SPDX-License-Identifier: MIT
 * Retention limits of the journal by age, rows and bytes; statistics. */
#include <inttypes.h>
#include <time.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal/journal_internal.h"

/* Number of rows of each kind deleted in one transaction, so that other operations do not wait
 * long. */
#define PRUNE_BATCH 500

struct prune_state {
    struct journal *j;
    int64_t now;  /* journal time: of outbox and dead letters */
    int64_t wall; /* of turns and messages */
};

/* Records older than `age` have a time below this; 0 keeps records for ever. */
static int64_t journal_prune_oldest_kept(int64_t now, int64_t age)
{
    return age ? now - age : INT64_MIN;
}

/* Runs a deletion (or update) of rows beyond ?1, at most ?2 of them, and adds their number. */
static int journal_prune_run_batch(struct sql *db, const struct prune_state *p, const char *text,
                                   int64_t bound, int64_t *count)
{
    if (sql_run(db, text, sql_int(bound), sql_int(PRUNE_BATCH)) < 0)
        return -1;
    p->j->more_to_prune |= sql_changes(db) >= PRUNE_BATCH;
    *count += sql_changes(db);
    return 0;
}

static int journal_prune_expire_requests(struct sql *db, const struct prune_state *p)
{
    for (int n = 0; n < PRUNE_BATCH; n++) {
        int64_t seq = 0;
        if (sql_select_int(db,
                           "select seq from outbox where expires<=?1 and state='queued'"
                           " order by expires limit 1",
                           &seq, sql_int(p->now)) < 0)
            return -1;
        if (!seq)
            return 0;
        if (journal_move_to_dead(db, seq, "expired", p->now) < 0)
            return -1;
    }
    p->j->more_to_prune = true;
    return 0;
}

static int journal_prune_delete_ended(struct sql *db, const struct prune_state *p)
{
    const int64_t keep = journal_prune_oldest_kept(p->wall, p->j->limits.keep_age);
    int64_t count = 0;
    if (journal_prune_run_batch(db, p,
                                "delete from inbox where (source, msg_id) in"
                                " (select source, msg_id from inbox where seen_at<?1 limit ?2)",
                                keep, &count) < 0 ||
        journal_prune_run_batch(
            db, p,
            "delete from turn where id in (select id from turn where ended_at<?1 and not"
            " exists (select 1 from outbox where outbox.turn=turn.id) limit ?2)",
            keep, &count) < 0)
        return -1;
    if (sql_run(db, "delete from question where not exists"
                    " (select 1 from turn t where t.id=question.turn)") < 0)
        return -1;
    /* Deletes when the turn can no longer be delivered to the connector again. */
    return sql_run(db, "delete from memory where turn<>'' and not exists"
                       " (select 1 from turn t where t.id=memory.turn and t.ended_at is null)"
                       " and not exists (select 1 from outbox o"
                       "  where o.turn=memory.turn and o.conn=memory.conn)");
}

/* Days as numbers: 20261127. */
static int64_t journal_prune_day_number(int64_t wall_ms)
{
    const time_t t = (time_t)(wall_ms / 1000);
    struct tm day;
    gmtime_r(&t, &day);
    return (day.tm_year + 1900) * INT64_C(10000) + (day.tm_mon + 1) * 100 + day.tm_mday;
}

static int journal_prune_delete_spent(struct sql *db, const struct prune_state *p)
{
    const int64_t age = p->j->limits.spent_age;
    int64_t count = 0;
    return !age ? 0
                : journal_prune_run_batch(
                      db, p,
                      "delete from spent where (day, scope, name) in"
                      " (select day, scope, name from spent where day<?1 limit ?2)",
                      journal_prune_day_number(p->wall - age), &count);
}

/* Keys with settings of conversations. */
static int journal_prune_delete_conversations(struct sql *db, const struct prune_state *p)
{
    int64_t count = 0;
    return journal_prune_run_batch(
        db, p,
        "delete from kv where key in (select key from kv where at<?1 and"
        " (key glob 'session:*' or key glob 'sessions:*' or key glob 'spent:*'"
        "  or key glob 'prompt:*' or key glob 'usage:*' or key glob 'here:*'"
        "  or key glob 'away:*') limit ?2)",
        journal_prune_oldest_kept(p->wall, p->j->limits.conversation_age), &count);
}

/* The oldest row that is not in flight; seq 0: none. */
static int journal_prune_find_oldest(struct sql *db, int64_t *seq, int64_t *size)
{
    struct sql_rows r = sql_select(db, "select seq, length(body) from outbox where state='queued'"
                                       " order by seq limit 1");
    *seq = 0;
    if (sql_next(&r)) {
        *seq = sql_column_int(&r, 0);
        *size = sql_column_int(&r, 1);
    }
    return sql_finish(&r);
}

static int journal_prune_make_room(struct sql *db, const struct prune_state *p)
{
    const struct journal_limits *const limits = &p->j->limits;
    int64_t rows = 0, bytes = 0;
    if (sql_select_int(db, "select count(*) from outbox", &rows) < 0 ||
        sql_select_int(db, "select sum(length(body)) from outbox", &bytes) < 0)
        return -1;
    for (int n = 0;
         (limits->rows && rows > limits->rows) || (limits->bytes && bytes > limits->bytes); n++) {
        int64_t seq = 0, size = 0;
        p->j->more_to_prune |= n == PRUNE_BATCH;
        if (n == PRUNE_BATCH)
            return 0;
        if (journal_prune_find_oldest(db, &seq, &size) < 0)
            return -1;
        if (!seq)
            return 0;
        if (journal_move_to_dead(db, seq, "overflow", p->now) < 0)
            return -1;
        rows--;
        bytes -= size;
    }
    return 0;
}

static int journal_prune_delete_dead(struct sql *db, const struct prune_state *p)
{
    const struct journal_limits *const limits = &p->j->limits;
    int64_t dropped = 0;
    if (journal_prune_run_batch(
            db, p, "delete from dead where id in (select id from dead where at<?1 limit ?2)",
            journal_prune_oldest_kept(p->now, limits->dead_age), &dropped) < 0)
        return -1;
    if (limits->dead_rows &&
        journal_prune_run_batch(db, p,
                                "delete from dead where id in"
                                " (select id from dead order by id desc limit ?2 offset ?1)",
                                limits->dead_rows, &dropped) < 0)
        return -1;
    if (limits->dead_bytes &&
        journal_prune_run_batch(
            db, p,
            "delete from dead where id in (select id from"
            " (select id, sum(length(body)) over (order by id desc) as total from dead)"
            " where total>?1 limit ?2)",
            limits->dead_bytes, &dropped) < 0)
        return -1;
    if (dropped)
        log_write(LOG_ERR, "store",
                  "deleted the oldest dead letters (limits: %" PRId64 " days, %" PRId64
                  " entries, %" PRId64 " MiB): %" PRId64,
                  limits->dead_age / ((int64_t)24 * 3600 * 1000), limits->dead_rows,
                  limits->dead_bytes >> 20, dropped);
    return 0;
}

static int journal_prune_delete_results(struct sql *db, const struct prune_state *p)
{
    const int64_t max = p->j->limits.result_bytes;
    int64_t count = 0;
    return !max ? 0
                : journal_prune_run_batch(
                      db, p,
                      "update turn set result=null where id in (select id from"
                      " (select id, sum(length(result)) over (order by ended_at desc, rowid "
                      "desc) as total"
                      "  from turn where result is not null) where total>?1 limit ?2)",
                      max, &count);
}

int journal_apply_limits(struct journal *j, struct sql *db)
{
    static int (*const steps[])(struct sql * db, const struct prune_state *p) = {
        journal_prune_expire_requests,      journal_prune_make_room,   journal_prune_delete_ended,
        journal_prune_delete_results,       journal_prune_delete_dead, journal_prune_delete_spent,
        journal_prune_delete_conversations,
    };
    const struct prune_state p = {j, journal_now_ms(j), (int64_t)(clock_wall_s() * 1000)};
    j->more_to_prune = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i](db, &p) < 0)
            return -1;
    return 0;
}

static int journal_prune_tx(struct sql *db, void *ctx)
{
    return journal_apply_limits(ctx, db);
}

enum journal_status journal_prune(struct journal *j)
{
    static const bool changed = true;
    return journal_transact(j, STORE_DURABLE, journal_prune_tx, j, &changed);
}

bool journal_has_more_to_prune(const struct journal *j)
{
    return j->more_to_prune;
}

void journal_set_limits(struct journal *j, const struct journal_limits *limits)
{
    j->limits = *limits;
}

struct prune_counters {
    struct journal_stats *stats;
    int64_t now;
    bool changed;
};

/* In a transaction, so that the numbers are consistent. */
static int journal_prune_count(struct sql *db, void *ctx)
{
    const struct prune_counters *const c = ctx;
    int64_t oldest = c->now;
    const struct {
        const char *text;
        int64_t *number;
    } counts[] = {
        {"select count(*) from turn where state='running' and ended_at is null",
         &c->stats->running},
        {"select count(*) from turn where state='waiting' and ended_at is null",
         &c->stats->waiting},
        {"select count(*) from outbox where state='queued'", &c->stats->queued},
        {"select count(*) from outbox where state='sending'", &c->stats->in_flight},
        {"select sum(length(body)) from outbox", &c->stats->bytes},
        {"select at from outbox order by at limit 1", &oldest},
        {"select count(*) from dead", &c->stats->dead},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (sql_select_int(db, counts[i].text, counts[i].number) < 0)
            return -1;
    c->stats->oldest_ms = c->now > oldest ? c->now - oldest : 0;
    return 0;
}

enum journal_status journal_read_stats(struct journal *j, struct journal_stats *stats)
{
    *stats = (struct journal_stats){0};
    struct prune_counters c = {stats, journal_now_ms(j), true};
    return journal_transact(j, STORE_NORMAL, journal_prune_count, &c, &c.changed);
}
