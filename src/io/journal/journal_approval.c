/* SPDX-License-Identifier: MIT
 * Table approval: remembered approvals. */
#include "io/journal/journal_internal.h"

static int journal_approval_insert_tx(struct sql *db, void *ctx)
{
    const struct journal_approval *const a = ctx;
    return sql_run(db,
                   "insert or replace into approval(id, agent, conv, key, tool, shown, by, at)"
                   " values(?1,?2,?3,?4,?5,?6,?7,?8)",
                   sql_int(a->id), sql_text(a->agent), sql_text(a->conv), sql_text(a->key),
                   sql_text(a->tool), sql_text(a->shown), sql_text(a->by), sql_int(a->at));
}

enum journal_status journal_approval_put(struct journal *j, const struct journal_approval *a)
{
    const char *const texts[] = {a->agent, a->conv, a->key, a->tool, a->shown, a->by};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!journal_is_key_valid(texts[i]))
            return JOURNAL_TOO_BIG;
    struct journal_approval now = *a;
    now.at = journal_now_ms(j);
    return journal_transact(j, STORE_NORMAL, journal_approval_insert_tx, &now, &(bool){true});
}

enum journal_status journal_approval_list(struct journal *j,
                                          const struct journal_approval_filter *which,
                                          void (*each)(void *ctx, const struct journal_approval *a),
                                          void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select id, at, agent, conv, key, tool, shown, by from approval"
                   " where (?1=0 or id=?1) and (?2 is null or agent=?2) and (?3 is null or conv=?3)"
                   " order by id",
                   sql_int(which->id), sql_text(which->agent), sql_text(which->conv));
    while (sql_next(&rows)) {
        const struct journal_approval a = {
            .id = sql_column_int(&rows, 0),
            .at = sql_column_int(&rows, 1),
            .agent = sql_column_text(&rows, 2).p,
            .conv = sql_column_text(&rows, 3).p,
            .key = sql_column_text(&rows, 4).p,
            .tool = sql_column_text(&rows, 5).p,
            .shown = sql_column_text(&rows, 6).p,
            .by = sql_column_text(&rows, 7).p,
        };
        each(ctx, &a);
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}

struct approval_removal {
    const struct journal_approval_filter *which;
    bool changed;
};

static int journal_approval_delete_tx(struct sql *db, void *ctx)
{
    struct approval_removal *const r = ctx;
    const int rc =
        sql_run(db,
                "delete from approval"
                " where (?1=0 or id=?1) and (?2 is null or agent=?2) and (?3 is null or conv=?3)",
                sql_int(r->which->id), sql_text(r->which->agent), sql_text(r->which->conv));
    r->changed = sql_changes(db) > 0;
    return rc;
}

enum journal_status journal_approval_delete(struct journal *j,
                                            const struct journal_approval_filter *which)
{
    struct approval_removal r = {.which = which};
    return journal_transact(j, STORE_DURABLE, journal_approval_delete_tx, &r, &r.changed);
}
