/* SPDX-License-Identifier: MIT
 * Owns the thread, its connections, and the received requests. */
#include "fake/httpd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "tap/tap.h"

enum { CONNS_MAX = 64, REQUESTS_MAX = 256, DRIP_MS = 20, FLOOD_BYTES = 9 << 20 };

struct conn {
    int fd;
    struct buf in;
    bool drips, is_deaf; /* is_deaf: later input is discarded */
};

struct httpd {
    int listener, stop, port;
    pthread_t thread;
    const struct httpd_step *steps;
    size_t step_count;
    /* of the thread */
    struct conn conns[CONNS_MAX];
    size_t conn_count;
    /* guarded by mu */
    pthread_mutex_t mu;
    unsigned connections, requests;
    char *texts[REQUESTS_MAX];
    struct buf faults;
};

static void fault(struct httpd *h, const char *what)
{
    pthread_mutex_lock(&h->mu);
    buf_printf(&h->faults, "request %u: %s\n", h->requests, what);
    pthread_mutex_unlock(&h->mu);
}

/* Returns the value of a header in the head of a request (which ends with an empty line), or
 * NULL. */
static const char *header(const char *head, const char *name)
{
    for (const char *line = head; (line = strstr(line, "\r\n"));) {
        line += 2;
        if (strncasecmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            return line + strlen(name) + 1;
    }
    return NULL;
}

static void check_head(struct httpd *h, const char *head, size_t body)
{
    char method[16], path[512], version[16];
    if (sscanf(head, "%15[A-Z] %511s %15s", method, path, version) != 3 || *path != '/' ||
        strcmp(version, "HTTP/1.1") != 0)
        fault(h, "no request line");
    if (!header(head, "host"))
        fault(h, "no Host");
    if (header(head, "expect") || header(head, "transfer-encoding"))
        fault(h, "Expect or Transfer-Encoding");
    if (body && !header(head, "content-type"))
        fault(h, "a body without Content-Type");
}

static void keep(struct httpd *h, const char *text, size_t len)
{
    pthread_mutex_lock(&h->mu);
    if (h->requests < REQUESTS_MAX)
        h->texts[h->requests] = xstrndup(text, len);
    h->requests++;
    pthread_mutex_unlock(&h->mu);
}

static void close_conn(struct httpd *h, struct conn *c, bool reset)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    if (reset)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(c->fd);
    buf_fini(&c->in);
    *c = h->conns[--h->conn_count];
}

/* Returns false if the peer has closed the connection. */
static bool send_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        const ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        p += sent;
        n -= (size_t)sent;
    }
    return true;
}

static void flood(int fd)
{
    char block[4096];
    memset(block, 'x', sizeof block);
    for (size_t sent = 0; sent < FLOOD_BYTES; sent += sizeof block)
        if (!send_all(fd, block, sizeof block))
            return;
}

static struct httpd_step next_step(struct httpd *h)
{
    static const struct httpd_step none = {HTTPD_REPLY_CLOSE,
                                           "HTTP/1.1 500 No step\r\nContent-Length: 0\r\n\r\n"};
    pthread_mutex_lock(&h->mu);
    const unsigned i = h->requests - 1;
    pthread_mutex_unlock(&h->mu);
    if (i < h->step_count)
        return h->steps[i];
    fault(h, "not expected");
    return none;
}

static void act(struct httpd *h, struct conn *c)
{
    const struct httpd_step step = next_step(h);
    if (step.bytes)
        send_all(c->fd, step.bytes, strlen(step.bytes));
    switch (step.what) {
    case HTTPD_REPLY:
        return;
    case HTTPD_DRIP:
        c->drips = true;
        return;
    case HTTPD_SILENT:
        c->is_deaf = true;
        return;
    case HTTPD_FLOOD:
        flood(c->fd);
        close_conn(h, c, false);
        return;
    case HTTPD_REPLY_CLOSE:
    case HTTPD_CLOSE:
        close_conn(h, c, false);
        return;
    case HTTPD_LEAVE:
        close(h->listener);
        h->listener = -1;
        close_conn(h, c, false);
        return;
    case HTTPD_RESET:
    case HTTPD_RESET_EARLY:
        close_conn(h, c, true);
        return;
    }
}

static bool is_early(struct httpd *h)
{
    pthread_mutex_lock(&h->mu);
    const unsigned i = h->requests;
    pthread_mutex_unlock(&h->mu);
    return i < h->step_count && h->steps[i].what == HTTPD_RESET_EARLY;
}

