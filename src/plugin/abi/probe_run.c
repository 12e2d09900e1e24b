/* SPDX-License-Identifier: MIT
 * Host side of the probe process: starts turncast-connector --probe once for several files and
 * collects its results. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/bytes/pack.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/loop/loop.h"
#include "io/process/libexec.h"
#include "plugin/abi/connector_program.h"
#include "plugin/abi/loader_file.h"
#include "plugin/abi/loader_internal.h"
#include "plugin/abi/probe_process.h"
#include "text/text_clean.h"

#define PROBE_MS 5000
#define END_MS 1000       /* time for a process to end on request */
#define STATUS_MAX 0xffff /* as from waitpid */

/* ---- start ---- */

struct probe_candidate {
    STAILQ_ENTRY(probe_candidate) next; /* in the probe */
    char *path;
    int file, in;       /* the checked file; pipe for the result; -1: none */
    int out;            /* other end of the pipe, until the process runs */
    struct buf message; /* received part of the result */
    bool has_length;    /* the length was removed */
    size_t length;
    struct probe_run *trial;
    struct loop_fd *watch; /* event of `in`; NULL: not watched, or complete */
    struct loaded_plugin *passed;
    struct tc_err err; /* error, otherwise */
    bool judged;
};

struct probe_run {
    STAILQ_HEAD(, probe_candidate) candidates;
    pid_t pid; /* 0: none */
    int64_t deadline_ms;
    /* watched */
    struct loop_timer *timer; /* timeout, then the wait for the process's exit */
    void (*done)(void *ctx);
    void *ctx;
    int end_ms; /* interval of checks for its exit; 0: not checked yet */
};

struct probe_run *probe_run_new(void)
{
    struct probe_run *const t = xcalloc(1, sizeof *t);
    STAILQ_INIT(&t->candidates);
    return t;
}

/* Moves a descriptor above the numbers that the child uses. */
static int probe_run_move_fd_above(int fd, int above)
{
    if (fd < 0 || fd >= above)
        return fd;
    const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, above);
    const int error = errno;
    close(fd);
    errno = error;
    return lifted;
}

static bool probe_run_is_open(const struct probe_candidate *p)
{
    return p->out >= 0;
}

static int add_files(posix_spawn_file_actions_t *files, struct probe_run *t, int n)
{
    int rc = 0, i = 0;
    struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next) {
        if (rc || !probe_run_is_open(p))
            continue;
        p->out = probe_run_move_fd_above(p->out, PROBE_OUT + 2 * n);
        p->file = probe_run_move_fd_above(p->file, PROBE_OUT + 2 * n);
        if (p->out < 0 || p->file < 0)
            return errno;
        rc = posix_spawn_file_actions_adddup2(files, p->out, PROBE_OUT + 2 * i);
        rc = rc ? rc : posix_spawn_file_actions_adddup2(files, p->file, PROBE_FILE + 2 * i++);
    }
    return rc;
}

/* Passes only the library path of the host's environment. An errno, or 0. */
static int probe_run_spawn(struct probe_run *t, const char *program, char *const *argv, int n)
{
    const char *const libraries = getenv("LD_LIBRARY_PATH");
    CLEANUP_FREE char *where = libraries ? xasprintf("LD_LIBRARY_PATH=%s", libraries) : NULL;
    char *const env[] = {where, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int rc = add_files(&files, t, n);
    rc = rc ? rc : libexec_spawn(&t->pid, program, &files, POSIX_SPAWN_SETSID, argv, env);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int probe_run_reject_file(struct probe_candidate *p, const char *why)
{
    p->judged = true;
    return err_set(&p->err, p->path, "cannot run the plugin loader process: %s", why);
}

static int probe_run_open_files(struct probe_candidate *p)
{
    int ends[2];
    p->file = loader_file_open(p->path, &p->err);
    if (p->file < 0) {
        p->judged = true;
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC) < 0) {
        struct tc_err err = {0};
        err_set_errno(&err, errno, NULL, "cannot create a pipe");
        return probe_run_reject_file(p, err.text);
    }
    p->in = ends[0];
    p->out = ends[1];
    return 0;
}

struct probe_candidate *probe_run_add_file(struct probe_run *t, const char *path)
{
    struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next)
        if (strcmp(p->path, path) == 0)
            return p;
    p = xmalloc(sizeof *p);
    *p = (struct probe_candidate){
        .trial = t, .path = xstrdup(path), .file = -1, .in = -1, .out = -1};
    probe_run_open_files(p);
    STAILQ_INSERT_TAIL(&t->candidates, p, next);
    return p;
}

/* Number of files that can be probed: argv is limited. */
static void probe_run_list_paths(const struct probe_run *t, char **argv)
{
    const struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next)
        if (probe_run_is_open(p))
            *argv++ = p->path;
}

