/* SPDX-License-Identifier: MIT
 * Owns the event streams ("feeds") of clients: the follower, the response and the timer of each. */
#include "api/shared/event_stream.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/abandoned_turns.h"
#include "api/shared/api_internal.h"
#include "api/shared/remote_waits.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"

#define ROUND_BYTES ((size_t)256 << 10) /* most bytes that the client has not read yet */

struct event_stream {
    LIST_ENTRY(event_stream) next;
    struct api_context *api;
    const struct event_stream_ops *ops;
    void *ctx;
    char *principal;
    char *turn;       /* turn that it follows, or NULL */
    bool awaits;      /* the client waits for the end of the turn */
    uint64_t version; /* auth version of the client's key */
    struct turnlog_follower *follower;
    uint64_t told, until;        /* told: number of the last event that was written */
    bool even;                   /* all events have been written */
    struct httpd_stream *stream; /* NULL: the response has not begun, or was sent in one piece */
    bool held;                   /* the response begins with the first event after start */
    struct loop_timer *alive;
};

bool event_stream_has_waiter(const struct api_context *a, const char *turn)
{
    const struct event_stream *f;
    LIST_FOREACH (f, &a->feeds, next)
        if (f->awaits && strcmp(f->turn, turn) == 0)
            return true;
    return false;
}

void event_stream_visit_awaited(const struct api_context *a,
                                void (*each)(void *ctx, const char *turn), void *ctx)
{
    const struct event_stream *f;
    LIST_FOREACH (f, &a->feeds, next)
        if (f->awaits)
            each(ctx, f->turn);
}

static void event_stream_close(struct event_stream *f, bool left)
{
    ASSERT(*f->next.le_prev == f);
    LIST_REMOVE(f, next);
    turnlog_follower_free(f->follower);
    loop_timer_free(f->alive);
    if (f->stream)
        httpd_stream_end(f->stream);
    if (f->ops->closed)
        f->ops->closed(f->ctx, left);
    if (left && f->awaits && f->api->abandoned)
        abandoned_turns_record(f->api->abandoned, f->turn);
    free(f->turn);
    free(f->principal);
    free(f);
}

static void event_stream_on_gone(void *arg)
{
    event_stream_close(arg, true);
}

void event_stream_write(struct event_stream *f, struct str bytes)
{
    ASSERT(f->stream);
    httpd_stream_write(f->stream, bytes);
    loop_timer_set(f->alive, FEED_KEEP_ALIVE_MS);
}

static void event_stream_set_stream(struct event_stream *f, struct httpd_stream *stream)
{
    ASSERT(stream && !f->stream);
    f->stream = stream;
    httpd_stream_set_on_gone(stream, event_stream_on_gone, f);
    loop_timer_set(f->alive, FEED_KEEP_ALIVE_MS);
}

/* False: the stream has ended and was freed. */
static bool event_stream_begin_deferred(struct event_stream *f)
{
    ASSERT(f->held && !f->stream);
    struct httpd_stream *const stream = f->ops->begin(f->ctx);
    f->held = false;
    if (!stream) {
        event_stream_close(f, false);
        return false;
    }
    event_stream_set_stream(f, stream);
    return true;
}

/* Whether the form of the response is known: the event start alone does not decide it. */
static bool event_stream_may_begin(const struct event_stream *f)
{
    const struct turnlog_turn *const t = turnlog_find_turn(f->api->host.turnlog, f->turn);
    return !t || t->last_seq > 1 || turnlog_turn_is_finished(t);
}

static void write_item(struct event_stream *f, struct buf *out, enum turnlog_next_result step,
                       const struct turnlog_item *item)
{
    f->told = step == TURNLOG_GAP ? item->to : item->seq;
    if (step == TURNLOG_EVENT && f->ops->event)
        f->ops->event(f->ctx, out, item);
    if (step == TURNLOG_GAP && f->ops->gap)
        f->ops->gap(f->ctx, out, item);
}

static enum turnlog_next_result event_stream_next_item(const struct event_stream *f,
                                                       struct turnlog_item *item)
{
    return f->until && f->told >= f->until ? TURNLOG_OVER
                                           : turnlog_follower_next(f->follower, item);
}

/* Appends the missing events to `out`. */
static void event_stream_complete(struct event_stream *f, struct buf *out)
{
    if (f->ops->over)
        f->ops->over(f->ctx, out);
    if (out->len)
        event_stream_write(f, (struct str){out->p, out->len});
    event_stream_close(f, false);
}

bool event_stream_is_drained(const struct event_stream *f)
{
    return f->even;
}

void event_stream_finish(struct event_stream *f)
{
    CLEANUP_BUF struct buf out = {0};
    event_stream_complete(f, &out);
}

