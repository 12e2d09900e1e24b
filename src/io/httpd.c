/* SPDX-License-Identifier: MIT
 * Owns the listening socket and the routes. */
#include "io/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "io/httpd_impl.h"

enum { BACKLOG = 128, PAUSE_MS = 1000, ACCEPTS_PER_ROUND = 64 };

/* ---- connections come ---- */

static unsigned count_of(const struct httpd *h, const char *peer)
{
    unsigned n = 0;
    for (const struct httpd_conn *c = h->conns; c; c = c->next)
        n += strcmp(c->peer, peer) == 0;
    return n;
}

static void take(struct httpd *h, int fd, const struct sockaddr_storage *from, socklen_t len)
{
    char peer[sizeof((struct httpd_conn *)NULL)->peer] = "";
    getnameinfo((const void *)from, len, peer, sizeof peer, NULL, 0, NI_NUMERICHOST);
    if (h->conn_count >= h->options.max_connections ||
        count_of(h, peer) >= h->options.max_per_address)
        close(fd);
    else
        httpd_conn_new(h, fd, peer);
}

static void on_pause_over(void *arg)
{
    const struct httpd *const h = arg;
    loop_fd_set(h->listener, LOOP_READ);
}

static void on_connection(void *arg, unsigned ready)
{
    (void)ready;
    struct httpd *const h = arg;
    for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        const int fd = accept4(h->fd, (void *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take(h, fd, &from, len);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_line(LOG_WARN, "host", "HTTP: connections have to wait: %s", strerror(errno));
            loop_fd_set(h->listener, 0);
            loop_timer_set(h->pause, PAUSE_MS);
        }
        return;
    }
}

/* ---- listening ---- */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int open_socket(const struct addrinfo *to, const char *address, struct tc_err *err)
{
    const int one = 1;
    const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(err, errno, address, "no socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (to->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, to->ai_addr, to->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
        const int no = errno;
        close(fd);
        return err_sys(err, no, address, "cannot listen");
    }
    return fd;
}

static int listen_at(const struct httpd_options *o, const char *address, struct tc_err *err)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    char port[8];
    snprintf(port, sizeof port, "%u", o->port);
    struct addrinfo *to;
    if (getaddrinfo(address, port, &hints, &to) != 0)
        return err_set(err, address, "is no numeric address");
    int fd;
    if (!o->allow_remote && !is_loopback(to->ai_addr))
        fd = err_set(err, address, "can be reached by others, which has to be allowed");
    else
        fd = open_socket(to, address, err);
    freeaddrinfo(to);
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    if (getsockname(fd, (void *)&a, &len) < 0)
        return 0;
    return ntohs(a.ss_family == AF_INET6
                     ? ((const struct sockaddr_in6 *)(const void *)&a)->sin6_port
                     : ((const struct sockaddr_in *)(const void *)&a)->sin_port);
}

/* ---- the server ---- */

static char **copy_list(const char *const *list, size_t n)
{
    char **const copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(list[i]);
    return copy;
}

static void free_list(char **list)
{
    for (size_t i = 0; list[i]; i++)
        free(list[i]);
    free(list);
}

static void or_else(int64_t *value, int64_t other)
{
    if (!*value)
        *value = other;
}

static struct httpd_options with_defaults(struct httpd_options o)
{
    or_else(&o.deadline_ms, 10 * 1000);
    or_else(&o.arrival_ms, 20 * 1000);
    or_else(&o.idle_ms, 60 * 1000);
    o.stream_bytes = o.stream_bytes ? o.stream_bytes : 1 << 20;
    o.max_connections = o.max_connections ? o.max_connections : 256;
    o.max_per_address = o.max_per_address ? o.max_per_address : 64;
    return o;
}

struct httpd *httpd_new(struct loop *l, const struct httpd_options *options, struct tc_err *err)
{
    const char *const address = options->address ? options->address : "127.0.0.1";
    const int fd = listen_at(options, address, err);
    if (fd < 0)
        return NULL;
    struct httpd *const h = xcalloc(1, sizeof *h);
    *h = (struct httpd){
        .loop = l,
        .options = with_defaults(*options),
        .address = xstrdup(address),
        .hosts = copy_list(options->hosts, options->host_count),
        .origins = copy_list(options->origins, options->origin_count),
        .fd = fd,
        .port = port_of(fd),
    };
    h->pause = loop_timer_new(l, on_pause_over, h);
    h->listener = loop_fd_new(l, fd, LOOP_READ, on_connection, h);
    return h;
}

void httpd_free(struct httpd *h)
{
    if (!h)
        return;
    while (h->conns)
        httpd_conn_free(h->conns);
    while (h->routes)
        httpd_unroute(h, h->routes->path);
    loop_fd_free(h->listener);
    loop_timer_free(h->pause);
    close(h->fd);
    free(h->address);
    free_list(h->hosts);
    free_list(h->origins);
    free(h);
}

uint16_t httpd_bound_port(const struct httpd *h)
{
    return h->port;
}

/* ---- routes ---- */

void httpd_route(struct httpd *h, const char *path, unsigned methods,
                 void (*fn)(void *arg, struct httpd_request *request), void *arg)
{
    httpd_unroute(h, path);
    struct httpd_route *const r = xmalloc(sizeof *r);
    *r = (struct httpd_route){
        .path = xstrdup(path), .len = strlen(path), .methods = methods, .fn = fn, .arg = arg};
    struct httpd_route **at = &h->routes;
    while (*at && (*at)->len > r->len)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
}

void httpd_unroute(struct httpd *h, const char *path)
{
    for (struct httpd_route **at = &h->routes; *at; at = &(*at)->next) {
        struct httpd_route *const r = *at;
        if (strcmp(r->path, path) != 0)
            continue;
        *at = r->next;
        free(r->path);
        free(r);
        return;
    }
}
