/* SPDX-License-Identifier: MIT
 * Owns the child between fork and exec. What fails is told through a pipe that a successful exec
 * closes, with the errno and the step, not by an exit status. */
#include "io/shim_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
/* The kernel's out-of-memory killer takes the agent before its host. */
#define OOM_SCORE "200"

__attribute__((__noreturn__)) static void fail(int report_fd, enum shim_step step)
{
    const struct shim_report r = {SHIM_FAILED, step, errno};
    if (write(report_fd, &r, sizeof r) < 0)
        _exit(126);
    _exit(127);
}

/* By system call: the C library keeps 32 and 33 for itself and would leave them as they are. */
static void set_default_signals(void)
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
static void mark_each(void)
{
    long max = sysconf(_SC_OPEN_MAX);
    if (max < 0 || max > 65536)
        max = 65536;
    for (int fd = 3; fd < max; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* What the shim is not, the agent is, and the other way round: its files in /proc are its own. */
static void set_oom_score(void)
{
    prctl(PR_SET_DUMPABLE, 1);
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, OOM_SCORE, sizeof OOM_SCORE - 1) < 0)
        errno = 0; /* a filter may forbid it: nothing is lost */
    close(fd);
}

static const char *next_candidate(char out[PATH_MAX], const char *path, const char *program)
{
    const size_t len = strcspn(path, ":");
    const int n = snprintf(out, PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? path : ".", program);
    if (n >= PATH_MAX)
        out[0] = '\0'; /* is not there */
    return path[len] ? path + len + 1 : NULL;
}

/* exec says "No such file" of a script that is there, too. */
static enum shim_step step_of(const char *path)
{
    return errno == ENOENT && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? SHIM_INTERPRETER
                                                                               : SHIM_EXEC;
}

static enum shim_step run_file(const char *file, char **argv)
{
    execv(file, argv);
    const int error = errno;
    const enum shim_step step = step_of(file);
    errno = error;
    return step;
}

/* As execvp does: a candidate that is not there is passed over, one that may not be run is
 * remembered, everything else ends the search. ENOEXEC is an error: no shell guesses here. */
static enum shim_step run(char **argv)
{
    if (strchr(argv[0], '/') || !*argv[0])
        return run_file(argv[0], argv);
    const char *const set = getenv("PATH");
    int error = ENOENT;
    char file[PATH_MAX];
    for (const char *path = set ? set : DEFAULT_PATH; path;) {
        path = next_candidate(file, path, argv[0]);
        const enum shim_step step = run_file(file, argv);
        if (step != SHIM_EXEC || (errno != EACCES && errno != ENOENT && errno != ENOTDIR))
            return step;
        if (errno == EACCES)
            error = EACCES;
    }
    errno = error;
    return SHIM_EXEC;
}

__attribute__((__noreturn__)) static void become(const struct shim_agent *a, pid_t shim,
                                                 int report_fd)
{
    setpgid(0, 0);
    umask(077);
    set_oom_score();
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        mark_each();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != shim)
        _exit(126); /* it died before the line above */
    if (a->cwd && chdir(a->cwd) < 0)
        fail(report_fd, SHIM_CWD);
    set_default_signals();
    fail(report_fd, run(a->argv));
}

pid_t shim_agent_start(const struct shim_agent *a, struct shim_report *report)
{
    int ends[2];
    *report = (struct shim_report){SHIM_FAILED, SHIM_FORK, 0};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        report->value = errno;
        return -1;
    }
    const pid_t shim = getpid(), pid = fork();
    if (pid == 0)
        become(a, shim, ends[1]);
    report->value = errno;
    close(ends[1]);
    if (pid > 0 && read(ends[0], report, sizeof *report) == 0)
        report->kind = SHIM_STARTED;
    close(ends[0]);
    if (report->kind == SHIM_STARTED)
        return pid;
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return -1;
}
