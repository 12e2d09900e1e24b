/* SPDX-License-Identifier: MIT
 * Owns the trial of files from the host's side: the start of the process in which they are loaded
 * for the first time (probe.h), and its verdicts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/pack.h"
#include "io/libexec.h"
#include "plugin/connector.h"
#include "plugin/loader_file.h"
#include "plugin/loader_parts.h"
#include "plugin/probe.h"
#include "text/clean.h"

#define PROBE_MS 5000
#define STATUS_MAX 0xffff /* as waitpid tells it */

/* ---- its start ---- */

struct loader_probe {
    struct loader_probe *next; /* in the trial */
    char *path;
    int file, in; /* the file that was checked; where the verdict comes from; -1: none */
    int out;      /* the other end, until the process runs */
    struct loaded *passed;
    struct tc_err err; /* when it did not */
    bool judged;
};

struct loader_trial {
    struct loader_probe *first, **end;
    pid_t pid; /* 0: there is none */
    int64_t deadline_ms;
};

struct loader_trial *loader_trial_new(void)
{
    struct loader_trial *const t = xcalloc(1, sizeof *t);
    t->end = &t->first;
    return t;
}

/* Out of the way of the numbers that the child gets. */
static int lift(int fd, int above)
{
    if (fd < 0 || fd >= above)
        return fd;
    const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, above);
    const int error = errno;
    close(fd);
    errno = error;
    return lifted;
}

static bool is_open(const struct loader_probe *p)
{
    return p->out >= 0;
}

static int add_files(posix_spawn_file_actions_t *files, struct loader_trial *t, int n)
{
    int rc = 0, i = 0;
    for (struct loader_probe *p = t->first; p && !rc; p = p->next) {
        if (!is_open(p))
            continue;
        p->out = lift(p->out, PROBE_OUT + 2 * n);
        p->file = lift(p->file, PROBE_OUT + 2 * n);
        if (p->out < 0 || p->file < 0)
            return errno;
        rc = posix_spawn_file_actions_adddup2(files, p->out, PROBE_OUT + 2 * i);
        rc = rc ? rc : posix_spawn_file_actions_adddup2(files, p->file, PROBE_FILE + 2 * i++);
    }
    return rc;
}

static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
}

