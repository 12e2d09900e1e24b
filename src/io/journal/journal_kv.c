/* SPDX-License-Identifier: MIT
 * Tables kv and memory: key-value pairs of the host, memories of connectors. */
#include "base/sys/clock.h"
#include "io/journal/journal_internal.h"

struct journal_kv_pair {
    const char *conn; /* for the table memory */
    const char *key;  /* key or turn */
    struct str value; /* p NULL deletes */
    bool changed;
};

static int journal_kv_put_tx(struct sql *db, void *ctx)
{
    struct journal_kv_pair *const p = ctx;
    const int rc = p->value.p ? sql_run(db,
                                        "insert into kv(key, value, at) values(?1,?2,?3)"
                                        " on conflict do update set value=excluded.value,"
                                        " at=excluded.at",
                                        sql_text(p->key), sql_str(p->value),
                                        sql_int((int64_t)(clock_wall_s() * 1000)))
                              : sql_run(db, "delete from kv where key=?1", sql_text(p->key));
    p->changed = sql_changes(db) > 0;
    return rc;
}

enum journal_status journal_kv_put(struct journal *j, const char *key, struct str value)
{
    if (!journal_is_key_valid(key) || value.len > JOURNAL_MAX_VALUE)
        return JOURNAL_TOO_BIG;
    struct journal_kv_pair p = {.key = key, .value = value};
    return journal_transact(j, STORE_NORMAL, journal_kv_put_tx, &p, &p.changed);
}

/* Appends the first column of the first row. */
static enum journal_status journal_kv_read_text(struct journal *j, struct sql_rows rows,
                                                struct buf *text)
{
    const bool found = sql_next(&rows);
    if (found) {
        const struct str s = sql_column_text(&rows, 0);
        buf_add(text, s.p, s.len);
    }
    return journal_finish_read(j, &rows, found ? JOURNAL_DONE : JOURNAL_NO_CHANGE);
}

enum journal_status journal_kv_get(struct journal *j, const char *key, struct buf *value)
{
    return journal_kv_read_text(
        j, sql_select(store_get_sql(j->store), "select value from kv where key=?1", sql_text(key)),
        value);
}

enum journal_status journal_kv_each(struct journal *j, const char *prefix,
                                    void (*each)(void *ctx, const char *key, const char *value),
                                    void *ctx)
{
    struct sql_rows rows =
        sql_select(store_get_sql(j->store),
                   "select key, value from kv where substr(key, 1, length(?1)) = ?1 order by key",
                   sql_text(prefix));
    while (sql_next(&rows))
        each(ctx, sql_column_text(&rows, 0).p, sql_column_text(&rows, 1).p);
    return journal_finish_read(j, &rows, JOURNAL_DONE);
}

static int journal_kv_memory_put_tx(struct sql *db, void *ctx)
{
    struct journal_kv_pair *const p = ctx;
    const int rc = p->value.p ? sql_run(db,
                                        "insert into memory(conn, turn, text) values(?1,?2,?3)"
                                        " on conflict do update set text=excluded.text",
                                        sql_text(p->conn), sql_text(p->key), sql_str(p->value))
                              : sql_run(db, "delete from memory where conn=?1 and turn=?2",
                                        sql_text(p->conn), sql_text(p->key));
    p->changed = sql_changes(db) > 0;
    return rc;
}

enum journal_status journal_memory_put(struct journal *j, const char *conn, const char *turn,
                                       const char *text)
{
    const struct str value = {text, text ? strlen(text) : 0};
    if (!journal_is_key_valid(conn) || !journal_is_key_valid(turn) ||
        value.len > JOURNAL_MAX_MEMORY)
        return JOURNAL_TOO_BIG;
    struct journal_kv_pair p = {.conn = conn, .key = turn, .value = value};
    return journal_transact(j, STORE_NORMAL, journal_kv_memory_put_tx, &p, &p.changed);
}

enum journal_status journal_memory_get(struct journal *j, const char *conn, const char *turn,
                                       struct buf *text)
{
    return journal_kv_read_text(j,
                                sql_select(store_get_sql(j->store),
                                           "select text from memory where conn=?1 and turn=?2",
                                           sql_text(conn), sql_text(turn)),
                                text);
}
