/* SPDX-License-Identifier: MIT
 * Writer of OTLP traces: a turn is a trace, each message one ExportTraceServiceRequest in JSON with
 * the spans that have ended. Such lines are also what a file exporter of OpenTelemetry writes.
 *
 * Attributes are those of the OpenTelemetry semantic conventions 1.41.0, or begin with "turncast.".
 * Each token is in one span only, because receivers add up the tokens of all spans. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "dialect/otlp/otlp_attribute.h"
#include "dialect/otlp/otlp_span.h"
#include "dialect/reader/value.h"
#include "dialect/writer/writer_list.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define CONTENT_MAX ((size_t)16 << 10) /* bytes of one attribute */
#define OPEN_MAX 4096                  /* spans of a turn; calls beyond begin when they end */
#define SCHEMA "https://opentelemetry.io/schemas/1.41.0"

struct otlp_writing {
    struct otlp_span turn;
    LIST_HEAD(otlp_spans, otlp_span) open; /* of tool calls and sub-agents */
    unsigned open_count;
    unsigned agents;              /* sub-agents so far */
    const char *provider, *model; /* of the turn, or NULL */
    bool has_calls;               /* calls of the model were written, with their tokens */
    bool has_content, excludes_cache;
};

struct otlp_write_ctx {
    struct otlp_writing *w;
    const struct writer_out *out;
    const struct event *ev;
    bool has_begun; /* the message of this event */
};

/* ---- messages ---- */

/* Attributes NAME=VALUE; without any, a name of the service that the conventions demand. */
static void otlp_write_add_resource(struct buf *b, struct str pairs)
{
    struct arena scratch = {0};
    CLEANUP_BUF struct buf list = {0};
    struct json j;
    struct str pair;
    if (!json_reader_open_array(&j, pairs))
        otlp_attribute_add_text(&list, "service.name", "turncast");
    else
        while (json_reader_next_value(&j, &pair)) {
            char *const name = value_text(&scratch, pair, NULL);
            char *const equal = name ? strchr(name, '=') : NULL;
            if (!equal)
                continue;
            *equal = '\0';
            otlp_attribute_add_text(&list, name, equal + 1);
        }
    buf_add_str(b, list.p ? list.p : "");
    arena_fini(&scratch);
}

static struct str otlp_write_setting(const struct writer_conf *conf, const char *key)
{
    const char *const settings = conf->settings ? conf->settings : "{}";
    return value_get_last((struct str){settings, strlen(settings)}, key);
}

