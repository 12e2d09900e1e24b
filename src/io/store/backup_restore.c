/* SPDX-License-Identifier: MIT
 * Restores a backup: writes and checks all files beside the current state before it moves the first
 * file of that. */
#include "io/store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/dir.h"
#include "base/sys/file_trust.h"
#include "io/store/backup_internal.h"
#include "io/store/store.h"
#include "io/store/store_dir.h"

#define NEW "restore.tmp"   /* directory for the backup's files while they are written */
#define MARK "restore.mark" /* exists while files are moved */
/* Prefix of the directory with the previous state; a time follows. */
#define ASIDE "before-restore."

/* The files of a state. */
static const char *const parts[] = {
    "state.db",          "state.db-wal",      "state.db-shm",          BACKUP_VISIBILITY,
    "visibility.db-wal", "visibility.db-shm", "visibility.db-journal", BACKUP_INSTANCES};

struct restoring {
    struct sql *db;
    const char *file, *dir; /* the backup; the state */
    char *fresh, *mark;     /* paths below dir */
    struct backup_result *result;
    struct tc_err *err;
};

bool backup_is_complete(const char *dir, struct tc_err *err)
{
    CLEANUP_FREE char *mark = xasprintf("%s/" MARK, dir);
    if (access(mark, F_OK) < 0)
        return true;
    err_set(err, dir, "a restore was interrupted; run: turncast restore FILE");
    return false;
}

/* ---- the files of the backup ---- */

/* A backup may have been modified by others: writes only inside of the new directory. */
static bool restore_is_path_safe(const char *path)
{
    const size_t prefix = strlen(BACKUP_INSTANCES);
    if (strcmp(path, BACKUP_VISIBILITY) == 0 || strcmp(path, BACKUP_INSTANCES) == 0)
        return true;
    if (strncmp(path, BACKUP_INSTANCES "/", prefix + 1) != 0)
        return false;
    for (const char *p = path + prefix; *p;) {
        p++; /* the slash */
        const size_t len = strcspn(p, "/");
        if (len == 0 || (len == 1 && p[0] == '.') || (len == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += len;
    }
    return true;
}

static int restore_write_file(const struct restoring *r, const char *to, struct str body,
                              mode_t mode)
{
    CLEANUP_FD const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(r->err, errno, to, "cannot create");
    for (size_t done = 0; done < body.len;) {
        const ssize_t n = write(fd, body.p + done, body.len - done);
        if (n < 0 && errno != EINTR)
            return err_set_errno(r->err, errno, to, "cannot write");
        done += n > 0 ? (size_t)n : 0;
    }
    return fchmod(fd, mode & 0777) == 0 ? 0 : err_set_errno(r->err, errno, to, "cannot write");
}

static int restore_write_row(const struct restoring *r, const struct sql_rows *rows)
{
    const struct str path = sql_column_text(rows, 0);
    const mode_t mode = (mode_t)sql_column_int(rows, 1) & 0777;
    if (!path.p || strlen(path.p) != path.len || !restore_is_path_safe(path.p))
        return err_set(r->err, r->file, "is damaged: it has an invalid file name");
    CLEANUP_FREE char *to = xasprintf("%s/%s", r->fresh, path.p);
    r->result->files++;
    if (!sql_column_int(rows, 3))
        return restore_write_file(r, to, sql_column_blob(rows, 2), mode);
    return mkdir(to, mode | 0700) == 0 ? 0 : err_set_errno(r->err, errno, to, "cannot create");
}

static int restore_write_files(const struct restoring *r)
{
    int rc = 0;
    struct sql_rows rows =
        sql_select(r->db, "select path, mode, body, body is null from backup_file order by path");
    while (rc == 0 && sql_next(&rows))
        rc = restore_write_row(r, &rows);
    if (sql_finish(&rows) < 0)
        return rc < 0 ? -1 : backup_fail_sql(r->db, r->file, "cannot read", r->err);
    return rc;
}

/* Prepares the copied state.db for use by a host. */
static int restore_clean_database(const struct restoring *r, const char *file)
{
    enum sql_failure failure;
    struct sql *const db = sql_open(file, &failure, r->err);
    if (!db)
        return -1;
    int rc = sql_script(db, "pragma journal_mode=off; pragma synchronous=off;"
                            "drop table backup_file; drop table backup_info;"
                            "pragma application_id=0; vacuum;");
    if (rc < 0)
        backup_fail_sql(db, file, "cannot write", r->err);
    sql_close(db);
    return rc;
}

static int restore_write_database(const struct restoring *r, const char *const *schema)
{
    CLEANUP_FREE char *file = xasprintf("%s/state.db", r->fresh);
    return backup_copy_database(r->db, file, r->err) < 0 || restore_clean_database(r, file) < 0
               ? -1
               : store_check_file_whole(file, schema, r->err);
}

/* ---- replacement ---- */

static int restore_sync(const struct restoring *r)
{
    CLEANUP_FD const int fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && syncfs(fd) == 0
               ? 0
               : err_set_errno(r->err, errno, r->dir, "cannot write to disk");
}

static int restore_make_aside(const struct restoring *r)
{
    const int64_t now = (int64_t)clock_wall_s();
    for (int64_t n = 0;; n++) {
        free(r->result->aside);
        r->result->aside = xasprintf("%s/" ASIDE "%" PRId64, r->dir, now + n);
        if (mkdir(r->result->aside, 0700) == 0)
            return 0;
        if (errno != EEXIST)
            return err_set_errno(r->err, errno, r->result->aside, "cannot create the directory");
    }
}

/* Skips missing files. */
static int restore_move_all(const struct restoring *r, const char *from, const char *to)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        CLEANUP_FREE char *source = xasprintf("%s/%s", from, parts[i]);
        CLEANUP_FREE char *target = xasprintf("%s/%s", to, parts[i]);
        if (rename(source, target) < 0 && errno != ENOENT)
            return err_set_errno(r->err, errno, source, "cannot rename");
    }
    return 0;
}

