/* SPDX-License-Identifier: MIT
 * Writer of agenticore's OpenAI-compatible stream: chat-completion chunks with a tag for the kind
 * of event; tools are readable text in the reasoning. Bytes are those of Python's json.dumps.
 *
 * One difference: agenticore ends a failed run with finish_reason "stop" only. This writer adds an
 * error object beside the choices, which all OpenAI clients check; finish_reason remains "stop",
 * because they accept no other value. */
#include <inttypes.h>

#include "dialect/agenticore/json_pretty.h"
#include "dialect/writer/json_style.h"
#include "dialect/writer/writer_list.h"

#define PYTHON STYLE_PYTHON
#define CALL_LABEL "\n\n\xe2\x96\xb6 tool_use: "
#define RESULT_LABEL "\n\xe2\x97\x89 tool_result"
#define TOLD_MAX ((size_t)2 << 20) /* bytes of the end of the text that are kept */

struct agenticore_writer {
    struct buf id;     /* id of the completion */
    const char *model; /* name of the model, or its replacement */
    int64_t created;
    int64_t input, output;
    bool failed;
    struct buf message, code; /* code of the error */
    /* State of an answer: */
    struct buf told; /* text of the agent so far */
    struct buf said; /* id of the newest message */
    bool parted;     /* another event followed it */
};

struct agenticore_write_ctx {
    struct agenticore_writer *w;
    const struct writer_out *out;
    const struct event *ev;
};

/* Name of the requested model, restricted to the permitted characters. */
static const char *agenticore_write_model_of(const char *asked)
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

/* Writes up to the bracket of choices. */
static struct buf *agenticore_write_begin_chunk(const struct agenticore_write_ctx *c)
{
    struct buf *const b = writer_begin_message(c->out);
    buf_add_char(b, '{');
    json_style_member_str(b, PYTHON, "id", c->w->id.len ? c->w->id.p : "chatcmpl-");
    json_style_member_str(b, PYTHON, "object", "chat.completion.chunk");
    json_style_member_int(b, PYTHON, "created", c->w->created);
    json_style_member_str(b, PYTHON, "model",
                          c->w->model ? c->w->model : agenticore_write_model_of(NULL));
    buf_add_str(b, ", \"choices\": [");
    return b;
}

/* Writes up to the brace of delta. */
static struct buf *begin_choice(const struct agenticore_write_ctx *c)
{
    struct buf *const b = agenticore_write_begin_chunk(c);
    buf_add_str(b, "{\"index\": 0, \"delta\": {");
    return b;
}

/* Writes the end; finish may be NULL. */
static void add_finish(struct buf *b, const char *finish)
{
    buf_add_char(b, '}');
    if (finish)
        json_style_member_str(b, PYTHON, "finish_reason", finish);
    else
        json_style_member_null(b, PYTHON, "finish_reason");
}

static void end_chunk(const struct agenticore_write_ctx *c, struct buf *b)
{
    buf_add_str(b, "}]}");
    writer_begin_end_message(c->out);
}

/* A chunk whose delta is one text. */
static struct buf *begin_text(const struct agenticore_write_ctx *c, const char *key,
                              const char *text, size_t len, const char *tag)
{
    struct buf *const b = begin_choice(c);
    json_style_append_key(b, PYTHON, key);
    json_style_append_string(b, PYTHON, text, len);
    add_finish(b, NULL);
    json_style_member_str(b, PYTHON, "x_agenticore_event_type", tag);
    return b;
}

static void agenticore_write_write_start(const struct agenticore_write_ctx *c)
{
    const char *const asked = c->out->conf->model;
    const double ts = c->ev->meta.ts;
    c->w->model = c->out->conf->is_answer && asked
                      ? asked
                      : agenticore_write_model_of(asked ? asked : c->ev->u.start.model);
    c->w->created = ts >= 0 && ts < 9e15 ? (int64_t)ts : 0;
    c->w->input = c->w->output = 0;
    buf_reset(&c->w->id);
    buf_printf(&c->w->id, "chatcmpl-%s", c->ev->meta.correlation_id);
    struct buf *const b = begin_choice(c);
    json_style_member_str(b, PYTHON, "role", "assistant");
    add_finish(b, NULL);
    end_chunk(c, b);
}

/* Text of a sub-agent is not part of the answer. */
static bool agenticore_write_is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

/* ---- text: never repeated ---- */

static bool agenticore_write_is_answer(const struct agenticore_write_ctx *c)
{
    return c->out->conf->is_answer;
}

static void agenticore_write_part(const struct agenticore_write_ctx *c)
{
    if (!agenticore_write_is_child(c->ev))
        c->w->parted = true;
}

