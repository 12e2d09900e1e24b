/* SPDX-License-Identifier: MIT
 * Opens, migrates and repairs state.db, and runs transactions on it. */
#include "io/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/crash_point.h"
#include "base/sys/file_trust.h"
#include "base/sys/log.h"
#include "io/store/backup.h"
#include "io/store/sqlite_salvage.h"
#include "io/store/store_dir.h"

/* Suffix of the copy of a damaged state.db while it is being written. */
#define SALVAGE_SUFFIX ".salvaged"

struct store {
    struct store_spec spec;
    struct store_dir dir;
    char *file; /* state.db */
    struct sql *db;
    bool full_sync; /* current value of `pragma synchronous` */
    bool damaged;   /* damage was found at run time: the next start checks the file */
    bool was_unclean;
    enum sql_failure failure; /* error of the last transaction; last logged error */
};

void store_pass_test_point(struct store *s, const char *name)
{
    if (s->spec.point)
        s->spec.point(s->spec.ctx, s->db, name);
    if (CRASH_POINT_TEARS(name) &&
        (sql_script(s->db, "commit") < 0 || sql_script(s->db, "begin immediate") < 0))
        log_write(LOG_ERR, "store", "%s: cannot split the transaction: %s", name,
                  sql_error_text(s->db));
    CRASH_POINT(name);
}

/* Creates or checks the file (owner, private, no link) before SQLite opens it. 1: it exists and is
 * empty, which a database never is: SQLite would silently discard its log. */
static int store_check_file(const char *file, struct tc_err *err)
{
    const bool made = access(file, F_OK) < 0;
    CLEANUP_FD const int fd =
        open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, file, "cannot open");
    if (file_trust_check(fd, file, err) < 0)
        return -1;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set_errno(err, errno, file, "cannot read the file status");
    if (st.st_mode & (S_IRGRP | S_IROTH))
        return err_set(err, file, "is readable by other users; run: chmod 600 %s", file);
    return !made && st.st_size == 0;
}

static int check_database(const struct store *s, enum sql_failure *failure, struct tc_err *err)
{
    struct sql_rows rows = sql_select(s->db, "pragma integrity_check(1)");
    if (sql_next(&rows) && !str_is(sql_column_text(&rows, 0), "ok")) {
        const struct str found = sql_column_text(&rows, 0);
        err_set(err, s->file, "is damaged: %.*s", (int)found.len, found.p);
        *failure = SQL_DAMAGED;
    }
    const int ended = sql_finish(&rows);
    if (*failure == SQL_DAMAGED || ended == 0)
        return *failure == SQL_DAMAGED ? -1 : 0;
    *failure = sql_failure(s->db);
    return err_set(err, s->file, "cannot check the database: %s", sql_error_text(s->db));
}

/* Compares schemas without white space and positions. */
static int read_schema(struct sql *db, struct buf *out)
{
    struct sql_rows rows =
        sql_select(db, "select type || ' ' || name || ' ' ||"
                       " replace(replace(ifnull(sql, ''), ' ', ''), char(10), '')"
                       " from sqlite_schema order by name");
    while (sql_next(&rows)) {
        const struct str line = sql_column_text(&rows, 0);
        buf_printf(out, "%.*s\n", (int)line.len, line.p);
    }
    return sql_finish(&rows);
}

/* The schema made by the steps up to a version. */
static int make_schema(const struct store *s, int64_t version, struct buf *out)
{
    enum sql_failure failure;
    struct sql *const db = sql_open(":memory:", &failure, NULL);
    int rc = db ? 0 : -1;
    for (int64_t i = 0; rc == 0 && i < version; i++)
        rc = sql_script(db, s->spec.schema[i]);
    if (rc == 0)
        rc = read_schema(db, out);
    sql_close(db);
    return rc;
}

