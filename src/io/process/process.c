/* SPDX-License-Identifier: MIT
 * A child process: its pipes, its shim, and the detection of its end. */
#include "io/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "io/process/cgroup.h"
#include "io/process/process_tree.h"
#include "io/process/shim_launch.h"

/* Large, because several agents lose unwritten output when they exit. */
#define OUT_PIPE_SIZE (1 << 20)
#define BURST_MS 100
#define LAST_BURSTS 10
#define LAST_WAITS 20

#define CHUNK_SIZE ((size_t)1 << 16)

/* The host's end of one of the child's pipes. */
struct process_pipe_end {
    int fd; /* -1: closed */
    struct loop_fd *watch;
};

struct process {
    struct orphaned_shim shim; /* a child of this process: its pid stays valid until it is reaped */
    char *mark, *command, *cwd, *cgroup; /* all set, except command: or NULL */
    struct process_events events;        /* borrowed ctx */
    void *ctx;
    struct process_pipe_end in, out, err;
    struct buf pending; /* pending bytes for stdin; written up to `written` */
    size_t written;
    bool closing; /* close stdin when no bytes are pending */
    /* the shim */
    struct process_pipe_end control;
    bool hung_up; /* its control connection has ended */
    bool reaped;
    bool clean; /* its exit status says that no process is left */
    /* reported status of the child */
    bool ready, failed, exited, told;
    struct shim_report failure;
    int status;
    unsigned strays;
};

static void process_close_pipe_end(struct process_pipe_end *e)
{
    loop_fd_free(e->watch);
    if (e->fd >= 0)
        close(e->fd);
    *e = (struct process_pipe_end){.fd = -1};
}

/* --- stdin -------------------------------------------------------------------------------- */

static void process_drop_stdin(struct process *p)
{
    process_close_pipe_end(&p->in);
    buf_fini(&p->pending);
}

/* Writes as much as the pipe accepts; the loop writes the rest. */
static void process_write_stdin(struct process *p)
{
    ASSERT(p->in.fd >= 0);
    ASSERT(p->written <= p->pending.len);
    while (p->written < p->pending.len) {
        const ssize_t n = write(p->in.fd, p->pending.p + p->written, p->pending.len - p->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            loop_fd_set(p->in.watch, LOOP_WRITE);
            return;
        }
        if (n < 0) {
            process_drop_stdin(p);
            return;
        }
        p->written += (size_t)n;
    }
    buf_fini(&p->pending);
    p->written = 0;
    loop_fd_set(p->in.watch, 0);
    if (p->closing)
        process_close_pipe_end(&p->in);
}

static void process_on_stdin(void *arg, unsigned ready)
{
    (void)ready;
    process_write_stdin(arg);
}

void process_write(struct process *p, const char *bytes, size_t n)
{
    if (p->in.fd < 0 || p->closing)
        return;
    buf_add(&p->pending, bytes, n);
    process_write_stdin(p);
}

void process_close_stdin(struct process *p)
{
    p->closing = true;
    if (p->in.fd >= 0)
        process_write_stdin(p);
}

/* --- messages of the shim ----------------------------------------------------------------- */

static void process_handle_report(struct process *p, const struct shim_report *r)
{
    switch (r->kind) {
    case SHIM_READY:
        p->ready = true;
        break;
    case SHIM_FAILED:
        p->failed = true;
        p->failure = *r;
        break;
    case SHIM_EXITED:
        p->exited = true;
        p->status = r->value;
        break;
    case SHIM_KILLED:
        p->strays += (unsigned)r->value;
        break;
    }
}

/* A killed shim takes the child with it (PR_SET_PDEATHSIG). Without SHIM_READY, the program was not
 * a shim. */
static void process_handle_hangup(struct process *p)
{
    ASSERT(!p->hung_up);
    p->hung_up = true;
    if (!p->ready && !p->failed)
        process_handle_report(p, &(struct shim_report){SHIM_FAILED, SHIM_FORK, ECHILD});
    else if (!p->failed && !p->exited)
        process_handle_report(
            p, &(struct shim_report){.kind = SHIM_EXITED, .value = W_EXITCODE(0, SIGKILL)});
}

/* ECONNRESET is reported once before the remaining data if the peer left data unread. */
static ssize_t process_read_report(const struct process *p, struct shim_report *r)
{
    ssize_t n;
    do
        n = recv(p->control.fd, r, sizeof *r, MSG_DONTWAIT);
    while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    return n;
}

