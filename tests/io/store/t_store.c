/* SPDX-License-Identifier: MIT
 * The store opens what can be trusted, sets aside what cannot, and says why it refuses. */
#include "io/store/store.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/store/store_dir.h"
#include "io/store_kit.h"
#include "tap/tap.h"

static const char *const one[] = {
    "create table t(n integer primary key, body text); pragma user_version=1;", NULL};
static const char *const two[] = {
    "create table t(n integer primary key, body text); pragma user_version=1;",
    "alter table t add column extra text default 'new'; pragma user_version=2;", NULL};

static int insert(struct sql *db, void *ctx)
{
    return sql_run(db, "insert into t(body) values(?1)", sql_text(*(const char **)ctx));
}

static int add_row(struct store *s, enum store_commit how, const char *body)
{
    return store_transact(s, how, insert, &body);
}

static int64_t count_rows(struct store *s)
{
    int64_t n = -1;
    return sql_select_int(store_get_sql(s), "select count(*) from t", &n) < 0 ? -1 : n;
}

static void fill(const char *dir, int rows)
{
    struct store *const s = open_store(dir, one);
    static char body[2000];
    memset(body, 'x', sizeof body - 1);
    for (int i = 0; i < rows; i++)
        if (!s || add_row(s, STORE_NORMAL, body) < 0)
            bail("cannot fill %s: %s", dir, err_format(&why));
    store_close(s);
}

static void test_making(void)
{
    const char *const dir = new_folder();
    struct store *const s = open_store(dir, one);
    ok(s != NULL, "a missing directory is created: %s", err_format(&why));
    is_int(mode_of(dir), 0700, "the directory has mode 0700");
    is_int(mode_of(path_in(dir, "state.db")), 0600, "state.db has mode 0600");
    is_int(mode_of(path_in(dir, "state.db-wal")), 0600, "the log has mode 0600");
    is_int(mode_of(path_in(dir, "lock")), 0600, "the lock has mode 0600");
    struct stat st;
    ok(stat(path_in(dir, "reserve"), &st) == 0 && st.st_size == STORE_RESERVE &&
           st.st_blocks * 512 >= STORE_RESERVE,
       "the reserve occupies its space");
    ok(!store_was_unclean(s), "a new store was not stopped uncleanly");
    ok(add_row(s, STORE_DURABLE, "a") == 0, "a row is inserted");
    store_close(s);
    struct store *const again = open_store(dir, one);
    is_int(count_rows(again), 1, "the row is stored");
    ok(!store_was_unclean(again), "the store was stopped cleanly");
    store_close(again);
}

static int failing(struct sql *db, void *ctx)
{
    return insert(db, ctx) < 0 || sql_run(db, "insert into t(n) values(1),(1)") < 0 ? -1 : 0;
}

static int read_sync(struct sql *db, void *ctx)
{
    return sql_select_int(db, "pragma synchronous", ctx);
}

static int64_t sync_of(struct store *s, enum store_commit how)
{
    int64_t level = -1;
    return store_transact(s, how, read_sync, &level) < 0 ? -1 : level;
}

static void test_transactions(void)
{
    struct store *const s = open_store(new_folder(), one);
    const char *text = "a";
    ok(store_transact(s, STORE_NORMAL, failing, &text) < 0, "a failing transaction fails");
    is_int(store_failure(s), SQL_BROKEN, "the failure is reported");
    is_int(count_rows(s), 0, "the failed transaction is rolled back");
    ok(add_row(s, STORE_NORMAL, "a") == 0, "the next transaction succeeds");
    is_int(sync_of(s, STORE_NORMAL), 1, "synchronous is NORMAL");
    is_int(sync_of(s, STORE_DURABLE), 2, "synchronous is FULL for durable transactions");
    is_int(sync_of(s, STORE_NORMAL), 1, "synchronous is NORMAL afterwards");
    is_int(sync_of(s, STORE_DURABLE_RESERVE), 2,
           "synchronous is FULL for transactions with the reserve");
    ok(add_row(s, STORE_NORMAL, "x'); drop table t; --") == 0, "values are bound");
    is_int(count_rows(s), 2, "SQL in values is not executed");
    store_close(s);
}

