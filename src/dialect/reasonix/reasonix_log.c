/* SPDX-License-Identifier: MIT
 * Reads the typed log of Reasonix and ok (<session>.events.jsonl): each line has a type, meta and a
 * body, with the same meaning as in the stream. */
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix.h"
#include "event/json/json_reader.h"

struct log_line {
    struct str self, type, meta, body;
};

static char *reasonix_log_rest(const struct reasonix_ctx *call, const struct log_line *l,
                               const char *const *known)
{
    return value_extra_except(call->out->scratch, l->body, known);
}

static char *reasonix_log_text_of(const struct reasonix_ctx *call, const struct log_line *l,
                                  const char *key)
{
    return reasonix_copy(call, value_get_last(l->body, key));
}

/* The message precedes the line that names the model, so the start waits for it. */
static void reasonix_log_read_user(const struct reasonix_ctx *call, const struct log_line *l)
{
    call->r->turn = value_int(value_get_last(l->meta, "turn"), 0);
    const char *const text = reasonix_log_text_of(call, l, "text");
    buf_reset(&call->r->task);
    buf_add_str(&call->r->task, text ? text : "");
}

static void reasonix_log_read_started(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"model", NULL};
    static const char *const none[] = {NULL};
    if (!call->r->started)
        reasonix_start(call, reasonix_log_text_of(call, l, "model"),
                       reasonix_log_rest(call, l, known));
    else
        reasonix_emit_step(call, "model.turn.started", reasonix_log_rest(call, l, none));
}

static void reasonix_log_read_delta(const struct reasonix_ctx *call, const struct log_line *l)
{
    const struct str text = value_get_last(l->body, "text"),
                     channel = value_get_last(l->body, "channel");
    const struct open_calls *const partial = &call->r->partial;
    if (value_equals(channel, "content")) {
        reasonix_text(call, text);
    } else if (value_equals(channel, "reasoning")) {
        reasonix_thinking(call, text);
    } else if (value_equals(channel, "tool_args")) {
        struct event ev;
        event_init(&ev, TC_PROGRESS);
        ev.u.progress.phase = "args";
        ev.u.progress.tool_use_id = partial->n ? partial->ids[partial->n - 1] : NULL;
        ev.u.progress.args_delta =
            value_text(call->out->scratch, text, &ev.u.progress.args_delta_len);
        dialect_emit_draft(call->out, &ev);
    } else {
        dialect_emit_raw(call->out, call->name, l->self, "model.delta");
    }
}

static void reasonix_log_read_usage(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {
        "prompt_tokens",           "completion_tokens",        "total_tokens",
        "prompt_cache_hit_tokens", "prompt_cache_miss_tokens", NULL};
    const struct str usage = value_get_last(l->body, "usage");
    struct reasonix_usage u = {.cost_usd = value_get_last(l->body, "costUsd")};
    const struct value_row rows[] = {{"prompt_tokens", &u.prompt},
                                     {"completion_tokens", &u.completion},
                                     {"total_tokens", &u.total},
                                     {"prompt_cache_hit_tokens", &u.hit},
                                     {"prompt_cache_miss_tokens", &u.miss}};
    if (!usage.p && !u.cost_usd.p)
        return;
    value_get_members(usage, VALUE_ROWS(rows));
    u.x = value_extra_except(call->out->scratch, usage, known);
    reasonix_usage(call, &u);
}

static void reasonix_log_read_final(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"content", "reasoningContent", "usage", "costUsd", NULL};
    reasonix_message(call, value_get_last(l->body, "content"),
                     value_get_last(l->body, "reasoningContent"),
                     reasonix_log_rest(call, l, known));
    reasonix_log_read_usage(call, l);
}

static void reasonix_log_read_preparing(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"callId", "name", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->body, false);
    t.x = reasonix_log_rest(call, l, known);
    reasonix_clear_pending_end(call);
    reasonix_prepare(call, &t);
}

static void reasonix_log_read_intent(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"callId", "name", "args", "readOnly", "parentId", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->body, false);
    t.x = reasonix_log_rest(call, l, known);
    reasonix_clear_pending_end(call);
    reasonix_dispatch(call, &t);
}

/* ok writes every failure as a denial; the reason distinguishes them. */
static void reasonix_log_read_denied(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"callId", "name", "reason", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->body, false);
    t.err = value_get_last(l->body, "reason");
    if (!value_string(t.err).len)
        t.err = STR("\"denied\"");
    t.x = reasonix_log_rest(call, l, known);
    reasonix_result(call, &t);
}

