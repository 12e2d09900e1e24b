/* SPDX-License-Identifier: MIT
 * Backup of a state directory in one file, and its restoration. The file is an SQLite database: a
 * consistent copy of state.db, with a table of the other files of the directory. Whoever can read
 * it can read all conversations. */
#ifndef IO_STORE_BACKUP_H
#define IO_STORE_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/sys/err.h"

#define BACKUP_MAX_FILE ((int64_t)256 << 20) /* bytes of one file beside state.db */
#define BACKUP_MAX_FILES 100000

struct backup_result {
    int64_t files;   /* beside state.db */
    int64_t bytes;   /* of the backup */
    int64_t made_ms; /* Unix milliseconds */
    char *aside;     /* restore: the directory that has the previous state now; or NULL. Owned. */
};

/* Writes the state of `dir` to `file`, mode 0600: into a temporary file beside it, which is checked
 * and then renamed. A backup of that name is replaced; any other file is refused, and so is a place
 * inside of `dir`. A host may use the directory; it is neither stopped nor delayed. `schema` is
 * that of store.h. */
int backup_write(const char *dir, const char *file, const char *const *schema,
                 struct backup_result *r, struct tc_err *err) MUST_CHECK;

/* Checks the whole backup, then puts its files in the place of those of `dir`, which are moved into
 * a directory below it. Nothing is changed when the check fails or a host uses the directory. When
 * it is interrupted, store_open refuses the directory until a restore has been completed. */
int backup_restore(const char *file, const char *dir, const char *const *schema,
                   struct backup_result *r, struct tc_err *err) MUST_CHECK;

/* False and err: a restore of that directory was interrupted. */
bool backup_is_complete(const char *dir, struct tc_err *err);

#endif