static void test_two_processes(void)
{
    const char *const dir = new_folder();
    int ready[2], go[2];
    if (pipe(ready) < 0 || pipe(go) < 0)
        bail("pipe");
    const pid_t child = fork();
    if (child == 0) {
        struct store *const s = open_store(dir, one);
        char c = s ? 'y' : 'n';
        if (write(ready[1], &c, 1) < 0 || read(go[0], &c, 1) < 0)
            _exit(1);
        _exit(0); /* without closing it */
    }
    char c = 0;
    ok(read(ready[0], &c, 1) == 1 && c == 'y', "another process has the store");
    char wanted[160];
    snprintf(wanted, sizeof wanted,
             "is in use by another turncast (process %ld); stop it, or use another state_directory",
             (long)child);
    ok(!open_store(dir, one), "a second process is refused");
    is_str(why.text, wanted, "the error names the other process");
    if (write(go[1], "g", 1) != 1 || waitpid(child, NULL, 0) != child)
        bail("child");
    struct store *const s = open_store(dir, one);
    ok(s && store_was_unclean(s), "a kill of the process frees the lock, and is detected");
    store_close(s);
}

static void started_empty(const char *dir, const char *what)
{
    struct store *const s = open_store(dir, one);
    ok(s != NULL, "%s: it starts (%s)", what, err_format(&why));
    is_int(s ? count_rows(s) : -1, 0, "%s: the store is empty", what);
    is_int(count_matches(dir, "state.db.bad.*[0-9]"), 1, "%s: the old file is kept", what);
    ok(log_contains(path_in(dir, "state.db.bad.")),
       "%s: the log has an alarm with the name of the file", what);
    ok(log_contains("starting with an empty journal"), "%s: the log reports the empty journal",
       what);
    store_close(s);
}

static void test_damage(void)
{
    const char *dir = new_folder();
    fill(dir, 50);
    overwrite(path_in(dir, "state.db"), 0, 100);
    started_empty(dir, "no database");
    dir = new_folder();
    fill(dir, 50);
    truncate_file(path_in(dir, "state.db"), 0);
    started_empty(dir, "zero length");
    dir = new_folder();
    fill(dir, 50);
    leave_lock(dir);
    struct store *const s = open_store(dir, one);
    is_int(count_rows(s), 50, "an unclean stop loses no row");
    is_int(count_matches(dir, "state.db.bad.*"), 0, "an unclean stop sets no file aside");
    store_close(s);
}

/* What was only in the log is kept for whoever looks into it. */
static void test_damage_with_log(void)
{
    const char *const dir = new_folder();
    const pid_t child = fork();
    if (child == 0)
        _exit(add_row(open_store(dir, one), STORE_NORMAL, "row") < 0);
    if (waitpid(child, NULL, 0) != child)
        bail("child");
    if (truncate(path_in(dir, "state.db"), 0) < 0)
        bail("truncate");
    started_empty(dir, "a database of zero length with a log");
    is_int(count_matches(dir, "state.db.bad.*-wal"), 1, "the log is moved with its file");
}

