/* SPDX-License-Identifier: MIT
 * Owns a running child: its pipes, its pidfd, and when it counts as ended. */
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "io/process_exec.h"
#include "io/process_tree.h"

/* Several agents lose what they have not written when they exit: a pipe this large takes it. */
#define OUT_PIPE_SIZE (1 << 20)
#define REAP_MS 10000

#define CHUNK_SIZE ((size_t)1 << 16)

/* The host's end of one of the child's pipes. */
struct end {
    int fd; /* -1: closed */
    struct loop_fd *watch;
};

struct process {
    struct process_tree tree;
    struct process_events events; /* borrowed ctx */
    void *ctx;
    struct end in, out, err;
    struct buf pending; /* for stdin; written up to `written` */
    size_t written;
    bool closing;    /* stdin ends when nothing is pending */
    struct end self; /* the pidfd */
    struct loop_timer *reaper;
};

void process_become_subreaper(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void end_close(struct end *e)
{
    loop_fd_free(e->watch);
    if (e->fd >= 0)
        close(e->fd);
    *e = (struct end){.fd = -1};
}

/* --- stdin -------------------------------------------------------------------------------- */

static void lose_stdin(struct process *p)
{
    end_close(&p->in);
    buf_fini(&p->pending);
}

/* Writes what the pipe takes now; the rest waits for the loop. */
static void push_stdin(struct process *p)
{
    while (p->written < p->pending.len) {
        const ssize_t n = write(p->in.fd, p->pending.p + p->written, p->pending.len - p->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            loop_fd_set(p->in.watch, LOOP_WRITE);
            return;
        }
        if (n < 0) {
            lose_stdin(p);
            return;
        }
        p->written += (size_t)n;
    }
    buf_fini(&p->pending);
    p->written = 0;
    loop_fd_set(p->in.watch, 0);
    if (p->closing)
        end_close(&p->in);
}

static void on_stdin(void *arg, unsigned ready)
{
    (void)ready;
    push_stdin(arg);
}

void process_write(struct process *p, const char *bytes, size_t n)
{
    if (p->in.fd < 0 || p->closing)
        return;
    buf_add(&p->pending, bytes, n);
    push_stdin(p);
}

void process_close_stdin(struct process *p)
{
    p->closing = true;
    if (p->in.fd >= 0)
        push_stdin(p);
}

/* --- stdout and stderr -------------------------------------------------------------------- */

/* Reads once; false when nothing was there or the pipe has ended (and is closed then). */
static bool pull(struct process *p, struct end *e, size_t max)
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
    end_close(e);
    if (is_out)
        p->events.out_end(p->ctx);
    return false;
}

static void on_out(void *arg, unsigned ready)
{
    (void)ready;
    struct process *const p = arg;
    pull(p, &p->out, CHUNK_SIZE);
}

static void on_err(void *arg, unsigned ready)
{
    (void)ready;
    struct process *const p = arg;
    pull(p, &p->err, CHUNK_SIZE);
}

/* What was in the pipe when the child ended, and no more: a grandchild that goes on writing
 * must not hold the end back. */
static void drain(struct process *p, struct end *e)
{
    int left = 0;
    if (e->fd < 0 || ioctl(e->fd, FIONREAD, &left) < 0)
        return;
    while (left > 0 && e->fd >= 0 && pull(p, e, (size_t)left))
        left -= (int)CHUNK_SIZE;
}

/* --- the end ------------------------------------------------------------------------------ */

static int wait_status(const siginfo_t *info)
{
    switch (info->si_code) {
    case CLD_EXITED:
        return W_EXITCODE(info->si_status & 0xff, 0);
    case CLD_DUMPED:
        return W_EXITCODE(0, info->si_status) | WCOREFLAG;
    default:
        return W_EXITCODE(0, info->si_status);
    }
}

/* The child stays a zombie until its tree is gone: so long nobody else can get its pid, which is
 * also the id of its group and session. */