static void process_read_reports(struct process *p)
{
    struct shim_report r;
    ssize_t n = -1;
    while (!p->hung_up && (n = process_read_report(p, &r)) == (ssize_t)sizeof r)
        process_handle_report(p, &r);
    if (!p->hung_up && (n >= 0 || errno != EAGAIN))
        process_handle_hangup(p);
}

/* --- stdout and stderr -------------------------------------------------------------------- */

/* Reads once; false if there was no data or the pipe has ended (and is closed then). */
static bool process_read_pipe(struct process *p, struct process_pipe_end *e, size_t max)
{
    char chunk[CHUNK_SIZE];
    ssize_t n;
    do
        n = read(e->fd, chunk, max < CHUNK_SIZE ? max : CHUNK_SIZE);
    while (n < 0 && errno == EINTR);
    const bool is_out = e == &p->out;
    if (n > 0) {
        (is_out ? p->events.out : p->events.err)(p->ctx, chunk, (size_t)n);
        return true;
    }
    if (n < 0 && errno == EAGAIN)
        return false;
    process_close_pipe_end(e);
    if (is_out)
        process_read_reports(p); /* a child that was not started has no output to end */
    if (is_out && !p->failed)
        p->events.out_end(p->ctx);
    return false;
}

static void process_on_out(void *arg, unsigned ready)
{
    (void)ready;
    struct process *const p = arg;
    process_read_pipe(p, &p->out, CHUNK_SIZE);
}

static void process_on_err(void *arg, unsigned ready)
{
    (void)ready;
    struct process *const p = arg;
    process_read_pipe(p, &p->err, CHUNK_SIZE);
}

/* Reads only the data in the pipe when the child ended: a grandchild that keeps writing must not
 * delay the end. */
static void process_drain_pipe(struct process *p, struct process_pipe_end *e)
{
    int left = 0;
    if (e->fd < 0 || ioctl(e->fd, FIONREAD, &left) < 0)
        return;
    while (left > 0 && e->fd >= 0 && process_read_pipe(p, e, (size_t)left))
        left -= (int)CHUNK_SIZE;
}

/* --- interpretation --------------------------------------------------------------------------- */

static void close_pipes(struct process *p)
{
    process_drop_stdin(p);
    process_close_pipe_end(&p->err);
    process_close_pipe_end(&p->out);
}

static void process_report_failure(struct process *p)
{
    ASSERT(p->told && p->failed);
    struct tc_err err = {0};
    close_pipes(p);
    shim_launch_explain(p->command, p->cwd, &p->failure, &err);
    p->events.failed(p->ctx, &err);
}

static void process_report_exit(struct process *p)
{
    ASSERT(p->told && p->exited);
    process_drain_pipe(p, &p->err);
    process_drain_pipe(p, &p->out);
    close_pipes(p);
    p->events.exit(p->ctx, p->status);
}

static void process_on_control(void *arg, unsigned ready)
{
    (void)ready;
    struct process *const p = arg;
    process_read_reports(p);
    if (p->hung_up)
        loop_fd_set(p->control.watch, 0);
    if (p->told || (!p->exited && !p->failed))
        return;
    p->told = true;
    if (p->failed)
        process_report_failure(p);
    else
        process_report_exit(p);
}

