/* SPDX-License-Identifier: MIT
 * Defines the format of a backup, and writes backups. state.db is copied first: files that its
 * waiting turns need are kept for days, so they still exist when the files are copied. */
#include "io/store/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/store/backup_internal.h"
#include "io/store/store.h"

#define APPLICATION 1952670305 /* "tcba": of `pragma application_id` */
#define APPLICATION_TEXT "1952670305"
#define DEPTH_MAX 32

int backup_fail_sql(const struct sql *db, const char *file, const char *what, struct tc_err *err)
{
    return err_set(err, file, "%s: %s", what, sql_error_text(db));
}

struct sql *backup_open(const char *file, struct tc_err *err)
{
    enum sql_failure failure;
    int64_t application = 0;
    if (access(file, R_OK) < 0) {
        err_set_errno(err, errno, file, "cannot open");
        return NULL;
    }
    struct sql *const db = sql_open(file, &failure, err);
    if (db && sql_select_int(db, "pragma application_id", &application) == 0 &&
        application == APPLICATION)
        return db;
    if (db)
        err_set(err, file, "is not a backup of turncast");
    sql_close(db);
    return NULL;
}

int backup_check_pages(struct sql *db, const char *file, struct tc_err *err)
{
    bool sound = false;
    struct sql_rows rows = sql_select(db, "pragma integrity_check(1)");
    if (sql_next(&rows))
        sound = str_is(sql_column_text(&rows, 0), "ok");
    if (sql_finish(&rows) < 0)
        return backup_fail_sql(db, file, "cannot check", err);
    return sound ? 0 : err_set(err, file, "is damaged");
}

int backup_copy_database(struct sql *db, const char *to, struct tc_err *err)
{
    /* SQLite would create it readable for others. */
    CLEANUP_FD const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, to, "cannot create");
    if (sql_run(db, "vacuum into ?1", sql_text(to)) < 0)
        return backup_fail_sql(db, to, "cannot write", err);
    return 0;
}

/* ---- files beside state.db ---- */

struct backup_writing {
    struct sql *db;
    const char *dir, *temporary;
    struct backup_result *result;
    struct tc_err *err;
};

static int backup_add_row(const struct backup_writing *w, const char *path, mode_t mode,
                          const struct str *body)
{
    if (++w->result->files > BACKUP_MAX_FILES)
        return err_set(w->err, w->dir, "has more than %d files", BACKUP_MAX_FILES);
    if (sql_run(w->db, "insert into backup_file(path, mode, body) values(?1,?2,?3)", sql_text(path),
                sql_int(mode & 0777), body ? sql_blob(*body) : sql_text(NULL)) < 0)
        return backup_fail_sql(w->db, w->temporary, "cannot write", w->err);
    return 0;
}

/* A file that grows during the copy is copied up to its initial size. */
static int backup_read_file(int fd, int64_t size, struct buf *out)
{
    char chunk[16384];
    while ((int64_t)out->len < size) {
        const int64_t left = size - (int64_t)out->len;
        const ssize_t n =
            read(fd, chunk, left < (int64_t)sizeof chunk ? (size_t)left : sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        buf_add(out, chunk, (size_t)n);
    }
    return 0;
}

/* Takes ownership of the open descriptor. */
static int backup_add_file(const struct backup_writing *w, int file, const struct stat *st,
                           const char *path)
{
    CLEANUP_FD const int fd = file;
    CLEANUP_BUF struct buf bytes = {0};
    if (st->st_size > BACKUP_MAX_FILE)
        return err_set(w->err, w->dir, "%s is larger than %" PRId64 " MiB; move it elsewhere", path,
                       BACKUP_MAX_FILE >> 20);
    if (backup_read_file(fd, st->st_size, &bytes) < 0)
        return err_set_errno(w->err, errno, w->dir, "cannot read a file of an instance");
    return backup_add_row(w, path, st->st_mode, &(struct str){bytes.p ? bytes.p : "", bytes.len});
}

static int backup_add_folder(const struct backup_writing *w, int folder, const char *path,
                             unsigned depth);

/* Skips entries that are neither directories nor regular files, and those removed meanwhile. */
static int backup_add_entry(const struct backup_writing *w, int parent, const char *name,
                            const char *path, unsigned depth)
{
    struct stat st;
    const int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP || errno == ENXIO
                   ? 0
                   : err_set_errno(w->err, errno, w->dir, "cannot read a file of an instance");
    const bool known = fstat(fd, &st) == 0;
    if (known && S_ISREG(st.st_mode))
        return backup_add_file(w, fd, &st, path);
    if (!known || !S_ISDIR(st.st_mode)) {
        close(fd);
        return 0;
    }
    if (backup_add_row(w, path, st.st_mode, NULL) == 0)
        return backup_add_folder(w, fd, path, depth + 1);
    close(fd);
    return -1;
}

/* Takes ownership of the open descriptor. */
static int backup_add_folder(const struct backup_writing *w, int folder, const char *path,
                             unsigned depth)
{
    DIR *const dir = fdopendir(folder);
    if (!dir || depth > DEPTH_MAX) {
        dir ? closedir(dir) : close(folder);
        return err_set(w->err, w->dir, "cannot read %s: its depth exceeds %d", path, DEPTH_MAX);
    }
    int rc = 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        CLEANUP_FREE char *inner = xasprintf("%s/%s", path, e->d_name);
        rc = backup_add_entry(w, dirfd(dir), e->d_name, inner, depth);
    }
    closedir(dir);
    return rc;
}

