/* SPDX-License-Identifier: MIT
 * Owns the client side of a connection to the HTTP server. */
#include "io/httpd_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tap/tap.h"

struct client client_connect(struct loop *loop, const struct httpd *h)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(httpd_bound_port(h)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct client c = {.loop = loop, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connect(c.fd, (const struct sockaddr *)(const void *)&to, sizeof to) < 0)
        bail("cannot connect");
    fcntl(c.fd, F_SETFL, O_NONBLOCK);
    return c;
}

struct client client_connect_path(struct loop *loop, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    const struct client c = {.loop = loop, .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connect(c.fd, (const struct sockaddr *)(const void *)&to, sizeof to) < 0)
        bail("cannot connect");
    fcntl(c.fd, F_SETFL, O_NONBLOCK);
    return c;
}

void client_read(struct client *c)
{
    const ssize_t n = read(c->fd, buf_reserve(&c->in, 65536), 65536);
    if (n > 0)
        c->in.len += (size_t)n;
    else if (n == 0 || errno != EAGAIN)
        c->closed = true;
    c->in.p[c->in.len] = '\0';
}

/* Sends all bytes while the server reads. */
void client_send(struct client *c, const char *bytes, size_t n)
{
    for (size_t sent = 0; sent < n;) {
        const ssize_t put = send(c->fd, bytes + sent, n - sent, MSG_NOSIGNAL);
        if (put < 0 && errno != EAGAIN)
            return;
        sent += put > 0 ? (size_t)put : 0;
        if (put < 0)
            loop_run_once(c->loop, 10);
    }
}

unsigned client_count_answers(const struct client *c)
{
    unsigned n = 0;
    for (const char *at = c->in.p; at && (at = strstr(at, "HTTP/1.1 ")); at++)
        n++;
    return n;
}

/* Waits for this number of responses with their bodies, or for the end of the connection. */
void client_await(struct client *c, unsigned answers)
{
    for (int rounds = 0; rounds < 2000 && !c->closed; rounds++) {
        loop_run_once(c->loop, 5);
        client_read(c);
        if (client_count_answers(c) >= answers && c->in.p[c->in.len - 1] == '\n')
            return;
    }
}

void client_await_end(struct client *c)
{
    for (int rounds = 0; rounds < 2000 && !c->closed; rounds++) {
        loop_run_once(c->loop, 5);
        client_read(c);
    }
}

void client_hang_up(struct client *c)
{
    close(c->fd);
    buf_fini(&c->in);
    for (int i = 0; i < 3; i++)
        loop_run_once(c->loop, 0);
}
