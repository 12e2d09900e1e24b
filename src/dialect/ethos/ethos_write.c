/* SPDX-License-Identifier: MIT
 * Writer of Ethos' AgentEvent stream, with the bytes of JSON.stringify. Streams from Ethos' web API
 * are written with the events that only the web API has; x holds members that only Ethos has.
 *
 * Guarantees of the format, whatever the source was: exactly one `done` or `error`, which is the
 * last line; `done.text` is all text_delta joined; the estimatedCostUsd of all `usage` lines add up
 * to the cost of the turn. */
#include <string.h>

#include "dialect/ethos/ethos.h"
#include "dialect/reader/value.h"
#include "dialect/writer/json_member.h"
#include "dialect/writer/streamed_text.h"
#include "dialect/writer/writer_list.h"
#include "event/json/json_reader.h"

#define JS STYLE_JS

#define COST_MIN 1e-9 /* US dollars; a smaller difference is a rounding error */

struct ethos_writing {
    struct open_calls calls; /* open: id, name */
    struct buf said;         /* all text_delta joined */
    struct buf error, code;  /* written when the turn is done, because usage follows the error */
    int64_t counted;         /* model calls whose usage was written */
    double cost;             /* sum of the usage lines */
    bool failed, halted;
};

struct ethos_write_ctx {
    struct ethos_writing *w;
    const struct writer_out *out;
    const struct event *ev;
    bool own, web; /* read from Ethos; from its web API */
    struct str x;  /* of an own event */
};

static const char *const nothing[] = {NULL};

static struct buf *ethos_write_begin(const struct ethos_write_ctx *wire, const char *type)
{
    struct buf *const b = writer_begin_message(wire->out);
    buf_add_char(b, '{');
    json_style_member_str(b, JS, "type", type);
    return b;
}

static void ethos_write_end(const struct ethos_write_ctx *wire)
{
    buf_add_char(wire->out->buf, '}');
    writer_begin_end_message(wire->out);
}

static struct str x_member(const struct ethos_write_ctx *wire, const char *key)
{
    return value_get_last(wire->x, key);
}

/* A required text. */
static void add_str(struct buf *b, const char *key, const char *s)
{
    json_style_member_str(b, JS, key, s ? s : "");
}

static void ethos_write_add_text(struct buf *b, const char *key, const char *s, size_t len)
{
    json_style_append_key(b, JS, key);
    json_style_append_string(b, JS, s ? s : "", len);
}

/* The format has a fixed set of values; "global" is the model used without a rule. */
static const char *ethos_write_source_of(const char *source)
{
    static const char *const known[] = {"team-coordinator", "team-personality", "personality"};
    for (size_t i = 0; source && i < sizeof known / sizeof *known; i++)
        if (strcmp(source, known[i]) == 0)
            return known[i];
    return "global";
}

static void ethos_write_write_start(const struct ethos_write_ctx *wire)
{
    const struct tc_start *const s = &wire->ev->u.start;
    const char *const model = s->model ? s->model : wire->out->conf->model;
    if (wire->own && !s->provider && !s->model)
        return; /* the guard's: runs that are refused at once have none */
    struct buf *const b = ethos_write_begin(wire, "run_start");
    add_str(b, "provider", s->provider);
    add_str(b, "model", model);
    add_str(b, "source", ethos_write_source_of(s->source));
    json_member_str(b, JS, "traceId", s->trace_id);
    json_member_rest(b, JS, wire->x, nothing);
    ethos_write_end(wire);
}

/* This stream has only the tools of sub-agents, not their text. */
static bool ethos_write_is_child(const struct ethos_write_ctx *wire)
{
    return wire->ev->meta.agent || wire->ev->meta.parent_id;
}

static void ethos_write_write_delta(const struct ethos_write_ctx *wire, const char *text,
                                    size_t len)
{
    ethos_write_add_text(ethos_write_begin(wire, "text_delta"), "text", text, len);
    ethos_write_end(wire);
    streamed_text_add(&wire->w->said, text, len);
}

