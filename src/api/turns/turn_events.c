/* SPDX-License-Identifier: MIT
 * Routes for turn events as server-sent events, resumable by Last-Event-ID. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "api/turns/request_api.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"
#include "base/cleanup.h"

/* ---- one turn ---- */

struct following {
    struct auth_principal principal; /* string points to `name` */
    char *name, *turn;
    const struct request_registry *requests;
};

static void turn_events_add_line(struct buf *out, uint64_t seq, struct shared_event *shared)
{
    size_t len;
    const char *const line = shared_event_json_line(shared, &len);
    buf_printf(out, "id: %" PRIu64 "\ndata: ", seq);
    buf_add(out, line, len);
    buf_add_str(out, "\n\n");
}

static void turn_events_add_event(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    const struct following *const f = ctx;
    struct event told;
    if (!request_api_adapt_event(f->requests, &f->principal, f->turn,
                                 shared_event_get(item->shared), &told)) {
        turn_events_add_line(out, item->seq, item->shared);
        return;
    }
    struct shared_event *const shared = shared_event_new(&told);
    turn_events_add_line(out, item->seq, shared);
    shared_event_unref(shared);
}

static void on_unfollowed(void *ctx, bool left)
{
    struct following *const f = ctx;
    (void)left;
    free(f->name);
    free(f->turn);
    free(f);
}

static void turn_events_add_gap(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    (void)ctx;
    buf_printf(out,
               "id: %" PRIu64 "\nevent: gap\ndata: {\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}\n\n",
               item->to, item->from, item->to);
}

/* The stream of the turn, or of the list, continues at another host. */
static void add_shutdown(void *ctx, struct buf *out)
{
    (void)ctx;
    buf_add_str(out, "event: shutdown\ndata: {\"code\":\"host_shutdown\",\"message\":\"turncast is "
                     "shutting down; reconnect after the restart.\"}\n\n");
}

static const struct event_stream_ops ops = {.event = turn_events_add_event,
                                            .gap = turn_events_add_gap,
                                            .drain = add_shutdown,
                                            .closed = on_unfollowed};

/* Last-Event-ID of the client; 0 if absent or not a number. */
static uint64_t turn_events_parse_last_id(const struct httpd_request *r)
{
    const char *const text = httpd_find_header(r, "Last-Event-ID");
    char *end;
    const uint64_t id = text ? strtoull(text, &end, 10) : 0;
    return text && *text != '-' && !*end ? id : 0;
}

void turn_events_handle_turn(struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, 0);
    const struct turnlog_turn *const t = p ? turn_api_find_turn(a->host.turnlog, r, p) : NULL;
    if (!t)
        return;
    struct following *const f = xcalloc(1, sizeof *f);
    f->name = xstrdup(p->name);
    f->turn = xstrdup(t->spec.id);
    f->principal = (struct auth_principal){.name = f->name, .grants = p->grants};
    f->requests = a->host.requests;
    const struct event_stream_spec spec = {
        .ops = &ops,
        .ctx = f,
        .turn = t->spec.id,
        .principal = p->name,
        .after = turn_events_parse_last_id(r),
        .sees_all = a->is_operator || a->conf->http.sees_all,
    };
    event_stream_start(a, &spec, api_http_stream(r, NULL, 0));
}

/* ---- the list ---- */

struct watching {
    struct auth_principal principal; /* string points to `name` */
    char *name;
    const struct request_registry *requests;
    struct event_stream *feed;
    struct turnlog_watcher *watcher;
};

static void turn_events_send_turn(void *ctx, const struct turnlog_turn *t)
{
    const struct watching *const w = ctx;
    if (!turn_api_can_see(&w->principal, t))
        return;
    CLEANUP_BUF struct buf out = {0};
    buf_add_str(&out, "data: ");
    turn_api_append_json(&out, t, w->requests, &w->principal);
    buf_add_str(&out, "\n\n");
    event_stream_write(w->feed, (struct str){out.p, out.len});
}

static bool turn_events_send_each(void *ctx, const struct turnlog_turn *t)
{
    turn_events_send_turn(ctx, t);
    return true;
}

static void turn_events_on_closed(void *ctx, bool left)
{
    struct watching *const w = ctx;
    (void)left;
    turnlog_watcher_free(w->watcher);
    free(w->name);
    free(w);
}

static const struct event_stream_ops list_ops = {.drain = add_shutdown,
                                                 .closed = turn_events_on_closed};

void turn_events_handle_list(struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, 0);
    if (!p)
        return;
    struct watching *const w = xcalloc(1, sizeof *w);
    const struct event_stream_spec spec = {.ops = &list_ops, .ctx = w, .principal = p->name};
    w->name = xstrdup(p->name);
    w->requests = a->host.requests;
    w->principal = (struct auth_principal){.name = w->name, .grants = p->grants};
    w->feed = event_stream_start(a, &spec, api_http_stream(r, NULL, 0));
    w->watcher = turnlog_watch(a->host.turnlog, turn_events_send_turn, w);
    turnlog_each_turn(a->host.turnlog, turn_events_send_each, w);
}
