/* SPDX-License-Identifier: MIT
 * One client connection: buffers, phase timers, reading and writing. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "io/http/server/httpd_internal.h"

enum {
    READ_BYTES = 16 << 10,
    AHEAD_MAX = 64 << 10, /* limit of unread requests while one is answered */
    LINGER_MS = 1000,
};

static bool httpd_conn_has_unsent_output(const struct httpd_conn *c)
{
    return c->stream ? c->stream->state == HTTPD_STREAM_BLOCKED : c->sent < c->out.len;
}

/* Keeps reading while a request is being handled, to notice that the client disconnects. */
void httpd_conn_update_events(struct httpd_conn *c)
{
    const unsigned in = c->in.len < AHEAD_MAX ? LOOP_READ : 0u;
    loop_fd_set(c->on_loop, in | (httpd_conn_has_unsent_output(c) ? LOOP_WRITE : 0u));
}

void httpd_conn_set_phase(struct httpd_conn *c, enum httpd_phase phase, int64_t ms)
{
    c->phase = phase;
    loop_timer_set(c->timer, ms);
}

struct httpd_once *httpd_conn_detach_request(struct httpd_conn *c)
{
    ASSERT(!c->pending || c->pending->conn == c);
    ASSERT(!c->stream || c->stream->conn == c);
    struct httpd_once *gone = NULL;
    if (c->pending) {
        gone = &c->pending->gone;
        c->pending->conn = NULL;
        c->pending->request.gone = true;
        c->pending->request.peer = "";
        c->pending = NULL;
    }
    if (c->stream) {
        gone = &c->stream->gone;
        c->stream->conn = NULL;
        c->stream = NULL;
    }
    return gone;
}

void httpd_conn_free(struct httpd_conn *c)
{
    ASSERT(*c->next.le_prev == c);
    ASSERT(c->owner->conn_count > 0);
    httpd_conn_detach_request(c);
    LIST_REMOVE(c, next);
    c->owner->conn_count--;
    httpd_peer_release(c->owner, c->peer);
    loop_fd_free(c->on_loop);
    loop_timer_free(c->timer);
    close(c->fd);
    httpd_parse_fini(&c->parse);
    buf_fini(&c->in);
    buf_fini(&c->out);
    free(c->origin);
    free(c);
}

void httpd_conn_drop(struct httpd_conn *c)
{
    httpd_once_post(httpd_conn_detach_request(c));
    httpd_conn_free(c);
}

/* ---- output ---- */

void httpd_conn_send_answer(struct httpd_conn *c, const struct httpd_answer *a)
{
    if (httpd_response_head_write(c, a, false))
        buf_add(&c->out, a->body.p, a->body.len);
    httpd_parse_reset(&c->parse);
    httpd_conn_set_phase(c, HTTPD_WRITING, c->owner->options.idle_ms);
    httpd_conn_update_events(c);
}

static void httpd_conn_time_out(struct httpd_conn *c, int status)
{
    c->closes = true;
    httpd_refuse_late(c, status);
}

void httpd_conn_linger(struct httpd_conn *c)
{
    shutdown(c->fd, SHUT_WR);
    buf_reset(&c->in);
    httpd_conn_set_phase(c, HTTPD_LINGERING, LINGER_MS);
}

/* Removes sent bytes, at a cost independent of the unsent bytes. */
static void httpd_conn_discard_sent(struct httpd_conn *c)
{
    ASSERT(c->sent <= c->out.len);
    if (c->sent <= c->out.len / 2)
        return;
    buf_consume(&c->out, c->sent);
    c->sent = 0;
}

int httpd_conn_flush(struct httpd_conn *c)
{
    ASSERT(c->sent <= c->out.len);
    while (c->sent < c->out.len) {
        const ssize_t n = write(c->fd, c->out.p + c->sent, c->out.len - c->sent);
        if (n < 0) {
            httpd_conn_discard_sent(c);
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        }
        c->sent += (size_t)n;
    }
    buf_fini(&c->out);
    c->sent = 0;
    return 0;
}

/* ---- input ---- */