static void ethos_write_write_narration(const struct ethos_write_ctx *wire)
{
    const struct tc_narration *const n = &wire->ev->u.narration;
    if (n->text_len && !ethos_write_is_child(wire))
        ethos_write_write_delta(wire, n->text, n->text_len);
}

static void ethos_write_write_thinking(const struct ethos_write_ctx *wire)
{
    const struct tc_thinking *const t = &wire->ev->u.thinking;
    if (!t->text_len || ethos_write_is_child(wire))
        return;
    ethos_write_add_text(ethos_write_begin(wire, "thinking_delta"), "thinking", t->text,
                         t->text_len);
    ethos_write_end(wire);
}

/* The answer is streamed like all text, unless the streamed text ends with it. */
static void ethos_write_write_final(const struct ethos_write_ctx *wire)
{
    const struct tc_final *const f = &wire->ev->u.final;
    const struct buf *const said = &wire->w->said;
    if (!f->text_len || streamed_text_ends_with(said, f->text, f->text_len))
        return;
    CLEANUP_BUF struct buf paragraph = {0};
    buf_add_str(&paragraph, said->len ? "\n\n" : "");
    buf_add(&paragraph, f->text, f->text_len);
    ethos_write_write_delta(wire, paragraph.p, paragraph.len);
}

static void ethos_write_write_message(const struct ethos_write_ctx *wire)
{
    const struct tc_message *const m = &wire->ev->u.message;
    if (!wire->web || !m->persisted)
        return;
    struct buf *const b = ethos_write_begin(wire, "message_persisted");
    add_str(b, "messageId", m->message_id);
    add_str(b, "role", m->role);
    ethos_write_end(wire);
}

/* "dashboard" is also a value of Ethos, which has two for the other canonical audiences. */
static const char *audience_of(const struct ethos_write_ctx *wire)
{
    const char *const audience = wire->ev->meta.audience;
    if (audience && (wire->own || strcmp(audience, "dashboard") == 0))
        return audience;
    return !audience || strcmp(audience, "user") == 0 ? "user" : "internal";
}

static void ethos_write_write_call(const struct ethos_write_ctx *wire)
{
    const struct tc_tool_call *const c = &wire->ev->u.tool_call;
    static const char *const written[] = {"args", NULL};
    const struct str args = x_member(wire, "args");
    struct buf *const b = ethos_write_begin(wire, "tool_start");
    add_str(b, "toolCallId", c->tool_use_id);
    add_str(b, "toolName", c->name);
    json_member_value(b, JS, "args", args.p ? args : (struct str){c->args, c->args_len});
    json_member_str(b, JS, "audience", wire->ev->meta.audience ? audience_of(wire) : NULL);
    json_member_rest(b, JS, wire->x, written);
    ethos_write_end(wire);
    open_calls_add(&wire->w->calls, c->tool_use_id, c->name);
}

static const char *ethos_write_name_of(const struct ethos_write_ctx *wire, const char *name,
                                       const char *id)
{
    return name || !id ? name : open_calls_get_name(&wire->w->calls, id);
}

static void ethos_write_write_progress(const struct ethos_write_ctx *wire)
{
    static const char *const written[] = {"audience", NULL};
    const struct tc_progress *const p = &wire->ev->u.progress;
    const struct str audience = x_member(wire, "audience");
    const bool running = !p->phase || strcmp(p->phase, "running") == 0;
    const char *const name = ethos_write_name_of(wire, p->name, p->tool_use_id);
    if (!running || !(p->message || p->output || p->percent >= 0))
        return;
    struct buf *const b = ethos_write_begin(wire, "tool_progress");
    add_str(b, "toolName", name ? name : "_turn"); /* prefix of names of the framework */
    if (p->message)
        add_str(b, "message", p->message);
    else
        ethos_write_add_text(b, "message", p->output, p->output_len);
    if (p->percent >= 0)
        json_style_member_real(b, JS, "percent", p->percent);
    if (wire->own && audience.p)
        json_member_value(b, JS, "audience", audience);
    else
        add_str(b, "audience", audience_of(wire));
    json_member_rest(b, JS, wire->x, written);
    ethos_write_end(wire);
}