/* Separates two messages as paragraphs. */
static bool is_apart(struct agenticore_writer *w, const char *message)
{
    const char *const id = message ? message : "";
    const bool another = w->parted || (w->said.len && strcmp(w->said.p, id) != 0);
    w->parted = false;
    buf_reset(&w->said);
    buf_add_str(&w->said, id);
    return another && w->told.len;
}

static size_t agenticore_write_trimmed(const char *p, size_t len)
{
    while (len && strchr(" \t\r\n", p[len - 1]))
        len--;
    return len;
}

static bool agenticore_write_is_duplicate(const struct agenticore_writer *w, const char *text,
                                          size_t len)
{
    const size_t told = agenticore_write_trimmed(w->told.p, w->told.len),
                 n = agenticore_write_trimmed(text, len);
    return n && told >= n && memcmp(w->told.p + told - n, text, n) == 0;
}

static void agenticore_write_record_written(struct agenticore_writer *w, const char *text,
                                            size_t len)
{
    if (w->told.len > 2 * TOLD_MAX)
        buf_consume(&w->told, w->told.len - TOLD_MAX);
    buf_add(&w->told, text, len);
}

/* Text of the agent that must be a separate paragraph. */
static void agenticore_write_write_content(const struct agenticore_write_ctx *c, const char *text,
                                           size_t len, const char *message, const char *tag)
{
    CLEANUP_BUF struct buf paragraph = {0};
    if (agenticore_write_is_answer(c) && is_apart(c->w, message))
        buf_add_str(&paragraph, "\n\n");
    buf_add(&paragraph, text, len);
    if (agenticore_write_is_answer(c))
        agenticore_write_record_written(c->w, text, len);
    end_chunk(c, begin_text(c, "content", paragraph.p, paragraph.len, tag));
}

/* ---- events ---- */

static void agenticore_write_write_narration(const struct agenticore_write_ctx *c)
{
    const struct tc_narration *const n = &c->ev->u.narration;
    if (!agenticore_write_is_child(c->ev))
        agenticore_write_write_content(c, n->text, n->text_len, n->message_id, "narration");
}

static void agenticore_write_write_thinking(const struct agenticore_write_ctx *c)
{
    const struct tc_thinking *const t = &c->ev->u.thinking;
    if (t->text_len && !agenticore_write_is_child(c->ev))
        end_chunk(c, begin_text(c, "reasoning_content", t->text, t->text_len, "thinking"));
}

static void agenticore_write_write_final(const struct agenticore_write_ctx *c)
{
    const struct tc_final *const f = &c->ev->u.final;
    if (!f->text_len)
        return;
    if (!agenticore_write_is_answer(c) || c->out->conf->repeats_final) {
        end_chunk(c, begin_text(c, "content", f->text, f->text_len, "final"));
        return;
    }
    if (!agenticore_write_is_duplicate(c->w, f->text, f->text_len)) {
        c->w->parted = true;
        agenticore_write_write_content(c, f->text, f->text_len, NULL, "final");
        return;
    }
    struct buf *const b = begin_choice(c);
    add_finish(b, NULL);
    json_style_member_str(b, PYTHON, "x_agenticore_event_type", "final");
    end_chunk(c, b);
}

/* The host's answer to a query of the visibility. */
static void agenticore_write_write_notice(const struct agenticore_write_ctx *c)
{
    const struct tc_notice *const n = &c->ev->u.notice;
    if (n->code && strcmp(n->code, "stream_config") == 0)
        end_chunk(c, begin_text(c, "content", n->text, strlen(n->text), "stream_config"));
}

static void agenticore_write_write_call(const struct agenticore_write_ctx *c)
{
    const struct tc_tool_call *const call = &c->ev->u.tool_call;
    agenticore_write_part(c);
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, CALL_LABEL "%s\n```json\n", call->name);
    json_pretty_append(&text, call->args, call->args_len);
    buf_add_str(&text, "\n```\n");
    struct buf *const b = begin_text(c, "reasoning_content", text.p, text.len, "tool_use");
    json_style_member_str(b, PYTHON, "x_agenticore_tool_name", call->name);
    json_style_member_str(b, PYTHON, "x_agenticore_tool_use_id", call->tool_use_id);
    end_chunk(c, b);
}

static void agenticore_write_write_result(const struct agenticore_write_ctx *c)
{
    const struct tc_tool_result *const result = &c->ev->u.tool_result;
    agenticore_write_part(c);
    CLEANUP_BUF struct buf text = {0};
    buf_add_str(&text, result->is_error ? RESULT_LABEL " (error)\n```\n" : RESULT_LABEL "\n```\n");
    buf_add(&text, result->content, result->content_len);
    buf_add_str(&text, "\n```\n");
    struct buf *const b = begin_text(c, "reasoning_content", text.p, text.len, "tool_result");
    json_style_member_str(b, PYTHON, "x_agenticore_tool_use_id", result->tool_use_id);
    json_style_member_bool(b, PYTHON, "x_agenticore_is_error", result->is_error);
    end_chunk(c, b);
}

