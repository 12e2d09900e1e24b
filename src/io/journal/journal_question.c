/* SPDX-License-Identifier: MIT
 * Table question: requests of agents to people, and who decided them. */
#include "io/journal/journal_internal.h"

static int journal_question_put_tx(struct sql *db, void *ctx)
{
    const struct journal_question *const q = ctx;
    return sql_run(
        db,
        "insert into question(turn, id, agent, tool, shown, asked_at, decision, by,"
        " decided_at) values(?1,?2,?3,?4,?5,?6,?7,?8,case when ?7 is null then null else ?6 end)"
        " on conflict(turn, id) do update set"
        " decision=excluded.decision, by=excluded.by, decided_at=excluded.decided_at"
        " where decision is null",
        sql_text(q->turn), sql_text(q->id), sql_text(q->agent), sql_text(q->tool),
        sql_text(q->shown), sql_int(q->asked_at), sql_text(q->decision), sql_text(q->by));
}

enum journal_status journal_put_question(struct journal *j, const struct journal_question *q)
{
    const char *const texts[] = {q->turn, q->id, q->agent, q->tool, q->shown, q->decision, q->by};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!journal_is_key_valid(texts[i]))
            return JOURNAL_TOO_BIG;
    struct journal_question now = *q;
    now.asked_at = journal_now_ms(j);
    return journal_transact(j, STORE_NORMAL, journal_question_put_tx, &now, &(bool){true});
}

int journal_cancel_questions(struct sql *db, int64_t now)
{
    return sql_run(db,
                   "update question set decision='cancelled', by='host_restart', decided_at=?1"
                   " where decision is null",
                   sql_int(now));
}

enum journal_status
journal_list_questions(struct journal *j, void (*each)(void *ctx, const struct journal_question *q),
                       void *ctx)
{
    struct sql_rows rows = sql_select(store_get_sql(j->store),
                                      "select turn, id, agent, tool, shown, asked_at, decision, by,"
                                      " decided_at from question order by asked_at, turn, id");
    while (sql_next(&rows)) {
        const struct journal_question q = {
            .turn = sql_column_text(&rows, 0).p,
            .id = sql_column_text(&rows, 1).p,
            .agent = sql_column_text(&rows, 2).p,
            .tool = sql_column_text(&rows, 3).p,
            .shown = sql_column_text(&rows, 4).p,
            .asked_at = sql_column_int(&rows, 5),
            .decision = sql_column_text(&rows, 6).p,
            .by = sql_column_text(&rows, 7).p,
            .decided_at = sql_column_int(&rows, 8),
        };
        each(ctx, &q);
    }
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}