static void process_send_command(const struct process *p, unsigned char what)
{
    /* The child has exited and gets no signals. */
    (void)!send(p->control.fd, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void process_signal(struct process *p, int signo)
{
    if (!p->exited)
        process_send_command(p, (unsigned char)signo);
}

void process_set_lease(struct process *p, int64_t until_ms)
{
    const struct shim_lease lease = {.until_ms = until_ms};
    (void)!send(p->control.fd, &lease, sizeof lease, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* --- the end ------------------------------------------------------------------------------ */

pid_t process_pid(const struct process *p)
{
    return p->shim.pid;
}

/* Waits for the shim's exit and reads its status. Without a free descriptor for that, relies on the
 * control connection, which was closed a moment before. */
static void process_wait_for_shim(struct process *p, int ms)
{
    ASSERT(!p->reaped);
    siginfo_t info = {0};
    CLEANUP_FD const int shim = pidfd_open(p->shim.pid, 0);
    poll(&(struct pollfd){.fd = shim >= 0 ? shim : p->control.fd, .events = shim >= 0 ? POLLIN : 0},
         1, ms);
    if (waitid(P_PID, (id_t)p->shim.pid, &info, WEXITED | WNOHANG) < 0 || !info.si_pid)
        return;
    p->reaped = true;
    p->clean = info.si_code == CLD_EXITED && info.si_status == 0;
}

/* Does the shim's work after its death. Processes found only through the cgroup need a moment to
 * end. */
static void process_kill_orphans(struct process *p)
{
    ASSERT(p->reaped);
    if (p->cgroup)
        cgroup_kill(p->cgroup);
    p->clean = process_tree_kill_orphans(&p->shim, &p->strays);
    for (int i = 0; p->cgroup && i < LAST_WAITS && !cgroup_is_empty(p->cgroup); i++)
        poll(NULL, 0, BURST_MS / LAST_WAITS);
    if (!p->cgroup)
        return;
    p->clean = p->clean && cgroup_is_empty(p->cgroup);
    cgroup_remove(p->cgroup);
}

unsigned process_kill_tree(struct process *p)
{
    if (!p->reaped) {
        process_send_command(p, SHIM_KILL);
        kill(p->shim.pid, SIGCONT); /* an agent may have stopped it */
        process_wait_for_shim(p, BURST_MS);
    }
    if (!p->reaped)
        return 1;
    if (!p->clean)
        process_kill_orphans(p);
    return !p->clean;
}

unsigned process_count_killed(struct process *p)
{
    process_read_reports(p);
    return p->strays;
}

void process_free(struct process *p)
{
    if (!p)
        return;
    for (int i = 0; i < LAST_BURSTS && process_kill_tree(p); i++)
        ;
    close_pipes(p);
    process_close_pipe_end(&p->control);
    free(p->mark);
    free(p->command);
    free(p->cwd);
    free(p->cgroup);
    free(p);
}

/* --- the start ---------------------------------------------------------------------------- */

struct process_pipes {
    int host[3], child[3];
};

static void process_close_pipes(const int fds[3])
{
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Pipe i: the child reads the first and writes the others. If the host has no descriptors 0-2,
 * pipes would get these numbers, and dup2 in the child would overwrite them. */
static int process_open_pipe(struct process_pipes *ps, int i)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    const int reads = shim_launch_dup_above_stdio(fds[0]),
              writes = shim_launch_dup_above_stdio(fds[1]);
    ps->host[i] = i == 0 ? writes : reads;
    ps->child[i] = i == 0 ? reads : writes;
    if (reads < 0 || writes < 0)
        return -1;
    return fcntl(ps->host[i], F_SETFL, O_NONBLOCK);
}

static int process_open_pipes(struct process_pipes *ps)
{
    *ps = (struct process_pipes){.host = {-1, -1, -1}, .child = {-1, -1, -1}};
    for (int i = 0; i < 3; i++)
        if (process_open_pipe(ps, i) < 0)
            return -1;
    /* Refused if the user's pipe limit is reached: the pipe keeps its default size. */
    fcntl(ps->host[1], F_SETPIPE_SZ, OUT_PIPE_SIZE);
    return 0;
}

struct process *process_spawn(struct loop *l, const struct process_spec *spec,
                              const struct process_events *events, void *ctx, struct tc_err *err)
{
    struct process_pipes ps;
    struct shim_handle shim;
    int started = -1;
    if (process_open_pipes(&ps) < 0)
        err_set_errno(err, errno, spec->argv[0], "cannot create a pipe");
    else
        started = shim_launch_start(spec, l, ps.child, &shim, err);
    process_close_pipes(ps.child);
    if (started < 0) {
        process_close_pipes(ps.host);
        return NULL;
    }
    struct process *const p = xcalloc(1, sizeof *p);
    p->events = *events;
    p->ctx = ctx;
    p->mark = xstrdup(spec->mark);
    p->command = xstrdup(spec->argv[0]);
    p->cwd = xstrdup(spec->cwd);
    p->shim = (struct orphaned_shim){shim.pid, process_tree_start_time(shim.pid), p->mark};
    p->cgroup = shim.cgroup;
    p->in =
        (struct process_pipe_end){ps.host[0], loop_fd_new(l, ps.host[0], 0, process_on_stdin, p)};
    p->out = (struct process_pipe_end){
        ps.host[1], loop_fd_new(l, ps.host[1], LOOP_READ | LOOP_COALESCE, process_on_out, p)};
    p->err = (struct process_pipe_end){ps.host[2],
                                       loop_fd_new(l, ps.host[2], LOOP_READ, process_on_err, p)};
    p->control = (struct process_pipe_end){
        shim.control, loop_fd_new(l, shim.control, LOOP_READ, process_on_control, p)};
    return p;
}