static int64_t at_least_zero(int64_t n)
{
    return n < 0 ? 0 : n;
}

static void agenticore_write_store_usage(const struct agenticore_write_ctx *c)
{
    const struct tc_usage *const u = &c->ev->u.usage;
    if (strcmp(u->scope, "turn") != 0)
        return;
    c->w->input = at_least_zero(u->input_tokens);
    c->w->output = at_least_zero(u->output_tokens);
}

static void agenticore_write_store_error(const struct agenticore_write_ctx *c)
{
    const struct tc_error *const e = &c->ev->u.error;
    if (agenticore_write_is_child(c->ev))
        return;
    c->w->failed = true;
    buf_reset(&c->w->message);
    buf_add_str(&c->w->message, e->message);
    buf_reset(&c->w->code);
    buf_add_str(&c->w->code, e->code ? e->code : "error");
}

static void agenticore_write_add_usage(const struct agenticore_write_ctx *c, struct buf *b)
{
    const uint64_t total = (uint64_t)c->w->input + (uint64_t)c->w->output;
    buf_printf(b,
               ", \"usage\": {\"prompt_tokens\": %" PRId64 ", \"completion_tokens\": %" PRId64
               ", \"total_tokens\": %" PRIu64 "}",
               c->w->input, c->w->output, total);
}

/* The same members as in an HTTP error body. */
static void agenticore_write_add_error(const struct agenticore_write_ctx *c, struct buf *b)
{
    json_style_append_key(b, PYTHON, "error");
    buf_add_char(b, '{');
    json_style_member_str(b, PYTHON, "message", c->w->message.p);
    json_style_member_str(b, PYTHON, "type", "server_error");
    json_style_member_null(b, PYTHON, "param");
    json_style_member_str(b, PYTHON, "code", c->w->code.p);
    buf_add_char(b, '}');
}

static void write_finish(const struct agenticore_write_ctx *c)
{
    const bool failed = c->w->failed;
    struct buf *const b = begin_choice(c);
    add_finish(b, "stop");
    if (failed)
        json_style_member_str(b, PYTHON, "x_agenticore_event_type", "error");
    buf_add_str(b, "}]");
    if (!c->out->conf->usage_apart)
        agenticore_write_add_usage(c, b);
    if (failed)
        agenticore_write_add_error(c, b);
    buf_add_char(b, '}');
    writer_begin_end_message(c->out);
}

static void agenticore_write_write_done(const struct agenticore_write_ctx *c)
{
    write_finish(c);
    if (c->out->conf->usage_apart) {
        struct buf *const b = agenticore_write_begin_chunk(c);
        buf_add_char(b, ']');
        agenticore_write_add_usage(c, b);
        buf_add_char(b, '}');
        writer_begin_end_message(c->out);
    }
    if (c->out->conf->framing == FRAMING_SSE)
        buf_add_str(c->out->buf, "data: [DONE]\n\n");
}

static void agenticore_write_write_event(void *state, const struct writer_out *out,
                                         const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct agenticore_write_ctx *) = {
        [TC_START] = agenticore_write_write_start,
        [TC_NARRATION] = agenticore_write_write_narration,
        [TC_THINKING] = agenticore_write_write_thinking,
        [TC_FINAL] = agenticore_write_write_final,
        [TC_TOOL_CALL] = agenticore_write_write_call,
        [TC_TOOL_RESULT] = agenticore_write_write_result,
        [TC_USAGE] = agenticore_write_store_usage,
        [TC_ERROR] = agenticore_write_store_error,
        [TC_DONE] = agenticore_write_write_done,
        [TC_NOTICE] = agenticore_write_write_notice,
        [TC_MESSAGE] = agenticore_write_part,
    };
    const struct agenticore_write_ctx c = {.w = state, .out = out, .ev = ev};
    if (write[ev->kind])
        write[ev->kind](&c);
}

static void agenticore_write_close_state(void *state)
{
    struct agenticore_writer *const w = state;
    struct buf *const all[] = {&w->id, &w->message, &w->code, &w->told, &w->said};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_fini(all[i]);
}

const struct writer writer_agenticore_openai = {
    .name = "agenticore-openai",
    .summary = "agenticore's chat-completion chunks",
    .state_size = sizeof(struct agenticore_writer),
    .event = agenticore_write_write_event,
    .close = agenticore_write_close_state,
};