static int probe_run_start_process(struct probe_run *t, int n, struct tc_err *err)
{
    CLEANUP_FREE char *program = libexec_find(CONNECTOR_PROGRAM, CONNECTOR_VARIABLE, NULL, err);
    CLEANUP_FREE char **argv = xcalloc((size_t)n + CONNECTOR_FIXED_ARGS + 1, sizeof *argv);
    char self[] = CONNECTOR_PROGRAM, what[] = CONNECTOR_PROBE, version[] = PACKAGE_VERSION;
    char host[32];
    if (!program)
        return -1;
    snprintf(host, sizeof host, "%ld", (long)getpid());
    memcpy(argv, (char *const[]){self, what, host, version}, CONNECTOR_FIXED_ARGS * sizeof *argv);
    probe_run_list_paths(t, argv + CONNECTOR_FIXED_ARGS);
    const int error = probe_run_spawn(t, program, argv, n);
    return error ? err_set_errno(err, error, NULL, "cannot fork") : 0;
}

void probe_run_execute(struct probe_run *t)
{
    struct tc_err err = {0};
    int n = 0;
    struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next)
        n += probe_run_is_open(p);
    const bool started = n == 0 || probe_run_start_process(t, n, &err) == 0;
    t->deadline_ms = clock_mono_ms() + PROBE_MS;
    STAILQ_FOREACH (p, &t->candidates, next) {
        if (!started && probe_run_is_open(p))
            probe_run_reject_file(p, err.text);
        cleanup_fd(&p->out);
        p->out = -1;
    }
}

/* ---- results ---- */

/* Sanitises the child's text. */
static void probe_run_set_text(struct tc_err *err, const char *path, struct str text)
{
    CLEANUP_BUF struct buf clean = {0};
    text_clean_append(&clean, text.p, text.len);
    for (size_t i = 0; i < clean.len; i++)
        if (clean.p[i] == '\n')
            clean.p[i] = ' ';
    err_set(err, path, "%s", clean.len ? clean.p : "cannot load");
}

static struct loaded_plugin *probe_run_decode_result(struct probe_candidate *p, struct str message,
                                                     struct tc_err *err)
{
    struct unpacker u;
    unpack_init(&u, message);
    const bool passed = unpack_flag(&u);
    const struct str told = unpack_bytes(&u);
    if (unpack_finish(&u) < 0 || !told.p) {
        err_set(err, p->path, "a constructor writes to a file descriptor of the host");
        return NULL;
    }
    if (!passed) {
        probe_run_set_text(err, p->path, told);
        return NULL;
    }
    const int file = p->file;
    p->file = -1;
    return loader_new_plugin(file, p->path, told, err);
}

static void probe_run_describe_exit(const struct probe_candidate *p, int status, struct tc_err *err)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        err_set(err, p->path,
                "loading crashes with signal %d (%s); the file is damaged or a constructor fails",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WIFEXITED(status) && WEXITSTATUS(status))
        err_set(err, p->path, "a constructor exits with status %d during loading",
                WEXITSTATUS(status));
    else
        err_set(err, p->path, "a constructor exits, or closes a file descriptor of the host");
}

/* `status`: exit of the process, if there is no message. */
static void probe_run_set_exit_error(struct probe_candidate *p, int status)
{
    p->judged = true;
    probe_run_describe_exit(p, status, &p->err);
}

static void probe_run_read_result(struct probe_candidate *p)
{
    p->judged = true;
    p->passed = probe_run_decode_result(p, (struct str){p->message.p, p->message.len}, &p->err);
}

static void probe_run_set_timeout_error(struct probe_candidate *p)
{
    p->judged = true;
    err_set(&p->err, p->path, "loading timed out after %d ms; a constructor did not return",
            PROBE_MS);
}

/* The first number is the length of a message, or the exit status instead of one. An invalid length
 * is treated as an empty message, which is no valid result. */
static void probe_run_read_length(struct probe_candidate *p)
{
    int64_t length;
    memcpy(&length, p->message.p, sizeof length);
    buf_reset(&p->message);
    p->has_length = true;
    if (length < 0 && length >= -1 - STATUS_MAX)
        probe_run_set_exit_error(p, (int)(-1 - length));
    else if (length <= 0 || length > (int64_t)DESCRIPTOR_MAX)
        probe_run_read_result(p);
    else
        p->length = (size_t)length;
}

/* Reads once, without blocking if there is data. */
static void probe_run_receive_result(struct probe_candidate *p)
{
    const size_t wanted = p->has_length ? p->length : sizeof(int64_t);
    const size_t missing = wanted - p->message.len;
    ssize_t n;
    do
        n = read(p->in, buf_reserve(&p->message, missing), missing);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        probe_run_set_exit_error(p, 0);
        return;
    }
    p->message.len += (size_t)n;
    if (p->message.len < wanted)
        return;
    if (p->has_length)
        probe_run_read_result(p);
    else
        probe_run_read_length(p);
}

