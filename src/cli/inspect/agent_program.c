/* SPDX-License-Identifier: MIT
 * Resolves the name of a program, and runs it to print its version. */
#include "cli/inspect/agent_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/executable.h"
#include "text/text_clean.h"

#define VERSION_MS 10000
#define LINE_MAX_BYTES ((size_t)4096)

extern char **environ;

struct agent_version {
    pid_t pid; /* and its process group */
    int out;
    int64_t deadline_ms;
};

char *agent_program_find(const char *name)
{
    const char *const path = getenv("PATH");
    return executable_find(name, path ? path : "/usr/bin:/bin");
}

/* Starts the program in its own process group, so that it can be ended with its children. -1: it
 * cannot be started. */
static pid_t agent_program_start(char *const *argv, char *const *env, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    const int rc = posix_spawn(&pid, argv[0], &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 ? pid : -1;
}

/* Reads up to the end of the first line. */
static void agent_program_read_line(const struct agent_version *v, struct buf *line)
{
    char piece[512];
    for (int64_t left; (left = v->deadline_ms - clock_mono_ms()) > 0;) {
        struct pollfd fd = {.fd = v->out, .events = POLLIN};
        const ssize_t n = poll(&fd, 1, (int)left) > 0 ? read(v->out, piece, sizeof piece) : 0;
        if (n <= 0)
            return;
        buf_add(line, piece, (size_t)n);
        if (memchr(line->p, '\n', line->len) || line->len > LINE_MAX_BYTES)
            return;
    }
}

struct agent_version *agent_program_ask_version(const char *file)
{
    char option[] = "--version";
    char *const argv[] = {(char *)(uintptr_t)file, option, NULL};
    return agent_program_query_version(argv, environ);
}

struct agent_version *agent_program_query_version(char *const *argv, char *const *env)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    const pid_t pid = agent_program_start(argv, env, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return NULL;
    }
    struct agent_version *const v = xmalloc(sizeof *v);
    *v = (struct agent_version){pid, ends[0], clock_mono_ms() + VERSION_MS};
    return v;
}

char *agent_program_read_version(struct agent_version *v)
{
    CLEANUP_BUF struct buf line = {0};
    struct buf clean = {0};
    if (!v)
        return NULL;
    agent_program_read_line(v, &line);
    close(v->out);
    kill(-v->pid, SIGKILL);
    while (waitpid(v->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(v);
    const size_t len = line.len ? strcspn(line.p, "\r\n") : 0;
    if (!len)
        return NULL;
    text_clean_append(&clean, line.p, len);
    return buf_steal(&clean);
}
