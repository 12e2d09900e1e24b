/* SPDX-License-Identifier: MIT
 * A chat completion that is sent in one piece when the turn has ended: the answer or the error.
 * Contains the answer even if visibility hides it, because the client receives nothing else. */
#include "api/chat/chat_completion.h"
#include "api/shared/past_turns.h"
#include "api/turns/turn_api.h"
#include "base/sys/clock.h"
#include "event/json/json_writer.h"

/* ---- events of the turn ---- */

static void chat_response_set_text(struct buf *to, const char *text, size_t len)
{
    buf_reset(to);
    buf_add(to, text, len);
}

static void chat_response_store_error(struct chat_completion *c, const char *code,
                                      const char *message)
{
    c->whole.failed = true;
    chat_response_set_text(&c->whole.code, code, strlen(code));
    chat_response_set_text(&c->whole.message, message, strlen(message));
}

static void chat_response_store_usage(struct chat_completion *c, const struct tc_usage *u)
{
    if (strcmp(u->scope, "turn") != 0)
        return;
    c->whole.input = u->input_tokens > 0 ? u->input_tokens : 0;
    c->whole.output = u->output_tokens > 0 ? u->output_tokens : 0;
}

static void chat_response_store_event(struct chat_completion *c, const struct event *ev)
{
    if (ev->meta.agent || ev->meta.parent_id)
        return;
    if (ev->kind == TC_FINAL)
        chat_response_set_text(&c->whole.text, ev->u.final.text, ev->u.final.text_len);
    else if (ev->kind == TC_ERROR)
        chat_response_store_error(c, ev->u.error.code ? ev->u.error.code : "error",
                                  ev->u.error.message);
    else if (ev->kind == TC_USAGE)
        chat_response_store_usage(c, &ev->u.usage);
    if (ev->kind != TC_DONE)
        return;
    c->done = true;
    if (strcmp(ev->u.done.reason, "cancelled") == 0 && !c->whole.text.len)
        chat_response_store_error(c, "cancelled", CHAT_CANCELLED);
}

static void chat_response_store_item(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    (void)out;
    chat_response_store_event(ctx, shared_event_get(item->shared));
}

/* ---- the response ---- */

static void chat_response_send(struct chat_completion *c, const struct buf *body)
{
    const struct httpd_header id = {"x-request-id", c->ask.id ? c->ask.id : c->turn};
    httpd_answer_full(c->request, &(struct httpd_answer){
                                      .status = 200,
                                      .content_type = REPLY_JSON,
                                      .headers = &id,
                                      .header_count = 1,
                                      .body = {body->p, body->len},
                                  });
    c->request = NULL;
}

static void chat_response_add_usage(struct buf *out, int64_t input, int64_t output)
{
    jsonw_key(out, "usage");
    buf_add_char(out, '{');
    jsonw_member_int(out, "prompt_tokens", input);
    jsonw_member_int(out, "completion_tokens", output);
    jsonw_member_int(out, "total_tokens", input + output);
    buf_add_char(out, '}');
}

static void chat_response_answer(struct chat_completion *c)
{
    CLEANUP_BUF struct buf out = {0}, id = {0};
    buf_printf(&id, "chatcmpl-%s", c->turn);
    buf_add_char(&out, '{');
    jsonw_member_str(&out, "id", id.p);
    jsonw_member_str(&out, "object", "chat.completion");
    jsonw_member_int(&out, "created", (int64_t)clock_wall_s());
    jsonw_member_str(&out, "model", c->ask.model && *c->ask.model ? c->ask.model : c->agent);
    buf_add_str(&out, ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"");
    jsonw_key(&out, "content");
    jsonw_string(&out, c->whole.text.p ? c->whole.text.p : "", c->whole.text.len);
    buf_add_str(&out, "},\"finish_reason\":\"stop\"}]");
    chat_response_add_usage(&out, c->whole.input, c->whole.output);
    buf_add_str(&out, "}\n");
    chat_response_send(c, &out);
}

static void chat_response_send_failure(struct chat_completion *c)
{
    const struct turnlog_turn *const t = turnlog_find_turn(c->api->host.turnlog, c->turn);
    if (turn_api_is_cancelled_by_shutdown(c->api, t))
        api_http_error(c->request, 503, "shutting_down", TURNS_DISMISSED);
    else
        api_http_error(c->request, 500, c->whole.code.p, c->whole.message.p);
    c->request = NULL;
}

/* Sends the response for a turn that was merged or forgotten, and therefore has no event of its
 * end. */
static void chat_response_check_end(struct chat_completion *c)
{
    const struct turnlog_turn *const t = turnlog_find_turn(c->api->host.turnlog, c->turn);
    if (c->done)
        return;
    if (t && t->state == TURNLOG_CANCELLED)
        chat_response_store_error(c, "cancelled", CHAT_CANCELLED);
    else
        chat_response_store_error(c, "lost", CHAT_LOST);
}

static void chat_response_send_result(struct chat_completion *c)
{
    if (c->whole.failed)
        chat_response_send_failure(c);
    else
        chat_response_answer(c);
}

static void chat_response_on_over(void *ctx, struct buf *out)
{
    (void)out;
    chat_response_check_end(ctx);
    chat_response_send_result(ctx);
}

static void chat_response_store_past(void *ctx, const struct event *ev)
{
    chat_response_store_event(ctx, ev);
}

void chat_completion_whole_past(struct chat_completion *c, const struct journal_turn *t)
{
    past_turns_emit_events(t, chat_response_store_past, c);
    chat_response_send_result(c);
    chat_completion_free(c);
}

void chat_response_start(struct chat_completion *c)
{
    static const struct event_stream_ops ops = {.event = chat_response_store_item,
                                                .over = chat_response_on_over,
                                                .closed = chat_completion_on_closed};
    const struct event_stream_spec spec = {.ops = &ops,
                                           .ctx = c,
                                           .turn = c->turn,
                                           .principal = c->principal,
                                           .sees_all = true,
                                           .awaits = true};
    event_stream_start_deferred(c->api, &spec, c->request);
}

void chat_response_send_error(struct chat_completion *c)
{
    struct turnlog_item item;
    enum turnlog_next_result step;
    struct turnlog_follower *const f =
        turnlog_follower_new(c->api->host.turnlog, c->turn, 0, true, NULL, NULL);
    while (f && (step = turnlog_follower_next(f, &item)) <= TURNLOG_GAP)
        if (step == TURNLOG_EVENT)
            chat_response_store_event(c, shared_event_get(item.shared));
    turnlog_follower_free(f);
    if (!c->whole.failed)
        chat_response_check_end(c);
    if (!c->whole.failed)
        chat_response_store_error(c, "error", "The turn failed without an error message.");
    chat_response_send_failure(c);
}

void chat_response_send_visibility(struct chat_completion *c, struct visibility v)
{
    visibility_append_json(&c->whole.text, v);
    chat_response_answer(c);
    chat_completion_free(c);
}
