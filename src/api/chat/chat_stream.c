/* SPDX-License-Identifier: MIT
 * A chat completion that is sent as a stream of chunks while the turn runs. A turn that fails
 * before the stream has begun is answered with an HTTP status. */
#include "api/chat/chat_completion.h"
#include "api/shared/past_turns.h"
#include "api/turns/turn_api.h"
#include "base/sys/clock.h"

static void start_writing(struct chat_completion *c)
{
    const char *const model = c->ask.model && *c->ask.model ? c->ask.model : c->agent;
    writer_stream_init(&c->writing, writer_find("agenticore-openai"),
                       &(struct writer_conf){.framing = FRAMING_SSE,
                                             .model = model,
                                             .is_answer = true,
                                             .repeats_final = c->api->conf->http.repeats_final,
                                             .usage_apart = c->ask.wants_usage});
}

static struct httpd_stream *start_stream(struct chat_completion *c)
{
    const struct httpd_header id = {"x-request-id", c->ask.id ? c->ask.id : c->turn};
    struct httpd_stream *const stream = api_http_stream(c->request, &id, 1);
    c->request = NULL;
    return stream;
}

/* ---- events of the host ---- */

static void init_event(const struct chat_completion *c, struct event *ev, enum tc_kind kind)
{
    event_init(ev, kind);
    ev->meta.ts = clock_wall_s();
    ev->meta.correlation_id = c->turn;
}

static void chat_stream_write_done(struct chat_completion *c, struct buf *out)
{
    struct event ev;
    init_event(c, &ev, TC_DONE);
    writer_stream_write(&c->writing, out, &ev);
    c->done = true;
}

static void chat_stream_write_error(struct chat_completion *c, struct buf *out, const char *code,
                                    const char *message)
{
    struct event ev;
    init_event(c, &ev, TC_ERROR);
    ev.u.error.code = code;
    ev.u.error.message = message;
    writer_stream_write(&c->writing, out, &ev);
    chat_stream_write_done(c, out);
}

/* ---- events of the turn ---- */

static void chat_stream_write_event(struct chat_completion *c, struct buf *out,
                                    const struct event *ev)
{
    if (ev->kind == TC_DONE && strcmp(ev->u.done.reason, "cancelled") == 0) {
        chat_stream_write_error(c, out, "cancelled", CHAT_CANCELLED);
        return;
    }
    c->done |= ev->kind == TC_DONE;
    writer_stream_write(&c->writing, out, ev);
}

static void chat_stream_add_event(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    chat_stream_write_event(ctx, out, shared_event_get(item->shared));
}

/* Ends the stream of a turn that was merged or forgotten, and therefore has no event of its end. */
static void chat_stream_add_end(void *ctx, struct buf *out)
{
    struct chat_completion *const c = ctx;
    const struct turnlog_turn *const t = turnlog_find_turn(c->api->host.turnlog, c->turn);
    if (c->done)
        return;
    if (turn_api_is_cancelled_by_shutdown(c->api, t))
        chat_stream_write_error(c, out, "host_shutdown", TURNS_DISMISSED);
    else if (t && t->state == TURNLOG_CANCELLED)
        chat_stream_write_error(c, out, "cancelled", CHAT_CANCELLED);
    else
        chat_stream_write_error(c, out, "lost", CHAT_LOST);
}

/* ---- start ---- */

static bool has_failed(const struct chat_completion *c)
{
    const struct turnlog_turn *const t = turnlog_find_turn(c->api->host.turnlog, c->turn);
    return !t || t->state == TURNLOG_ERROR || t->state == TURNLOG_CANCELLED;
}

static struct httpd_stream *chat_stream_begin(void *ctx)
{
    struct chat_completion *const c = ctx;
    if (!has_failed(c))
        return start_stream(c);
    chat_response_send_error(c);
    return NULL;
}

void chat_stream_start(struct chat_completion *c)
{
    static const struct event_stream_ops ops = {.event = chat_stream_add_event,
                                                .begin = chat_stream_begin,
                                                .over = chat_stream_add_end,
                                                .closed = chat_completion_on_closed};
    const struct event_stream_spec spec = {
        .ops = &ops, .ctx = c, .turn = c->turn, .principal = c->principal, .awaits = true};
    start_writing(c);
    event_stream_start_deferred(c->api, &spec, c->request);
}

struct past_stream {
    struct chat_completion *chat;
    struct buf out;
};

static void chat_stream_add_past(void *ctx, const struct event *ev)
{
    struct past_stream *const p = ctx;
    chat_stream_write_event(p->chat, &p->out, ev);
}

void chat_completion_stream_past(struct chat_completion *c, const struct journal_turn *t)
{
    struct past_stream p = {.chat = c};
    start_writing(c);
    past_turns_emit_events(t, chat_stream_add_past, &p);
    struct httpd_stream *const stream = start_stream(c);
    httpd_stream_write(stream, (struct str){p.out.p, p.out.len});
    httpd_stream_end(stream);
    buf_fini(&p.out);
    chat_completion_free(c);
}

void chat_stream_send_visibility(struct chat_completion *c, struct visibility v)
{
    CLEANUP_BUF struct buf text = {0}, out = {0};
    struct event ev;
    visibility_append_json(&text, v);
    start_writing(c);
    init_event(c, &ev, TC_START);
    writer_stream_write(&c->writing, &out, &ev);
    event_init_notice(&ev, "info", "stream_config", text.p);
    writer_stream_write(&c->writing, &out, &ev);
    chat_stream_write_done(c, &out);
    struct httpd_stream *const stream = start_stream(c);
    httpd_stream_write(stream, (struct str){out.p, out.len});
    httpd_stream_end(stream);
    chat_completion_free(c);
}