static void ethos_write_add_error(const struct ethos_write_ctx *wire, struct buf *b,
                                  const struct tc_tool_result *r)
{
    const struct str error = x_member(wire, "error");
    if (wire->own)
        json_member_value(b, JS, "error", error);
    else if (r->content_len)
        ethos_write_add_text(b, "error", r->content, r->content_len);
    else
        add_str(b, "error", r->outcome ? r->outcome : "failed");
}

static void ethos_write_write_result(const struct ethos_write_ctx *wire)
{
    static const char *const written[] = {"error", NULL};
    const struct tc_tool_result *const r = &wire->ev->u.tool_result;
    struct buf *const b = ethos_write_begin(wire, "tool_end");
    add_str(b, "toolCallId", r->tool_use_id);
    add_str(b, "toolName", ethos_write_name_of(wire, r->name, r->tool_use_id));
    json_style_member_bool(b, JS, "ok", !r->is_error);
    json_style_member_real(b, JS, "durationMs", r->duration_ms < 0 ? 0 : r->duration_ms);
    json_member_str(b, JS, "audience", wire->ev->meta.audience ? audience_of(wire) : NULL);
    json_member_text(b, JS, "result", r->content, r->content_len);
    if (r->structured)
        json_style_member_json(b, JS, "structured", r->structured);
    if (r->is_error)
        ethos_write_add_error(wire, b, r);
    json_member_rest(b, JS, wire->x, written);
    ethos_write_end(wire);
    open_calls_remove(&wire->w->calls, r->tool_use_id);
}

static void ethos_write_write_approval(const struct ethos_write_ctx *wire,
                                       const struct tc_request *r)
{
    struct buf *const b = ethos_write_begin(wire, "tool_approval_required");
    add_str(b, "toolCallId", r->tool_use_id ? r->tool_use_id : r->request_id);
    add_str(b, "toolName", r->tool);
    json_style_member_json(b, JS, "args", r->args ? r->args : "{}");
    json_member_rest(b, JS, wire->x, nothing);
    ethos_write_end(wire);
}

static void write_push_approval(const struct ethos_write_ctx *wire, const struct tc_request *r)
{
    static const char *const written[] = {"sessionId", NULL};
    struct buf *const b = ethos_write_begin(wire, "tool.approval_required");
    json_style_append_key(b, JS, "request");
    buf_add_char(b, '{');
    add_str(b, "approvalId", r->request_id);
    json_member_value(b, JS, "sessionId", x_member(wire, "sessionId"));
    add_str(b, "toolCallId", r->tool_use_id);
    add_str(b, "toolName", r->tool);
    json_style_member_json(b, JS, "args", r->args ? r->args : "{}");
    if (r->reason)
        add_str(b, "reason", r->reason);
    else
        json_style_member_null(b, JS, "reason");
    json_member_rest(b, JS, wire->x, written);
    buf_add_char(b, '}');
    ethos_write_end(wire);
}

static void write_response(const struct ethos_write_ctx *wire, const struct tc_request *r)
{
    struct buf *const b = ethos_write_begin(wire, "tool_approval_response");
    add_str(b, "toolCallId", r->tool_use_id ? r->tool_use_id : r->request_id);
    json_style_member_bool(b, JS, "approved", strcmp(r->decision, "allow") == 0);
    json_member_str(b, JS, "reason", r->reason);
    json_member_rest(b, JS, wire->x, nothing);
    ethos_write_end(wire);
}

static void write_push_resolved(const struct ethos_write_ctx *wire, const struct tc_request *r)
{
    struct buf *const b = ethos_write_begin(wire, "approval.resolved");
    add_str(b, "approvalId", r->request_id);
    add_str(b, "decision", r->decision);
    json_member_str(b, JS, "decidedBy", r->by);
    ethos_write_end(wire);
}