/* A log cut or spoiled anywhere gives a prefix of what was committed, never an error. */
static void test_torn_log(void)
{
    bool opens = true, prefix = true;
    for (int at = 0; at < 40; at++) {
        const char *const dir = new_folder();
        const pid_t child = fork();
        if (child == 0) {
            struct store *const s = open_store(dir, one);
            for (int i = 0; i < 8; i++)
                if (add_row(s, STORE_NORMAL, "row") < 0)
                    _exit(1);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        struct stat st;
        if (stat(path_in(dir, "state.db-wal"), &st) < 0)
            bail("no log");
        if (at % 2)
            overwrite(path_in(dir, "state.db-wal"), st.st_size * at / 40, 16);
        else if (truncate(path_in(dir, "state.db-wal"), st.st_size * at / 40) < 0)
            bail("truncate");
        struct store *const s = open_store(dir, one);
        opens &= s != NULL;
        int64_t n = -1, most = -1;
        if (s)
            prefix &=
                sql_select_int(store_get_sql(s), "select count(*) from t", &n) == 0 &&
                sql_select_int(store_get_sql(s), "select ifnull(max(n),0) from t", &most) == 0 &&
                n == most && n <= 8;
        store_close(s);
    }
    ok(opens, "a truncated log does not prevent the start");
    ok(prefix, "a truncated log leaves the first rows without a gap");
}

static void test_versions(void)
{
    const char *const dir = new_folder();
    fill(dir, 3);
    struct store *s = open_store(dir, two);
    int64_t n = 0;
    ok(s && sql_select_int(store_get_sql(s), "select count(*) from t where extra='new'", &n) == 0,
       "an older schema is migrated");
    is_int(n, 3, "the rows are migrated");
    ok(access(path_in(dir, "state.db.v1"), F_OK) == 0, "a backup of the older schema is kept");
    is_int(mode_of(path_in(dir, "state.db.v1")) & 077, 0, "the backup cannot be read by others");
    store_close(s);
    s = open_store(dir, one);
    ok(!s, "a newer schema is refused");
    is_str(why.text,
           "journal schema 2 is newer than the supported schema 1; use the turncast version that "
           "wrote it",
           "the error has both schemas");
    s = open_store(dir, two);
    is_int(s ? count_rows(s) : -1, 3, "the newer store is unchanged");
    store_close(s);
}

static void die(void *ctx, struct sql *db, const char *name)
{
    (void)ctx;
    (void)db;
    if (strcmp(name, "mid-migration") == 0)
        raise(SIGKILL);
}

static void test_death_in_migration(void)
{
    const char *const dir = new_folder();
    fill(dir, 3);
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        if (child == 0) {
            store_open(&(struct store_spec){.dir = dir, .schema = two, .point = die}, NULL);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ok(WIFSIGNALED(status), "the process is killed during a migration");
    }
    struct store *const s = open_store(dir, two);
    int64_t version = 0;
    ok(s && sql_select_int(store_get_sql(s), "pragma user_version", &version) == 0 && version == 2,
       "the next start completes the migration");
    is_int(count_rows(s), 3, "no row is lost");
    store_close(s);
}

static void test_links_and_modes(void)
{
    const char *dir = new_folder();
    fill(dir, 1);
    chmod(path_in(dir, "state.db"), 0640);
    ok(!open_store(dir, one), "a file that others may read is refused");
    has_str(why.text, "run: chmod 600 ", "with the command");
    chmod(path_in(dir, "state.db"), 0620);
    ok(!open_store(dir, one), "a file that the group may write to is refused");
    chmod(path_in(dir, "state.db"), 0600);
    chmod(dir, 0770);
    ok(!open_store(dir, one), "a directory that others may write to is refused");
    has_str(why.text, "run: chmod 700 ", "with the command");
    chmod(dir, 01777);
    ok(!open_store(dir, one), "a sticky directory is refused");
    chmod(dir, 0700);
    char target[700];
    snprintf(target, sizeof target, "%s/elsewhere", dir);
    if (rename(path_in(dir, "state.db"), target) < 0 ||
        symlink(target, path_in(dir, "state.db")) < 0)
        bail("symlink");
    ok(!open_store(dir, one), "a symbolic link instead of the file is refused");
    has_str(why.text, "cannot open: Too many levels of symbolic links", "the failure is reported");
    unlink(path_in(dir, "state.db"));
    if (mkfifo(path_in(dir, "state.db"), 0600) < 0)
        bail("mkfifo");
    ok(!open_store(dir, one), "a FIFO instead of the file is refused without waiting");
    tap_spew(path_in(tap_tmpdir(), "file"), "", 0);
    char file[700];
    snprintf(file, sizeof file, "%s", path_in(tap_tmpdir(), "file"));
    ok(!open_store(file, one), "a file instead of the directory is refused");
}

/* As a user who may not write: root may write anywhere. */
static void test_read_only(void)
{
    const char *const dir = new_folder();
    fill(dir, 1);
    chmod(tap_tmpdir(), 0755);
    if (geteuid() == 0 &&
        (chown(dir, 65534, 65534) < 0 || chown(path_in(dir, "state.db"), 65534, 65534) < 0 ||
         chown(path_in(dir, "lock"), 65534, 65534) < 0))
        bail("chown");
    chmod(path_in(dir, "lock"), 0400);
    chmod(dir, 0500);
    int out[2];
    if (pipe(out) < 0)
        bail("pipe");
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(2);
        struct store *const s = open_store(dir, one);
        const char *const text = s ? "opened" : why.text;
        _exit(write(out[1], text, strlen(text) + 1) < 0);
    }
    char got[800] = "";
    if (read(out[0], got, sizeof got - 1) < 0 || waitpid(child, NULL, 0) != child)
        bail("child");
    is_str(got, "cannot open: Permission denied", "a read-only directory is refused");
    chmod(dir, 0700);
    if (geteuid() == 0) {
        ok(!open_store(dir, one), "a directory of another user is refused");
        has_str(why.text, "is owned by UID 65534, but turncast runs as UID 0",
                "the error has both users");
    } else {
        skip(2, "only root can change the owner of a directory");
    }
}

static void test_file_systems(void)
{
    is_str(store_dir_unsupported_fs(0x6969), "NFS", "NFS is an unsupported file system");
    is_str(store_dir_unsupported_fs(0xffffffffff534d42), "CIFS",
           "CIFS is unsupported, with a sign-extended magic number");
    ok(!store_dir_unsupported_fs(0xef53), "ext4 is supported");
    ok(!store_dir_unsupported_fs(0x01021994), "tmpfs is supported");
}

