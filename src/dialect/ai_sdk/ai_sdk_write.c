/* SPDX-License-Identifier: MIT
 * Writes the UI message stream of Vercel's AI SDK (version 1 of the stream, as its releases 5 and 6
 * read it): one assistant message per turn. Every started text, reasoning and step is ended; an
 * output is written only for a call that was written. Text of sub-agents is left out; their calls
 * are written. */
#include <string.h>

#include "dialect/reader/tool_args.h"
#include "dialect/writer/json_member.h"
#include "dialect/writer/streamed_text.h"
#include "dialect/writer/writer.h"

#define STYLE STYLE_JS

struct ai_sdk_writer {
    enum ai_sdk_part { AI_SDK_NONE, AI_SDK_TEXT, AI_SDK_REASONING } part; /* the open one */
    bool started, in_step, failed;
    int64_t parts; /* started ones */
    struct open_calls calls;
    struct buf said; /* end of the text so far */
};

struct ai_sdk_ctx {
    struct ai_sdk_writer *w;
    const struct writer_out *out;
    const struct event *ev;
};

/* ---- chunks ---- */

static struct buf *ai_sdk_begin(const struct ai_sdk_ctx *e, const char *type)
{
    struct buf *const b = writer_begin_message(e->out);
    buf_add_char(b, '{');
    json_style_member_str(b, STYLE, "type", type);
    return b;
}

static void ai_sdk_end(const struct ai_sdk_ctx *e, struct buf *b)
{
    buf_add_char(b, '}');
    writer_begin_end_message(e->out);
}

static void ai_sdk_write_plain(const struct ai_sdk_ctx *e, const char *type)
{
    ai_sdk_end(e, ai_sdk_begin(e, type));
}

static bool ai_sdk_is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static void ai_sdk_write_start(const struct ai_sdk_ctx *e)
{
    if (e->w->started)
        return;
    e->w->started = true;
    const char *const run = e->out->conf->run;
    struct buf *const b = ai_sdk_begin(e, "start");
    json_style_member_str(b, STYLE, "messageId", run ? run : e->ev->meta.correlation_id);
    ai_sdk_end(e, b);
}

/* ---- text and reasoning ---- */

static const char *const starts[] = {NULL, "text-start", "reasoning-start"};
static const char *const deltas[] = {NULL, "text-delta", "reasoning-delta"};
static const char *const ends[] = {NULL, "text-end", "reasoning-end"};

static struct buf *ai_sdk_begin_part(const struct ai_sdk_ctx *e, const char *type)
{
    struct buf *const b = ai_sdk_begin(e, type);
    json_style_append_key(b, STYLE, "id");
    buf_printf(b, "\"%lld\"", (long long)e->w->parts);
    return b;
}

static void ai_sdk_close_part(const struct ai_sdk_ctx *e)
{
    const enum ai_sdk_part part = e->w->part;
    e->w->part = AI_SDK_NONE;
    if (part)
        ai_sdk_end(e, ai_sdk_begin_part(e, ends[part]));
}

static void ai_sdk_write_delta(const struct ai_sdk_ctx *e, enum ai_sdk_part part, const char *text,
                               size_t len)
{
    if (!len)
        return;
    ai_sdk_write_start(e);
    if (e->w->part != part) {
        ai_sdk_close_part(e);
        e->w->part = part;
        e->w->parts++;
        ai_sdk_end(e, ai_sdk_begin_part(e, starts[part]));
    }
    struct buf *const b = ai_sdk_begin_part(e, deltas[part]);
    json_style_append_key(b, STYLE, "delta");
    json_style_append_string(b, STYLE, text, len);
    ai_sdk_end(e, b);
}

static void ai_sdk_write_narration(const struct ai_sdk_ctx *e)
{
    const struct tc_narration *const n = &e->ev->u.narration;
    if (ai_sdk_is_child(e->ev))
        return;
    streamed_text_add(&e->w->said, n->text, n->text_len);
    ai_sdk_write_delta(e, AI_SDK_TEXT, n->text, n->text_len);
}

static void ai_sdk_write_thinking(const struct ai_sdk_ctx *e)
{
    const struct tc_thinking *const t = &e->ev->u.thinking;
    if (!ai_sdk_is_child(e->ev))
        ai_sdk_write_delta(e, AI_SDK_REASONING, t->text, t->text_len);
}

/* The answer, unless it was written as narration. */
static void ai_sdk_write_final(const struct ai_sdk_ctx *e)
{
    const struct tc_final *const f = &e->ev->u.final;
    if (streamed_text_ends_with(&e->w->said, f->text, f->text_len))
        return;
    ai_sdk_close_part(e);
    ai_sdk_write_delta(e, AI_SDK_TEXT, f->text, f->text_len);
}

/* ---- steps ---- */

static void ai_sdk_end_step(const struct ai_sdk_ctx *e)
{
    ai_sdk_close_part(e);
    if (e->w->in_step)
        ai_sdk_write_plain(e, "finish-step");
    e->w->in_step = false;
}

static void ai_sdk_write_step(const struct ai_sdk_ctx *e)
{
    const char *const state = e->ev->u.step.state;
    if (ai_sdk_is_child(e->ev) || strcmp(state, "mark") == 0)
        return;
    ai_sdk_write_start(e);
    ai_sdk_end_step(e);
    if (strcmp(state, "start") != 0)
        return;
    e->w->in_step = true;
    ai_sdk_write_plain(e, "start-step");
}

