/* SPDX-License-Identifier: MIT
 * Owns the table kv, but for the pauses of the outbox in it. */
#include "base/log.h"
#include "io/journal_impl.h"

struct pair {
    const char *key;
    struct str value;
    bool changed;
};

static int put(struct sql *db, void *ctx)
{
    struct pair *const p = ctx;
    const int rc = p->value.p ? sql_run(db,
                                        "insert into kv(key, value) values(?1,?2)"
                                        " on conflict do update set value=excluded.value",
                                        sql_text(p->key), sql_str(p->value))
                              : sql_run(db, "delete from kv where key=?1", sql_text(p->key));
    p->changed = sql_changes(db) > 0;
    return rc;
}

enum journal_status journal_kv_put(struct journal *j, const char *key, struct str value)
{
    if (!journal_key_fits(key) || value.len > JOURNAL_MAX_BODY)
        return JOURNAL_TOO_BIG;
    struct pair p = {.key = key, .value = value};
    return journal_transact(j, STORE_NORMAL, put, &p, &p.changed);
}

enum journal_status journal_kv_get(struct journal *j, const char *key, struct buf *value)
{
    struct sql *const db = store_sql(j->store);
    struct sql_rows rows = sql_select(db, "select value from kv where key=?1", sql_text(key));
    const bool found = sql_next(&rows);
    if (found) {
        const struct str text = sql_column_text(&rows, 0);
        buf_add(value, text.p, text.len);
    }
    if (sql_end(&rows) == 0)
        return found ? JOURNAL_DONE : JOURNAL_UNCHANGED;
    log_line(LOG_ERR, "store", "kv cannot be read: %s", sql_message(db));
    return JOURNAL_FAILED;
}