/* SQLite interprets a damaged declaration as another table, which cannot be written. */
static int check_schema(const struct store *s, int64_t version, enum sql_failure *failure,
                        struct tc_err *err)
{
    CLEANUP_BUF struct buf found = {0};
    CLEANUP_BUF struct buf wanted = {0};
    if (read_schema(s->db, &found) < 0) {
        *failure = sql_failure(s->db);
        return err_set(err, s->file, "cannot check the database: %s", sql_error_text(s->db));
    }
    if (make_schema(s, version, &wanted) < 0)
        return err_set(err, s->file,
                       "cannot check the tables: cannot create them in memory for comparison");
    if (found.len == wanted.len && (!found.len || memcmp(found.p, wanted.p, found.len) == 0))
        return 0;
    *failure = SQL_DAMAGED;
    return err_set(err, s->file, "is damaged: its tables do not match schema %" PRId64, version);
}

static int store_back_up_before_migration(struct store *s, int64_t version, struct tc_err *err)
{
    CLEANUP_FREE char *copy = xasprintf("%s.v%" PRId64, s->file, version);
    if (unlink(copy) < 0 && errno != ENOENT)
        return err_set_errno(err, errno, copy, "cannot delete the old backup");
    /* SQLite would create it readable for others. */
    CLEANUP_FD const int fd = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, copy, "cannot create");
    if (sql_run(s->db, "vacuum into ?1", sql_text(copy)) < 0)
        return err_set(err, copy, "cannot write the backup before the migration: %s",
                       sql_error_text(s->db));
    return 0;
}

struct store_migration {
    struct store *s;
    const char *step;
};

static int migrate_step(struct sql *db, void *ctx)
{
    const struct store_migration *const m = ctx;
    if (sql_script(db, m->step) < 0)
        return -1;
    store_pass_test_point(m->s, "mid-migration");
    return 0;
}

static int store_migrate(struct store *s, int64_t version, enum sql_failure *failure,
                         struct tc_err *err)
{
    if (version > 0 && s->spec.schema[version] &&
        store_back_up_before_migration(s, version, err) < 0)
        return -1;
    for (; s->spec.schema[version]; version++) {
        struct store_migration m = {s, s->spec.schema[version]};
        if (store_transact(s, STORE_DURABLE, migrate_step, &m) == 0)
            continue;
        *failure = store_failure(s);
        return err_set(err, s->file, "cannot migrate from schema %" PRId64 ": %s", version,
                       sql_error_text(s->db));
    }
    return 0;
}

static int64_t newest_version(const struct store *s)
{
    int64_t n = 0;
    while (s->spec.schema[n])
        n++;
    return n;
}

/* Migrates an existing database. Version and tables change in one transaction. */
static int read_version(const struct store *s, int64_t *version, enum sql_failure *failure,
                        struct tc_err *err)
{
    int64_t tables = 0;
    if (sql_select_int(s->db, "pragma user_version", version) < 0 ||
        sql_select_int(s->db, "select count(*) from sqlite_schema", &tables) < 0) {
        *failure = sql_failure(s->db);
        return err_set(err, s->file, "cannot read: %s", sql_error_text(s->db));
    }
    if (sql_is_read_only(s->db)) {
        *failure = SQL_BROKEN;
        return err_set(err, s->file,
                       "is read-only: its file format is newer than this SQLite (%s) supports",
                       sql_version());
    }
    const int64_t newest = newest_version(s);
    *failure = *version <= 0 && tables ? SQL_DAMAGED : SQL_BROKEN;
    if (*failure == SQL_DAMAGED)
        return err_set(err, s->file, "has tables but no schema version");
    if (*version > newest)
        return err_set(err, s->file,
                       "journal schema %" PRId64 " is newer than the supported schema %" PRId64
                       "; use the turncast version that wrote it",
                       *version, newest);
    return 0;
}

