/* SPDX-License-Identifier: MIT
 * Writes agenticore's OpenAI-compatible stream: chat-completion chunks with a tag that says what
 * happened, tools as text for people in the reasoning. Bytes are those of Python's json.dumps.
 *
 * One thing is not agenticore's: it ends a failed run with finish_reason "stop", as if all was
 * well; here it is "error", which its own answer without a stream says. */
#include <inttypes.h>

#include "dialect/pretty.h"
#include "dialect/style.h"
#include "dialect/writers.h"

#define PYTHON STYLE_PYTHON
#define CALL_LABEL "\n\n\xe2\x96\xb6 tool_use: "
#define RESULT_LABEL "\n\xe2\x97\x89 tool_result"

struct agenticore_writer {
    struct buf id;     /* of the completion */
    const char *model; /* one of models, or its stand-in */
    int64_t input, output;
    bool failed;
};

struct chunk {
    struct agenticore_writer *w;
    const struct writer_out *out;
    const struct event *ev;
};

/* What it lets through of the model that was asked for. */
static const char *model_of(const char *asked)
{
    static const char *const models[] = {
        "sonnet",
        "opus",
        "haiku",
        "claude-sonnet-4-6",
        "claude-opus-4-6",
        "claude-haiku-4-5",
        "claude-sonnet-4-5",
        "claude-sonnet-4",
    };
    const char *const slash = asked ? strrchr(asked, '/') : NULL;
    const char *const name = slash ? slash + 1 : asked;
    for (size_t i = 0; name && i < sizeof(models) / sizeof(models[0]); i++)
        if (strcmp(models[i], name) == 0)
            return models[i];
    return "agenticore-agent";
}

/* Up to the delta's brace. */
static struct buf *begin_chunk(const struct chunk *c)
{
    struct buf *const b = writer_begin(c->out);
    const double ts = c->ev->meta.ts;
    buf_add_char(b, '{');
    style_member_str(b, PYTHON, "id", c->w->id.len ? c->w->id.p : "chatcmpl-");
    style_member_str(b, PYTHON, "object", "chat.completion.chunk");
    style_member_int(b, PYTHON, "created", ts >= 0 && ts < 9e15 ? (int64_t)ts : 0);
    style_member_str(b, PYTHON, "model", c->w->model ? c->w->model : model_of(NULL));
    buf_add_str(b, ", \"choices\": [{\"index\": 0, \"delta\": {");
    return b;
}

/* Behind the delta; finish may be NULL. */
static void add_finish(struct buf *b, const char *finish)
{
    buf_add_char(b, '}');
    if (finish)
        style_member_str(b, PYTHON, "finish_reason", finish);
    else
        style_member_null(b, PYTHON, "finish_reason");
}

static void end_chunk(const struct chunk *c, struct buf *b)
{
    buf_add_str(b, "}]}");
    writer_end(c->out);
}

/* A chunk whose delta is one text. */
static struct buf *begin_text(const struct chunk *c, const char *key, const char *text, size_t len,
                              const char *tag)
{
    struct buf *const b = begin_chunk(c);
    style_key(b, PYTHON, key);
    style_string(b, PYTHON, text, len);
    add_finish(b, NULL);
    style_member_str(b, PYTHON, "x_agenticore_event_type", tag);
    return b;
}

static void write_start(const struct chunk *c)
{
    const char *const asked = c->out->conf->model;
    c->w->model = model_of(asked ? asked : c->ev->u.start.model);
    c->w->input = c->w->output = 0;
    buf_reset(&c->w->id);
    buf_printf(&c->w->id, "chatcmpl-%s", c->ev->meta.correlation_id);
    struct buf *const b = begin_chunk(c);
    style_member_str(b, PYTHON, "role", "assistant");
    add_finish(b, NULL);
    end_chunk(c, b);
}

/* What a sub-agent says is not the answer. */
static bool is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static void write_narration(const struct chunk *c)
{
    const struct tc_narration *const n = &c->ev->u.narration;
    if (!is_child(c->ev))
        end_chunk(c, begin_text(c, "content", n->text, n->text_len, "narration"));
}