/* ---- tools ---- */

/* The agent has executed the call itself; its name is not one that the client declares. */
static struct buf *ai_sdk_begin_call(const struct ai_sdk_ctx *e, const char *type, const char *id)
{
    struct buf *const b = ai_sdk_begin(e, type);
    json_style_member_str(b, STYLE, "toolCallId", id);
    json_style_member_bool(b, STYLE, "providerExecuted", true);
    json_style_member_bool(b, STYLE, "dynamic", true);
    return b;
}

static void ai_sdk_write_call(const struct ai_sdk_ctx *e)
{
    const struct tc_tool_call *const c = &e->ev->u.tool_call;
    ai_sdk_write_start(e);
    ai_sdk_close_part(e);
    open_calls_add(&e->w->calls, c->tool_use_id, NULL);
    struct buf *const b = ai_sdk_begin_call(e, "tool-input-available", c->tool_use_id);
    json_style_member_str(b, STYLE, "toolName", c->name);
    json_style_member_json(b, STYLE, "input", c->args);
    ai_sdk_end(e, b);
}

static void ai_sdk_write_result(const struct ai_sdk_ctx *e)
{
    const struct tc_tool_result *const r = &e->ev->u.tool_result;
    if (!open_calls_remove(&e->w->calls, r->tool_use_id))
        return;
    struct buf *const b = ai_sdk_begin_call(
        e, r->is_error ? "tool-output-error" : "tool-output-available", r->tool_use_id);
    json_style_append_key(b, STYLE, r->is_error ? "errorText" : "output");
    json_style_append_string(b, STYLE, r->content, r->content_len);
    ai_sdk_end(e, b);
}

/* A data part: the request is answered elsewhere. A part with the same id replaces it. */
static void ai_sdk_write_request(const struct ai_sdk_ctx *e)
{
    const struct tc_request *const r = &e->ev->u.request;
    ai_sdk_write_start(e);
    struct buf *const b = ai_sdk_begin(e, "data-request");
    json_style_member_str(b, STYLE, "id", r->request_id);
    json_style_append_key(b, STYLE, "data");
    buf_add_char(b, '{');
    json_style_member_str(b, STYLE, "state", r->state);
    json_style_member_str(b, STYLE, "kind", r->kind);
    json_member_str(b, STYLE, "toolCallId", r->tool_use_id);
    json_member_str(b, STYLE, "tool", r->tool);
    json_member_str(b, STYLE, "subject", r->subject);
    json_member_str(b, STYLE, "message", r->message);
    json_member_str(b, STYLE, "decision", r->decision);
    buf_add_char(b, '}');
    ai_sdk_end(e, b);
}

/* ---- the end ---- */

static void ai_sdk_write_error(const struct ai_sdk_ctx *e)
{
    ai_sdk_end_step(e);
    e->w->failed = true;
    struct buf *const b = ai_sdk_begin(e, "error");
    json_style_member_str(b, STYLE, "errorText", e->ev->u.error.message);
    ai_sdk_end(e, b);
}

static const char *ai_sdk_reason(const struct ai_sdk_writer *w, const char *reason)
{
    if (w->failed || strcmp(reason, "error") == 0 || strcmp(reason, "lost") == 0)
        return "error";
    if (strcmp(reason, "refused") == 0)
        return "content-filter";
    return strcmp(reason, "completed") == 0 ? "stop" : "other";
}

static void ai_sdk_write_done(const struct ai_sdk_ctx *e)
{
    const char *const reason = e->ev->u.done.reason;
    ai_sdk_end_step(e);
    if (strcmp(reason, "cancelled") == 0) {
        ai_sdk_write_plain(e, "abort");
    } else {
        struct buf *const b = ai_sdk_begin(e, "finish");
        json_style_member_str(b, STYLE, "finishReason", ai_sdk_reason(e->w, reason));
        ai_sdk_end(e, b);
    }
    if (e->out->conf->framing == FRAMING_SSE)
        buf_add_str(e->out->buf, "data: [DONE]\n\n");
}

static void ai_sdk_write_event(void *state, const struct writer_out *out, const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct ai_sdk_ctx *) = {
        [TC_START] = ai_sdk_write_start,        [TC_NARRATION] = ai_sdk_write_narration,
        [TC_THINKING] = ai_sdk_write_thinking,  [TC_FINAL] = ai_sdk_write_final,
        [TC_STEP] = ai_sdk_write_step,          [TC_TOOL_CALL] = ai_sdk_write_call,
        [TC_TOOL_RESULT] = ai_sdk_write_result, [TC_REQUEST] = ai_sdk_write_request,
        [TC_ERROR] = ai_sdk_write_error,        [TC_DONE] = ai_sdk_write_done,
    };
    const struct ai_sdk_ctx e = {.w = state, .out = out, .ev = ev};
    if (write[ev->kind])
        write[ev->kind](&e);
}

static void ai_sdk_close(void *state)
{
    struct ai_sdk_writer *const w = state;
    open_calls_fini(&w->calls);
    buf_fini(&w->said);
}

const struct writer writer_ai_sdk = {
    .name = "ai-sdk",
    .summary = "the UI message stream of Vercel's AI SDK",
    .state_size = sizeof(struct ai_sdk_writer),
    .event = ai_sdk_write_event,
    .close = ai_sdk_close,
};
