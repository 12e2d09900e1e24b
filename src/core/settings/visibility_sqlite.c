/* SPDX-License-Identifier: MIT
 * Reads and writes visibility.db. Opens it for each call, which takes less than a millisecond, so
 * that no thread or process has to own a connection. */
#include "core/settings/visibility_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/dir.h"
#include "io/store/sql.h"

#define SCHEMA 1

static char *path_of(const char *dir)
{
    return xasprintf("%s/visibility.db", dir);
}

static int visibility_sqlite_fail(const struct sql *db, const char *path, const char *what,
                                  struct tc_err *err)
{
    return err_set(err, path, "%s%s: %s", sql_failure(db) == SQL_DAMAGED ? "damaged: " : "", what,
                   sql_error_text(db));
}

/* Schema version; -1 with err. */
static int64_t visibility_sqlite_read_version(struct sql *db, const char *path, struct tc_err *err)
{
    int64_t version = 0;
    if (sql_select_int(db, "pragma user_version", &version) < 0)
        return visibility_sqlite_fail(db, path, "cannot read", err);
    if (version > SCHEMA)
        return err_set(err, path, "schema %lld is newer than the supported schema %d",
                       (long long)version, SCHEMA);
    return version;
}

/* Database of that path, if there is something in it; else NULL. -1 with err: nor can it be told.
 */
static int open_for_reading(const char *path, struct sql **db, struct tc_err *err)
{
    enum sql_failure failure;
    *db = NULL;
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    *db = sql_open(path, &failure, err);
    const int64_t version = *db ? visibility_sqlite_read_version(*db, path, err) : -1;
    if (version > 0)
        return 0;
    sql_close(*db);
    *db = NULL;
    return version < 0 ? -1 : 0;
}

static void visibility_sqlite_read_row(const struct sql_rows *rows, struct visibility_row *row)
{
    for (int i = 0; i < VISIBILITY_KEYS; i++)
        *visibility_switch_at(&row->shown, (size_t)i) =
            sql_column_int(rows, i) ? SHOW_ON : SHOW_OFF;
    row->saved_ms = sql_column_int(rows, VISIBILITY_KEYS);
    row->unsaved = sql_column_int(rows, VISIBILITY_KEYS + 1);
}

int visibility_sqlite_read(const char *dir, const char *agent, struct visibility_row *row,
                           struct tc_err *err)
{
    CLEANUP_FREE char *path = path_of(dir);
    struct sql *db;
    const int opened = open_for_reading(path, &db, err);
    if (!db)
        return opened;
    struct sql_rows rows = sql_select(
        db,
        "select show_thinking, show_tools, show_text, show_narration, show_final, saved_ms, unsaved"
        " from visibility where agent=?1",
        sql_text(agent));
    int found = sql_next(&rows);
    if (found)
        visibility_sqlite_read_row(&rows, row);
    if (sql_finish(&rows) < 0)
        found = visibility_sqlite_fail(db, path, "cannot read", err);
    sql_close(db);
    return found;
}

static int make_table(struct sql *db, const char *path, struct tc_err *err)
{
    const int64_t version = visibility_sqlite_read_version(db, path, err);
    if (version)
        return version < 0 ? -1 : 0;
    static const char table[] =
        "create table visibility("
        " agent text primary key, show_thinking int not null, show_tools int not null,"
        " show_text int not null, show_narration int not null, show_final int not null,"
        " saved_ms int not null, unsaved int not null) strict, without rowid;"
        "pragma user_version=1";
    return sql_script(db, table) < 0
               ? visibility_sqlite_fail(db, path, "cannot create the table", err)
               : 0;
}

static int put_row(struct sql *db, const char *agent, const struct visibility_row *row)
{
    const struct visibility *const v = &row->shown;
    return sql_run(db, "insert or replace into visibility values(?1,?2,?3,?4,?5,?6,?7,?8)",
                   sql_text(agent), sql_int(v->thinking), sql_int(v->tools), sql_int(v->text),
                   sql_int(v->narration), sql_int(v->final), sql_int(row->saved_ms),
                   sql_int(row->unsaved));
}

static int write_row(struct sql *db, const char *path, const char *agent,
                     const struct visibility_row *row, struct tc_err *err)
{
    if (sql_run(db, "begin immediate") < 0)
        return visibility_sqlite_fail(db, path, "cannot write", err);
    if (make_table(db, path, err) < 0)
        return -1;
    if (put_row(db, agent, row) < 0 || sql_run(db, "commit") < 0)
        return visibility_sqlite_fail(db, path, "cannot write", err);
    return 0;
}

/* SQLite would create it readable for others. */
static int make_file(const char *path, struct tc_err *err)
{
    CLEANUP_FD int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    return fd < 0 ? err_set_errno(err, errno, path, "cannot open") : 0;
}

/* Closing rolls back an uncommitted transaction. */
static int try_write(const char *path, const char *agent, const struct visibility_row *row,
                     enum sql_failure *failure, struct tc_err *err)
{
    *failure = SQL_NO_FAILURE;
    if (make_file(path, err) < 0)
        return -1;
    struct sql *const db = sql_open(path, failure, err);
    if (!db)
        return -1;
    const int rc = write_row(db, path, agent, row, err);
    *failure = sql_failure(db);
    sql_close(db);
    return rc;
}

int visibility_sqlite_write(const char *dir, const char *agent, const struct visibility_row *row,
                            struct tc_err *err)
{
    enum sql_failure failure;
    CLEANUP_FREE char *path = path_of(dir);
    if (dir_create_all(dir, err) < 0)
        return -1;
    if (try_write(path, agent, row, &failure, err) == 0)
        return 0;
    if (failure != SQL_DAMAGED)
        return -1;
    CLEANUP_FREE char *kept = xasprintf("%s.damaged", path);
    if (rename(path, kept) < 0)
        return err_set_errno(err, errno, path, "damaged; cannot rename it to %s", kept);
    return try_write(path, agent, row, &failure, err);
}

int visibility_sqlite_each_unsaved(const char *dir, void (*each)(void *ctx, const char *agent),
                                   void *ctx, struct tc_err *err)
{
    CLEANUP_FREE char *path = path_of(dir);
    struct sql *db;
    const int opened = open_for_reading(path, &db, err);
    if (!db)
        return opened;
    struct sql_rows rows = sql_select(db, "select agent from visibility where unsaved");
    while (sql_next(&rows))
        each(ctx, sql_column_text(&rows, 0).p);
    const int rc = sql_finish(&rows) < 0 ? visibility_sqlite_fail(db, path, "cannot read", err) : 0;
    sql_close(db);
    return rc;
}