static void reasonix_log_read_result(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"callId", "name",      "ok",         "output",
                                        "err",    "truncated", "durationMs", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->body, false);
    const struct str ok = value_get_last(l->body, "ok");
    if (ok.p && !value_is_true(ok) && !value_string(t.err).len)
        t.err = STR("\"failed\"");
    t.x = reasonix_log_rest(call, l, known);
    reasonix_result(call, &t);
}

static void reasonix_log_read_error(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"message", "code", "name", NULL};
    const char *const message = reasonix_log_text_of(call, l, "message");
    const char *const code = reasonix_log_text_of(call, l, "code");
    const char *const name = reasonix_log_text_of(call, l, "name");
    if (value_is_true(value_get_last(l->body, "recoverable")))
        dialect_emit_notice(call->out, "warn",
                            code   ? code
                            : name ? name
                                   : "error",
                            message ? message : "", reasonix_log_rest(call, l, known));
    else
        reasonix_fail(call, message, code ? code : name);
}

static void reasonix_log_read_notice(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"text", "level", NULL};
    const char *const text = reasonix_log_text_of(call, l, "text");
    const bool warn = value_int(value_get_last(l->body, "level"), 0) > 0;
    dialect_emit_notice(call->out, warn ? "warn" : "info", NULL, text ? text : "",
                        reasonix_log_rest(call, l, known));
}

static void reasonix_log_read_phase(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"text", NULL};
    reasonix_emit_step(call, reasonix_log_text_of(call, l, "text"),
                       reasonix_log_rest(call, l, known));
}

static void reasonix_log_read_approval(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"askId", "tool", "subject", NULL};
    const struct reasonix_request r = {.id = value_get_last(l->body, "askId"),
                                       .tool = value_get_last(l->body, "tool"),
                                       .subject = value_get_last(l->body, "subject"),
                                       .x = reasonix_log_rest(call, l, known)};
    reasonix_emit_request(call, "approval", &r);
}

static void reasonix_log_read_ask(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"askId", "questions", NULL};
    const struct reasonix_request r = {.id = value_get_last(l->body, "askId"),
                                       .questions = value_get_last(l->body, "questions"),
                                       .x = reasonix_log_rest(call, l, known)};
    reasonix_emit_request(call, "ask", &r);
}

static void reasonix_log_read_aborted(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const none[] = {NULL};
    reasonix_refuse(call, reasonix_log_text_of(call, l, "covenant"),
                    reasonix_log_text_of(call, l, "reason"), reasonix_log_rest(call, l, none));
}

static void reasonix_log_read_done(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const known[] = {"text", NULL};
    size_t len = 0;
    const char *const text = value_text(call->out->scratch, value_get_last(l->body, "text"), &len);
    if (len && !call->r->ended) {
        buf_reset(&call->r->streamed);
        buf_reset(&call->r->answer);
        buf_add(&call->r->answer, text, len);
    }
    reasonix_end_turn(call, NULL, NULL, reasonix_log_rest(call, l, known));
}

static void reasonix_log_emit_state(const struct reasonix_ctx *call, const char *scope,
                                    const char *key, const char *activity, const char *value)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = scope;
    ev.u.state.op = "snapshot";
    ev.u.state.key = key;
    ev.u.state.activity_type = activity;
    ev.u.state.value = value;
    dialect_emit_draft(call->out, &ev);
}

static void reasonix_log_read_plan(const struct reasonix_ctx *call, const struct log_line *l)
{
    reasonix_log_emit_state(call, "activity", reasonix_copy(call, l->type), "plan",
                            value_json(call->out->scratch, l->body, NULL));
}

/* The session is opened before the start, which must be first: the model is not known yet. */
static void reasonix_log_read_opened(const struct reasonix_ctx *call, const struct log_line *l)
{
    buf_reset(&call->r->opened);
    json_reader_compact(&call->r->opened, l->body.p ? l->body : STR("null"));
}

static void reasonix_log_emit_opened(const struct reasonix_ctx *call)
{
    struct buf *const opened = &call->r->opened;
    if (!call->r->started || !opened->len)
        return;
    reasonix_log_emit_state(call, "context", "session.opened", NULL, opened->p);
    buf_reset(opened);
}