static void write_thinking(const struct chunk *c)
{
    const struct tc_thinking *const t = &c->ev->u.thinking;
    if (t->text_len && !is_child(c->ev))
        end_chunk(c, begin_text(c, "reasoning_content", t->text, t->text_len, "thinking"));
}

static void write_final(const struct chunk *c)
{
    const struct tc_final *const f = &c->ev->u.final;
    if (f->text_len)
        end_chunk(c, begin_text(c, "content", f->text, f->text_len, "final"));
}

static void write_call(const struct chunk *c)
{
    const struct tc_tool_call *const call = &c->ev->u.tool_call;
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, CALL_LABEL "%s\n```json\n", call->name);
    pretty_json(&text, call->args, call->args_len);
    buf_add_str(&text, "\n```\n");
    struct buf *const b = begin_text(c, "reasoning_content", text.p, text.len, "tool_use");
    style_member_str(b, PYTHON, "x_agenticore_tool_name", call->name);
    style_member_str(b, PYTHON, "x_agenticore_tool_use_id", call->tool_use_id);
    end_chunk(c, b);
}

static void write_result(const struct chunk *c)
{
    const struct tc_tool_result *const result = &c->ev->u.tool_result;
    CLEANUP_BUF struct buf text = {0};
    buf_add_str(&text, result->is_error ? RESULT_LABEL " (error)\n```\n" : RESULT_LABEL "\n```\n");
    buf_add(&text, result->content, result->content_len);
    buf_add_str(&text, "\n```\n");
    struct buf *const b = begin_text(c, "reasoning_content", text.p, text.len, "tool_result");
    style_member_str(b, PYTHON, "x_agenticore_tool_use_id", result->tool_use_id);
    style_member_bool(b, PYTHON, "x_agenticore_is_error", result->is_error);
    end_chunk(c, b);
}

static int64_t at_least_zero(int64_t n)
{
    return n < 0 ? 0 : n;
}

static void keep_usage(const struct chunk *c)
{
    const struct tc_usage *const u = &c->ev->u.usage;
    if (strcmp(u->scope, "turn") != 0)
        return;
    c->w->input = at_least_zero(u->input_tokens);
    c->w->output = at_least_zero(u->output_tokens);
}

static void keep_error(const struct chunk *c)
{
    c->w->failed = true;
}

static void write_done(const struct chunk *c)
{
    const uint64_t total = (uint64_t)c->w->input + (uint64_t)c->w->output;
    struct buf *const b = begin_chunk(c);
    add_finish(b, c->w->failed ? "error" : "stop");
    buf_add_str(b, "}]");
    buf_printf(b,
               ", \"usage\": {\"prompt_tokens\": %" PRId64 ", \"completion_tokens\": %" PRId64
               ", \"total_tokens\": %" PRIu64 "}}",
               c->w->input, c->w->output, total);
    writer_end(c->out);
    if (c->out->conf->framing == FRAMING_SSE)
        buf_add_str(c->out->buf, "data: [DONE]\n\n");
}

static void write_event(void *state, const struct writer_out *out, const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct chunk *) = {
        [TC_START] = write_start, [TC_NARRATION] = write_narration, [TC_THINKING] = write_thinking,
        [TC_FINAL] = write_final, [TC_TOOL_CALL] = write_call,      [TC_TOOL_RESULT] = write_result,
        [TC_USAGE] = keep_usage,  [TC_ERROR] = keep_error,          [TC_DONE] = write_done,
    };
    const struct chunk c = {.w = state, .out = out, .ev = ev};
    if (write[ev->kind])
        write[ev->kind](&c);
}

static void close_state(void *state)
{
    struct agenticore_writer *const w = state;
    buf_fini(&w->id);
}

const struct writer writer_agenticore_openai = {
    .name = "agenticore-openai",
    .summary = "agenticore's chat-completion chunks",
    .state_size = sizeof(struct agenticore_writer),
    .event = write_event,
    .close = close_state,
};
