/* SPDX-License-Identifier: MIT
 * Streamed responses with a bound on unread bytes: a client that does not read is disconnected;
 * and the callbacks for disconnected clients. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "io/http/server/httpd_internal.h"

/* ---- callbacks ---- */

static void httpd_stream_on_posted(void *arg)
{
    struct httpd_once *const n = arg;
    void (*const fn)(void *) = n->fn;
    n->is_posted = false;
    n->fn = NULL;
    if (fn)
        fn(n->arg);
}

void httpd_once_post(struct httpd_once *n)
{
    if (!n || !n->fn || n->is_posted)
        return;
    n->is_posted = true;
    loop_post(n->loop, httpd_stream_on_posted, n);
}

void httpd_once_set(struct httpd_once *n, bool is_due, void (*fn)(void *arg), void *arg)
{
    n->fn = fn;
    n->arg = arg;
    if (is_due)
        httpd_once_post(n);
}

void httpd_once_fini(struct httpd_once *n)
{
    if (n->is_posted)
        loop_cancel_posted(n->loop, httpd_stream_on_posted, n);
}

/* ---- output ---- */

static void httpd_stream_set_state(struct httpd_stream *s, enum httpd_stream_state state,
                                   int64_t ms)
{
    ASSERT(s->conn && s->conn->stream == s);
    s->state = state;
    httpd_conn_set_phase(s->conn, HTTPD_STREAMING, ms);
}

static void httpd_stream_abort(struct httpd_stream *s)
{
    buf_fini(&s->conn->out);
    s->conn->sent = 0;
    s->conn->closes = true;
    httpd_stream_set_state(s, HTTPD_STREAM_CUT, 0);
}

/* The client has read everything. */
void httpd_stream_flushed(struct httpd_stream *s)
{
    if (s->conn->out.len) {
        httpd_stream_set_state(s, HTTPD_STREAM_BLOCKED, s->conn->owner->options.idle_ms);
    } else {
        httpd_stream_set_state(s, HTTPD_STREAM_STILL, -1);
        httpd_once_post(&s->room);
    }
}

void httpd_stream_timed_out(struct httpd_stream *s)
{
    struct httpd_conn *const c = s->conn;
    if (s->state != HTTPD_STREAM_DUE || httpd_conn_flush(c) < 0) {
        httpd_conn_drop(c);
        return;
    }
    httpd_stream_flushed(s);
    httpd_conn_update_events(c);
}

static bool httpd_stream_is_over(const struct httpd_conn *c)
{
    ASSERT(c->sent <= c->out.len);
    return c->out.len - c->sent > c->owner->options.stream_bytes;
}

static void add_chunk(struct httpd_conn *c, struct str bytes)
{
    if (!c->is_old)
        buf_printf(&c->out, "%zx\r\n", bytes.len);
    buf_add(&c->out, bytes.p, bytes.len);
    if (!c->is_old)
        buf_add_str(&c->out, "\r\n");
}

/* Unread bytes may exceed the limit by the client's socket buffer. A single write may have any
 * size: a writer that waits for room is never disconnected. */
void httpd_stream_write(struct httpd_stream *s, struct str bytes)
{
    struct httpd_conn *const c = s->conn;
    if (s->local)
        httpd_local_write(s->local, bytes);
    if (!c || !bytes.len || s->state == HTTPD_STREAM_CUT)
        return;
    if (httpd_stream_is_over(c) && (httpd_conn_flush(c) < 0 || httpd_stream_is_over(c))) {
        httpd_stream_abort(s);
        return;
    }
    add_chunk(c, bytes);
    if (s->state == HTTPD_STREAM_STILL)
        httpd_stream_set_state(s, HTTPD_STREAM_DUE, 0);
}

void httpd_stream_keep_alive(struct httpd_stream *s, struct str bytes)
{
    if (!s->local && httpd_stream_pending_bytes(s) == 0)
        httpd_stream_write(s, bytes);
}

/* ---- begin and end ---- */

static void httpd_stream_attach(struct httpd_stream *s, struct httpd_conn *c,
                                const struct httpd_answer *a)
{
    ASSERT(!c->stream && !c->pending);
    if (!httpd_response_head_write(c, a, true)) {
        httpd_conn_set_phase(c, HTTPD_WRITING, c->owner->options.idle_ms);
        httpd_conn_update_events(c);
        return;
    }
    s->conn = c;
    c->stream = s;
    httpd_stream_set_state(s, HTTPD_STREAM_DUE, 0);
}

struct httpd_stream *httpd_stream_begin(struct httpd_request *r, int status,
                                        const char *content_type, const struct httpd_header *more,
                                        size_t n)
{
    struct httpd_pending_request *const p = (struct httpd_pending_request *)r;
    struct httpd_conn *const c = p->conn;
    ASSERT(!c || c->pending == p);
    struct httpd_stream *const s = xmalloc(sizeof *s);
    *s = (struct httpd_stream){.gone.loop = p->gone.loop, .room.loop = p->gone.loop};
    if (c) {
        httpd_conn_detach_request(c);
        httpd_stream_attach(s, c,
                            &(struct httpd_answer){.status = status,
                                                   .content_type = content_type,
                                                   .headers = more,
                                                   .header_count = n});
    } else if (p->local) {
        httpd_local_begin_stream(p->local, s);
    }
    httpd_pending_free(p);
    return s;
}

bool httpd_stream_is_gone(const struct httpd_stream *s)
{
    return !s->conn && !s->local;
}

void httpd_stream_set_on_gone(struct httpd_stream *s, void (*fn)(void *arg), void *arg)
{
    httpd_once_set(&s->gone, httpd_stream_is_gone(s), fn, arg);
}

size_t httpd_stream_pending_bytes(const struct httpd_stream *s)
{
    if (s->local)
        return httpd_local_pending_bytes(s->local);
    return s->conn ? s->conn->out.len - s->conn->sent : 0;
}

void httpd_set_on_room(struct httpd_stream *s, void (*fn)(void *arg), void *arg)
{
    const bool has_room =
        s->local ? !httpd_local_pending_bytes(s->local) : s->conn && !s->conn->out.len;
    httpd_once_set(&s->room, has_room, fn, arg);
}

/* Returns the callback to be called about the end, or NULL. */
static struct httpd_once *httpd_stream_finish(struct httpd_conn *c)
{
    ASSERT(c->stream);
    if (!c->is_old && c->stream->state != HTTPD_STREAM_CUT)
        buf_add_str(&c->out, "0\r\n\r\n");
    struct httpd_once *const gone = httpd_conn_detach_request(c);
    if (c->out.len) {
        httpd_conn_set_phase(c, HTTPD_WRITING, c->owner->options.idle_ms);
        httpd_conn_update_events(c);
    } else {
        httpd_conn_linger(c);
    }
    return gone;
}

void httpd_stream_close(struct httpd_conn *c)
{
    httpd_once_post(httpd_stream_finish(c));
}

void httpd_stream_end(struct httpd_stream *s)
{
    struct httpd_local *const local = s->local;
    if (s->conn)
        httpd_stream_finish(s->conn);
    httpd_once_fini(&s->gone);
    httpd_once_fini(&s->room);
    if (local)
        httpd_local_end_stream(local);
    free(s);
}
