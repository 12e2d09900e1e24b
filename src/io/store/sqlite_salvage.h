/* SPDX-License-Identifier: MIT
 * Recovery of a damaged SQLite database: copies the rows that can still be read, table by table,
 * into a new database. The damaged file is opened for reading only. */
#ifndef IO_STORE_SQLITE_SALVAGE_H
#define IO_STORE_SQLITE_SALVAGE_H

#include <stdint.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "io/store/sql.h"

/* Makes the database `to`, which must be an empty file, and copies into it what can be read of
 * `from`. `schema` is that of store.h. The new database has the newest version of it of which
 * `from` has all tables and columns; if there is none, the version that `from` names; if that is
 * none, the newest.
 *
 * Appends to `report` for each table of which rows were kept or lost:
 * "turn: 12 rows kept, 1 lost; …". Returns the number of rows kept, or -1 with `failure` and err
 * when `to` cannot be written. What cannot be read is no error. */
int64_t sqlite_salvage_copy(const char *from, const char *to, const char *const *schema,
                            struct buf *report, enum sql_failure *failure,
                            struct tc_err *err) MUST_CHECK;

#endif