/* The mark of an interrupted restore stays until this one is complete. */
static int restore_create_mark(const struct restoring *r)
{
    CLEANUP_FD const int fd = open(r->mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? err_set_errno(r->err, errno, r->mark, "cannot create") : restore_sync(r);
}

static int restore_exchange(const struct restoring *r)
{
    if (restore_make_aside(r) < 0 || restore_create_mark(r) < 0 ||
        restore_move_all(r, r->dir, r->result->aside) < 0 ||
        restore_move_all(r, r->fresh, r->dir) < 0 || restore_sync(r) < 0)
        return -1;
    if (unlink(r->mark) < 0)
        return err_set_errno(r->err, errno, r->mark, "cannot remove");
    return restore_sync(r);
}

/* ---- the whole restoration ---- */

static int restore_check(struct restoring *r)
{
    CLEANUP_FD const int fd = open(r->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(r->err, errno, r->file, "cannot open");
    if (file_trust_check(fd, r->file, r->err) < 0)
        return -1;
    r->db = backup_open(r->file, r->err);
    if (!r->db || backup_check_pages(r->db, r->file, r->err) < 0)
        return -1;
    if (sql_select_int(r->db, "select made_at from backup_info", &r->result->made_ms) < 0)
        return backup_fail_sql(r->db, r->file, "cannot read", r->err);
    return 0;
}

/* Removes new files of an interrupted restore, which are written again. */
static int restore_fill_new_directory(const struct restoring *r, const char *const *schema)
{
    dir_remove_all(r->fresh);
    if (mkdir(r->fresh, 0700) < 0)
        return err_set_errno(r->err, errno, r->fresh, "cannot create the directory");
    if (restore_write_database(r, schema) < 0 || restore_write_files(r) < 0)
        return -1;
    return restore_exchange(r);
}

int backup_restore(const char *file, const char *dir, const char *const *schema,
                   struct backup_result *result, struct tc_err *err)
{
    struct store_dir lock;
    struct restoring r = {.file = file, .dir = dir, .result = result, .err = err};
    *result = (struct backup_result){0};
    if (restore_check(&r) < 0 || store_dir_init(&lock, dir, err) < 0) {
        sql_close(r.db);
        return -1;
    }
    r.fresh = store_dir_path(&lock, NEW);
    r.mark = store_dir_path(&lock, MARK);
    const int rc = restore_fill_new_directory(&r, schema);
    dir_remove_all(r.fresh);
    sql_close(r.db);
    free(r.fresh);
    free(r.mark);
    store_dir_fini(&lock, false); /* the next start checks the file */
    return rc;
}