/* Writes all available events, or as many as the client accepts; continues when there is room. */
static void event_stream_pump(void *arg)
{
    struct event_stream *const f = arg;
    if (f->held && (!event_stream_may_begin(f) || !event_stream_begin_deferred(f)))
        return;
    CLEANUP_BUF struct buf out = {0};
    struct turnlog_item item = {0};
    enum turnlog_next_result step = TURNLOG_EVENT;
    const size_t unread = f->stream ? httpd_stream_pending_bytes(f->stream) : 0;
    while (unread + out.len < ROUND_BYTES) {
        step = event_stream_next_item(f, &item);
        if (step == TURNLOG_WAIT || step == TURNLOG_OVER)
            break;
        write_item(f, &out, step, &item);
    }
    f->even = step == TURNLOG_WAIT;
    if (step != TURNLOG_OVER && out.len)
        event_stream_write(f, (struct str){out.p, out.len});
    if (step == TURNLOG_OVER)
        event_stream_complete(f, &out);
    else if (step != TURNLOG_WAIT)
        httpd_set_on_room(f->stream, event_stream_pump, f);
}

/* Begins the deferred response. */
static void event_stream_begin_late(struct event_stream *f)
{
    if (!event_stream_begin_deferred(f))
        return;
    event_stream_write(f, STR(": keep-alive\n\n"));
    event_stream_pump(f);
}

static void on_alive(void *arg)
{
    struct event_stream *const f = arg;
    if (f->held) {
        event_stream_begin_late(f);
        return;
    }
    httpd_stream_keep_alive(f->stream, STR(": keep-alive\n\n"));
    loop_timer_set(f->alive, FEED_KEEP_ALIVE_MS);
}

static struct event_stream *event_stream_new(struct api_context *a,
                                             const struct event_stream_spec *spec)
{
    struct event_stream *const f = xcalloc(1, sizeof *f);
    f->api = a;
    f->ops = spec->ops;
    f->ctx = spec->ctx;
    f->principal = xstrdup(spec->principal);
    f->version = auth_get_key_version(a->auth, spec->principal);
    f->alive = loop_timer_new(a->host.loop, on_alive, f);
    f->told = spec->after;
    f->until = spec->until;
    f->turn = xstrdup(spec->turn);
    f->awaits = spec->awaits;
    if (spec->turn)
        f->follower = turnlog_follower_new(a->host.turnlog, spec->turn, spec->after, spec->sees_all,
                                           event_stream_pump, f);
    LIST_INSERT_HEAD(&a->feeds, f, next);
    if (f->awaits && a->waits)
        remote_waits_send_update(a->waits, f->turn);
    return f;
}

struct event_stream *event_stream_start(struct api_context *a, const struct event_stream_spec *spec,
                                        struct httpd_stream *stream)
{
    struct event_stream *const f = event_stream_new(a, spec);
    event_stream_set_stream(f, stream);
    return f;
}

struct event_stream *event_stream_start_deferred(struct api_context *a,
                                                 const struct event_stream_spec *spec,
                                                 struct httpd_request *request)
{
    struct event_stream *const f = event_stream_new(a, spec);
    httpd_set_on_gone(request, event_stream_on_gone, f);
    f->held = spec->ops->begin;
    if (f->held)
        loop_timer_set(f->alive, FEED_HOLD_MS);
    return f;
}

void event_stream_end_revoked(struct api_context *a)
{
    for (struct event_stream *f = LIST_FIRST(&a->feeds), *next; f; f = next) {
        next = LIST_NEXT(f, next);
        if (auth_get_key_version(a->auth, f->principal) != f->version)
            event_stream_close(f, true);
    }
}

/* A merged turn continues as the turn that absorbed it. */
static bool is_turn_over(const struct event_stream *f)
{
    const struct turnlog *const log = f->api->host.turnlog;
    const struct turnlog_turn *t = f->turn ? turnlog_find_turn(log, f->turn) : NULL;
    if (t && t->into)
        t = turnlog_find_turn(log, t->into);
    return f->turn && (!t || turnlog_turn_is_finished(t));
}

static void event_stream_drain_one(struct event_stream *f)
{
    CLEANUP_BUF struct buf out = {0};
    if (f->ops->drain)
        f->ops->drain(f->ctx, &out);
    if (out.len)
        event_stream_write(f, (struct str){out.p, out.len});
    event_stream_close(f, false);
}

void event_stream_drain(struct api_context *a)
{
    for (struct event_stream *f = LIST_FIRST(&a->feeds), *next; f; f = next) {
        next = LIST_NEXT(f, next);
        if (f->stream && !is_turn_over(f))
            event_stream_drain_one(f);
    }
}

void event_stream_end_all(struct api_context *a)
{
    while (!LIST_EMPTY(&a->feeds))
        event_stream_close(LIST_FIRST(&a->feeds), true);
}

size_t event_stream_count(const struct api_context *a)
{
    size_t n = 0;
    const struct event_stream *f;
    LIST_FOREACH (f, &a->feeds, next)
        n++;
    return n;
}
