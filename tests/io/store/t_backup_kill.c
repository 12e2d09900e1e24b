/* SPDX-License-Identifier: MIT
 * A restore is killed at each system call that changes a directory or waits for the disk: the state
 * is then the old one, the new one, or one that no host opens until the restore has been repeated.
 */
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/store/backup.h"
#include "io/store_kit.h"
#include "tap/tap.h"

#define CALLS_MAX 300 /* more than a restore makes */
#define OLD_ROWS 2
#define NEW_ROWS 1

static const char *const schema[] = {
    "create table t(n integer primary key, body text); pragma user_version=1;", NULL};

static char file[700];

static int insert(struct sql *db, void *ctx)
{
    return sql_run(db, "insert into t(body) values(?1)", sql_text(ctx));
}

static void add(const char *dir)
{
    struct store *const s = open_store(dir, schema);
    if (!s || store_transact(s, STORE_NORMAL, insert, (char[]){"x"}) < 0)
        bail("cannot add a row: %s", err_format(&why));
    store_close(s);
}

/* -1: no host opens it. */
static int64_t count(const char *dir)
{
    struct store *const s = open_store(dir, schema);
    int64_t n = -1;
    if (s && sql_select_int(store_get_sql(s), "select count(*) from t", &n) < 0)
        bail("cannot count the rows");
    store_close(s);
    return n;
}

static int restore(const char *dir)
{
    struct backup_result result = {0};
    struct tc_err err = {0};
    const int rc = backup_restore(file, dir, schema, &result, &err);
    free(result.aside);
    return rc;
}

/* A state with OLD_ROWS, of which the backup has NEW_ROWS. */
static void make_state(char dir[600])
{
    struct backup_result result = {0};
    struct tc_err err = {0};
    snprintf(dir, 600, "%s", new_folder());
    snprintf(file, sizeof file, "%s/backup", tap_tmpdir());
    unlink(file);
    add(dir);
    if (backup_write(dir, file, schema, &result, &err) < 0)
        bail("no backup: %s", err_format(&err));
    free(result.aside);
    add(dir);
}

static bool is_change(uint64_t call)
{
    switch (call) {
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_fsync:
    case SYS_fdatasync:
#ifdef SYS_rename /* not on every processor */
    case SYS_rename:
    case SYS_unlink:
    case SYS_mkdir:
#endif
        return true;
    default:
        return false;
    }
}

/* The child stops at the begin and the end of each call. True: it waits at the begin of a change.
 */
static bool is_at_change(pid_t child)
{
    struct __ptrace_syscall_info info = {0};
    return ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0 &&
           info.op == PTRACE_SYSCALL_INFO_ENTRY && is_change(info.entry.nr);
}

static pid_t start_restore(const char *dir)
{
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(restore(dir) < 0);
    }
    int status;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    return child;
}

/* Kills a restore before its n-th change. False: it has ended before, well. */
static bool kill_restore(const char *dir, int n)
{
    const pid_t child = start_restore(dir);
    int status;
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, NULL, NULL);
        if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
            break;
        if (is_at_change(child) && --n == 0)
            kill(child, SIGKILL);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        bail("the restore failed");
    return WIFSIGNALED(status);
}

int main(void)
{
    char dir[600];
    int n = 1, n_old = 0, n_new = 0, n_refused = 0;
    plan_lazy();
    const int log = open_log();
    umask(077);
    for (;; n++) {
        make_state(dir);
        if (!kill_restore(dir, n) || n > CALLS_MAX)
            break;
        const int64_t rows = count(dir);
        n_old += rows == OLD_ROWS;
        n_new += rows == NEW_ROWS;
        if (rows >= 0)
            continue;
        n_refused++;
        has_str(err_format(&why), "run: turncast restore FILE", "change %d: no host opens it", n);
        is_int(restore(dir), 0, "change %d: the restore is repeated", n);
        is_int(count(dir), NEW_ROWS, "change %d: the state is complete", n);
    }
    is_int(count(dir), NEW_ROWS, "a restore without a kill");
    is_int(n_old + n_new + n_refused, n - 1,
           "each kill leaves the old state, the new one, or one that is refused");
    ok(n_old > 0 && n_new > 0 && n_refused > 0, "killed before, behind (%d, %d) and during (%d) it",
       n_old, n_new, n_refused);
    close(log);
    return 0;
}
