/* SPDX-License-Identifier: MIT
 * Row-wise recovery. A table is read in the order of its key. If a page is unreadable, the next
 * rowid behind the gap is searched by doubling steps and bisection, so that a damaged leaf page
 * loses only its own rows. Every damaged table is also read backwards, which reaches rows behind a
 * gap that the search could not cross. */
#include "io/store/sqlite_salvage.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "base/plural.h"

#define MAX_COLUMNS 64

struct salvage {
    sqlite3 *from, *to;
    struct buf *report;
    int64_t kept; /* rows of all tables */
};

struct salvage_table {
    struct salvage *all;
    const char *name;
    struct buf columns; /* `"id", "agent"`: the columns of both databases */
    int n_columns;
    uint64_t keys; /* bit i: column i is part of the primary key */
    bool has_rowid;
    struct buf ascending, descending; /* "order by" of its key */
    sqlite3_stmt *insert;
    bool has_gaps; /* some of it is unreadable */
    int64_t kept;
    int64_t refused; /* rows that violate a constraint of the table */
};

/* ---- generated statements ---- */

static sqlite3_stmt *prepare_text(sqlite3 *db, const struct buf *text)
{
    sqlite3_stmt *statement = NULL;
    return sqlite3_prepare_v2(db, text->p, (int)text->len, &statement, NULL) == SQLITE_OK
               ? statement
               : NULL;
}

static sqlite3_stmt *prepare_format(sqlite3 *db, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));

static sqlite3_stmt *prepare_format(sqlite3 *db, const char *fmt, ...)
{
    CLEANUP_BUF struct buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return prepare_text(db, &text);
}

