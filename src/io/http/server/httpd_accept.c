/* SPDX-License-Identifier: MIT
 * Accepts connections and enforces the limits per server and per client address; excess
 * connections get 503. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/http/server/httpd_internal.h"

enum {
    PAUSE_MS = 1000,
    ACCEPTS_PER_ROUND = 64,
    PER_ADDRESS = 64,
    UNREAD_MAX = 64, /* reads of data from a client that is rejected */
    TELL_EVERY_MS = 60 * 1000,
};

/* ---- client addresses ---- */

static int httpd_accept_compare(const void *a, const void *b)
{
    const struct httpd_peer *const one = a, *const other = b;
    return strcmp(one->name, other->name);
}

static struct httpd_peer *httpd_accept_get_peer(struct httpd *h, const char *name)
{
    struct httpd_peer *const fresh = xcalloc(1, sizeof *fresh);
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    void *const node = alloc_check(tsearch(fresh, &h->peers, httpd_accept_compare), sizeof(void *));
    struct httpd_peer *const known = *(struct httpd_peer **)node;
    if (known != fresh)
        free(fresh);
    known->connections++;
    return known;
}

void httpd_peer_release(struct httpd *h, struct httpd_peer *peer)
{
    ASSERT(peer->connections > 0);
    if (--peer->connections)
        return;
    tdelete(peer, &h->peers, httpd_accept_compare);
    free(peer);
}

/* Whether the limit per address is useless for the peer: all requests through a proxy on this
 * machine have the address of the proxy. */
static bool httpd_accept_is_local_peer(const struct httpd_peer *peer)
{
    return strncmp(peer->name, "127.", 4) == 0 || strcmp(peer->name, "::1") == 0;
}

static bool httpd_accept_exceeds_limits(const struct httpd *h, const struct httpd_peer *peer)
{
    const unsigned max = h->options.max_per_address;
    if (h->conn_count >= h->options.max_connections)
        return true;
    if (h->path || (!max && httpd_accept_is_local_peer(peer)))
        return false;
    return peer->connections > (max ? max : PER_ADDRESS);
}

/* ---- rejected connections ---- */

static void httpd_accept_log_refusal(struct httpd *h, const char *why)
{
    const int64_t now = clock_mono_ms();
    if (h->told_ms && now - h->told_ms < TELL_EVERY_MS)
        return;
    h->told_ms = now;
    log_write(LOG_WARN, "host", "HTTP: rejecting connections: %s", why);
}

/* Reads the received data; otherwise closing would reset the connection and discard the
 * response. */
static void httpd_accept_reject(int fd)
{
    CLEANUP_BUF struct buf busy = {0};
    char unread[1024];
    httpd_error_write_busy(&busy);
    if (send(fd, busy.p, busy.len, MSG_NOSIGNAL) > 0)
        shutdown(fd, SHUT_WR);
    for (int i = 0; i < UNREAD_MAX && read(fd, unread, sizeof unread) > 0; i++)
        ;
    close(fd);
}

static int httpd_accept_open_reserved_fd(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Uses the reserved descriptor to reject connections when no others are left. */
static bool httpd_accept_reject_with_reserved_fd(struct httpd *h)
{
    if (h->spare < 0)
        return false;
    close(h->spare);
    const int fd = accept4(h->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        httpd_accept_reject(fd);
    h->spare = httpd_accept_open_reserved_fd();
    return fd >= 0;
}

static void httpd_accept_on_pause_end(void *arg)
{
    struct httpd *const h = arg;
    if (h->spare < 0)
        h->spare = httpd_accept_open_reserved_fd();
    loop_fd_set(h->listener, LOOP_READ);
}

static void httpd_accept_pause(struct httpd *h)
{
    loop_fd_set(h->listener, 0);
    loop_timer_set(h->pause, PAUSE_MS);
}

/* ---- accepting ---- */

static void httpd_accept_add_conn(struct httpd *h, int fd, const struct sockaddr_storage *from,
                                  socklen_t len)
{
    char name[sizeof((struct httpd_peer *)NULL)->name] = "local";
    if (!h->path)
        getnameinfo((const void *)from, len, name, sizeof name, NULL, 0, NI_NUMERICHOST);
    struct httpd_peer *const peer = httpd_accept_get_peer(h, name);
    if (!httpd_accept_exceeds_limits(h, peer)) {
        httpd_conn_new(h, fd, peer);
        return;
    }
    httpd_accept_log_refusal(h, h->conn_count >= h->options.max_connections
                                    ? "too many connections"
                                    : "too many connections from one address");
    httpd_accept_reject(fd);
    httpd_peer_release(h, peer);
}

static void httpd_accept_on_connection(void *arg, unsigned ready)
{
    (void)ready;
    struct httpd *const h = arg;
    for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        const int fd = accept4(h->fd, (void *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            httpd_accept_add_conn(h, fd, &from, len);
            continue;
        }
        const int no = errno;
        if (no == EINTR || no == ECONNABORTED)
            continue;
        if (no != EMFILE && no != ENFILE && no != ENOBUFS && no != ENOMEM)
            return;
        httpd_accept_log_refusal(h, strerror(no));
        if (no == EMFILE && httpd_accept_reject_with_reserved_fd(h))
            continue;
        httpd_accept_pause(h);
        return;
    }
}

void httpd_accept_begin(struct httpd *h)
{
    h->spare = httpd_accept_open_reserved_fd();
    h->pause = loop_timer_new(h->loop, httpd_accept_on_pause_end, h);
    h->listener = loop_fd_new(h->loop, h->fd, LOOP_READ, httpd_accept_on_connection, h);
}

void httpd_accept_stop(struct httpd *h)
{
    loop_fd_set(h->listener, 0);
    loop_timer_set(h->pause, -1);
}

void httpd_accept_end(struct httpd *h)
{
    loop_fd_free(h->listener);
    loop_timer_free(h->pause);
    if (h->spare >= 0)
        close(h->spare);
}
