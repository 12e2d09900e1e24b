/* SPDX-License-Identifier: MIT
 * Forwards bytes from an instance's pipe to the standard output of the host.
 *
 * A pipe that poll reports as writable accepts PIPE_BUF bytes without blocking, so at most that
 * many are written at once. Regular files are always writable. */
#include "plugin/process/spawn/stdout_forwarder.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"

#define READ_SIZE ((size_t)64 << 10)
#define LINE_MAX_LEN ((size_t)1 << 20) /* a longer line is forwarded in pieces */
#define ROUNDS 64
#define RETRY_MS 10 /* retry interval while the host's output is full */

struct print {
    struct loop *loop;
    const char *label;
    int fd; /* -1: closed, by either side */
    struct loop_fd *watch;
    struct loop_timer *retry;
    struct buf held;
    size_t at;    /* written bytes of held */
    size_t ready; /* complete lines in held */
    bool full;    /* the host's output is full */
};

static void close_pipe(struct print *p)
{
    loop_fd_free(p->watch);
    p->watch = NULL;
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* Waits at most until that time. */
static bool stdout_forwarder_wait_writable(int64_t deadline_ms)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    const int64_t left = deadline_ms ? deadline_ms - clock_mono_ms() : 0;
    return poll(&fd, 1, left > 0 ? (int)left : 0) > 0;
}

/* A closed reader, as with head(1), is not an error of the host. */
static void stdout_forwarder_close_on_error(struct print *p, int error)
{
    if (error != EPIPE)
        log_write(LOG_ERR, p->label, "cannot write to standard output: %s", strerrordesc_np(error));
    close_pipe(p);
    buf_reset(&p->held);
    p->at = p->ready = 0;
}

/* False: the host's output accepts no more until that time; 0: without waiting. */
static bool write_ready(struct print *p, int64_t deadline_ms)
{
    while (p->at < p->ready) {
        const size_t left = p->ready - p->at;
        if (!stdout_forwarder_wait_writable(deadline_ms))
            return false;
        const ssize_t n =
            write(STDOUT_FILENO, p->held.p + p->at, left < PIPE_BUF ? left : PIPE_BUF);
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n < 0 && errno != EINTR) {
            stdout_forwarder_close_on_error(p, errno);
            return true;
        }
        p->at += n > 0 ? (size_t)n : 0;
    }
    buf_consume(&p->held, p->at);
    p->at = p->ready = 0;
    return true;
}

static void stdout_forwarder_find_ready(struct print *p, bool all)
{
    const char *const end = p->held.len ? memrchr(p->held.p, '\n', p->held.len) : NULL;
    p->ready = all || p->held.len > LINE_MAX_LEN ? p->held.len
               : end                             ? (size_t)(end - p->held.p) + 1
                                                 : 0;
}

/* False: no data now. */
static bool read_more(struct print *p)
{
    const ssize_t n = read(p->fd, buf_reserve(&p->held, READ_SIZE), READ_SIZE);
    if (n == 0)
        close_pipe(p);
    p->held.len += n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && errno == EINTR);
}

void stdout_forwarder_pump(struct print *p)
{
    if (!p)
        return;
    p->full = !write_ready(p, 0);
    for (int i = 0; i < ROUNDS && !p->full && p->fd >= 0 && read_more(p); i++) {
        stdout_forwarder_find_ready(p, false);
        p->full = !write_ready(p, 0);
    }
    if (p->watch)
        loop_fd_set(p->watch, p->full ? 0 : LOOP_READ);
    loop_timer_set(p->retry, p->full ? RETRY_MS : -1);
}

static void stdout_forwarder_on_ready(void *arg, unsigned ready)
{
    (void)ready;
    stdout_forwarder_pump(arg);
}

static void stdout_forwarder_on_retry(void *arg)
{
    stdout_forwarder_pump(arg);
}

struct print *stdout_forwarder_new(struct loop *loop, int fd, const char *label)
{
    struct print *const p = xcalloc(1, sizeof *p);
    *p = (struct print){.loop = loop, .label = label, .fd = fd};
    p->watch = loop_fd_new(loop, fd, LOOP_READ, stdout_forwarder_on_ready, p);
    p->retry = loop_timer_new(loop, stdout_forwarder_on_retry, p);
    return p;
}

struct pollfd stdout_forwarder_poll_spec(const struct print *p)
{
    if (!p)
        return (struct pollfd){.fd = -1};
    return p->full ? (struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}
                   : (struct pollfd){.fd = p->fd, .events = POLLIN};
}

void stdout_forwarder_finish(struct print *p, int wait_ms)
{
    if (!p)
        return;
    const int64_t deadline_ms = clock_mono_ms() + wait_ms;
    bool more = true, written = true;
    while (more && written) {
        more = p->fd >= 0 && read_more(p);
        stdout_forwarder_find_ready(p, !more);
        written = write_ready(p, deadline_ms);
    }
    if (!written)
        log_write(LOG_WARN, p->label, "standard output is blocked; some output is lost");
    close_pipe(p);
    loop_timer_free(p->retry);
    buf_fini(&p->held);
    free(p);
}
