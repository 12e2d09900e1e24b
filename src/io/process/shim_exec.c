/* SPDX-License-Identifier: MIT
 * The child between fork and exec. Reports a failing step with its errno through a pipe that a
 * successful exec closes, not by an exit status. */
#include "io/process/shim_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/process/cgroup.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
/* Makes the kernel's out-of-memory killer prefer the agent to the host. */
#define OOM_SCORE "200"
#define CPU_GRACE_S 5

__attribute__((__noreturn__)) static void shim_exec_report_failure(int report_fd,
                                                                   enum shim_step step)
{
    const struct shim_report r = {SHIM_FAILED, step, errno};
    if (write(report_fd, &r, sizeof r) < 0)
        _exit(126);
    _exit(127);
}

/* Uses the system call, because the C library reserves signals 32 and 33 and would leave them
 * unchanged. */
static void set_default_signals(void)
{
    const struct {
        uint64_t handler, flags, restorer, mask;
    } dfl = {0}; /* SIG_DFL, in the kernel's layout */
    for (int signo = 1; signo <= 64; signo++)
        syscall(SYS_rt_sigaction, signo, &dfl, NULL, sizeof dfl.mask);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* For kernels before 5.11, or a filter: one by one. */
static void shim_exec_mark_each_cloexec(void)
{
    long max = sysconf(_SC_OPEN_MAX);
    if (max < 0 || max > 65536)
        max = 65536;
    for (int fd = 3; fd < max; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* The agent is dumpable although the shim is not, because its files in /proc must belong to it. */
static void set_oom_score(void)
{
    prctl(PR_SET_DUMPABLE, 1);
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, OOM_SCORE, sizeof OOM_SCORE - 1) < 0)
        errno = 0; /* a filter may forbid it, which is harmless */
    close(fd);
}

static const char *shim_exec_next_candidate(char out[PATH_MAX], const char *path,
                                            const char *program)
{
    const size_t len = strcspn(path, ":");
    const int n = snprintf(out, PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? path : ".", program);
    if (n >= PATH_MAX)
        out[0] = '\0'; /* does not exist */
    return path[len] ? path + len + 1 : NULL;
}

/* exec also reports "No such file" for a script with a missing interpreter. */
static enum shim_step shim_exec_failed_step(const char *path)
{
    return errno == ENOENT && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? SHIM_INTERPRETER
                                                                               : SHIM_EXEC;
}

static enum shim_step shim_exec_run_file(const char *file, char **argv)
{
    execv(file, argv);
    const int error = errno;
    const enum shim_step step = shim_exec_failed_step(file);
    errno = error;
    return step;
}

/* Searches like execvp: skips missing candidates, remembers one without permission, stops at any
 * other error. ENOEXEC is an error: no shell is tried. */
static enum shim_step shim_exec_search_path(char **argv)
{
    if (strchr(argv[0], '/') || !*argv[0])
        return shim_exec_run_file(argv[0], argv);
    const char *const set = getenv("PATH");
    int error = ENOENT;
    char file[PATH_MAX];
    for (const char *path = set ? set : DEFAULT_PATH; path;) {
        path = shim_exec_next_candidate(file, path, argv[0]);
        const enum shim_step step = shim_exec_run_file(file, argv);
        if (step != SHIM_EXEC || (errno != EACCES && errno != ENOENT && errno != ENOTDIR))
            return step;
        if (errno == EACCES)
            error = EACCES;
    }
    errno = error;
    return SHIM_EXEC;
}

/* The numbers of "A:B:C"; -1: invalid, or too many. */
static int read_numbers(const char *text, unsigned long *out, size_t max)
{
    size_t n = 0;
    for (char *end; n < max; text = end + 1) {
        out[n++] = strtoul(text, &end, 10);
        if (*end == '\0' && end > text)
            return (int)n;
        if (*end != ':' || end == text)
            break;
    }
    errno = EINVAL;
    return -1;
}

/* Never above the current limit, which only root could raise. */
static int set_limit(int resource, rlim_t limit)
{
    struct rlimit old;
    if (getrlimit(resource, &old) < 0)
        return -1;
    rlim_t hard = limit;
    if (resource == RLIMIT_CPU)
        hard += CPU_GRACE_S; /* the soft limit causes SIGXCPU, which the agent may report */
    const struct rlimit new = {.rlim_cur = limit < old.rlim_max ? limit : old.rlim_max,
                               .rlim_max = hard < old.rlim_max ? hard : old.rlim_max};
    return setrlimit(resource, &new);
}

/* The host has raised its own limit. */
static int set_files(const char *text)
{
    unsigned long files;
    struct rlimit limit;
    if (read_numbers(text, &files, 1) < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -1;
    if (files < limit.rlim_cur)
        limit.rlim_cur = files;
    return setrlimit(RLIMIT_NOFILE, &limit);
}

static int shim_exec_set_limits(const char *text)
{
    unsigned long pairs[2 * RLIM_NLIMITS];
    const int n = read_numbers(text, pairs, 2 * RLIM_NLIMITS);
    for (int i = 0; i + 1 < n; i += 2)
        if (set_limit((int)pairs[i], pairs[i + 1]) < 0)
            return -1;
    return n < 0 ? -1 : 0;
}

static int shim_exec_set_user(const char *text)
{
    unsigned long ids[2 + SHIM_MAX_GROUPS];
    gid_t groups[SHIM_MAX_GROUPS];
    const int n = read_numbers(text, ids, 2 + SHIM_MAX_GROUPS);
    if (n < 2)
        return -1;
    for (int i = 2; i < n; i++)
        groups[i - 2] = (gid_t)ids[i];
    if (setgroups((size_t)n - 2, groups) < 0 ||
        setresgid((gid_t)ids[1], (gid_t)ids[1], (gid_t)ids[1]) < 0)
        return -1;
    return setresuid((uid_t)ids[0], (uid_t)ids[0], (uid_t)ids[0]);
}

__attribute__((__noreturn__)) static void shim_exec_become_agent(const struct shim_exec_spec *a,
                                                                 pid_t shim, int report_fd)
{
    setpgid(0, 0);
    umask(077);
    set_oom_score();
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        shim_exec_mark_each_cloexec();
    if (a->cgroup)
        cgroup_attach_self(a->cgroup); /* works without it, too */
    if ((a->files && set_files(a->files) < 0) || (a->limits && shim_exec_set_limits(a->limits) < 0))
        shim_exec_report_failure(report_fd, SHIM_LIMITS);
    if (a->user && shim_exec_set_user(a->user) < 0)
        shim_exec_report_failure(report_fd, SHIM_USER);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* reset by the change of the user id */
    if (getppid() != shim)
        _exit(126); /* the parent died before the previous line */
    if (a->cwd && chdir(a->cwd) < 0)
        shim_exec_report_failure(report_fd, SHIM_CWD);
    set_default_signals();
    shim_exec_report_failure(report_fd, shim_exec_search_path(a->argv));
}

pid_t shim_exec_agent(const struct shim_exec_spec *a, struct shim_report *failure)
{
    int ends[2];
    *failure = (struct shim_report){SHIM_FAILED, SHIM_FORK, 0};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        failure->value = errno;
        return -1;
    }
    const pid_t shim = getpid(), pid = fork();
    if (pid == 0)
        shim_exec_become_agent(a, shim, ends[1]);
    failure->value = errno;
    close(ends[1]);
    const bool runs = pid > 0 && read(ends[0], failure, sizeof *failure) == 0;
    close(ends[0]);
    if (runs)
        return pid;
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return -1;
}
