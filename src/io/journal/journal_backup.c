/* SPDX-License-Identifier: MIT
 * Backup and restoration of a state directory whose state.db is a journal. */
#include "io/journal/journal_internal.h"
#include "io/store/backup.h"

int journal_backup(const char *dir, const char *file, struct backup_result *r, struct tc_err *err)
{
    return backup_write(dir, file, journal_schema, r, err);
}

int journal_restore(const char *file, const char *dir, struct backup_result *r, struct tc_err *err)
{
    return backup_restore(file, dir, journal_schema, r, err);
}