/* Executes the step when a complete request has arrived. */
static void take_request(struct httpd *h, struct conn *c)
{
    const char *const end = c->in.len ? strstr(c->in.p, "\r\n\r\n") : NULL;
    if (!end)
        return;
    const size_t head = (size_t)(end - c->in.p) + 4;
    const char *const length = header(c->in.p, "content-length");
    const size_t body = length && length < end ? strtoul(length, NULL, 10) : 0;
    const bool early = is_early(h);
    if (c->in.len < head + body && !early)
        return;
    char *const text = xstrndup(c->in.p, head);
    check_head(h, text, body);
    free(text);
    if (c->in.len > head + body)
        fault(h, "bytes behind the request");
    keep(h, c->in.p, c->in.len);
    buf_reset(&c->in);
    act(h, c);
}

static void receive(struct httpd *h, struct conn *c)
{
    char block[65536];
    const ssize_t n = recv(c->fd, block, sizeof block, 0);
    if (n <= 0) {
        close_conn(h, c, false);
        return;
    }
    if (c->is_deaf || c->drips)
        return;
    buf_add(&c->in, block, (size_t)n);
    take_request(h, c);
}

static void accept_one(struct httpd *h)
{
    const int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (h->conn_count == CONNS_MAX) {
        close(fd);
        return;
    }
    h->conns[h->conn_count++] = (struct conn){.fd = fd};
    pthread_mutex_lock(&h->mu);
    h->connections++;
    pthread_mutex_unlock(&h->mu);
}

static bool any_drips(const struct httpd *h)
{
    for (size_t i = 0; i < h->conn_count; i++)
        if (h->conns[i].drips)
            return true;
    return false;
}

static void *serve(void *arg)
{
    struct httpd *const h = arg;
    for (;;) {
        struct pollfd fds[CONNS_MAX + 2] = {{.fd = h->stop, .events = POLLIN},
                                            {.fd = h->listener, .events = POLLIN}};
        const size_t count = h->conn_count;
        for (size_t i = 0; i < count; i++)
            fds[i + 2] = (struct pollfd){.fd = h->conns[i].fd, .events = POLLIN};
        poll(fds, count + 2, any_drips(h) ? DRIP_MS : -1);
        if (fds[0].revents)
            return NULL;
        /* From the last one, because a connection that closes is replaced by the last. */
        for (size_t i = count; i-- > 0;) {
            if (fds[i + 2].revents)
                receive(h, &h->conns[i]);
            else if (h->conns[i].drips)
                send_all(h->conns[i].fd, "x", 1);
        }
        if (fds[1].revents)
            accept_one(h);
    }
}

struct httpd *httpd_start(const struct httpd_step *steps, size_t count)
{
    struct httpd *const h = xcalloc(1, sizeof *h);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    const int small = 16384; /* so that a large body does not fit into the buffers of the kernel */
    *h = (struct httpd){.steps = steps, .step_count = count};
    h->stop = eventfd(0, EFD_CLOEXEC);
    h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(h->listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (bind(h->listener, (struct sockaddr *)&a, len) < 0 || listen(h->listener, 64) < 0 ||
        getsockname(h->listener, (struct sockaddr *)&a, &len) < 0)
        bail("cannot listen on the loopback");
    h->port = ntohs(a.sin_port);
    pthread_mutex_init(&h->mu, NULL);
    if (pthread_create(&h->thread, NULL, serve, h))
        bail("no thread");
    return h;
}

int httpd_port(const struct httpd *h)
{
    return h->port;
}

unsigned httpd_requests(struct httpd *h)
{
    pthread_mutex_lock(&h->mu);
    const unsigned n = h->requests;
    pthread_mutex_unlock(&h->mu);
    return n;
}

unsigned httpd_count_connections(struct httpd *h)
{
    pthread_mutex_lock(&h->mu);
    const unsigned n = h->connections;
    pthread_mutex_unlock(&h->mu);
    return n;
}

const char *httpd_request(struct httpd *h, unsigned i)
{
    pthread_mutex_lock(&h->mu);
    const char *const text = i < REQUESTS_MAX ? h->texts[i] : NULL;
    pthread_mutex_unlock(&h->mu);
    return text ? text : "";
}

const char *httpd_faults(struct httpd *h)
{
    pthread_mutex_lock(&h->mu);
    const char *const text = h->faults.len ? h->faults.p : "";
    pthread_mutex_unlock(&h->mu);
    return text;
}

void httpd_stop(struct httpd *h)
{
    const uint64_t one = 1;
    if (write(h->stop, &one, sizeof one) < 0)
        bail("the fake server cannot be stopped");
    pthread_join(h->thread, NULL);
    while (h->conn_count)
        close_conn(h, &h->conns[0], false);
    for (unsigned i = 0; i < REQUESTS_MAX; i++)
        free(h->texts[i]);
    if (h->listener >= 0)
        close(h->listener);
    close(h->stop);
    pthread_mutex_destroy(&h->mu);
    buf_fini(&h->faults);
    free(h);
}
