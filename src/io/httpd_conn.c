/* SPDX-License-Identifier: MIT
 * Owns one connection of the HTTP server: its descriptor, its bytes, its clock. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/httpd_impl.h"

enum {
    READ_BYTES = 16 << 10,
    AHEAD_MAX = 64 << 10, /* unread requests that are kept while one is answered */
    LINGER_MS = 1000,
};

/* What the phase waits for. While a request is with its handler it reads on, to see the client
 * leave. */
static void watch(struct httpd_conn *c)
{
    const unsigned in = c->in.len < AHEAD_MAX ? LOOP_READ : 0u;
    loop_fd_set(c->on_loop, in | (c->sent < c->out.len ? LOOP_WRITE : 0u));
}

static void enter(struct httpd_conn *c, enum httpd_phase phase, int64_t ms)
{
    c->phase = phase;
    loop_timer_set(c->timer, ms);
}

void httpd_conn_part(struct httpd_conn *c)
{
    c->pending->conn = NULL;
    c->pending->request.peer = "";
    c->pending = NULL;
}

static void leave(struct httpd_conn *c)
{
    if (!c->pending)
        return;
    c->pending->request.gone = true;
    httpd_conn_part(c);
}

void httpd_conn_free(struct httpd_conn *c)
{
    leave(c);
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    c->owner->conn_count--;
    loop_fd_free(c->on_loop);
    loop_timer_free(c->timer);
    close(c->fd);
    httpd_parse_fini(&c->parse);
    buf_fini(&c->in);
    buf_fini(&c->out);
    free(c);
}

/* ---- what goes out ---- */

/* As RFC 9110 has it, whatever the locale. */
static void add_date(struct buf *out)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const time_t now = (time_t)clock_wall();
    struct tm t;
    gmtime_r(&now, &t);
    buf_printf(out, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n", days + t.tm_wday * 3,
               t.tm_mday, months + t.tm_mon * 3, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

void httpd_conn_say(struct httpd_conn *c, int status, const char *content_type, struct str body,
                    const char *allow)
{
    struct buf *const out = &c->out;
    const bool has_body = status != 204 && status != 304;
    buf_printf(out, "HTTP/1.1 %d %s\r\n", status, httpd_reason(status));
    add_date(out);
    if (has_body)
        buf_printf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", content_type, body.len);
    if (allow)
        buf_printf(out, "Allow: %s\r\n", allow);
    if (c->closes)
        buf_add_str(out, "Connection: close\r\n");
    buf_add_str(out, "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n");
    if (has_body && !c->is_head)
        buf_add(out, body.p, body.len);
    httpd_parse_reset(&c->parse);
    enter(c, HTTPD_WRITING, c->owner->options.idle_ms);
    watch(c);
}

static void refuse_and_close(struct httpd_conn *c, int status)
{
    c->closes = true;
    httpd_refuse(c, status, NULL);
}

static void linger(struct httpd_conn *c)
{
    shutdown(c->fd, SHUT_WR);
    buf_reset(&c->in);
    enter(c, HTTPD_LINGERING, LINGER_MS);
}

/* -1: the connection is broken. */
static int write_some(struct httpd_conn *c)
{
    while (c->sent < c->out.len) {
        const ssize_t n = write(c->fd, c->out.p + c->sent, c->out.len - c->sent);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        c->sent += (size_t)n;
    }
    buf_fini(&c->out);
    c->sent = 0;
    return 0;
}

/* ---- what comes in ---- */

/* -1: the client has closed, or the connection is broken. */
static int read_some(struct httpd_conn *c)
{
    const ssize_t n = read(c->fd, buf_reserve(&c->in, READ_BYTES), READ_BYTES);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n == 0)
        return -1;
    c->in.len += (size_t)n;
    return 0;
}

static void parse_some(struct httpd_conn *c)
{
    const bool was_idle = httpd_parse_is_idle(&c->parse);
    buf_consume(&c->in, httpd_parse_feed(&c->parse, c->in.p, c->in.len));
    if (was_idle)
        loop_timer_set(c->timer, c->owner->options.arrival_ms);
    if (c->parse.wants_continue && c->parse.state >= HTTPD_PARSE_BODY &&
        c->parse.state < HTTPD_PARSE_READY) {
        buf_add_str(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        c->parse.wants_continue = false;
    }
}

static void on_request(struct httpd_conn *c)
{
    enter(c, HTTPD_HANDLING, c->owner->options.deadline_ms);
    httpd_dispatch(c);
}

/* As far as the bytes reach. A handler never runs inside another one: an answer goes out by the
 * loop, and only then the next request is looked at. */
static void advance(struct httpd_conn *c)
{
    if (c->phase == HTTPD_LINGERING)
        buf_reset(&c->in);
    if (c->phase != HTTPD_READING || !c->in.len)
        return;
    parse_some(c);
    if (c->parse.state == HTTPD_PARSE_REFUSED) {
        log_line(LOG_DEBUG, "host", "HTTP: from %s: %s", c->peer, c->parse.why);
        refuse_and_close(c, c->parse.status);
    } else if (c->parse.state == HTTPD_PARSE_READY)
        on_request(c);
}

static void on_written(struct httpd_conn *c)
{
    if (c->phase != HTTPD_WRITING || c->out.len)
        return;
    c->is_head = false;
    if (c->closes)
        linger(c);
    else
        enter(c, HTTPD_READING, c->owner->options.idle_ms);
}

static void on_ready(void *arg, unsigned ready)
{
    struct httpd_conn *const c = arg;
    if ((ready & LOOP_WRITE && write_some(c) < 0) || (ready & LOOP_READ && read_some(c) < 0)) {
        httpd_conn_free(c);
        return;
    }
    on_written(c);
    advance(c);
    watch(c);
}

static void on_time(void *arg)
{
    struct httpd_conn *const c = arg;
    switch (c->phase) {
    case HTTPD_READING:
        if (httpd_parse_is_idle(&c->parse))
            httpd_conn_free(c);
        else
            refuse_and_close(c, 408);
        return;
    case HTTPD_HANDLING:
        leave(c);
        refuse_and_close(c, 503);
        return;
    case HTTPD_WRITING:
    case HTTPD_LINGERING:
        httpd_conn_free(c);
        return;
    }
}

void httpd_conn_new(struct httpd *h, int fd, const char *peer)
{
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct httpd_conn *const c = xcalloc(1, sizeof *c);
    *c = (struct httpd_conn){.owner = h, .next = h->conns, .at = &h->conns, .fd = fd};
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    if (c->next)
        c->next->at = &c->next;
    h->conns = c;
    h->conn_count++;
    c->timer = loop_timer_new(h->loop, on_time, c);
    c->on_loop = loop_fd_new(h->loop, fd, LOOP_READ, on_ready, c);
    enter(c, HTTPD_READING, h->options.idle_ms);
}