/* Reads the version before writing, so that a newer file stays unchanged. */
static int open_database(struct store *s, bool check, enum sql_failure *failure, struct tc_err *err)
{
    s->db = sql_open(s->file, failure, err);
    if (!s->db)
        return -1;
    int64_t version = 0;
    if (read_version(s, &version, failure, err) < 0)
        return -1;
    /* Checks an older version even after a clean stop: a migration must not work on a damaged
     * file. */
    check |= version > 0 && s->spec.schema[version];
    if (check &&
        (check_database(s, failure, err) < 0 || check_schema(s, version, failure, err) < 0))
        return -1;
    if (sql_script(s->db, "pragma journal_mode=wal; pragma synchronous=normal;"
                          "pragma secure_delete=fast; pragma cell_size_check=on;") < 0) {
        *failure = sql_failure(s->db);
        return err_set(err, s->file, "cannot read: %s", sql_error_text(s->db));
    }
    s->full_sync = false;
    return store_migrate(s, version, failure, err);
}

/* Moves the damaged file together with its log, under names with which sqlite3 opens both. */
static int store_move_damaged_aside(const struct store *s, char **bad, struct tc_err *err)
{
    *bad = xasprintf("%s.bad.%" PRId64, s->file, (int64_t)clock_wall_s());
    CLEANUP_FREE char *bad_log = xasprintf("%s-wal", *bad);
    CLEANUP_FREE char *log = xasprintf("%s-wal", s->file);
    CLEANUP_FREE char *shm = xasprintf("%s-shm", s->file);
    if (rename(s->file, *bad) < 0)
        return err_set_errno(err, errno, s->file, "is damaged; cannot rename");
    if ((rename(log, bad_log) < 0 || unlink(shm) < 0) && errno != ENOENT)
        return err_set_errno(err, errno, log, "is damaged; cannot rename");
    return 0;
}

static int remove_file(const char *file, struct tc_err *err)
{
    return unlink(file) == 0 || errno == ENOENT ? 0
                                                : err_set_errno(err, errno, file, "cannot remove");
}

/* Restarts an unfinished copy. */
static int make_salvage_file(const char *file, struct tc_err *err)
{
    CLEANUP_FREE char *journal = xasprintf("%s-journal", file);
    if (remove_file(journal, err) < 0 || remove_file(file, err) < 0)
        return -1;
    CLEANUP_FD const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? err_set_errno(err, errno, file, "cannot create") : 0;
}

/* The copy is complete before the damaged file is moved; a crash between the two renames leaves the
 * copy under its own name (finish_salvage). */
static int store_exchange(struct store *s, const char *copy, const char *why, int64_t kept,
                          const char *report, struct tc_err *err)
{
    CLEANUP_FREE char *bad = NULL;
    if (store_move_damaged_aside(s, &bad, err) < 0)
        return -1;
    store_pass_test_point(s, "mid-salvage");
    if (rename(copy, s->file) < 0)
        return err_set_errno(err, errno, copy, "cannot rename");
    if (kept)
        log_write(LOG_ERR, "store", "%s; moved to %s; recovered its readable rows: %s", why, bad,
                  report);
    else
        log_write(LOG_ERR, "store",
                  "%s; moved to %s; starting with an empty journal; its pending turns and messages "
                  "are lost",
                  why, bad);
    return 0;
}

/* SQLite discards the log of an empty file: moves both without opening them. */
static int replace_damaged(struct store *s, bool is_empty, struct tc_err *err)
{
    const struct tc_err why = *err;
    *err = (struct tc_err){0};
    sql_close(s->db);
    s->db = NULL;
    CLEANUP_FREE char *copy = xasprintf("%s" SALVAGE_SUFFIX, s->file);
    CLEANUP_BUF struct buf report = {0};
    enum sql_failure failure = SQL_NO_FAILURE;
    if (make_salvage_file(copy, err) < 0)
        return -1;
    const int64_t kept =
        is_empty ? 0 : sqlite_salvage_copy(s->file, copy, s->spec.schema, &report, &failure, err);
    if (kept < 0 || store_exchange(s, copy, err_format(&why), kept, report.p, err) < 0)
        return -1;
    return open_database(s, false, &failure, err);
}

