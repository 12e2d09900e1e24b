/* SPDX-License-Identifier: MIT
 * Owns the bounds of the journal, in age, rows and bytes, and what it counts. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/journal_impl.h"

struct pruning {
    struct journal *j;
    int64_t now;  /* journal time: of the outbox */
    int64_t wall; /* of the records */
    bool changed;
};

/* What is older than `age` has a time below this; 0 keeps for ever. */
static int64_t horizon(int64_t now, int64_t age)
{
    return age ? now - age : INT64_MIN;
}

static int drop_old_live(struct sql *db, const struct pruning *p)
{
    const int64_t before = horizon(p->now, p->j->limits.live_age);
    if (sql_run(db,
                "delete from outbox where slot='live' and state='queued' and remote_id is null"
                " and at<?1",
                sql_int(before)) < 0)
        return -1;
    return sql_run(db,
                   "update outbox set state='sent' where slot='live' and state='queued' and at<?1",
                   sql_int(before));
}

static int bury_old(struct sql *db, const struct pruning *p)
{
    for (;;) {
        int64_t seq = 0;
        if (sql_number(db,
                       "select seq from outbox where state='queued' and slot<>'live' and at<?1"
                       " order by at limit 1",
                       &seq, sql_int(horizon(p->now, p->j->limits.outcome_age))) < 0)
            return -1;
        if (!seq)
            return 0;
        if (journal_bury(db, seq, "expired", p->now) < 0)
            return -1;
    }
}

static int drop_delivered(struct sql *db, const struct pruning *p)
{
    const int64_t keep = p->j->limits.keep_age;
    /* The live row of a turn that still runs tells where its message is. */
    if (sql_run(db,
                "delete from outbox where state='sent' and at<?1 and not exists"
                " (select 1 from turn where id=outbox.turn and state='running')",
                sql_int(horizon(p->now, keep))) < 0 ||
        sql_run(db, "delete from inbox where seen_at<?1", sql_int(horizon(p->wall, keep))) < 0)
        return -1;
    return sql_run(db,
                   "delete from turn where state<>'running' and ended_at<?1 and not exists"
                   " (select 1 from outbox where outbox.turn=turn.id)",
                   sql_int(horizon(p->wall, keep)));
}

/* The oldest first: live rows are dropped, the others become dead letters. */
static int make_room(struct sql *db, const struct pruning *p)
{
    const struct journal_limits *const limits = &p->j->limits;
    int64_t rows = 0, bytes = 0;
    if (sql_number(db, "select count(*) from outbox where state<>'sent'", &rows) < 0 ||
        sql_number(db, "select sum(length(cast(body as blob))) from outbox where state<>'sent'",
                   &bytes) < 0)
        return -1;
    while ((limits->rows && rows > limits->rows) || (limits->bytes && bytes > limits->bytes)) {
        int64_t seq = 0, size = 0, live = 0;
        struct sql_rows r =
            sql_select(db, "select seq, length(cast(body as blob)), slot='live' from outbox"
                           " where state='queued' order by rank<2, seq limit 1");
        if (sql_next(&r)) {
            seq = sql_column(&r, 0);
            size = sql_column(&r, 1);
            live = sql_column(&r, 2);
        }
        if (sql_end(&r) < 0)
            return -1;
        if (!seq)
            return 0;
        if (live ? sql_run(db, "delete from outbox where seq=?1", sql_int(seq)) < 0
                 : journal_bury(db, seq, "overflow", p->now) < 0)
            return -1;
        rows--;
        bytes -= size;
    }
    return 0;
}

static int drop_dead(struct sql *db, const struct pruning *p)
{
    const struct journal_limits *const limits = &p->j->limits;
    if (sql_run(db, "delete from dead where at<?1", sql_int(horizon(p->now, limits->dead_age))) < 0)
        return -1;
    int64_t dropped = sql_changes(db);
    if (limits->dead_rows) {
        if (sql_run(db,
                    "delete from dead where id in"
                    " (select id from dead order by id desc limit -1 offset ?1)",
                    sql_int(limits->dead_rows)) < 0)
            return -1;
        dropped += sql_changes(db);
    }
    if (dropped)
        log_line(LOG_ERR, "store", "dead letters dropped, too old or too many: %" PRId64, dropped);
    return 0;
}

static int prune(struct sql *db, void *ctx)
{
    static int (*const steps[])(struct sql * db, const struct pruning *p) = {
        drop_old_live, bury_old, drop_delivered, make_room, drop_dead,
    };
    const struct pruning *const p = ctx;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i](db, p) < 0)
            return -1;
    return sql_run(db,
                   "delete from kv where key>='pause:' and key<'pause;'"
                   " and cast(value as integer)<=?1",
                   sql_int(p->now));
}

enum journal_status journal_prune(struct journal *j)
{
    struct pruning p = {j, journal_now(j), (int64_t)(clock_wall() * 1000), true};
    return journal_transact(j, STORE_DURABLE, prune, &p, &p.changed);
}

struct counting {
    struct journal_stats *stats;
    int64_t now;
    bool changed;
};

/* In a transaction, so that the numbers are of one moment. */
static int count(struct sql *db, void *ctx)
{
    const struct counting *const c = ctx;
    int64_t oldest = c->now;
    const struct {
        const char *text;
        int64_t *number;
    } counts[] = {
        {"select count(*) from turn where state='running'", &c->stats->running},
        {"select count(*) from outbox where state='queued'", &c->stats->waiting},
        {"select count(*) from outbox where state='sending'", &c->stats->in_flight},
        {"select sum(length(cast(body as blob))) from outbox where state<>'sent'",
         &c->stats->bytes},
        {"select at from outbox where state<>'sent' order by at limit 1", &oldest},
        {"select count(*) from dead", &c->stats->dead},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (sql_number(db, counts[i].text, counts[i].number) < 0)
            return -1;
    c->stats->oldest_ms = c->now > oldest ? c->now - oldest : 0;
    return 0;
}

enum journal_status journal_stats(struct journal *j, struct journal_stats *stats)
{
    *stats = (struct journal_stats){0};
    struct counting c = {stats, journal_now(j), true};
    return journal_transact(j, STORE_NORMAL, count, &c, &c.changed);
}