/* -1: the client has closed the connection, or it is broken. */
static int httpd_conn_read_input(struct httpd_conn *c)
{
    const ssize_t n = read(c->fd, buf_reserve(&c->in, READ_BYTES), READ_BYTES);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n == 0)
        return -1;
    c->in.len += (size_t)n;
    return 0;
}

static void httpd_conn_parse_input(struct httpd_conn *c)
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

/* Processes the received bytes. Handlers never nest: a response is sent from the loop, and only
 * then is the next request processed. */
static void httpd_conn_process_input(struct httpd_conn *c)
{
    if (c->phase == HTTPD_LINGERING)
        buf_reset(&c->in);
    if (c->phase != HTTPD_READING || !c->in.len)
        return;
    httpd_conn_parse_input(c);
    if (c->parse.state == HTTPD_PARSE_REFUSED) {
        c->closes = true;
        httpd_refuse_parse(c);
    } else if (c->parse.state == HTTPD_PARSE_READY)
        httpd_dispatch_request(c);
    if (!c->in.len)
        buf_fini(&c->in);
}

static void httpd_conn_on_response_written(struct httpd_conn *c)
{
    if (c->phase != HTTPD_WRITING || c->out.len)
        return;
    c->is_head = false;
    if (c->closes)
        httpd_conn_linger(c);
    else
        httpd_conn_set_phase(c, HTTPD_READING, c->owner->options.idle_ms);
}

/* Writes and reads what is possible. -1: the client has disconnected, or may have. */
static int httpd_conn_exchange(struct httpd_conn *c, unsigned ready)
{
    if (ready & LOOP_WRITE) {
        if (httpd_conn_flush(c) < 0)
            return -1;
        if (c->stream)
            httpd_stream_flushed(c->stream);
        else if (c->phase == HTTPD_WRITING)
            loop_timer_set(c->timer, c->owner->options.idle_ms);
    }
    if (ready & LOOP_READ && httpd_conn_read_input(c) < 0)
        return -1;
    /* The limit of unread requests was reached, so that a disconnect could not be noticed. */
    return c->stream && c->in.len >= AHEAD_MAX ? -1 : 0;
}

static void httpd_conn_on_ready(void *arg, unsigned ready)
{
    struct httpd_conn *const c = arg;
    if (httpd_conn_exchange(c, ready) < 0) {
        httpd_conn_drop(c);
        return;
    }
    httpd_conn_on_response_written(c);
    httpd_conn_process_input(c);
    httpd_conn_update_events(c);
}

static void httpd_conn_on_timeout(void *arg)
{
    struct httpd_conn *const c = arg;
    switch (c->phase) {
    case HTTPD_READING:
        if (httpd_parse_is_idle(&c->parse))
            httpd_conn_free(c);
        else
            httpd_conn_time_out(c, 408);
        return;
    case HTTPD_HANDLING:
        httpd_once_post(httpd_conn_detach_request(c));
        if (c->owner->drain)
            httpd_refuse_drain(c);
        else
            httpd_conn_time_out(c, c->late_ms ? 504 : 503);
        return;
    case HTTPD_STREAMING:
        ASSERT(c->stream);
        httpd_stream_timed_out(c->stream);
        return;
    case HTTPD_WRITING:
    case HTTPD_LINGERING:
        httpd_conn_free(c);
        return;
    }
}

void httpd_conn_new(struct httpd *h, int fd, struct httpd_peer *peer)
{
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct httpd_conn *const c = xcalloc(1, sizeof *c);
    *c = (struct httpd_conn){.owner = h, .fd = fd, .peer = peer};
    LIST_INSERT_HEAD(&h->conns, c, next);
    h->conn_count++;
    c->parse.max_body = h->options.body_bytes;
    c->timer = loop_timer_new(h->loop, httpd_conn_on_timeout, c);
    c->on_loop = loop_fd_new(h->loop, fd, LOOP_READ, httpd_conn_on_ready, c);
    httpd_conn_set_phase(c, HTTPD_READING, h->options.idle_ms);
}
