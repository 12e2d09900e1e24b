/* SPDX-License-Identifier: MIT
 * Backup of a state directory to one file, and its restoration. The file is an SQLite database: a
 * consistent copy of state.db, with a table of the other files of the directory. Whoever can read
 * it can read all conversations. */
#ifndef IO_STORE_BACKUP_H
#define IO_STORE_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/sys/err.h"

#define BACKUP_MAX_FILE ((int64_t)256 << 20) /* limit of one file beside state.db */
#define BACKUP_MAX_FILES 100000

struct backup_result {
    int64_t files;   /* number of files beside state.db */
    int64_t bytes;   /* size of the backup */
    int64_t made_ms; /* Unix milliseconds */
    char *aside;     /* restore: the directory that now has the previous state; or NULL. Owned. */
};

/* Writes the state of `dir` to `file`, mode 0600: to a temporary file beside it, which is checked
 * and then renamed. Replaces an existing backup; refuses any other existing file, and a path inside
 * of `dir`. A host may use the directory; it is neither stopped nor delayed. `schema` is that of
 * store.h. */
int backup_write(const char *dir, const char *file, const char *const *schema,
                 struct backup_result *r, struct tc_err *err) MUST_CHECK;

/* Checks the whole backup, then replaces the files of `dir`, which are moved to a subdirectory.
 * Changes nothing if the check fails or a host uses the directory. After an interruption,
 * store_open refuses the directory until a restore has been completed. */
int backup_restore(const char *file, const char *dir, const char *const *schema,
                   struct backup_result *r, struct tc_err *err) MUST_CHECK;

/* False and err: a restore of that directory was interrupted. */
bool backup_is_complete(const char *dir, struct tc_err *err);

#endif
