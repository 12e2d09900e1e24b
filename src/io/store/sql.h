/* SPDX-License-Identifier: MIT
 * SQLite database through prepared statements: bound values only, statements cached by text. One
 * thread at a time. */
#ifndef IO_STORE_SQL_H
#define IO_STORE_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "base/sys/err.h"

/* How long an operation waits for other processes that lock the file, in milliseconds. */
#define SQL_BUSY_MS "5000"

struct sql;
struct sqlite3_stmt;

/* Class of the last error. */
enum sql_failure {
    SQL_NO_FAILURE,
    SQL_DISK_FULL, /* or a quota, or RLIMIT_FSIZE */
    SQL_DAMAGED,   /* not a database, or damaged */
    SQL_BROKEN,    /* anything else */
};

/* Class of an extended result code of SQLite. */
enum sql_failure sql_classify(int code);

/* A value to bind. */
struct sql_value {
    enum { SQL_NULL, SQL_INT, SQL_TEXT, SQL_BLOB } type;
    int64_t number;
    struct str text; /* borrowed for the call */
};

static inline struct sql_value sql_int(int64_t number)
{
    return (struct sql_value){.type = SQL_INT, .number = number};
}

static inline struct sql_value sql_str(struct str text)
{
    return (struct sql_value){.type = text.p ? SQL_TEXT : SQL_NULL, .text = text};
}

/* Any bytes; never null. */
static inline struct sql_value sql_blob(struct str bytes)
{
    return (struct sql_value){.type = SQL_BLOB, .text = bytes};
}

/* NULL binds null. */
static inline struct sql_value sql_text(const char *text)
{
    return sql_str((struct str){text, text ? strlen(text) : 0});
}

/* Opens or creates the file; refuses a symbolic link anywhere in the path. NULL with err; `failure`
 * gets the class. */
struct sql *sql_open(const char *path, enum sql_failure *failure, struct tc_err *err);
/* Checkpoints and closes. NULL is allowed. */
void sql_close(struct sql *db);

enum sql_failure sql_failure(const struct sql *db);
/* The text of the last error. */
const char *sql_error_text(const struct sql *db);

/* Runs a constant text of one or more statements without caching them: schema, pragmas. */
int sql_script(struct sql *db, const char *text) MUST_CHECK;

/* Runs one statement to its end: sql_run(db, "delete … where id=?1", sql_int(id)). */
#define sql_run(db, text, ...) sql_run_values(db, text, SQL_VALUES(__VA_ARGS__))
/* Reads the rows of a query: while (sql_next(&rows)) …; then sql_finish. The same text must not be
 * used by two queries at once. */
#define sql_select(db, text, ...) sql_select_values(db, text, SQL_VALUES(__VA_ARGS__))
/* The first column of the first row to *number, which is unchanged without a row. */
#define sql_select_int(db, text, number, ...)                                                      \
    sql_number_values(db, text, number, SQL_VALUES(__VA_ARGS__))

/* The first value is a placeholder, so that the list is never empty. */
#define SQL_VALUES(...)                                                                            \
    (const struct sql_value[]){{0}, __VA_ARGS__} + 1,                                              \
        sizeof((const struct sql_value[]){{0}, __VA_ARGS__}) / sizeof(struct sql_value) - 1

struct sql_rows {
    struct sql *db;
    struct sqlite3_stmt *statement; /* NULL: the statement could not be prepared */
    bool failed;
};

int sql_run_values(struct sql *db, const char *text, const struct sql_value *values,
                   size_t n) MUST_CHECK;
struct sql_rows sql_select_values(struct sql *db, const char *text, const struct sql_value *values,
                                  size_t n);
int sql_number_values(struct sql *db, const char *text, int64_t *number,
                      const struct sql_value *values, size_t n) MUST_CHECK;

bool sql_next(struct sql_rows *rows);
/* Columns of the row; text and bytes are valid until the next row; a text is NULL for null; empty
 * bytes are not NULL. */
int64_t sql_column_int(const struct sql_rows *rows, int column);
struct str sql_column_text(const struct sql_rows *rows, int column);
struct str sql_column_blob(const struct sql_rows *rows, int column);
/* 0 if all rows were read, -1 after an error. Ends the statement in both cases. */
int sql_finish(struct sql_rows *rows) MUST_CHECK;

/* Rows changed by the last insert, update or delete. */
int64_t sql_changes(const struct sql *db);
bool sql_in_transaction(const struct sql *db);
/* Whether SQLite can only read this file; known after the first statement. */
bool sql_is_read_only(const struct sql *db);
/* Version of the SQLite library. */
const char *sql_version(void);

#endif
