/* SPDX-License-Identifier: MIT
 * SQLite connection, prepared statements and error classes. */
#include "io/store/sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"

#define MAX_STATEMENTS 96

struct sql_statement {
    const char *text; /* constant: its address is the key */
    sqlite3_stmt *prepared;
};

struct sql {
    sqlite3 *handle;
    struct sql_statement statements[MAX_STATEMENTS];
    size_t count;
    enum sql_failure failure;
    char message[256];
};

/* SQLite reports a write beyond RLIMIT_FSIZE or a quota as an I/O error without its errno. */
enum sql_failure sql_classify(int code)
{
    if (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE)
        return SQL_DISK_FULL;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return SQL_DISK_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return SQL_DAMAGED;
    default:
        return SQL_BROKEN;
    }
}

/* Stores the reason, and returns -1. */
static int sql_set_failure(struct sql *db)
{
    const int code = sqlite3_extended_errcode(db->handle);
    db->failure = sql_classify(code);
    snprintf(db->message, sizeof db->message, "%s (%d)", sqlite3_errmsg(db->handle), code);
    return -1;
}

struct sql *sql_open(const char *path, enum sql_failure *failure, struct tc_err *err)
{
    struct sql *const db = xcalloc(1, sizeof *db);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &db->handle, flags, NULL) != SQLITE_OK) {
        sql_set_failure(db);
        *failure = db->failure;
        err_set(err, path, "cannot open: %s", db->message);
        sql_close(db);
        return NULL;
    }
    sqlite3_busy_timeout(db->handle, atoi(SQL_BUSY_MS));
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return db;
}

void sql_close(struct sql *db)
{
    if (!db)
        return;
    for (size_t i = 0; i < db->count; i++)
        sqlite3_finalize(db->statements[i].prepared);
    sqlite3_close(db->handle);
    free(db);
}

enum sql_failure sql_failure(const struct sql *db)
{
    return db->failure;
}

const char *sql_error_text(const struct sql *db)
{
    return db->message;
}

int sql_script(struct sql *db, const char *text)
{
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK && *text) {
        sqlite3_stmt *statement = NULL;
        rc = sqlite3_prepare_v2(db->handle, text, -1, &statement, &text);
        while (rc == SQLITE_OK && statement && sqlite3_step(statement) == SQLITE_ROW) {
        }
        if (statement)
            rc = sqlite3_finalize(statement);
    }
    return rc == SQLITE_OK ? 0 : sql_set_failure(db);
}

/* The prepared statement of this text; prepares it once. */
static sqlite3_stmt *sql_prepare_once(struct sql *db, const char *text)
{
    for (size_t i = 0; i < db->count; i++)
        if (db->statements[i].text == text)
            return db->statements[i].prepared;
    ASSERT(db->count < MAX_STATEMENTS); /* each text is a constant */
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(db->handle, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK) {
        sql_set_failure(db);
        return NULL;
    }
    db->statements[db->count++] = (struct sql_statement){text, statement};
    return statement;
}

static int sql_bind_value(sqlite3_stmt *statement, int at, const struct sql_value *v)
{
    switch (v->type) {
    case SQL_INT:
        return sqlite3_bind_int64(statement, at, v->number);
    case SQL_TEXT:
        return sqlite3_bind_text64(statement, at, v->text.p, v->text.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case SQL_BLOB:
        return sqlite3_bind_blob64(statement, at, v->text.p ? v->text.p : "", v->text.len,
                                   SQLITE_STATIC);
    case SQL_NULL:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

struct sql_rows sql_select_values(struct sql *db, const char *text, const struct sql_value *values,
                                  size_t n)
{
    struct sql_rows rows = {.db = db, .statement = sql_prepare_once(db, text)};
    rows.failed = !rows.statement;
    ASSERT(rows.failed || n == (size_t)sqlite3_bind_parameter_count(rows.statement));
    for (size_t i = 0; !rows.failed && i < n; i++)
        if (sql_bind_value(rows.statement, (int)i + 1, &values[i]) != SQLITE_OK)
            rows.failed = sql_set_failure(db) < 0;
    return rows;
}

bool sql_next(struct sql_rows *rows)
{
    if (rows->failed)
        return false;
    ASSERT(rows->statement);
    const int rc = sqlite3_step(rows->statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        rows->failed = sql_set_failure(rows->db) < 0;
    return rc == SQLITE_ROW;
}

int64_t sql_column_int(const struct sql_rows *rows, int column)
{
    ASSERT(column < sqlite3_column_count(rows->statement));
    return sqlite3_column_int64(rows->statement, column);
}

struct str sql_column_text(const struct sql_rows *rows, int column)
{
    ASSERT(column < sqlite3_column_count(rows->statement));
    const char *const p = (const char *)sqlite3_column_text(rows->statement, column);
    return (struct str){p, (size_t)sqlite3_column_bytes(rows->statement, column)};
}

struct str sql_column_blob(const struct sql_rows *rows, int column)
{
    ASSERT(column < sqlite3_column_count(rows->statement));
    const char *const p = sqlite3_column_blob(rows->statement, column);
    return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(rows->statement, column)};
}

int sql_finish(struct sql_rows *rows)
{
    if (rows->statement) {
        sqlite3_reset(rows->statement);
        sqlite3_clear_bindings(rows->statement);
    }
    if (rows->failed)
        return -1;
    rows->db->failure = SQL_NO_FAILURE;
    return 0;
}

int sql_run_values(struct sql *db, const char *text, const struct sql_value *values, size_t n)
{
    struct sql_rows rows = sql_select_values(db, text, values, n);
    while (sql_next(&rows)) {
    }
    return sql_finish(&rows);
}

int sql_number_values(struct sql *db, const char *text, int64_t *number,
                      const struct sql_value *values, size_t n)
{
    struct sql_rows rows = sql_select_values(db, text, values, n);
    if (sql_next(&rows))
        *number = sql_column_int(&rows, 0);
    return sql_finish(&rows);
}

int64_t sql_changes(const struct sql *db)
{
    return sqlite3_changes64(db->handle);
}

bool sql_in_transaction(const struct sql *db)
{
    return !sqlite3_get_autocommit(db->handle);
}

bool sql_is_read_only(const struct sql *db)
{
    return sqlite3_db_readonly(db->handle, "main") == 1;
}

const char *sql_version(void)
{
    return sqlite3_libversion();
}