/* A process that replaced a damaged file crashed between the two renames. */
static int finish_salvage(const struct store *s, struct tc_err *err)
{
    CLEANUP_FREE char *copy = xasprintf("%s" SALVAGE_SUFFIX, s->file);
    if (access(s->file, F_OK) == 0 || access(copy, F_OK) < 0)
        return 0;
    return rename(copy, s->file) < 0 ? err_set_errno(err, errno, copy, "cannot rename") : 0;
}

static int store_open_or_replace(struct store *s, struct tc_err *err)
{
    enum sql_failure failure = SQL_NO_FAILURE;
    if (finish_salvage(s, err) < 0)
        return -1;
    switch (store_check_file(s->file, err)) {
    case -1:
        return -1;
    case 1:
        err_set(err, s->file, "is empty");
        return replace_damaged(s, true, err);
    }
    if (open_database(s, s->was_unclean, &failure, err) == 0)
        return 0;
    return failure == SQL_DAMAGED ? replace_damaged(s, false, err) : -1;
}

int store_check_file_whole(const char *file, const char *const *schema, struct tc_err *err)
{
    enum sql_failure failure = SQL_NO_FAILURE;
    int64_t version = 0;
    CLEANUP_FREE char *name = xstrdup(file);
    struct store s = {.spec.schema = schema, .file = name};
    s.db = sql_open(file, &failure, err);
    const int rc = !s.db || read_version(&s, &version, &failure, err) < 0 ||
                           check_database(&s, &failure, err) < 0 ||
                           check_schema(&s, version, &failure, err) < 0
                       ? -1
                       : 0;
    sql_close(s.db);
    return rc;
}

static struct store *open_beside(const struct store_spec *spec, struct tc_err *err)
{
    struct store *const s = xcalloc(1, sizeof *s);
    enum sql_failure failure;
    int64_t version = 0;
    *s = (struct store){.spec = *spec, .file = xasprintf("%s/state.db", spec->dir)};
    s->db = sql_open(s->file, &failure, err);
    if (s->db && sql_select_int(s->db, "pragma user_version", &version) < 0)
        err_set(err, s->file, "cannot read: %s", sql_error_text(s->db));
    else if (s->db && version != newest_version(s))
        err_set(err, s->file, "has schema %" PRId64 ", but this program requires schema %" PRId64,
                version, newest_version(s));
    else if (s->db)
        return s;
    store_close(s);
    return NULL;
}

