/* SPDX-License-Identifier: MIT
 * Owns the child between vfork and exec.
 *
 * vfork and not fork: a fork copies the page tables of the whole host, 15 ms for a gigabyte in
 * which no turn moves. And not posix_spawn: it cannot set PR_SET_PDEATHSIG. The child runs on our
 * stack while this thread waits, so what it does is limited to system calls: nothing allocates,
 * locks, or touches errno's owner but through plain reads, and every signal stays blocked until
 * no handler of ours is left that could run in it. What fails is told through a pipe that a
 * successful exec closes, with the errno and the step, not by an exit status. */
#include "io/process_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
/* The kernel's out-of-memory killer takes the agent before its host. */
#define OOM_SCORE "200"

enum step { STEP_DESCRIPTORS, STEP_CWD, STEP_EXEC };

struct report {
    enum step step;
    int error;
};

/* All the child needs, made before vfork. */
struct plan {
    const char *const *argv;
    const char *const *env;
    const char *cwd;
    char **paths; /* candidates for the program, NULL-terminated, owned */
    const int *stdio;
    int report_fd;
    pid_t host;
};

static const char *path_of(const char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return DEFAULT_PATH;
}

/* What execvpe would try, by the child's own PATH. */
static char **candidates(const char *program, const char *path)
{
    size_t n = 2;
    for (const char *p = path; *p; p++)
        n += *p == ':';
    char **const list = xcalloc(n + 1, sizeof *list);
    if (strchr(program, '/') || !*program) {
        list[0] = xstrdup(program);
        return list;
    }
    for (size_t i = 0; i < n - 1; i++) {
        const size_t len = strcspn(path, ":");
        list[i] = len ? xasprintf("%.*s/%s", (int)len, path, program) : xasprintf("./%s", program);
        path += len + (path[len] == ':');
    }
    return list;
}

static void free_candidates(char **list)
{
    for (char **p = list; *p; p++)
        free(*p);
    free(list);
}

/* --- in the child: system calls only ------------------------------------------------------ */

__attribute__((__noreturn__)) static void child_fail(const struct plan *plan, enum step step)
{
    const struct report r = {step, errno};
    if (write(plan->report_fd, &r, sizeof r) < 0)
        _exit(126);
    _exit(127);
}

/* By system call: the C library keeps 32 and 33 for itself and would leave them as they are. */
static void child_default_signals(void)
{
    const struct {
        uint64_t handler, flags, restorer, mask;
    } dfl = {0}; /* SIG_DFL, as the kernel lays it out */
    for (int signo = 1; signo <= 64; signo++)
        syscall(SYS_rt_sigaction, signo, &dfl, NULL, sizeof dfl.mask);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Kernels before 5.11, or a filter: one by one. */
static void child_mark_each(void)
{
    long max = sysconf(_SC_OPEN_MAX);
    if (max < 0 || max > 65536)
        max = 65536;
    for (int fd = 3; fd < max; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int child_descriptors(const struct plan *plan)
{
    for (int i = 0; i < 3; i++)
        if (dup2(plan->stdio[i], i) < 0)
            return -1;
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        child_mark_each();
    return 0;
}

static void child_oom_score(void)
{
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, OOM_SCORE, sizeof OOM_SCORE - 1) < 0)
        errno = 0; /* a filter may forbid it: nothing is lost */
    close(fd);
}

/* As execvp does: a candidate that is not there is passed over, one that may not be run is
 * remembered, everything else ends the search. ENOEXEC is an error: no shell guesses here. */
static void child_exec(const struct plan *plan)
{
    int error = ENOENT;
    for (char *const *path = plan->paths; *path; path++) {
        execve(*path, (char *const *)(uintptr_t)plan->argv, (char *const *)(uintptr_t)plan->env);
        if (errno == EACCES)
            error = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR)
            return;
    }
    errno = error;
}

__attribute__((__noreturn__, __noinline__)) static void child_run(const struct plan *plan)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != plan->host)
        _exit(126); /* the host died before the line above */
    umask(077);
    child_oom_score();
    if (child_descriptors(plan) < 0)
        child_fail(plan, STEP_DESCRIPTORS);
    if (plan->cwd && chdir(plan->cwd) < 0)
        child_fail(plan, STEP_CWD);
    child_default_signals();
    child_exec(plan);
    child_fail(plan, STEP_EXEC);
}

/* --- in the host ---------------------------------------------------------------------------- */

static pid_t start(const struct plan *plan)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const pid_t pid = vfork();
    if (pid == 0)
        child_run(plan);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return pid;
}

/* exec says "No such file" of a script that is there, too. A relative path means another file
 * here than in the child's directory. */
static bool is_interpreter_missing(const struct plan *plan, const struct report *r)
{
    if (r->error != ENOENT)
        return false;
    for (char *const *path = plan->paths; *path; path++)
        if ((!plan->cwd || **path == '/') && faccessat(AT_FDCWD, *path, X_OK, AT_EACCESS) == 0)
            return true;
    return false;
}

static int explain(const struct plan *plan, const struct report *r, struct tc_err *err)
{
    const char *const command = plan->argv[0];
    switch (r->step) {
    case STEP_DESCRIPTORS:
        return err_sys(err, r->error, command, "its standard descriptors cannot be set");
    case STEP_CWD:
        return err_sys(err, r->error, command, "its working directory %s cannot be entered",
                       plan->cwd);
    case STEP_EXEC:
        break;
    }
    if (is_interpreter_missing(plan, r))
        return err_sys(err, r->error, command, "the interpreter it names cannot be run");
    return err_sys(err, r->error, command, "cannot be run");
}

pid_t process_exec(const struct process_spec *spec, const int stdio[3], struct tc_err *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return err_sys(err, errno, spec->argv[0], "no pipe");
    CLEANUP_FD const int report_in = report[0];
    const struct plan plan = {
        .argv = spec->argv,
        .env = spec->env,
        .cwd = spec->cwd,
        .paths = candidates(spec->argv[0], path_of(spec->env)),
        .stdio = stdio,
        .report_fd = report[1],
        .host = getpid(),
    };
    pid_t pid = start(&plan);
    const int error = errno;
    close(report[1]);
    struct report r;
    if (pid < 0) {
        err_sys(err, error, spec->argv[0], "no process");
    } else if (read(report_in, &r, sizeof r) == sizeof r) {
        waitpid(pid, NULL, 0);
        pid = explain(&plan, &r, err);
    }
    free_candidates(plan.paths);
    return pid;
}