static int run_script(sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

/* The first column of the first row; -1 without a row. */
static int64_t sqlite_salvage_read_number(sqlite3_stmt *statement)
{
    int64_t n = -1;
    if (statement && sqlite3_step(statement) == SQLITE_ROW)
        n = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return n;
}

/* ---- the version of the schema ---- */

#define COLUMNS_OF_ALL_TABLES                                                                      \
    "select m.name, c.name from sqlite_schema m join pragma_table_info(m.name) c"                  \
    " where m.type='table' and m.name not like 'sqlite_%%'"

static bool has_column(sqlite3 *db, const char *table, const char *column)
{
    sqlite3_stmt *const statement =
        prepare_format(db, "select count(*) from pragma_table_info(?1) where name=?2");
    if (statement) {
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
    }
    return sqlite_salvage_read_number(statement) == 1;
}

static const char *sqlite_salvage_text_of(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

static bool has_all_columns(sqlite3 *db, sqlite3 *wanted)
{
    sqlite3_stmt *const statement = prepare_format(wanted, COLUMNS_OF_ALL_TABLES);
    bool all = statement != NULL;
    while (all && sqlite3_step(statement) == SQLITE_ROW)
        all = has_column(db, sqlite_salvage_text_of(statement, 0),
                         sqlite_salvage_text_of(statement, 1));
    sqlite3_finalize(statement);
    return all;
}

static int make_tables(sqlite3 *db, const char *const *schema, int64_t version)
{
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < version; i++)
        rc = run_script(db, schema[i]);
    return rc;
}

static bool has_tables_of(sqlite3 *db, const char *const *schema, int64_t version)
{
    sqlite3 *wanted = NULL;
    const bool has = sqlite3_open(":memory:", &wanted) == SQLITE_OK &&
                     make_tables(wanted, schema, version) == 0 && has_all_columns(db, wanted);
    sqlite3_close(wanted);
    return has;
}

static int64_t choose_version(sqlite3 *db, const char *const *schema)
{
    int64_t newest = 0;
    while (schema[newest])
        newest++;
    for (int64_t version = newest; version > 0; version--)
        if (has_tables_of(db, schema, version))
            return version;
    const int64_t named = sqlite_salvage_read_number(prepare_format(db, "pragma user_version"));
    return named > 0 && named <= newest ? named : newest;
}

/* ---- one row ---- */

/* No valid key is null or has a NUL byte; no statement would find such a row again. Column 0 of the
 * row is the rowid. */
static bool has_bad_key(const struct salvage_table *t, sqlite3_stmt *row)
{
    for (int i = 0; i < t->n_columns; i++) {
        const int type = sqlite3_column_type(row, i + 1);
        if (!(t->keys >> i & 1) || type == SQLITE_INTEGER)
            continue;
        if (type != SQLITE_TEXT ||
            strlen(sqlite_salvage_text_of(row, i + 1)) != (size_t)sqlite3_column_bytes(row, i + 1))
            return true;
    }
    return false;
}

/* SQLITE_OK also if the row violates a constraint. */
static int copy_row(struct salvage_table *t, sqlite3_stmt *row)
{
    if (has_bad_key(t, row)) {
        t->refused++;
        return SQLITE_OK;
    }
    for (int i = 0; i <= t->n_columns; i++)
        sqlite3_bind_value(t->insert, i + 1, sqlite3_column_value(row, i));
    const int stepped = sqlite3_step(t->insert);
    const bool refused = (stepped & 0xff) == SQLITE_CONSTRAINT;
    if (stepped == SQLITE_DONE)
        t->kept += sqlite3_changes64(t->all->to);
    t->refused += refused;
    sqlite3_reset(t->insert);
    return stepped == SQLITE_DONE || refused ? SQLITE_OK : stepped;
}

/* Result of a scan of the damaged table. */
enum salvage_scan {
    SCAN_COMPLETE,
    SCAN_UNREADABLE, /* at an unreadable page */
    SCAN_FAILED,     /* the new database cannot be written */
};

/* Copies the rows of a bound statement. *next becomes the rowid behind the last read row. */
static enum salvage_scan copy_rows(struct salvage_table *t, sqlite3_stmt *rows, int64_t *next)
{
    int stepped;
    while ((stepped = sqlite3_step(rows)) == SQLITE_ROW) {
        const int64_t rowid = sqlite3_column_int64(rows, 0);
        if (copy_row(t, rows) != SQLITE_OK)
            return SCAN_FAILED;
        if (next && rowid >= *next && rowid < INT64_MAX)
            *next = rowid + 1;
    }
    sqlite3_reset(rows);
    return stepped == SQLITE_DONE ? SCAN_COMPLETE : SCAN_UNREADABLE;
}

/* ---- a table with rowids ---- */

static bool is_readable_from(sqlite3_stmt *rows, int64_t rowid)
{
    sqlite3_bind_int64(rows, 1, rowid);
    const int stepped = sqlite3_step(rows);
    sqlite3_reset(rows);
    return stepped == SQLITE_ROW || stepped == SQLITE_DONE;
}

/* The least rowid above `from` from which rows can be read; false: none. */
static bool sqlite_salvage_find_next_readable(sqlite3_stmt *rows, int64_t from, int64_t *rowid)
{
    int64_t low = from, high = from;
    for (int64_t step = 1;; step *= 2) {
        if (step > (INT64_MAX - from) / 4)
            return false;
        high = from + step;
        if (is_readable_from(rows, high))
            break;
        low = high;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (is_readable_from(rows, middle))
            high = middle;
        else
            low = middle;
    }
    *rowid = high;
    return true;
}

static enum salvage_scan copy_by_rowid(struct salvage_table *t)
{
    sqlite3_stmt *const rows =
        prepare_format(t->all->from,
                       "select rowid, %s from main.\"%s\" not indexed where rowid>=?1"
                       " order by rowid",
                       t->columns.p, t->name);
    enum salvage_scan end = rows ? SCAN_COMPLETE : SCAN_UNREADABLE;
    bool more = rows != NULL;
    for (int64_t next = 1; more;) {
        sqlite3_bind_int64(rows, 1, next);
        end = copy_rows(t, rows, &next);
        t->has_gaps |= end != SCAN_COMPLETE;
        more = end == SCAN_UNREADABLE && sqlite_salvage_find_next_readable(rows, next, &next);
    }
    sqlite3_finalize(rows);
    return end;
}

/* ---- all tables ---- */

static enum salvage_scan sqlite_salvage_copy_in_order(struct salvage_table *t,
                                                      const struct buf *order)
{
    sqlite3_stmt *const rows =
        prepare_format(t->all->from, "select %s, %s from main.\"%s\" %s order by %s",
                       t->has_rowid ? "rowid" : "null", t->columns.p, t->name,
                       t->has_rowid ? "not indexed" : "", order->p);
    const enum salvage_scan end = rows ? copy_rows(t, rows, NULL) : SCAN_UNREADABLE;
    t->has_gaps |= end != SCAN_COMPLETE;
    sqlite3_finalize(rows);
    return end;
}

static int copy_all_rows(struct salvage_table *t)
{
    const enum salvage_scan forward =
        t->has_rowid ? copy_by_rowid(t) : sqlite_salvage_copy_in_order(t, &t->ascending);
    if (forward == SCAN_FAILED)
        return -1;
    return t->has_gaps && sqlite_salvage_copy_in_order(t, &t->descending) == SCAN_FAILED ? -1 : 0;
}

/* Row count of an index of the damaged table; -1: no readable index. A partial index does not have
 * all rows. */
static int64_t sqlite_salvage_count_by_index(const struct salvage_table *t)
{
    int64_t most = -1;
    sqlite3_stmt *const indices = prepare_format(
        t->all->from, "select name from pragma_index_list('%s') where not partial", t->name);
    while (indices && sqlite3_step(indices) == SQLITE_ROW) {
        const int64_t n = sqlite_salvage_read_number(
            prepare_format(t->all->from, "select count(*) from main.\"%s\" indexed by \"%s\"",
                           t->name, sqlite_salvage_text_of(indices, 0)));
        most = n > most ? n : most;
    }
    sqlite3_finalize(indices);
    return most;
}

static void report_table(const struct salvage_table *t)
{
    const int64_t counted = t->has_gaps ? sqlite_salvage_count_by_index(t) : t->kept + t->refused;
    const int64_t lost = counted > t->kept ? counted - t->kept : 0;
    if (!t->kept && !lost && !t->has_gaps)
        return;
    struct buf *const out = t->all->report;
    buf_printf(out, "%s%s: %" PRId64 " row%s kept", out->len ? "; " : "", t->name, t->kept,
               PLURAL(t->kept, "", "s"));
    if (counted < t->kept)
        buf_add_str(out, ", an unknown number lost");
    else if (lost)
        buf_printf(out, ", %" PRId64 " lost", lost);
}

/* ---- description of a table ---- */

static void sqlite_salvage_add_name(struct buf *list, const char *name, const char *more)
{
    buf_printf(list, "%s\"%s\"%s", list->len ? ", " : "", name, more);
}

static void list_columns(struct salvage_table *t)
{
    sqlite3_stmt *const columns =
        prepare_format(t->all->to, "select name, pk>0 from pragma_table_info('%s')", t->name);
    while (t->n_columns < MAX_COLUMNS && columns && sqlite3_step(columns) == SQLITE_ROW) {
        const char *const name = sqlite_salvage_text_of(columns, 0);
        if (!has_column(t->all->from, t->name, name))
            continue;
        sqlite_salvage_add_name(&t->columns, name, "");
        t->keys |= (uint64_t)sqlite3_column_int(columns, 1) << t->n_columns++;
    }
    sqlite3_finalize(columns);
}

static void list_key(struct salvage_table *t)
{
    sqlite3_stmt *const keys = prepare_format(
        t->all->to, "select name from pragma_table_info('%s') where pk>0 order by pk", t->name);
    while (!t->has_rowid && keys && sqlite3_step(keys) == SQLITE_ROW) {
        sqlite_salvage_add_name(&t->ascending, sqlite_salvage_text_of(keys, 0), "");
        sqlite_salvage_add_name(&t->descending, sqlite_salvage_text_of(keys, 0), " desc");
    }
    sqlite3_finalize(keys);
    if (t->has_rowid) {
        buf_add_str(&t->ascending, "rowid");
        buf_add_str(&t->descending, "rowid desc");
    }
}

/* A table without rowid does not have this column. */
static bool sqlite_salvage_has_rowid(const struct salvage_table *t)
{
    sqlite3_stmt *const statement =
        prepare_format(t->all->to, "select rowid from main.\"%s\"", t->name);
    sqlite3_finalize(statement);
    return statement != NULL;
}

/* Whether the primary key is the rowid: "id integer primary key". */
static bool has_rowid_column(const struct salvage_table *t)
{
    return sqlite_salvage_read_number(
               prepare_format(t->all->to,
                              "select count(*)=1 and max(lower(type)='integer')"
                              " from pragma_table_info('%s') where pk>0",
                              t->name)) == 1;
}

/* A row keeps its rowid, which defines the order. Parameter 1 is the rowid. */
static sqlite3_stmt *prepare_insert(const struct salvage_table *t)
{
    const bool names_rowid = t->has_rowid && !has_rowid_column(t);
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "insert or ignore into main.\"%s\"(%s%s) values(%s?2", t->name,
               names_rowid ? "rowid, " : "", t->columns.p, names_rowid ? "?1, " : "");
    for (int i = 1; i < t->n_columns; i++)
        buf_printf(&text, ",?%d", i + 2);
    buf_add_char(&text, ')');
    return prepare_text(t->all->to, &text);
}

