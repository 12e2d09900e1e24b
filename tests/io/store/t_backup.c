/* SPDX-License-Identifier: MIT
 * A backup has all of a state, also of one that is being written; a restore puts it back or changes
 * nothing. */
#include "io/store/backup.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/store_kit.h"
#include "tap/tap.h"

static const char *const schema[] = {
    "create table t(n integer primary key, body text); pragma user_version=1;", NULL};
static const char *const newer[] = {
    "create table t(n integer primary key, body text); pragma user_version=1;",
    "alter table t add column extra text; pragma user_version=2;", NULL};

static struct backup_result result;
static struct tc_err err;

static int insert(struct sql *db, void *ctx)
{
    return sql_run(db, "insert into t(body) values(?1)", sql_text(ctx));
}

static void add(struct store *s, const char *body)
{
    if (!s || store_transact(s, STORE_NORMAL, insert, (void *)(uintptr_t)body) < 0)
        bail("cannot add a row: %s", err_format(&why));
}

static int64_t count(const char *dir)
{
    struct store *const s = open_store(dir, schema);
    int64_t n = -1;
    if (s && sql_select_int(store_get_sql(s), "select count(*) from t", &n) < 0)
        n = -1;
    store_close(s);
    return n;
}

static const char *file_in(const char *dir, const char *name)
{
    static char paths[64][800];
    static int next;
    char *const path = paths[next++ % 64];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static const char *target(const char *name)
{
    return file_in(tap_tmpdir(), name);
}

static int write_backup(const char *dir, const char *file)
{
    err = (struct tc_err){0};
    free(result.aside);
    return backup_write(dir, file, schema, &result, &err);
}

static int restore(const char *file, const char *dir)
{
    err = (struct tc_err){0};
    free(result.aside);
    return backup_restore(file, dir, schema, &result, &err);
}

static void put_file(const char *dir, const char *name, const char *text)
{
    tap_spew(file_in(dir, name), text, strlen(text));
}

static void make_state(char dir[600])
{
    snprintf(dir, 600, "%s", new_folder());
    struct store *const s = open_store(dir, schema);
    add(s, "one");
    store_close(s);
    mkdir(file_in(dir, "instances"), 0700);
    mkdir(file_in(dir, "instances/tg"), 0700);
    put_file(dir, "instances/tg/file-1", "a photo");
    chmod(file_in(dir, "instances/tg/file-1"), 0640);
}

static void test_running_host(void)
{
    char dir[600];
    make_state(dir);
    struct store *const s = open_store(dir, schema);
    add(s, "two, only in the log");
    const char *const file = target("b1");
    is_int(write_backup(dir, file), 0, "a backup beside a running host succeeds");
    is_int(mode_of(file), 0600, "the backup has mode 0600");
    is_int(result.files, 3, "the backup has the files of the instance");
    is_int(count_matches(tap_tmpdir(), "b1*"), 1, "no temporary file is left beside the backup");
    is_int(restore(file, dir), -1, "a restore beside a running host is refused");
    has_str(err_format(&err), "is in use by another turncast", "because of the host");
    add(s, "three");
    store_close(s);
    unlink(file_in(dir, "instances/tg/file-1"));
    is_int(restore(file, dir), 0, "restored");
    is_int(count(dir), 2, "the restored state has the rows of the log");
    char *const photo = tap_slurp(file_in(dir, "instances/tg/file-1"), NULL);
    is_str(photo, "a photo", "the restored state has the file");
    free(photo);
    is_int(mode_of(file_in(dir, "instances/tg/file-1")), 0640, "the restored file has its mode");
    is_int(mode_of(file_in(dir, "state.db")), 0600, "the restored state has mode 0600");
    is_int(count_matches(dir, "restore.*"), 0, "no temporary file is left in the state");
    is_int(count(result.aside), 3, "the previous state is kept");
}

static void test_replaced(void)
{
    char dir[600];
    make_state(dir);
    const char *const file = target("b2");
    tap_spew(file, "precious", 8);
    is_int(write_backup(dir, file), -1, "a file that is not a backup is not replaced");
    has_str(err_format(&err), "is not a backup of turncast", "and that is said");
    unlink(file);
    is_int(write_backup(dir, file), 0, "a new backup is written");
    is_int(write_backup(dir, file), 0, "a backup is replaced");
    is_int(write_backup(dir, file_in(dir, "b")), -1, "a backup inside of the state is refused");
    has_str(err_format(&err), "is inside of state_directory", "and that is said");
    is_int(write_backup(target("nowhere"), target("b3")), -1,
           "a backup without a state is refused");
    is_int(access(target("nowhere"), F_OK), -1, "no state was created");
    is_int(access(target("b3"), F_OK), -1, "no backup was created");
}

static void test_damaged(void)
{
    char dir[600];
    make_state(dir);
    const char *const file = target("b4");
    struct store *const s = open_store(dir, schema);
    static char body[40000];
    memset(body, 'x', sizeof body - 1);
    add(s, body);
    store_close(s);
    is_int(write_backup(dir, file), 0, "the backup is written");
    overwrite(file, 4096 * 4, 4096);
    is_int(restore(file, dir), -1, "a damaged backup is refused");
    has_str(err_format(&err), "damaged", "because of its damage");
    is_int(count(dir), 2, "the state is unchanged");
    is_int(count_matches(dir, "before-restore.*"), 0, "nothing was moved");
    is_int(restore(file_in(dir, "state.db"), dir), -1, "a file that is not a backup is refused");
    chmod(target("b2"), 0622);
    is_int(restore(target("b2"), dir), -1, "a backup that others can write is refused");
}

static void change(const char *file, const char *text)
{
    enum sql_failure failure;
    struct sql *const db = sql_open(file, &failure, NULL);
    if (!db || sql_script(db, text) < 0)
        bail("cannot change %s", file);
    sql_close(db);
}

static void test_hostile(void)
{
    static const char *const bad[] = {
        "update backup_file set path='instances/../../x' where path='instances/tg/file-1'",
        "update backup_file set path='/tmp/x' where path='instances/tg/file-1'",
        "update backup_file set path='instances/tg//x' where path='instances/tg/file-1'",
        "update backup_file set path='instances/./x' where path='instances/tg/file-1'",
        "update backup_file set path='instances/' where path='instances/tg/file-1'",
        "update backup_file set path='lock' where path='instances/tg/file-1'",
        "create table more(n)",
        "pragma user_version=7",
    };
    char dir[600];
    make_state(dir);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const file = target("b5");
        if (write_backup(dir, file) < 0)
            bail("no backup: %s", err_format(&err));
        change(file, bad[i]);
        is_int(restore(file, dir), -1, "%s", bad[i]);
        is_int(count_matches(dir, "restore.*") + count_matches(dir, "before-restore.*"), 0,
               "the state is unchanged");
    }
}