/* The options of the first question, as plain strings; left out if there are none. */
static void ethos_write_add_options(struct buf *b, struct str questions)
{
    const struct str options = json_reader_pointer(questions, "/0/options");
    struct json j;
    struct str option;
    bool any = false;
    if (!json_reader_open_array(&j, options))
        return;
    while (json_reader_next_value(&j, &option)) {
        const struct str label = value_get_last(option, "label");
        if (!any)
            json_style_append_key(b, JS, "options");
        buf_add_char(b, any ? ',' : '[');
        if (label.p)
            json_style_append_value(b, JS, label.p, label.len);
        else
            buf_add_str(b, "\"\"");
        any = true;
    }
    if (any)
        buf_add_char(b, ']');
}

static void write_clarify(const struct ethos_write_ctx *wire, const struct tc_request *r)
{
    static const char *const written[] = {"default", "jobId", NULL};
    const struct str questions = {r->questions, r->questions ? strlen(r->questions) : 0};
    struct buf *const b = ethos_write_begin(wire, "clarify.request");
    add_str(b, "requestId", r->request_id);
    json_member_value(b, JS, "question", json_reader_pointer(questions, "/0/prompt"));
    ethos_write_add_options(b, questions);
    json_member_value(b, JS, "default", x_member(wire, "default"));
    json_member_value(b, JS, "jobId", x_member(wire, "jobId"));
    if (r->expires_ms >= 0)
        json_style_member_int(b, JS, "defaultDeadlineAt", r->expires_ms);
    else
        json_style_member_null(b, JS, "defaultDeadlineAt");
    json_member_rest(b, JS, wire->x, written);
    ethos_write_end(wire);
}

static void write_clarified(const struct ethos_write_ctx *wire, const struct tc_request *r)
{
    struct buf *const b = ethos_write_begin(wire, "clarify.resolved");
    add_str(b, "requestId", r->request_id);
    json_member_rest(b, JS, wire->x, nothing);
    ethos_write_end(wire);
}

static void write_credential(const struct ethos_write_ctx *wire, const struct tc_request *r)
{
    static const char *const written[] = {"pluginId", "credentialKey", "kind", NULL};
    struct buf *const b = ethos_write_begin(wire, "credential_required");
    json_member_value(b, JS, "pluginId", x_member(wire, "pluginId"));
    json_member_value(b, JS, "credentialKey", x_member(wire, "credentialKey"));
    json_member_value(b, JS, "kind", x_member(wire, "kind"));
    add_str(b, "label", r->subject);
    json_member_str(b, JS, "description", r->message);
    json_member_rest(b, JS, wire->x, written);
    ethos_write_end(wire);
}

/* Requests that only Ethos can write, because the meaning of credentials and questions is specific
 * to it. */
static void ethos_write_write_request(const struct ethos_write_ctx *wire)
{
    const struct tc_request *const r = &wire->ev->u.request;
    const bool open = strcmp(r->state, "open") == 0;
    const bool by_us = !open && r->decision && strcmp(r->decision, "cancelled") == 0 && r->by;
    if (by_us) /* closed by the guard */
        return;
    if (strcmp(r->kind, "approval") == 0 && wire->web)
        (open ? write_push_approval : write_push_resolved)(wire, r);
    else if (strcmp(r->kind, "approval") == 0)
        (open ? ethos_write_write_approval : write_response)(wire, r);
    else if (strcmp(r->kind, "ask") == 0 && wire->web)
        (open ? write_clarify : write_clarified)(wire, r);
    else if (strcmp(r->kind, "credential") == 0 && open && x_member(wire, "pluginId").p)
        write_credential(wire, r);
}

/* The cost of the turn beyond its calls, for which many sources report tokens only. Ethos reports
 * costs of tools in the same way. */
static void ethos_write_write_rest_of_cost(const struct ethos_write_ctx *wire)
{
    const double rest = wire->ev->u.usage.cost_usd - wire->w->cost;
    if (!(rest >= COST_MIN))
        return;
    struct buf *const b = ethos_write_begin(wire, "usage");
    json_style_member_int(b, JS, "inputTokens", 0);
    json_style_member_int(b, JS, "outputTokens", 0);
    json_style_member_real(b, JS, "estimatedCostUsd", rest);
    ethos_write_end(wire);
}

