/* SPDX-License-Identifier: MIT
 * Listening socket: TCP address, or Unix socket that only its user can open. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/http/server/httpd_internal.h"

enum { BACKLOG = 1024 };

/* Closes a socket that did not become a listener. */
static int httpd_listen_abort(int fd, struct tc_err *err, const char *place)
{
    const int no = errno;
    close(fd);
    return err_set_errno(err, no, place, "cannot listen");
}

/* ---- TCP address ---- */

static bool httpd_listen_is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int httpd_listen_open_socket(const struct addrinfo *to, const char *address,
                                    struct tc_err *err)
{
    const int one = 1;
    const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set_errno(err, errno, address, "cannot create a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (to->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, to->ai_addr, to->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        return httpd_listen_abort(fd, err, address);
    return fd;
}

static int httpd_listen_at_address(const struct httpd_options *o, const char *address,
                                   struct tc_err *err)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    char port[8];
    snprintf(port, sizeof port, "%u", o->port);
    struct addrinfo *to;
    if (getaddrinfo(address, port, &hints, &to) != 0)
        return err_set(err, address, "is not a numeric IP address");
    int fd;
    if (!o->allow_remote && !httpd_listen_is_loopback(to->ai_addr))
        fd = err_set(
            err, address,
            "is reachable from other machines; set http.allow_remote = true to permit this");
    else
        fd = httpd_listen_open_socket(to, address, err);
    freeaddrinfo(to);
    return fd;
}

static uint16_t httpd_listen_get_port(int fd)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    if (getsockname(fd, (void *)&a, &len) < 0)
        return 0;
    return ntohs(a.ss_family == AF_INET6
                     ? ((const struct sockaddr_in6 *)(const void *)&a)->sin6_port
                     : ((const struct sockaddr_in *)(const void *)&a)->sin_port);
}

/* ---- Unix socket ---- */

/* Removes a leftover socket without a listener. */
static int httpd_listen_remove_stale_socket(const struct sockaddr_un *at, struct tc_err *err)
{
    const char *const path = at->sun_path;
    struct stat st;
    if (lstat(path, &st) < 0)
        return err_set_errno(err, errno, path, "cannot listen");
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, path, "exists and is not a socket; remove it");
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set_errno(err, errno, path, "cannot create a socket");
    const int no = connect(fd, (const void *)at, sizeof *at) < 0 ? errno : 0;
    close(fd);
    if (no != ECONNREFUSED)
        return err_set(err, path, "another process is listening on this socket");
    return unlink(path) < 0 ? err_set_errno(err, errno, path, "cannot remove the old socket") : 0;
}

static int httpd_listen_bind_path(int fd, const struct sockaddr_un *at)
{
    /* Sets the mode before binding, so that others can never connect. */
    return fchmod(fd, 0600) < 0 ? -1 : bind(fd, (const void *)at, sizeof *at);
}

static int httpd_listen_at_path(const char *path, struct tc_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (snprintf(at.sun_path, sizeof at.sun_path, "%s", path) >= (int)sizeof at.sun_path)
        return err_set(err, path, "is too long for the path of a socket (limit: %zu bytes)",
                       sizeof at.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set_errno(err, errno, path, "cannot create a socket");
    int bound = httpd_listen_bind_path(fd, &at);
    if (bound < 0 && errno == EADDRINUSE) {
        if (httpd_listen_remove_stale_socket(&at, err) < 0) {
            close(fd);
            return -1;
        }
        bound = httpd_listen_bind_path(fd, &at);
    }
    return bound < 0 || listen(fd, BACKLOG) < 0 ? httpd_listen_abort(fd, err, path) : fd;
}

/* Removes the socket unless another process has replaced it. */
static void httpd_listen_remove_own_socket(const struct httpd *h)
{
    struct stat st;
    if (lstat(h->path, &st) == 0 && st.st_dev == h->path_dev && st.st_ino == h->path_ino)
        unlink(h->path);
}

/* ---- both ---- */

int httpd_listen_begin(struct httpd *h, struct tc_err *err)
{
    const char *const path = h->options.unix_path;
    h->fd = path ? httpd_listen_at_path(path, err)
                 : httpd_listen_at_address(&h->options, h->address, err);
    if (h->fd < 0)
        return -1;
    if (path) {
        struct stat st = {0};
        lstat(path, &st);
        h->path = xstrdup(path);
        h->path_dev = st.st_dev;
        h->path_ino = st.st_ino;
    } else {
        h->port = httpd_listen_get_port(h->fd);
    }
    httpd_accept_begin(h);
    return 0;
}

void httpd_listen_end(struct httpd *h)
{
    httpd_accept_end(h);
    if (h->path)
        httpd_listen_remove_own_socket(h);
    free(h->path);
    close(h->fd);
}