static struct buf *otlp_write_begin_span(struct otlp_write_ctx *wire)
{
    if (wire->has_begun) {
        buf_add_char(wire->out->buf, ',');
        return wire->out->buf;
    }
    wire->has_begun = true;
    struct buf *const b = writer_begin_message(wire->out);
    buf_add_str(b, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    otlp_write_add_resource(b, otlp_write_setting(wire->out->conf, "resource"));
    buf_add_str(b, "]},\"schemaUrl\":\"" SCHEMA
                   "\",\"scopeSpans\":[{\"scope\":{\"name\":\"turncast\"},\"spans\":[");
    return b;
}

static void otlp_write_end_message(const struct otlp_write_ctx *wire)
{
    if (!wire->has_begun)
        return;
    buf_add_str(wire->out->buf, "]}]}]}");
    writer_begin_end_message(wire->out);
}

static void otlp_write_span(struct otlp_write_ctx *wire, struct otlp_span *s,
                            enum otlp_span_kind kind)
{
    const struct tc_meta *const meta = &wire->ev->meta;
    otlp_attribute_add_text(&s->attributes, "gen_ai.operation.name", s->operation);
    otlp_attribute_add_text(&s->attributes, "gen_ai.provider.name", wire->w->provider);
    otlp_attribute_add_text(&s->attributes, "error.type", s->error);
    otlp_span_write(otlp_write_begin_span(wire), s, meta->correlation_id, kind, meta->ts);
}

/* Adds texts of people, models and tools, only if the setting `content` is true. */
static void otlp_write_add_content(const struct otlp_write_ctx *wire, struct otlp_span *s,
                                   const char *key, const char *text)
{
    if (wire->w->has_content)
        otlp_attribute_add_cut_text(&s->attributes, key, text, CONTENT_MAX);
}

/* ---- open spans ---- */

static void otlp_write_make_id(const struct otlp_write_ctx *wire, char to[OTLP_SPAN_ID + 1],
                               const char *sort, const char *key)
{
    otlp_span_make_id(to, wire->ev->meta.correlation_id, sort, key);
}

static struct otlp_span *otlp_write_find_call(const struct otlp_writing *w, const char *key)
{
    struct otlp_span *s;
    LIST_FOREACH (s, &w->open, next) {
        if (key && !s->is_agent && strcmp(s->key, key) == 0)
            return s;
    }
    return NULL;
}

/* A child of `parent` that begins; NULL: too many are open. */
static struct otlp_span *otlp_write_open(const struct otlp_write_ctx *wire, const char *operation,
                                         const char *key, const char *parent, double start)
{
    struct otlp_writing *const w = wire->w;
    if (w->open_count == OPEN_MAX)
        return NULL;
    struct otlp_span *const s = xcalloc(1, sizeof *s);
    s->key = arena_strdup(&s->arena, key);
    s->operation = operation;
    s->start = s->ready = start;
    memcpy(s->parent, parent, sizeof s->parent);
    otlp_write_make_id(wire, s->id, "call", key);
    LIST_INSERT_HEAD(&w->open, s, next);
    w->open_count++;
    return s;
}

static void otlp_write_remove_span(struct otlp_writing *w, struct otlp_span *s)
{
    LIST_REMOVE(s, next);
    w->open_count--;
    otlp_span_fini(s);
    free(s);
}

/* ---- sub-agents ---- */

static struct otlp_span *otlp_write_open_agent(const struct otlp_write_ctx *wire)
{
    const struct tc_meta *const meta = &wire->ev->meta;
    const struct otlp_span *const call = otlp_write_find_call(wire->w, meta->parent_id);
    char parent[OTLP_SPAN_ID + 1], number[16];
    otlp_write_make_id(wire, parent, "call", meta->parent_id); /* as the call has or had it */
    struct otlp_span *const s = otlp_write_open(wire, "invoke_agent", meta->parent_id, parent,
                                                call ? call->start : meta->ts);
    if (!s)
        return &wire->w->turn;
    s->is_agent = true;
    snprintf(number, sizeof number, "%u", wire->w->agents++);
    otlp_write_make_id(wire, s->id, "agent", number);
    return s;
}

static bool otlp_write_is_of_agent(const struct otlp_span *s, const struct tc_meta *meta)
{
    if (!s->is_agent)
        return false;
    if (s->agent && meta->agent)
        return strcmp(s->agent, meta->agent) == 0;
    return meta->parent_id && strcmp(s->key, meta->parent_id) == 0;
}

/* The span of the sub-agent that the event belongs to, or of the turn. */
static struct otlp_span *otlp_write_find_scope(const struct otlp_write_ctx *wire)
{
    const struct tc_meta *const meta = &wire->ev->meta;
    struct otlp_span *s = LIST_FIRST(&wire->w->open);
    while (s && !otlp_write_is_of_agent(s, meta))
        s = LIST_NEXT(s, next);
    if (!s)
        s = meta->parent_id ? otlp_write_open_agent(wire) : &wire->w->turn;
    if (s->is_agent && !s->agent)
        s->agent = otlp_span_copy_text(s, meta->agent);
    return s;
}

static void otlp_write_close_agent(struct otlp_write_ctx *wire, struct otlp_span *s)
{
    s->name = s->name ? s->name : s->agent;
    otlp_attribute_add_text(&s->attributes, "gen_ai.agent.name", s->name);
    otlp_attribute_add_text(&s->attributes, "gen_ai.agent.id", s->agent);
    otlp_write_span(wire, s, OTLP_INTERNAL);
    otlp_write_remove_span(wire->w, s);
}

/* Ends the spans that this call has started and whose end is not reported (NULL: all open
 * spans). */
static void otlp_write_close_agents(struct otlp_write_ctx *wire, const char *key)
{
    for (struct otlp_span *s = LIST_FIRST(&wire->w->open), *next; s; s = next) {
        next = LIST_NEXT(s, next);
        if (s->is_agent && (!key || (!s->is_told && strcmp(s->key, key) == 0)))
            otlp_write_close_agent(wire, s);
    }
}

static void otlp_write_step(struct otlp_write_ctx *wire)
{
    const struct tc_step *const ev = &wire->ev->u.step;
    struct otlp_span *const scope = otlp_write_find_scope(wire);
    scope->ready = wire->ev->meta.ts;
    if (!scope->is_agent || !ev->kind || strcmp(ev->kind, "agent") != 0)
        return;
    scope->is_told = true;
    scope->name = scope->name ? scope->name : otlp_span_copy_text(scope, ev->name);
    if (ev->error)
        scope->error = "failed";
    if (strcmp(ev->state, "end") == 0)
        otlp_write_close_agent(wire, scope);
}

/* ---- tools ---- */

static void otlp_write_tool_call(struct otlp_write_ctx *wire)
{
    const struct tc_tool_call *const ev = &wire->ev->u.tool_call;
    const struct otlp_span *const scope = otlp_write_find_scope(wire);
    struct otlp_span *const s =
        otlp_write_open(wire, "execute_tool", ev->tool_use_id, scope->id, wire->ev->meta.ts);
    if (!s)
        return;
    s->name = otlp_span_copy_text(s, ev->name);
    otlp_write_add_content(wire, s, "gen_ai.tool.call.arguments", ev->args);
}

/* A result without a known call belongs to a call that an earlier process received. */
static struct otlp_span *otlp_write_find_called(const struct otlp_write_ctx *wire,
                                                const struct otlp_span *scope)
{
    const struct tc_tool_result *const ev = &wire->ev->u.tool_result;
    struct otlp_span *const s = otlp_write_find_call(wire->w, ev->tool_use_id);
    const double duration = ev->duration_ms > 0 ? ev->duration_ms / 1e3 : 0;
    return s ? s
             : otlp_write_open(wire, "execute_tool", ev->tool_use_id, scope->id,
                               wire->ev->meta.ts - duration);
}

static void otlp_write_tool_result(struct otlp_write_ctx *wire)
{
    const struct tc_tool_result *const ev = &wire->ev->u.tool_result;
    struct otlp_span *const scope = otlp_write_find_scope(wire);
    struct otlp_span *const s = otlp_write_find_called(wire, scope);
    scope->ready = wire->ev->meta.ts;
    otlp_write_close_agents(wire, ev->tool_use_id); /* after it `scope` may be gone */
    if (!s)
        return;
    if (ev->outcome && strcmp(ev->outcome, "succeeded") != 0)
        s->error = otlp_span_copy_text(s, ev->outcome);
    else if (ev->is_error)
        s->error = "failed";
    s->name = s->name ? s->name : otlp_span_copy_text(s, ev->name);
    otlp_write_add_content(wire, s, "gen_ai.tool.call.result", ev->content);
    otlp_attribute_add_text(&s->attributes, "gen_ai.tool.name", s->name);
    otlp_attribute_add_text(&s->attributes, "gen_ai.tool.call.id", ev->tool_use_id);
    otlp_attribute_add_text(&s->attributes, "gen_ai.tool.type", "function");
    otlp_write_span(wire, s, OTLP_INTERNAL);
    otlp_write_remove_span(wire->w, s);
}

/* An approval or a question is an event of the call that waits, or of the turn. */
static void otlp_write_request(struct otlp_write_ctx *wire)
{
    const struct tc_request *const ev = &wire->ev->u.request;
    struct otlp_span *const call = otlp_write_find_call(wire->w, ev->tool_use_id);
    CLEANUP_BUF struct buf list = {0};
    char name[64];
    otlp_attribute_add_text(&list, "turncast.request.id", ev->request_id);
    otlp_attribute_add_text(&list, "turncast.request.kind", ev->kind);
    otlp_attribute_add_text(&list, "turncast.request.decision", ev->decision);
    snprintf(name, sizeof name, "turncast.request.%s", ev->state);
    otlp_span_add_event(call ? call : &wire->w->turn, wire->ev->meta.ts, name, &list);
}

/* ---- tokens ---- */

/* Tokens from a cache are counted as input tokens or not, as the setting requires. */
static int64_t otlp_write_count_input(const struct otlp_writing *w, const struct tc_usage *u)
{
    const int64_t cached = (u->cache_read_tokens > 0 ? u->cache_read_tokens : 0) +
                           (u->cache_write_tokens > 0 ? u->cache_write_tokens : 0);
    const bool is_counted = u->cache_counted != 0;
    if (u->input_tokens < 0 || is_counted != w->excludes_cache)
        return u->input_tokens;
    if (!w->excludes_cache)
        return u->input_tokens + cached;
    return u->input_tokens > cached ? u->input_tokens - cached : 0;
}

static void otlp_write_add_usage(const struct otlp_write_ctx *wire, struct otlp_span *s,
                                 const char *prefix)
{
    const struct tc_usage *const u = &wire->ev->u.usage;
    const struct {
        const char *name;
        int64_t tokens;
    } rows[] = {{"input_tokens", otlp_write_count_input(wire->w, u)},
                {"output_tokens", u->output_tokens},
                {"cache_read.input_tokens", u->cache_read_tokens},
                {"cache_creation.input_tokens", u->cache_write_tokens},
                {"reasoning.output_tokens", u->reasoning_tokens}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s%s", prefix, rows[i].name);
        otlp_attribute_add_int(&s->attributes, key, rows[i].tokens);
    }
}

/* A call of the model. */
static void otlp_write_chat(struct otlp_write_ctx *wire)
{
    const struct tc_usage *const ev = &wire->ev->u.usage;
    const struct tc_meta *const meta = &wire->ev->meta;
    struct otlp_span *const scope = otlp_write_find_scope(wire);
    struct otlp_span s = {.operation = "chat",
                          .name = ev->model ? ev->model : wire->w->model,
                          .start = scope->ready,
                          .error = ev->is_error == 1 ? "failed" : NULL};
    char seq[24];
    snprintf(seq, sizeof seq, "%" PRIu64, meta->seq);
    otlp_write_make_id(wire, s.id, "chat", seq);
    memcpy(s.parent, scope->id, sizeof s.parent);
    if (ev->duration_ms > 0)
        s.start = meta->ts - ev->duration_ms / 1e3;
    otlp_attribute_add_text(&s.attributes, "gen_ai.request.model", s.name);
    otlp_attribute_add_text(&s.attributes, "gen_ai.response.model", ev->model);
    otlp_write_add_usage(wire, &s, "gen_ai.usage.");
    otlp_write_span(wire, &s, OTLP_CLIENT);
    otlp_span_fini(&s);
    scope->ready = meta->ts;
    wire->w->has_calls = true;
}

/* The span of the turn has the standard names only if no call of the model has any. */
static void otlp_write_usage(struct otlp_write_ctx *wire)
{
    struct otlp_span *const turn = &wire->w->turn;
    if (strcmp(wire->ev->u.usage.scope, "call") == 0) {
        otlp_write_chat(wire);
        return;
    }
    if (!wire->w->has_calls)
        otlp_write_add_usage(wire, turn, "gen_ai.usage.");
    otlp_write_add_usage(wire, turn, "turncast.usage.");
    otlp_attribute_add_real(&turn->attributes, "turncast.cost_usd", wire->ev->u.usage.cost_usd);
}

/* ---- the turn ---- */

/* At the first event. An earlier process may have written a part of the trace, which began at the
 * time `started`. */
static void otlp_write_begin(const struct otlp_write_ctx *wire)
{
    const struct writer_conf *const conf = wire->out->conf;
    struct otlp_writing *const w = wire->w;
    const double ts = wire->ev->meta.ts;
    w->has_content = value_is_true(otlp_write_setting(conf, "content"));
    w->excludes_cache = value_is_true(otlp_write_setting(conf, "input_excludes_cache"));
    w->turn.operation = "invoke_agent";
    w->turn.name = otlp_span_copy_text(&w->turn, conf->agent);
    w->turn.start = value_real(otlp_write_setting(conf, "started"), ts);
    w->turn.ready = ts;
    otlp_write_make_id(wire, w->turn.id, "turn", "");
}

static void otlp_write_start(struct otlp_write_ctx *wire)
{
    const struct tc_start *const ev = &wire->ev->u.start;
    struct otlp_writing *const w = wire->w;
    w->has_calls = ev->resumed;
    w->turn.name = w->turn.name ? w->turn.name : otlp_span_copy_text(&w->turn, ev->source);
    w->provider = otlp_span_copy_text(&w->turn, ev->provider);
    w->model = otlp_span_copy_text(&w->turn, ev->model ? ev->model : wire->out->conf->model);
    otlp_write_add_content(wire, &w->turn, "gen_ai.input.messages", ev->input);
}

/* The text is cut such that the JSON around it stays whole. */
static void otlp_write_final(struct otlp_write_ctx *wire)
{
    const struct tc_final *const ev = &wire->ev->u.final;
    CLEANUP_BUF struct buf message = {0};
    if (!wire->w->has_content)
        return;
    buf_add_str(&message, "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":");
    jsonw_string(&message, ev->text, utf8_truncated_len(ev->text, ev->text_len, CONTENT_MAX / 4));
    buf_add_str(&message, "}],\"finish_reason\":\"stop\"}]");
    otlp_write_add_content(wire, &wire->w->turn, "gen_ai.output.messages", message.p);
}

static void otlp_write_error(struct otlp_write_ctx *wire)
{
    const struct tc_error *const ev = &wire->ev->u.error;
    struct otlp_span *const turn = &wire->w->turn;
    turn->error = otlp_span_copy_text(turn, ev->code);
    turn->error = turn->error ? turn->error : "_OTHER";
    turn->reason = otlp_span_copy_text(turn, ev->message);
}

static void otlp_write_done(struct otlp_write_ctx *wire)
{
    const struct tc_meta *const meta = &wire->ev->meta;
    const char *const conversation = wire->out->conf->conversation;
    struct otlp_span *const turn = &wire->w->turn;
    struct buf *const list = &turn->attributes;
    otlp_write_close_agents(wire, NULL);
    otlp_attribute_add_text(list, "gen_ai.agent.name", turn->name);
    otlp_attribute_add_text(list, "gen_ai.request.model", wire->w->model);
    otlp_attribute_add_text(list, "gen_ai.conversation.id",
                            conversation ? conversation : meta->session_id);
    otlp_attribute_add_text(list, "turncast.turn.id", meta->correlation_id);
    otlp_attribute_add_text(list, "turncast.session.id", meta->session_id);
    otlp_attribute_add_text(list, "turncast.done.reason", wire->ev->u.done.reason);
    otlp_write_span(wire, turn, OTLP_INTERNAL);
}

/* ---- the writer ---- */

static void otlp_write_event(void *state, const struct writer_out *out, const struct event *ev)
{
    static void (*const write[TC_KINDS])(struct otlp_write_ctx *) = {
        [TC_START] = otlp_write_start,         [TC_STEP] = otlp_write_step,
        [TC_TOOL_CALL] = otlp_write_tool_call, [TC_TOOL_RESULT] = otlp_write_tool_result,
        [TC_REQUEST] = otlp_write_request,     [TC_USAGE] = otlp_write_usage,
        [TC_FINAL] = otlp_write_final,         [TC_ERROR] = otlp_write_error,
        [TC_DONE] = otlp_write_done,
    };
    struct otlp_write_ctx wire = {.w = state, .out = out, .ev = ev};
    if (!wire.w->turn.operation)
        otlp_write_begin(&wire);
    if (!write[ev->kind])
        return;
    write[ev->kind](&wire);
    otlp_write_end_message(&wire);
}

static void otlp_write_close(void *state)
{
    struct otlp_writing *const w = state;
    while (!LIST_EMPTY(&w->open))
        otlp_write_remove_span(w, LIST_FIRST(&w->open));
    otlp_span_fini(&w->turn);
}

const struct writer writer_otlp = {
    .name = "otlp",
    .summary = "traces of OpenTelemetry, a line per request",
    .state_size = sizeof(struct otlp_writing),
    .event = otlp_write_event,
    .close = otlp_write_close,
};
