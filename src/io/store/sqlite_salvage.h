/* SPDX-License-Identifier: MIT
 * Recovery of a damaged SQLite database: copies readable rows, table by table, to a new database.
 * Opens the damaged file for reading only. */
#ifndef IO_STORE_SQLITE_SALVAGE_H
#define IO_STORE_SQLITE_SALVAGE_H

#include <stdint.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "io/store/sql.h"

/* Creates the database `to`, which must be an empty file, and copies the readable rows of `from`.
 * `schema` is that of store.h. The new database has the newest schema version whose tables and
 * columns all exist in `from`; otherwise the version that `from` names; otherwise the newest.
 *
 * Appends to `report` for each table of which rows were kept or lost: "turn: 12 rows kept, 1 lost;
 * …". Returns the number of rows kept, or -1 with `failure` and err if `to` cannot be written.
 * Unreadable parts are no error. */
int64_t sqlite_salvage_copy(const char *from, const char *to, const char *const *schema,
                            struct buf *report, enum sql_failure *failure,
                            struct tc_err *err) MUST_CHECK;

#endif