static void test_interrupted(void)
{
    char dir[600];
    make_state(dir);
    const char *const file = target("b6");
    is_int(write_backup(dir, file), 0, "the backup is written");
    put_file(dir, "restore.mark", "");
    rename(file_in(dir, "state.db"), file_in(dir, "elsewhere"));
    ok(!open_store(dir, schema), "a host refuses a state whose restore was interrupted");
    has_str(err_format(&why), "run: turncast restore FILE", "and says what to do");
    ok(access(file_in(dir, "state.db"), F_OK) < 0, "the host creates no new state");
    const int rc = restore(file, dir);
    is_int(rc, 0, "the restore is repeated: %s", err_format(&err));
    is_int(count(dir), 1, "the host starts after the repeated restore");
}

static void test_older(void)
{
    char dir[600];
    make_state(dir);
    const char *const file = target("b7");
    is_int(write_backup(dir, file), 0, "a backup of schema 1 is written");
    struct store *const s = open_store(dir, newer);
    store_close(s);
    is_int(write_backup(dir, target("b8")), -1,
           "an older program refuses to back up a newer state");
    err = (struct tc_err){0};
    free(result.aside);
    is_int(backup_restore(file, dir, newer, &result, &err), 0, "a newer program restores it");
    struct store *const again = open_store(dir, newer);
    ok(again != NULL, "the newer program migrates the restored state at its start: %s",
       err_format(&why));
    store_close(again);
}

int main(void)
{
    plan_lazy();
    const int log = open_log();
    umask(077);
    test_running_host();
    test_replaced();
    test_damaged();
    test_hostile();
    test_interrupted();
    test_older();
    free(result.aside);
    close(log);
    return 0;
}