static void on_gone(void *arg, unsigned ready)
{
    (void)ready;
    struct process *const p = arg;
    siginfo_t info = {0};
    if (waitid(P_PIDFD, (id_t)p->self.fd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
        return;
    loop_fd_set(p->self.watch, 0);
    lose_stdin(p);
    drain(p, &p->err);
    drain(p, &p->out);
    end_close(&p->err);
    end_close(&p->out);
    p->events.exit(p->ctx, wait_status(&info));
}

static void reap(struct process *p)
{
    siginfo_t info = {0};
    if (!p->tree.reaped && waitid(P_PIDFD, (id_t)p->self.fd, &info, WEXITED | WNOHANG) == 0 &&
        info.si_pid)
        p->tree.reaped = true;
}

static void on_reap_orphans(void *arg)
{
    struct process *const p = arg;
    process_tree_reap(REAP_MS / 2);
    loop_timer_set(p->reaper, REAP_MS);
}

void process_signal(struct process *p, int signo)
{
    if (!p->tree.reaped)
        kill(-p->tree.pid, signo);
}

pid_t process_pid(const struct process *p)
{
    return p->tree.pid;
}

unsigned process_kill_tree(struct process *p)
{
    return process_tree_kill(&p->tree);
}

unsigned process_strays(const struct process *p)
{
    return p->tree.strays;
}

void process_free(struct process *p)
{
    if (!p)
        return;
    process_tree_kill(&p->tree);
    reap(p);
    process_tree_fini(&p->tree);
    lose_stdin(p);
    end_close(&p->out);
    end_close(&p->err);
    end_close(&p->self);
    loop_timer_free(p->reaper);
    free(p);
}

/* --- the beginning ------------------------------------------------------------------------ */

struct pipes {
    int host[3], child[3];
};

static void pipes_close(const int fds[3])
{
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* A host without descriptors 0-2 would get them as pipes, and dup2 in the child would then step
 * on them. */
static int above_stdio(int fd)
{
    if (fd > 2)
        return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

/* Pipe i: the child reads the first and writes the others. */
static int pipe_open(struct pipes *ps, int i)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    const int reads = above_stdio(fds[0]), writes = above_stdio(fds[1]);
    ps->host[i] = i == 0 ? writes : reads;
    ps->child[i] = i == 0 ? reads : writes;
    if (reads < 0 || writes < 0)
        return -1;
    return fcntl(ps->host[i], F_SETFL, O_NONBLOCK);
}

static int pipes_open(struct pipes *ps)
{
    *ps = (struct pipes){.host = {-1, -1, -1}, .child = {-1, -1, -1}};
    for (int i = 0; i < 3; i++)
        if (pipe_open(ps, i) < 0)
            return -1;
    /* Refused beyond the user's pipe budget: then it is an ordinary pipe. */
    fcntl(ps->host[1], F_SETPIPE_SZ, OUT_PIPE_SIZE);
    return 0;
}

static pid_t spawn(const struct process_spec *spec, struct pipes *ps, int *pidfd,
                   struct tc_err *err)
{
    const pid_t pid = process_exec(spec, ps->child, err);
    if (pid < 0)
        return -1;
    *pidfd = pidfd_open(pid, 0);
    if (*pidfd >= 0)
        return pid;
    err_sys(err, errno, spec->argv[0], "no pidfd");
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -1;
}

struct process *process_spawn(struct loop *l, const struct process_spec *spec,
                              const struct process_events *events, void *ctx, struct tc_err *err)
{
    struct pipes ps;
    int pidfd = -1;
    pid_t pid = -1;
    if (pipes_open(&ps) < 0)
        err_sys(err, errno, spec->argv[0], "no pipe");
    else
        pid = spawn(spec, &ps, &pidfd, err);
    pipes_close(ps.child);
    if (pid < 0) {
        pipes_close(ps.host);
        return NULL;
    }
    struct process *const p = xcalloc(1, sizeof *p);
    p->events = *events;
    p->ctx = ctx;
    process_tree_init(&p->tree, pid);
    p->in = (struct end){ps.host[0], loop_fd_new(l, ps.host[0], 0, on_stdin, p)};
    p->out = (struct end){ps.host[1], loop_fd_new(l, ps.host[1], LOOP_READ, on_out, p)};
    p->err = (struct end){ps.host[2], loop_fd_new(l, ps.host[2], LOOP_READ, on_err, p)};
    p->self = (struct end){pidfd, loop_fd_new(l, pidfd, LOOP_READ, on_gone, p)};
    p->reaper = loop_timer_new(l, on_reap_orphans, p);
    loop_timer_set(p->reaper, REAP_MS);
    return p;
}