/* Data received before the timeout counts. */
static void probe_run_wait_for_result(struct probe_candidate *p, int64_t deadline_ms)
{
    while (!p->judged) {
        const int64_t left_ms = deadline_ms - clock_mono_ms();
        struct pollfd fd = {.fd = p->in, .events = POLLIN};
        const int ready = poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0)
            probe_run_receive_result(p);
        else if (ready == 0)
            probe_run_set_timeout_error(p);
    }
}

struct loaded_plugin *probe_run_take_result(const struct probe_run *t, struct probe_candidate *p,
                                            struct tc_err *err)
{
    probe_run_wait_for_result(p, t->deadline_ms);
    if (p->passed)
        return loader_ref_plugin(p->passed);
    if (err)
        *err = p->err;
    return NULL;
}

/* ---- without blocking ---- */

static bool probe_run_has_all_results(const struct probe_run *t)
{
    const struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next)
        if (!p->judged)
            return false;
    return true;
}

/* False: the process still exists. */
static bool probe_run_reap_process(struct probe_run *t)
{
    pid_t pid = 0;
    if (!t->pid)
        return true;
    do
        pid = waitpid(t->pid, NULL, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid != 0)
        t->pid = 0;
    return pid != 0;
}

/* Asks the process to end, and checks at growing intervals whether it has, for at most END_MS. */
static void probe_run_end_watched(struct probe_run *t)
{
    if (!t->end_ms) {
        t->end_ms = 1;
        if (t->pid)
            kill(t->pid, SIGTERM);
    }
    if (!probe_run_reap_process(t) && t->end_ms < END_MS) {
        loop_timer_set(t->timer, t->end_ms);
        t->end_ms *= 2;
        return;
    }
    loop_timer_set(t->timer, -1);
    t->done(t->ctx);
}

static void probe_run_stop_watching(struct probe_candidate *p)
{
    loop_fd_free(p->watch);
    p->watch = NULL;
}

static void probe_run_on_readable(void *arg, unsigned ready)
{
    struct probe_candidate *const p = arg;
    (void)ready;
    probe_run_receive_result(p);
    if (!p->judged)
        return;
    probe_run_stop_watching(p);
    if (probe_run_has_all_results(p->trial))
        probe_run_end_watched(p->trial);
}

static void probe_run_on_timer(void *arg)
{
    struct probe_run *const t = arg;
    struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next)
        if (!p->judged) {
            probe_run_wait_for_result(p, 0); /* takes the available data */
            probe_run_stop_watching(p);
        }
    probe_run_end_watched(t);
}

void probe_run_watch(struct probe_run *t, struct loop *loop, void (*done)(void *ctx), void *ctx)
{
    t->done = done;
    t->ctx = ctx;
    t->timer = loop_timer_new(loop, probe_run_on_timer, t);
    struct probe_candidate *p;
    STAILQ_FOREACH (p, &t->candidates, next)
        if (!p->judged)
            p->watch = loop_fd_new(loop, p->in, LOOP_READ, probe_run_on_readable, p);
    const int64_t left_ms = t->deadline_ms - clock_mono_ms();
    loop_timer_set(t->timer, probe_run_has_all_results(t) || left_ms < 0 ? 0 : left_ms);
}

/* ---- end ---- */

/* The process exits on request; in the rare case that it does not, init reaps it. */
static void end_process(struct probe_run *t)
{
    if (t->pid)
        kill(t->pid, SIGTERM);
    for (int i = 0; i < END_MS && !probe_run_reap_process(t); i++)
        poll(NULL, 0, 1);
}

void probe_run_free(struct probe_run *t)
{
    if (!t)
        return;
    if (!t->end_ms)
        end_process(t);
    if (t->timer)
        loop_timer_free(t->timer);
    for (struct probe_candidate *p; (p = STAILQ_FIRST(&t->candidates));) {
        STAILQ_REMOVE_HEAD(&t->candidates, next);
        probe_run_stop_watching(p);
        cleanup_fd(&p->file);
        cleanup_fd(&p->in);
        buf_fini(&p->message);
        loader_unref_plugin(p->passed);
        free(p->path);
        free(p);
    }
    free(t);
}

struct loaded_plugin *loader_probe_file(const char *path, struct tc_err *err)
{
    struct probe_run *const t = probe_run_new();
    struct probe_candidate *const p = probe_run_add_file(t, path);
    probe_run_execute(t);
    struct loaded_plugin *const l = probe_run_take_result(t, p, err);
    probe_run_free(t);
    return l;
}
