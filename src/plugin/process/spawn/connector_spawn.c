/* SPDX-License-Identifier: MIT
 * Starts and ends an instance's process with system calls. */
#include "plugin/process/spawn/connector_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "io/process/libexec.h"
#include "io/process/process_tree.h"
#include "plugin/abi/connector_program.h"
#include "plugin/child/child.h"

extern char **environ;

#define ENV_MAX 32
#define LIFTED 16 /* first descriptor above the child's fixed numbers */

/* Environment variables used by libraries: language, time zone, sanitizer options. No others of the
 * host reach an instance. */
static size_t connector_spawn_select_env(char **env, size_t max)
{
    static const char *const fronts[] = {
        "LANG=",          "LC_",           "TZ=",           "ASAN_OPTIONS=",
        "UBSAN_OPTIONS=", "TSAN_OPTIONS=", "LSAN_OPTIONS=", "MALLOC_"};
    size_t n = 0;
    for (char **e = environ; *e && n < max - 1; e++)
        for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
            if (strncmp(*e, fronts[i], strlen(fronts[i])) == 0) {
                env[n++] = *e;
                break;
            }
    env[n] = NULL;
    return n;
}

/* Copying a descriptor onto itself keeps its close-on-exec flag; so all are first copied to numbers
 * above the fixed ones. */
static int connector_spawn_place_files(posix_spawn_file_actions_t *files,
                                       const int from[CHILD_FILES])
{
    int rc = 0;
    for (int i = 0; i < CHILD_FILES && !rc; i++)
        rc = posix_spawn_file_actions_adddup2(files, from[i], i);
    return rc ? rc : posix_spawn_file_actions_addclosefrom_np(files, CHILD_FILES);
}

/* An errno, or 0. */
static int connector_spawn_exec(struct connector_child *s, const char *program, const char *name,
                                const int files[CHILD_FILES])
{
    char *env[ENV_MAX], self[] = CONNECTOR_PROGRAM, host[32], version[] = PACKAGE_VERSION;
    CLEANUP_FREE char *instance = xstrdup(name);
    char *const argv[] = {self, instance, host, version, NULL};
    posix_spawn_file_actions_t actions;
    snprintf(host, sizeof host, "%ld", (long)getpid());
    connector_spawn_select_env(env, ENV_MAX);
    posix_spawn_file_actions_init(&actions);
    int rc = connector_spawn_place_files(&actions, files);
    rc = rc ? rc : libexec_spawn(&s->pid, program, &actions, POSIX_SPAWN_SETPGROUP, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Copies to a number above the fixed ones. */
static int connector_spawn_move_fd_up(int fd)
{
    const int lifted = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, LIFTED) : -1;
    const int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return lifted;
}

static void connector_spawn_close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* The two ends of a connection: `mine` is non-blocking, `theirs` is moved to a high number. */
struct line_ends {
    int mine, theirs;
};

static int open_pipe(struct line_ends *to)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *to = (struct line_ends){ends[0], connector_spawn_move_fd_up(ends[1])};
    fcntl(to->mine, F_SETFL, O_NONBLOCK);
    return to->theirs < 0 ? -1 : 0;
}

static int connector_spawn_open_socket(struct line_ends *to)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    *to = (struct line_ends){ends[0], connector_spawn_move_fd_up(ends[1])};
    fcntl(to->mine, F_SETFL, O_NONBLOCK);
    return to->theirs < 0 ? -1 : 0;
}

/* An errno, or 0. */
static int connector_spawn_prepare(struct connector_child *s, const char *program, const char *name,
                                   const int shared[2], const int theirs[3])
{
    const int null = connector_spawn_move_fd_up(open("/dev/null", O_RDWR | O_CLOEXEC));
    const int status = fcntl(shared[0], F_DUPFD_CLOEXEC, LIFTED);
    const int plugin = fcntl(shared[1], F_DUPFD_CLOEXEC, LIFTED);
    const int mine[] = {null, status, plugin};
    const bool complete = null >= 0 && status >= 0 && plugin >= 0;
    const int files[CHILD_FILES] = {
        null, theirs[2] < 0 ? theirs[1] : theirs[2], theirs[1], theirs[0], status, plugin};
    const int rc = complete ? connector_spawn_exec(s, program, name, files) : errno;
    connector_spawn_close_all(mine, sizeof mine / sizeof *mine);
    return rc;
}

int connector_spawn_start(struct connector_child *s, const char *name, int status_fd, int plugin_fd,
                          bool prints, struct tc_err *err)
{
    struct line_ends socket = {-1, -1}, output = {-1, -1}, printed = {-1, -1};
    CLEANUP_FREE char *program = libexec_find(CONNECTOR_PROGRAM, CONNECTOR_VARIABLE, NULL, err);
    if (!program)
        return -1;
    int rc = 0;
    if (connector_spawn_open_socket(&socket) < 0 || open_pipe(&output) < 0 ||
        (prints && open_pipe(&printed) < 0))
        rc = errno;
    const int theirs[] = {socket.theirs, output.theirs, printed.theirs};
    const int mine[] = {socket.mine, output.mine, printed.mine};
    *s = (struct connector_child){.socket = mine[0], .output = mine[1], .printed = mine[2]};
    rc =
        rc ? rc
           : connector_spawn_prepare(s, program, name, (const int[]){status_fd, plugin_fd}, theirs);
    connector_spawn_close_all(theirs, sizeof theirs / sizeof *theirs);
    if (!rc)
        return 0;
    connector_spawn_close_all(mine, sizeof mine / sizeof *mine);
    return err_set_errno(err, rc, NULL, "cannot start a process for instance %s", name);
}

bool connector_spawn_has_exited(const struct connector_child *s)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

static int64_t connector_spawn_timeval_ms(struct timeval t)
{
    return t.tv_sec * 1000 + t.tv_usec / 1000;
}

void connector_spawn_kill(struct connector_child *s)
{
    kill(-s->pid, SIGKILL); /* its child processes must not outlive it */
    kill(s->pid, SIGKILL);
    kill(-s->pid, SIGKILL); /* child processes in its group */
    close(s->socket);
    close(s->output);
    s->socket = s->output = -1;
}

bool connector_spawn_reap(struct connector_child *s, struct connector_exit_info *end)
{
    struct rusage usage = {0};
    int status = 0;
    pid_t pid;
    do
        pid = wait4(s->pid, &status, WNOHANG, &usage);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    *end = (struct connector_exit_info){
        .by_signal = WIFSIGNALED(status),
        .code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
        .cpu_ms =
            connector_spawn_timeval_ms(usage.ru_utime) + connector_spawn_timeval_ms(usage.ru_stime),
    };
    return true;
}

int64_t connector_spawn_rss_bytes(const struct connector_child *s)
{
    const int64_t rss = process_tree_read_rss(s->pid);
    return rss > 0 ? rss : 0;
}

int64_t connector_spawn_peak_bytes(const struct connector_child *s)
{
    char path[64], line[128];
    long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)s->pid);
    FILE *const f = fopen(path, "re");
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1)
            break;
    fclose(f);
    return kib << 10;
}
