/* SPDX-License-Identifier: MIT
 * Graceful shutdown: stops accepting, completes pending answers, closes idle connections. */
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "io/http/server/httpd_internal.h"

enum { LOOK_MS = 5 };

/* A stream continues if its owner waits to write more, or has just written. */
static bool is_stream_idle(const struct httpd_stream *s)
{
    return s->state == HTTPD_STREAM_STILL && !s->room.fn;
}

static void httpd_drain_close_if_idle(struct httpd_conn *c)
{
    if (c->phase == HTTPD_READING && httpd_parse_is_idle(&c->parse) && !c->in.len)
        httpd_conn_free(c);
    else if (c->phase == HTTPD_STREAMING && is_stream_idle(c->stream))
        httpd_stream_close(c);
}

static void httpd_drain_on_timer(void *arg)
{
    struct httpd *const h = arg;
    for (struct httpd_conn *c = LIST_FIRST(&h->conns), *next; c; c = next) {
        next = LIST_NEXT(c, next);
        httpd_drain_close_if_idle(c);
    }
    if (!LIST_EMPTY(&h->conns) && clock_mono_ms() < h->drain_until_ms)
        loop_timer_set(h->drain, LOOK_MS);
    else
        h->drained(h->drained_arg);
}

void httpd_drain_begin(struct httpd *h, int64_t ms, void (*done)(void *arg), void *arg)
{
    ASSERT(done);
    ASSERT(!h->drain);
    h->drain = loop_timer_new(h->loop, httpd_drain_on_timer, h);
    h->drain_until_ms = clock_mono_ms() + ms;
    h->drained = done;
    h->drained_arg = arg;
    httpd_accept_stop(h);
    struct httpd_conn *c;
    LIST_FOREACH (c, &h->conns, next) {
        c->closes = true;
        if (c->phase == HTTPD_HANDLING) /* leaves time for its 503 */
            httpd_conn_set_phase(c, HTTPD_HANDLING, ms / 2);
    }
    loop_timer_set(h->drain, LOOK_MS);
}