/* Nothing of the host's environment, but where its libraries are. An errno, or 0. */
static int spawn(struct loader_trial *t, const char *program, char *const *argv, int n)
{
    const char *const libraries = getenv("LD_LIBRARY_PATH");
    CLEANUP_FREE char *where = libraries ? xasprintf("LD_LIBRARY_PATH=%s", libraries) : NULL;
    char *const env[] = {where, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    int rc = add_files(&files, t, n);
    rc = rc ? rc : set_attributes(&attr);
    rc = rc ? rc : posix_spawn(&t->pid, program, &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int refuse(struct loader_probe *p, const char *why)
{
    p->judged = true;
    return err_set(&p->err, p->path, "cannot be tried: %s", why);
}

static int open_files(struct loader_probe *p)
{
    int ends[2];
    p->file = loader_file_open(p->path, &p->err);
    if (p->file < 0) {
        p->judged = true;
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC) < 0) {
        struct tc_err err = {0};
        err_sys(&err, errno, NULL, "no pipe");
        return refuse(p, err.text);
    }
    p->in = ends[0];
    p->out = ends[1];
    return 0;
}

struct loader_probe *loader_probe_begin(struct loader_trial *t, const char *path)
{
    struct loader_probe *p = t->first;
    while (p && strcmp(p->path, path) != 0)
        p = p->next;
    if (!p) {
        p = xmalloc(sizeof *p);
        *p = (struct loader_probe){.path = xstrdup(path), .file = -1, .in = -1, .out = -1};
        open_files(p);
        *t->end = p;
        t->end = &p->next;
    }
    return p;
}

/* Those that can be tried: argv is for so many. */
static void name_files(const struct loader_trial *t, char **argv)
{
    for (const struct loader_probe *p = t->first; p; p = p->next)
        if (is_open(p))
            *argv++ = p->path;
}

static int start(struct loader_trial *t, int n, struct tc_err *err)
{
    CLEANUP_FREE char *program = libexec_find(CONNECTOR_PROGRAM, CONNECTOR_VARIABLE, NULL, err);
    CLEANUP_FREE char **argv = xcalloc((size_t)n + CONNECTOR_WORDS + 1, sizeof *argv);
    char self[] = CONNECTOR_PROGRAM, what[] = CONNECTOR_PROBE, version[] = PACKAGE_VERSION;
    char host[32];
    if (!program)
        return -1;
    snprintf(host, sizeof host, "%ld", (long)getpid());
    memcpy(argv, (char *const[]){self, what, host, version}, CONNECTOR_WORDS * sizeof *argv);
    name_files(t, argv + CONNECTOR_WORDS);
    const int error = spawn(t, program, argv, n);
    return error ? err_sys(err, error, NULL, "no process") : 0;
}

void loader_trial_run(struct loader_trial *t)
{
    struct tc_err err = {0};
    int n = 0;
    for (const struct loader_probe *p = t->first; p; p = p->next)
        n += is_open(p);
    const bool started = n == 0 || start(t, n, &err) == 0;
    t->deadline_ms = clock_mono_ms() + PROBE_MS;
    for (struct loader_probe *p = t->first; p; p = p->next) {
        if (!started && is_open(p))
            refuse(p, err.text);
        cleanup_fd(&p->out);
        p->out = -1;
    }
}

/* ---- its verdict ---- */

/* 1: there are so many now; 0: the other end is closed; -1: it takes too long. */
static int fill(const struct loader_probe *p, int64_t deadline_ms, struct buf *in, size_t wanted)
{
    while (in->len < wanted) {
        const int64_t left_ms = deadline_ms - clock_mono_ms();
        struct pollfd fd = {.fd = p->in, .events = POLLIN};
        const int ready = poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0); /* what is there counts */
        if (ready == 0)
            return -1;
        if (ready < 0)
            continue;
        const ssize_t n = read(p->in, buf_reserve(in, wanted - in->len), wanted - in->len);
        if (n <= 0)
            return 0;
        in->len += (size_t)n;
    }
    return 1;
}

/* As fill; the message is then without its length. 0: *status says how the process ended. A length
 * that none can have: as if it were empty, which no verdict is. */
static int read_message(const struct loader_probe *p, int64_t deadline_ms, struct buf *in,
                        int *status)
{
    int64_t length;
    const int rc = fill(p, deadline_ms, in, sizeof length);
    if (rc <= 0)
        return rc;
    memcpy(&length, in->p, sizeof length);
    buf_reset(in);
    if (length < 0 && length >= -1 - STATUS_MAX) {
        *status = (int)(-1 - length);
        return 0;
    }
    return length > 0 && length <= (int64_t)DESCRIPTOR_MAX
               ? fill(p, deadline_ms, in, (size_t)length)
               : 1;
}

/* The child's text may be anything. */
static void set_text(struct tc_err *err, const char *path, struct str text)
{
    CLEANUP_BUF struct buf clean = {0};
    clean_text(&clean, text.p, text.len);
    for (size_t i = 0; i < clean.len; i++)
        if (clean.p[i] == '\n')
            clean.p[i] = ' ';
    err_set(err, path, "%s", clean.len ? clean.p : "cannot be loaded");
}

static struct loaded *judge(struct loader_probe *p, struct str message, struct tc_err *err)
{
    struct unpack u;
    unpack_start(&u, message);
    const bool passed = unpack_flag(&u);
    const struct str told = unpack_bytes(&u);
    if (unpack_finish(&u) < 0 || !told.p) {
        err_set(err, p->path, "writes to descriptors that are not its own as it is loaded");
        return NULL;
    }
    if (!passed) {
        set_text(err, p->path, told);
        return NULL;
    }
    const int file = p->file;
    p->file = -1;
    return loader_new(file, p->path, told, err);
}

static void blame_end(const struct loader_probe *p, int status, struct tc_err *err)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        err_set(err, p->path, "is damaged: loading it ends the process by signal %d (%s)",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WIFEXITED(status) && WEXITSTATUS(status))
        err_set(err, p->path, "ends the process that loads it, with status %d",
                WEXITSTATUS(status));
    else
        err_set(err, p->path, "ends the process that loads it, or closes what is not its own");
}

static void await(struct loader_probe *p, int64_t deadline_ms)
{
    CLEANUP_BUF struct buf in = {0};
    int status = 0;
    const int rc = read_message(p, deadline_ms, &in, &status);
    p->judged = true;
    if (rc > 0)
        p->passed = judge(p, (struct str){in.p, in.len}, &p->err);
    else if (rc < 0)
        err_set(&p->err, p->path, "does not come back from being loaded");
    else
        blame_end(p, status, &p->err);
}

struct loaded *loader_probe_finish(const struct loader_trial *t, struct loader_probe *p,
                                   struct tc_err *err)
{
    if (!p->judged)
        await(p, t->deadline_ms);
    if (p->passed)
        return loader_ref(p->passed);
    if (err)
        *err = p->err;
    return NULL;
}

void loader_trial_free(struct loader_trial *t)
{
    if (t->pid) {
        kill(t->pid, SIGTERM);
        while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    for (struct loader_probe *p = t->first, *next; p; p = next) {
        next = p->next;
        cleanup_fd(&p->file);
        cleanup_fd(&p->in);
        loader_free(p->passed);
        free(p->path);
        free(p);
    }
    free(t);
}

struct loaded *loader_describe(const char *path, struct tc_err *err)
{
    struct loader_trial *const t = loader_trial_new();
    struct loader_probe *const p = loader_probe_begin(t, path);
    loader_trial_run(t);
    struct loaded *const l = loader_probe_finish(t, p, err);
    loader_trial_free(t);
    return l;
}