static int backup_add_visibility(const struct backup_writing *w)
{
    CLEANUP_FREE char *from = xasprintf("%s/" BACKUP_VISIBILITY, w->dir);
    CLEANUP_FREE char *copy = xasprintf("%s.visibility", w->temporary);
    enum sql_failure failure;
    if (access(from, F_OK) < 0 && errno == ENOENT)
        return 0;
    struct sql *const db = sql_open(from, &failure, w->err);
    if (!db)
        return -1;
    unlink(copy);
    int rc = backup_copy_database(db, copy, w->err);
    sql_close(db);
    if (rc == 0)
        rc = backup_add_entry(w, AT_FDCWD, copy, BACKUP_VISIBILITY, 0);
    unlink(copy);
    return rc;
}

static int backup_add_files(const struct backup_writing *w)
{
    CLEANUP_FREE char *instances = xasprintf("%s/" BACKUP_INSTANCES, w->dir);
    return backup_add_visibility(w) < 0 ||
                   backup_add_entry(w, AT_FDCWD, instances, BACKUP_INSTANCES, 0) < 0
               ? -1
               : 0;
}

/* ---- the whole backup ---- */

/* No other process uses the file, and an incomplete file is written again: no SQLite journal is
 * needed. */
static int backup_fill(const struct backup_writing *w)
{
    static const char begin[] =
        "pragma journal_mode=off; pragma synchronous=off;"
        "pragma application_id=" APPLICATION_TEXT "; begin;"
        "create table backup_file(path text primary key, mode integer not null, body blob) strict;"
        "create table backup_info(made_at integer not null, version text not null) strict;";
    if (sql_script(w->db, begin) < 0 ||
        sql_run(w->db, "insert into backup_info(made_at, version) values(?1,?2)",
                sql_int(w->result->made_ms), sql_text(PACKAGE_VERSION)) < 0)
        return backup_fail_sql(w->db, w->temporary, "cannot write", w->err);
    if (backup_add_files(w) < 0)
        return -1;
    if (sql_script(w->db, "commit") < 0)
        return backup_fail_sql(w->db, w->temporary, "cannot write", w->err);
    return backup_check_pages(w->db, w->temporary, w->err);
}

static int backup_complete(struct backup_writing *w)
{
    enum sql_failure failure;
    w->db = sql_open(w->temporary, &failure, w->err);
    if (!w->db)
        return -1;
    const int rc = backup_fill(w);
    sql_close(w->db);
    return rc;
}

/* A host may be writing at the same time. */
static int backup_snapshot(const struct backup_writing *w, const char *const *schema)
{
    CLEANUP_FREE char *file = xasprintf("%s/state.db", w->dir);
    if (access(file, R_OK) < 0)
        return err_set_errno(w->err, errno, file, "cannot open");
    struct store *const s =
        store_open(&(struct store_spec){.dir = w->dir, .schema = schema, .beside = true}, w->err);
    if (!s)
        return -1;
    const int rc = backup_copy_database(store_get_sql(s), w->temporary, w->err);
    store_close(s);
    return rc < 0 ? -1 : store_check_file_whole(w->temporary, schema, w->err);
}

static int backup_sync(const char *path, struct tc_err *err)
{
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0 ? 0 : err_set_errno(err, errno, path, "cannot write to disk");
}

static int backup_publish(const struct backup_writing *w, const char *file, const char *folder)
{
    struct stat st;
    if (backup_sync(w->temporary, w->err) < 0)
        return -1;
    if (stat(w->temporary, &st) < 0 || rename(w->temporary, file) < 0)
        return err_set_errno(w->err, errno, file, "cannot rename");
    w->result->bytes = st.st_size;
    return backup_sync(folder, w->err);
}

/* Owned; NULL with err. */
static char *backup_folder_of(const char *file, struct tc_err *err)
{
    const char *const slash = strrchr(file, '/');
    CLEANUP_FREE char *name = slash ? xstrndup(file, (size_t)(slash - file) + 1) : xstrdup(".");
    char *const real = realpath(name, NULL);
    if (!real)
        err_set_errno(err, errno, name, "cannot open");
    return real;
}

/* A backup must not overwrite the state itself. */
static int backup_check_place(const char *dir, const char *folder, const char *file,
                              struct tc_err *err)
{
    CLEANUP_FREE char *state = realpath(dir, NULL);
    const size_t len = state ? strlen(state) : 0;
    if (!state)
        return err_set_errno(err, errno, dir, "cannot open");
    if (strncmp(folder, state, len) == 0 && (!folder[len] || folder[len] == '/'))
        return err_set(err, file, "is inside of state_directory; choose another place");
    if (access(file, F_OK) < 0)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, file, "cannot open");
    struct sql *const db = backup_open(file, err);
    sql_close(db);
    return db ? 0 : -1;
}

int backup_write(const char *dir, const char *file, const char *const *schema,
                 struct backup_result *r, struct tc_err *err)
{
    CLEANUP_FREE char *temporary = xasprintf("%s.tmp-%ld", file, (long)getpid());
    CLEANUP_FREE char *folder = backup_folder_of(file, err);
    *r = (struct backup_result){.made_ms = (int64_t)(clock_wall_s() * 1000)};
    struct backup_writing w = {.dir = dir, .temporary = temporary, .result = r, .err = err};
    if (!folder || backup_check_place(dir, folder, file, err) < 0)
        return -1;
    unlink(temporary);
    const int rc = backup_snapshot(&w, schema) < 0 || backup_complete(&w) < 0 ||
                           backup_publish(&w, file, folder) < 0
                       ? -1
                       : 0;
    unlink(temporary);
    return rc;
}