static int copy_table(struct salvage *s, const char *name)
{
    struct salvage_table t = {.all = s, .name = name};
    int rc = 0;
    list_columns(&t);
    t.has_rowid = sqlite_salvage_has_rowid(&t);
    list_key(&t);
    t.has_gaps = !t.n_columns; /* its declaration is damaged */
    t.insert = t.n_columns ? prepare_insert(&t) : NULL;
    if (t.insert)
        rc = copy_all_rows(&t);
    report_table(&t);
    s->kept += t.kept;
    sqlite3_finalize(t.insert);
    buf_fini(&t.columns);
    buf_fini(&t.ascending);
    buf_fini(&t.descending);
    return rc;
}

/* ---- the whole database ---- */

/* Keeps the counter, because a number must not be reused, even if its row is lost. */
static int copy_sequences(struct salvage *s)
{
    sqlite3_stmt *const old =
        prepare_format(s->from, "select name, seq from main.sqlite_sequence where seq>0");
    int rc = 0;
    while (rc == 0 && old && sqlite3_step(old) == SQLITE_ROW) {
        sqlite3_stmt *const raise = prepare_format(
            s->to, "update main.sqlite_sequence set seq=%lld where name=?1 and seq<%lld",
            sqlite3_column_int64(old, 1), sqlite3_column_int64(old, 1));
        if (raise)
            sqlite3_bind_value(raise, 1, sqlite3_column_value(old, 0));
        rc = raise && sqlite3_step(raise) == SQLITE_DONE ? 0 : -1;
        sqlite3_finalize(raise);
    }
    sqlite3_finalize(old);
    return rc;
}