static void ethos_write_write_usage(const struct ethos_write_ctx *wire)
{
    const struct tc_usage *const u = &wire->ev->u.usage;
    struct ethos_writing *const w = wire->w;
    const bool call = strcmp(u->scope, "call") == 0;
    if (!call && w->counted) {
        ethos_write_write_rest_of_cost(wire);
        return;
    }
    w->counted += call;
    const int64_t input = u->input_tokens < 0 ? 0 : u->input_tokens;
    const int64_t inside = u->cache_counted == 1 && u->cache_read_tokens > 0
                               ? u->cache_read_tokens
                               : 0; /* here cached tokens are not part of the input */
    struct buf *const b = ethos_write_begin(wire, "usage");
    json_style_member_int(b, JS, "inputTokens", input > inside ? input - inside : 0);
    json_style_member_int(b, JS, "outputTokens", u->output_tokens < 0 ? 0 : u->output_tokens);
    json_style_member_real(b, JS, "estimatedCostUsd", u->cost_usd < 0 ? 0 : u->cost_usd);
    w->cost += u->cost_usd < 0 ? 0 : u->cost_usd;
    if (u->cache_read_tokens >= 0)
        json_style_member_int(b, JS, "cacheReadTokens", u->cache_read_tokens);
    if (u->cache_write_tokens >= 0)
        json_style_member_int(b, JS, "cacheCreationTokens", u->cache_write_tokens);
    json_member_rest(b, JS, wire->x, nothing);
    ethos_write_end(wire);
}

static void write_halt(const struct ethos_write_ctx *wire, const char *rule, const char *message)
{
    static const char *const written[] = {"kind", "toolName", "count", NULL};
    const struct str kind = x_member(wire, "kind");
    struct buf *const b = ethos_write_begin(wire, "halt");
    json_member_value(b, JS, "kind", kind.p ? kind : STR("\"budget\""));
    add_str(b, "rule", rule);
    json_member_value(b, JS, "toolName", x_member(wire, "toolName"));
    json_member_value(b, JS, "count", x_member(wire, "count"));
    add_str(b, "message", message);
    json_member_rest(b, JS, wire->x, written);
    ethos_write_end(wire);
    wire->w->halted = true;
}

static void write_error_line(const struct ethos_write_ctx *wire, const char *message,
                             const char *code)
{
    struct buf *const b = ethos_write_begin(wire, "error");
    add_str(b, "error", message);
    add_str(b, "code", code ? code : "llm_error");
    ethos_write_end(wire);
}

/* The spelling of the code in the source, if it differs from the canonical one. */
static const char *code_of(const struct ethos_write_ctx *wire, struct arena *a, const char *code)
{
    const char *const spelled = value_text(a, x_member(wire, "code"), NULL);
    return spelled ? spelled : code;
}

static bool is_halt(const struct ethos_write_ctx *wire)
{
    const struct str kind = x_member(wire, "kind");
    return value_equals(kind, "budget") || value_equals(kind, "watcher");
}

/* Only notices that came from Ethos have a representation here. */
static void ethos_write_write_notice(const struct ethos_write_ctx *wire)
{
    const struct tc_notice *const n = &wire->ev->u.notice;
    if (!wire->own || !n->code)
        return;
    if (ethos_is_note(n->code)) {
        json_member_rest(ethos_write_begin(wire, n->code), JS, wire->x, nothing);
        ethos_write_end(wire);
    } else if (is_halt(wire)) {
        write_halt(wire, n->code, n->text);
    }
}

static void ethos_write_write_state(const struct ethos_write_ctx *wire)
{
    const struct tc_state *const s = &wire->ev->u.state;
    if (strcmp(s->scope, "context") != 0 || !s->value || *s->value != '{')
        return;
    json_style_member_json(ethos_write_begin(wire, "context_meta"), JS, "data", s->value);
    ethos_write_end(wire);
}

static void ethos_write_write_raw(const struct ethos_write_ctx *wire)
{
    const struct tc_raw *const r = &wire->ev->u.raw;
    if (!wire->own || strcmp(r->dialect, "ethos-acp") == 0)
        return;
    json_style_append_value(writer_begin_message(wire->out), JS, r->event, r->event_len);
    writer_begin_end_message(wire->out);
}