static void reasonix_log_read_blocked(const struct reasonix_ctx *call, const struct log_line *l)
{
    static const char *const none[] = {NULL};
    static const char text[] = "The budget is exhausted.";
    dialect_emit_notice(call->out, "warn", "budget.blocked", text,
                        reasonix_log_rest(call, l, none));
    reasonix_stop(call, "budget.blocked", text);
}

/* Lines that may precede the start wait for it, because it has more data. */
static const struct reasonix_log_type {
    const char *type;
    void (*take)(const struct reasonix_ctx *call, const struct log_line *l);
    bool early;
} types[] = {
    {"user.message", reasonix_log_read_user, true},
    {"model.turn.started", reasonix_log_read_started, true},
    {"model.delta", reasonix_log_read_delta, false},
    {"model.final", reasonix_log_read_final, false},
    {"tool.preparing", reasonix_log_read_preparing, false},
    {"tool.intent", reasonix_log_read_intent, false},
    {"tool.denied", reasonix_log_read_denied, false},
    {"tool.result", reasonix_log_read_result, false},
    {"error", reasonix_log_read_error, false},
    {"notice", reasonix_log_read_notice, false},
    {"phase", reasonix_log_read_phase, false},
    {"approval.request", reasonix_log_read_approval, false},
    {"ask.request", reasonix_log_read_ask, false},
    {"turn.done", reasonix_log_read_done, false},
    {"turn.aborted", reasonix_log_read_aborted, false},
    {"plan.submitted", reasonix_log_read_plan, false},
    {"plan.step.changed", reasonix_log_read_plan, false},
    {"budget.blocked", reasonix_log_read_blocked, false},
    {"session.opened", reasonix_log_read_opened, true},
};

static void reasonix_log_dispatch(const struct reasonix_ctx *call, const struct log_line *l)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(l->type, types[i].type)) {
            if (!types[i].early)
                reasonix_start(call, NULL, NULL);
            reasonix_log_emit_opened(call);
            types[i].take(call, l);
            reasonix_log_emit_opened(call);
            return;
        }
    const char *const type = reasonix_copy(call, l->type);
    reasonix_start(call, NULL, NULL);
    if (!reasonix_emit_notice(call, type ? type : "", l->body))
        dialect_emit_raw(call->out, call->name, l->self, type);
}

/* Adds the entry's id to all its events. */
struct stamp {
    const struct dialect_sink *out;
    const char *id;
};

static void emit_stamped(void *ctx, struct event *ev)
{
    const struct stamp *const stamp = ctx;
    ev->meta.id = stamp->id;
    stamp->out->emit(stamp->out->ctx, ev);
}

static int reasonix_log_read_line(void *state, const struct dialect_sink *out, const char *line,
                                  size_t len)
{
    struct log_line l = {.self = {line, len}};
    const struct value_row rows[] = {{"type", &l.type}, {"meta", &l.meta}, {"body", &l.body}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    const struct str id = value_get_last(l.meta, "id");
    struct stamp stamp = {.out = out,
                          .id = value_int(id, 0) ? value_json(out->scratch, id, NULL) : NULL};
    struct dialect_sink stamped = *out;
    stamped.emit = emit_stamped;
    stamped.ctx = &stamp;
    stamped.ts = value_time(value_get_last(l.meta, "ts"));
    reasonix_log_dispatch(
        &(struct reasonix_ctx){.r = state, .out = &stamped, .name = "reasonix-log"}, &l);
    return 0;
}

/* A message of the user begins a turn, unless it joins the running one: then it has the number of
 * that turn. */
static enum dialect_begin reasonix_log_begins_turn(const void *state, struct str line)
{
    const struct reasonix *const r = state;
    if ((!r->ended && !r->turn) || !value_equals(value_get_last(line, "type"), "user.message"))
        return DIALECT_GOES_ON;
    const int64_t turn = value_int(value_get_last(value_get_last(line, "meta"), "turn"), 0);
    return r->ended || (turn && turn != r->turn) ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
}

static int reasonix_log_sniff_line(struct str line, const char *event)
{
    (void)event;
    const bool typed = value_string(value_get_last(line, "type")).p;
    return typed && value_get_last(line, "meta").p && value_get_last(line, "body").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_reasonix_log = {
    .name = "reasonix-log",
    .summary = "the typed event log of Reasonix and ok",
    .state_size = sizeof(struct reasonix),
    .sniff = reasonix_log_sniff_line,
    .line = reasonix_log_read_line,
    .end = reasonix_end,
    .close = reasonix_close,
    .begins = reasonix_log_begins_turn,
};