struct store *store_open(const struct store_spec *spec, struct tc_err *err)
{
    struct tc_err unused = {0};
    err = err ? err : &unused;
    if (spec->beside)
        return open_beside(spec, err);
    struct store *const s = xcalloc(1, sizeof *s);
    s->spec = *spec;
    signal(SIGXFSZ, SIG_IGN);
    if (store_dir_init(&s->dir, spec->dir, err) < 0) {
        if (spec->in_use)
            *spec->in_use = s->dir.in_use;
        free(s);
        return NULL;
    }
    if (!backup_is_complete(s->dir.path, err)) {
        store_dir_fini(&s->dir, false);
        free(s);
        return NULL;
    }
    s->was_unclean = s->dir.unclean;
    s->file = store_dir_path(&s->dir, "state.db");
    if (store_open_or_replace(s, err) < 0) {
        s->damaged = s->was_unclean;
        store_close(s);
        return NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sql_close(s->db);
    if (!s->spec.beside)
        store_dir_fini(&s->dir, !s->damaged);
    free(s->file);
    free(s);
}

struct sql *store_get_sql(struct store *s)
{
    return s->db;
}

bool store_was_unclean(const struct store *s)
{
    return s->was_unclean;
}

/* SQLite evaluates this pragma when it is prepared, and only between transactions. */
static int set_sync(struct store *s, bool full)
{
    if (s->full_sync == full)
        return 0;
    if (sql_script(s->db, full ? "pragma synchronous=full" : "pragma synchronous=normal") < 0)
        return -1;
    s->full_sync = full;
    return 0;
}

static int store_try_transaction(struct store *s, enum store_commit how,
                                 int (*body)(struct sql *db, void *ctx), void *ctx)
{
    if (set_sync(s, how != STORE_NORMAL) < 0 || sql_run(s->db, "begin immediate") < 0) {
        s->failure = sql_failure(s->db);
        return -1;
    }
    if (body(s->db, ctx) == 0 && sql_run(s->db, "commit") == 0) {
        ASSERT(!sql_in_transaction(s->db));
        return 0;
    }
    s->failure = sql_failure(s->db);
    if (sql_in_transaction(s->db) && sql_run(s->db, "rollback") < 0)
        s->damaged = true;
    return -1;
}

static void store_report_failure(struct store *s, enum sql_failure before)
{
    s->damaged |= s->failure == SQL_DAMAGED;
    if (s->failure == before)
        return;
    log_write(LOG_ERR, "store", "%s: %s%s", s->file,
              s->failure == SQL_DISK_FULL ? "disk full: " : "", sql_error_text(s->db));
}

/* A failed write need not mean a full disk: another process may have freed space since. */
static bool store_repeat_transaction(struct store *s, enum store_commit how,
                                     int (*body)(struct sql *db, void *ctx), void *ctx)
{
    char why[256];
    snprintf(why, sizeof why, "%s", sql_error_text(s->db));
    if (store_try_transaction(s, how, body, ctx) < 0)
        return false;
    log_write(LOG_WARN, "store", "%s: a write failed (%s); the repeated transaction succeeded",
              s->file, why);
    return true;
}

static bool store_repeat_with_reserve(struct store *s, enum store_commit how,
                                      int (*body)(struct sql *db, void *ctx), void *ctx)
{
    if (how != STORE_DURABLE_RESERVE || !store_dir_spend_reserve(&s->dir))
        return false;
    log_write(LOG_ERR, "store",
              "%s: disk full; used the reserved space for this commit; free disk space", s->file);
    store_pass_test_point(s, "reserve-spent");
    return store_try_transaction(s, how, body, ctx) == 0;
}

int store_transact(struct store *s, enum store_commit how, int (*body)(struct sql *db, void *ctx),
                   void *ctx)
{
    const enum sql_failure before = s->failure;
    bool kept = store_try_transaction(s, how, body, ctx) == 0;
    if (!kept && s->failure == SQL_DISK_FULL)
        kept = store_repeat_transaction(s, how, body, ctx);
    if (!kept && s->failure == SQL_DISK_FULL)
        kept = store_repeat_with_reserve(s, how, body, ctx);
    if (kept)
        s->failure = SQL_NO_FAILURE;
    else
        store_report_failure(s, before);
    return kept ? 0 : -1;
}

enum sql_failure store_failure(const struct store *s)
{
    return s->failure;
}

void store_mark_damaged(struct store *s)
{
    s->damaged = true;
}

void store_checkpoint(struct store *s)
{
    /* In two steps, so that a crash can be tested in between. */
    bool ok = sql_script(s->db, "pragma wal_checkpoint(passive)") == 0;
    store_pass_test_point(s, "mid-checkpoint");
    /* Does not wait for readers (a backup): the next call completes the checkpoint. */
    ok = ok && sql_script(s->db, "pragma busy_timeout=0; pragma wal_checkpoint(truncate)") == 0;
    ok = sql_script(s->db, "pragma busy_timeout=" SQL_BUSY_MS) == 0 && ok;
    if (!ok)
        log_write(LOG_WARN, "store", "%s: cannot checkpoint the write-ahead log: %s", s->file,
                  sql_error_text(s->db));
    store_pass_test_point(s, "after-checkpoint");
    store_dir_make_reserve(&s->dir);
}