static void ethos_write_store_error(const struct ethos_write_ctx *wire)
{
    const struct tc_error *const e = &wire->ev->u.error;
    struct ethos_writing *const w = wire->w;
    struct arena scratch = {0};
    const char *const code = code_of(wire, &scratch, e->code);
    w->failed = true;
    buf_add_str(&w->error, e->message);
    buf_add_str(&w->code, code ? code : "llm_error");
    arena_fini(&scratch);
}

static void write_aborted(const struct ethos_write_ctx *wire)
{
    const char *const detail = wire->ev->u.done.detail;
    struct arena scratch = {0};
    write_error_line(wire, detail ? detail : "turn aborted", code_of(wire, &scratch, "aborted"));
    arena_fini(&scratch);
}

static void write_done_line(const struct ethos_write_ctx *wire)
{
    const struct tc_done *const d = &wire->ev->u.done;
    const struct ethos_writing *const w = wire->w;
    const int64_t turns = d->turns >= 0 ? d->turns : w->counted > 0 ? w->counted : 1;
    struct buf *const b = ethos_write_begin(wire, "done");
    ethos_write_add_text(b, "text", w->said.p, w->said.len);
    json_style_member_int(b, JS, "turnCount", turns);
    json_member_str(b, JS, "traceId", d->trace_id);
    ethos_write_end(wire);
}

static void ethos_write_write_done(const struct ethos_write_ctx *wire)
{
    const struct tc_done *const d = &wire->ev->u.done;
    const struct ethos_writing *const w = wire->w;
    if (w->failed) {
        write_error_line(wire, w->error.p, w->code.p);
        return;
    }
    if (strcmp(d->reason, "cancelled") == 0) {
        write_aborted(wire);
        return;
    }
    if (strcmp(d->reason, "stopped") == 0 && !w->halted)
        write_halt(wire, d->code ? d->code : "stopped", d->detail ? d->detail : d->code);
    write_done_line(wire);
}

static void ethos_write_write_event(void *state, const struct writer_out *out,
                                    const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct ethos_write_ctx *wire) = {
        [TC_NARRATION] = ethos_write_write_narration,
        [TC_THINKING] = ethos_write_write_thinking,
        [TC_MESSAGE] = ethos_write_write_message,
        [TC_FINAL] = ethos_write_write_final,
        [TC_TOOL_CALL] = ethos_write_write_call,
        [TC_PROGRESS] = ethos_write_write_progress,
        [TC_TOOL_RESULT] = ethos_write_write_result,
        [TC_REQUEST] = ethos_write_write_request,
        [TC_START] = ethos_write_write_start,
        [TC_ERROR] = ethos_write_store_error,
        [TC_DONE] = ethos_write_write_done,
        [TC_USAGE] = ethos_write_write_usage,
        [TC_NOTICE] = ethos_write_write_notice,
        [TC_STATE] = ethos_write_write_state,
        [TC_RAW] = ethos_write_write_raw,
    };
    const char *const src = ev->meta.src ? ev->meta.src : "";
    struct ethos_write_ctx wire = {.w = state,
                                   .out = out,
                                   .ev = ev,
                                   .own = strncmp(src, "ethos", 5) == 0,
                                   .web = strcmp(src, "ethos-web") == 0};
    if (wire.own && ev->meta.x)
        wire.x = (struct str){ev->meta.x, strlen(ev->meta.x)};
    if (write[ev->kind])
        write[ev->kind](&wire);
}

static void ethos_write_close_state(void *state)
{
    struct ethos_writing *const w = state;
    open_calls_fini(&w->calls);
    buf_fini(&w->said);
    buf_fini(&w->error);
    buf_fini(&w->code);
}

const struct writer writer_ethos = {
    .name = "ethos",
    .summary = "Ethos",
    .state_size = sizeof(struct ethos_writing),
    .event = ethos_write_write_event,
    .close = ethos_write_close_state,
};
