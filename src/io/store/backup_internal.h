/* SPDX-License-Identifier: MIT
 * Internal interface between writing and restoring backups. */
#ifndef IO_STORE_BACKUP_INTERNAL_H
#define IO_STORE_BACKUP_INTERNAL_H

#include "io/store/backup.h"
#include "io/store/sql.h"

#define BACKUP_INSTANCES "instances"      /* the directory of the instances' files */
#define BACKUP_VISIBILITY "visibility.db" /* the visibility of agents */

/* Opens a backup. NULL with err: not a backup, or unreadable. */
struct sql *backup_open(const char *file, struct tc_err *err);
/* SQLite's integrity check of the whole file. */
int backup_check_pages(struct sql *db, const char *file, struct tc_err *err) MUST_CHECK;
/* Copies a database to a new file, mode 0600. */
int backup_copy_database(struct sql *db, const char *to, struct tc_err *err) MUST_CHECK;
/* err_set with the reason of the last failure. -1. */
int backup_fail_sql(const struct sql *db, const char *file, const char *what, struct tc_err *err);

#endif