/* The disk "has room again" once the reserve is spent. */
static void on_point(void *ctx, struct sql *db, const char *name)
{
    (void)db;
    if (strcmp(name, "reserve-spent") == 0) {
        limit_file_size(RLIM_INFINITY);
        ++*(int *)ctx;
    }
}

static char big[300000];

static void test_size_limit(void)
{
    const char *const dir = new_folder();
    int spent = 0;
    struct store *const s = store_open(
        &(struct store_spec){.dir = dir, .schema = one, .point = on_point, .ctx = &spent}, &why);
    limit_file_size(200000);
    ok(add_row(s, STORE_DURABLE, big) < 0, "a file size limit does not kill the process");
    is_int(store_failure(s), SQL_DISK_FULL, "a file size limit counts as a full disk");
    is_int(spent, 0, "the reserve is not used for an ordinary transaction");
    is_int(count_rows(s), 0, "reading continues");
    ok(add_row(s, STORE_DURABLE_RESERVE, big) == 0, "a transaction with the reserve succeeds");
    is_int(spent, 1, "the reserve was used");
    ok(access(path_in(dir, "reserve"), F_OK) < 0, "the file of the reserve is deleted");
    limit_file_size(200000);
    ok(add_row(s, STORE_DURABLE_RESERVE, big) < 0, "the reserve can be used once");
    limit_file_size(RLIM_INFINITY);
    ok(add_row(s, STORE_DURABLE, "a") == 0, "with space a transaction succeeds");
    store_checkpoint(s);
    ok(access(path_in(dir, "reserve"), F_OK) == 0, "the reserve is created again");
    store_close(s);
}

/* Each run but the last of `times` finds a full disk. */
struct shortage {
    int runs, times;
};

static int insert_in_shortage(struct sql *db, void *ctx)
{
    struct shortage *const shortage = ctx;
    limit_file_size(++shortage->runs < shortage->times ? 200000 : RLIM_INFINITY);
    return sql_run(db, "insert into t(body) values(?1)", sql_text(big));
}

static void test_failed_write(void)
{
    static const enum store_commit ways[] = {STORE_NORMAL, STORE_DURABLE, STORE_DURABLE_RESERVE};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const char *const dir = new_folder();
        struct store *const s = open_store(dir, one);
        struct shortage once = {.times = 2};
        is_int(store_transact(s, ways[i], insert_in_shortage, &once), 0,
               "a transaction with one failed write is repeated");
        is_int(once.runs, 2, "once");
        is_int(store_failure(s), SQL_NO_FAILURE, "no failure is reported");
        is_int(count_rows(s), 1, "the row is inserted once");
        ok(access(path_in(dir, "reserve"), F_OK) == 0, "the reserve is not used");
        struct shortage always = {.times = 10};
        ok(store_transact(s, ways[i], insert_in_shortage, &always) < 0,
           "a transaction whose writes all fail");
        is_int(always.runs, ways[i] == STORE_DURABLE_RESERVE ? 3 : 2,
               "the number of attempts is bounded");
        limit_file_size(RLIM_INFINITY);
        store_close(s);
    }
}

/* In a child with a file system of its own: 0 passed, 1 failed, 2 not possible here. */
static int fill_small_disk(const char *dir)
{
    if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return 2;
    if (mkdir(dir, 0700) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=0700") < 0)
        return 2;
    struct store *const s = open_store(dir, one);
    static char body[20000];
    memset(body, 'x', sizeof body - 1);
    int rows = 0;
    while (s && rows < 1000 && add_row(s, STORE_DURABLE, body) == 0)
        rows++;
    if (!s || rows == 1000 || store_failure(s) != SQL_DISK_FULL || count_rows(s) != rows)
        return 1;
    return add_row(s, STORE_DURABLE_RESERVE, body) < 0 || count_rows(s) != rows + 1;
}

static void test_full_disk(void)
{
    const char *const dir = new_folder();
    const pid_t child = fork();
    if (child == 0)
        _exit(fill_small_disk(dir));
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip(1, "no file system can be mounted here");
    else
        is_int(status, 0,
               "on a full disk admission fails, reading continues, and the reserve stores one row");
}

int main(void)
{
    plan_lazy();
    const int log = open_log();
    test_making();
    test_transactions();
    test_two_processes();
    test_damage();
    test_damage_with_log();
    test_torn_log();
    test_versions();
    test_death_in_migration();
    test_links_and_modes();
    test_read_only();
    test_file_systems();
    memset(big, 'x', sizeof big - 1);
    test_size_limit();
    test_failed_write();
    test_full_disk();
    close(log);
    return 0;
}