static int copy_tables(struct salvage *s)
{
    sqlite3_stmt *const names =
        prepare_format(s->to, "select name from sqlite_schema where type='table' and"
                              " name not like 'sqlite_%%' order by rowid");
    int rc = names ? 0 : -1;
    while (rc == 0 && sqlite3_step(names) == SQLITE_ROW)
        rc = copy_table(s, sqlite_salvage_text_of(names, 0));
    sqlite3_finalize(names);
    return rc;
}

/* An unreadable declaration loses only its own table. */
static int sqlite_salvage_open_damaged(struct salvage *s, const char *path)
{
    const int flags =
        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &s->from, flags, NULL) != SQLITE_OK)
        return -1;
    sqlite3_db_config(s->from, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return run_script(s->from, "pragma writable_schema=on; pragma cell_size_check=on;");
}

static int sqlite_salvage_fill(struct salvage *s, const char *path, const char *const *schema)
{
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &s->to, flags, NULL) != SQLITE_OK ||
        run_script(s->to, "pragma synchronous=full; begin") < 0 ||
        make_tables(s->to, schema, choose_version(s->from, schema)) < 0 || copy_tables(s) < 0 ||
        copy_sequences(s) < 0)
        return -1;
    return run_script(s->to, "commit");
}

int64_t sqlite_salvage_copy(const char *from, const char *to, const char *const *schema,
                            struct buf *report, enum sql_failure *failure, struct tc_err *err)
{
    struct salvage s = {.report = report};
    const bool readable = sqlite_salvage_open_damaged(&s, from) == 0;
    const int rc = readable ? sqlite_salvage_fill(&s, to, schema) : 0;
    if (rc < 0) {
        const int code = sqlite3_extended_errcode(s.to);
        *failure = sql_classify(code);
        err_set(err, from, "is damaged; cannot copy its rows to %s: %s (%d)", to,
                sqlite3_errmsg(s.to), code);
    }
    sqlite3_close(s.to);
    sqlite3_close(s.from);
    return rc < 0 ? -1 : s.kept;
}
