/* SPDX-License-Identifier: MIT
 * Table spent: sums of tokens and cost by day, of the host, agents, conversations, people and API
 * keys. ⏎ */
#include "io/journal/journal_internal.h"

/* "where true", because SQLite would parse "on conflict" as part of a join. */
int journal_spent_add(struct sql *db, const char *turn, const struct journal_spent *spent)
{
    return sql_run(db,
                   "insert into spent"
                   " select ?2, scope, name, ?3, ?4, ?5, ?6, ?7, ?8 from ("
                   "  select 'host' as scope, '' as name from turn where id=?1"
                   "  union all select 'agent', agent from turn where id=?1"
                   "  union all select 'conversation', conv from turn where id=?1"
                   "  union all select 'person', person from turn where id=?1 and person<>''"
                   "  union all select 'key', owner from turn where id=?1 and owner<>'')"
                   " where true on conflict do update set turns=turns+excluded.turns,"
                   " counted=counted+excluded.counted, input=input+excluded.input,"
                   " output=output+excluded.output, priced=priced+excluded.priced,"
                   " micros=micros+excluded.micros",
                   sql_text(turn), sql_int(spent->day), sql_int(spent->turns),
                   sql_int(spent->counted), sql_int(spent->input), sql_int(spent->output),
                   sql_int(spent->priced), sql_int(spent->micros));
}

struct late_spent {
    const char *turn;
    const struct journal_spent *spent;
    bool changed;
};

static int journal_spent_add_late(struct sql *db, void *ctx)
{
    struct late_spent *const l = ctx;
    if (journal_spent_add(db, l->turn, l->spent) < 0)
        return -1;
    l->changed = sql_changes(db) > 0;
    return 0;
}

enum journal_status journal_add_spent(struct journal *j, const char *turn,
                                      const struct journal_spent *spent)
{
    struct late_spent l = {.turn = turn, .spent = spent};
    return journal_transact(j, STORE_DURABLE, journal_spent_add_late, &l, &l.changed);
}

enum journal_status journal_list_spent(struct journal *j, int64_t first, int64_t last,
                                       void (*each)(void *ctx, const struct journal_spent_row *row),
                                       void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select day, scope, name, turns, counted, input, output, priced, micros"
                   " from spent where day between ?1 and ?2"
                   " order by day, scope, micros desc, input+output desc, name",
                   sql_int(first), sql_int(last));
    while (sql_next(&rows)) {
        const struct journal_spent_row row = {.scope = sql_column_text(&rows, 1).p,
                                              .name = sql_column_text(&rows, 2).p,
                                              .spent = {.day = sql_column_int(&rows, 0),
                                                        .turns = sql_column_int(&rows, 3),
                                                        .counted = sql_column_int(&rows, 4),
                                                        .input = sql_column_int(&rows, 5),
                                                        .output = sql_column_int(&rows, 6),
                                                        .priced = sql_column_int(&rows, 7),
                                                        .micros = sql_column_int(&rows, 8)}};
        each(ctx, &row);
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}
