/* SPDX-License-Identifier: MIT
 * Life of a codex-app stream: the thread, its turn and its end. */
#include "dialect/codex/codex_app.h"

#include "dialect/protocol/jsonrpc.h"
#include "dialect/reader/dialect_emit.h"
#include "event/json/json_reader.h"

char *codex_app_text(const struct codex_app_line *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

char *codex_app_get_param(const struct codex_app_line *call, const char *key)
{
    return codex_app_text(call, value_get_last(call->params, key));
}

void codex_app_emit(const struct codex_app_line *call, struct event *ev)
{
    ev->meta.agent = call->agent;
    if (call->c->thread.len)
        ev->meta.session_id = call->c->thread.p;
    dialect_emit_draft(call->out, ev);
}

void codex_app_raw(const struct codex_app_line *call)
{
    const char *const method = codex_app_text(call, call->method);
    dialect_emit_raw(call->out, "codex-app", call->self, method ? method : "result");
}

static void codex_app_replay_early(void *ctx, struct str line)
{
    struct codex_app_line old = *(const struct codex_app_line *)ctx;
    old.self = line;
    old.method = value_get_last(line, "method");
    codex_app_raw(&old);
}

static void codex_app_emit_start(const struct codex_app_line *call, struct str thread)
{
    struct codex_app *const c = call->c;
    const char *id = codex_app_text(call, value_get_last(thread, "id"));
    struct event ev;
    if (!id)
        id = codex_app_get_param(call, "threadId");
    if (id) {
        buf_reset(&c->thread);
        buf_add_str(&c->thread, id);
    } else if (c->thread.len) { /* a later turn of it */
        id = arena_strdup(call->out->scratch, c->thread.p);
    }
    event_init(&ev, TC_START);
    ev.u.start.thread_id = id;
    ev.u.start.provider = codex_app_text(call, value_get_last(thread, "modelProvider"));
    ev.u.start.model = codex_app_text(call, value_get_last(thread, "model"));
    ev.u.start.source = "codex";
    c->started = true;
    codex_app_emit(call, &ev);
    struct codex_app_line early = *call;
    prestart_replay(&c->early, codex_app_replay_early, &early);
}

/* The name in a codexErrorInfo: a string, or the key of an object. */
static const char *codex_app_error_code(const struct codex_app_line *call, struct str error)
{
    const struct str info = value_get_last(error, "codexErrorInfo");
    const char *const word = codex_app_text(call, info);
    struct json j;
    struct str key;
    json_init(&j, info.p, info.len);
    if (word || !info.p || !json_reader_enter_object(&j) || !json_reader_next_key(&j, &key))
        return word;
    return json_reader_unescape(call->out->scratch, key, NULL);
}

static void codex_app_read_error(const struct codex_app_line *call)
{
    static const char *const told[] = {"message", "additionalDetails", NULL};
    const struct str error = value_get_last(call->params, "error");
    const bool retry = value_is_true(value_get_last(call->params, "willRetry"));
    const char *const text = codex_app_text(call, value_get_last(error, "message"));
    struct event ev;
    event_init_notice(&ev, retry ? "warn" : "error", retry ? "retry" : "stream_error",
                      text ? text : "");
    ev.u.notice.detail = codex_app_text(call, value_get_last(error, "additionalDetails"));
    ev.meta.x = value_extra_except(call->out->scratch, error, told);
    codex_app_emit(call, &ev);
}

static void codex_app_read_warning(const struct codex_app_line *call)
{
    static const char *const told[] = {"summary", "message", NULL};
    const char *const summary = codex_app_get_param(call, "summary");
    const char *const message = summary ? summary : codex_app_get_param(call, "message");
    dialect_emit_notice(call->out, "warn", "warning", message ? message : "",
                        value_extra_except(call->out->scratch, call->params, told));
}

/* A resumed thread repeats the usage of its last turn before the next one begins. */
static void codex_app_read_usage(const struct codex_app_line *call)
{
    if (!call->agent && !call->c->runs)
        return;
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    const struct str usage = value_get_last(call->params, "tokenUsage");
    struct str input = {0}, output = {0}, total = {0}, read = {0}, written = {0}, reasoning = {0};
    const struct value_row rows[] = {{"inputTokens", &input},
                                     {"outputTokens", &output},
                                     {"totalTokens", &total},
                                     {"cachedInputTokens", &read},
                                     {"cacheWriteInputTokens", &written},
                                     {"reasoningOutputTokens", &reasoning}};
    value_get_members(value_get_last(usage, "last"), VALUE_ROWS(rows));
    event_init(&ev, TC_USAGE);
    u->scope = "call";
    u->input_tokens = value_int(input, -1);
    u->output_tokens = value_int(output, -1);
    u->total_tokens = value_int(total, -1);
    u->cache_read_tokens = value_int(read, -1);
    u->cache_write_tokens = value_int(written, -1);
    u->reasoning_tokens = value_int(reasoning, -1);
    u->cache_counted = 1;
    if (!call->agent)
        usage_totals_add(&call->c->tally, u);
    ev.meta.x = value_extra_except(call->out->scratch, usage, (const char *const[]){"last", NULL});
    codex_app_emit(call, &ev);
}

static void codex_app_emit_state(const struct codex_app_line *call, const char *type,
                                 const char *member)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = "activity";
    ev.u.state.op = "snapshot";
    ev.u.state.activity_type = type;
    ev.u.state.key = type;
    ev.u.state.value = value_json(call->out->scratch, value_get_last(call->params, member), NULL);
    codex_app_emit(call, &ev);
}

static void codex_app_read_plan(const struct codex_app_line *call)
{
    codex_app_emit_state(call, "plan", "plan");
}

static void codex_app_read_diff(const struct codex_app_line *call)
{
    codex_app_emit_state(call, "diff", "diff");
}

static void codex_app_emit_failure(const struct codex_app_line *call, struct str error)
{
    const char *const text = codex_app_text(call, value_get_last(error, "message"));
    dialect_emit_error(call->out, text ? text : "the turn failed",
                       codex_app_error_code(call, error));
}

static void codex_app_read_turn_completed(const struct codex_app_line *call)
{
    struct codex_app *const c = call->c;
    const struct str turn = value_get_last(call->params, "turn");
    const struct str status = value_get_last(turn, "status");
    const bool failed = value_equals(status, "failed");
    if (call->agent) {
        codex_app_raw(call);
        return;
    }
    if (failed)
        codex_app_emit_failure(call, value_get_last(turn, "error"));
    else
        dialect_emit_final(call->out, c->answer.p, c->answer.len, c->answer_id.p);
    usage_totals_emit(&c->tally, call->out, failed);
    dialect_emit_done(call->out,
                      failed                                ? "error"
                      : value_equals(status, "interrupted") ? "cancelled"
                                                            : "completed",
                      NULL);
    buf_reset(&c->answer);
    buf_reset(&c->past);
    const char *const id = codex_app_text(call, value_get_last(turn, "id"));
    buf_add_str(&c->past, id ? id : "");
    c->ended = true;
}

/* A request of the client was refused; the client may send another request. */
static void set_refusal(const struct codex_app_line *call)
{
    const char *const text = codex_app_text(call, value_get_last(call->error, "message"));
    buf_reset(&call->c->refusal);
    buf_add_str(&call->c->refusal,
                text ? text : "The Codex server rejected a request without a reason.");
}

static void codex_app_read_refusal(const struct codex_app_line *call)
{
    set_refusal(call);
    dialect_emit_notice(call->out, "error", "request_refused", call->c->refusal.p, NULL);
    if (jsonrpc_is_own_id(call->id, CODEX_APP_INTERRUPT) ||
        jsonrpc_is_own_id(call->id, CODEX_APP_STEER)) /* the turn continues */
        buf_reset(&call->c->refusal);
}

static void codex_app_read_turn_started(const struct codex_app_line *call)
{
    call->c->runs |= !call->agent;
}

static const struct {
    const char *method;
    void (*take)(const struct codex_app_line *call);
} methods[] = {
    {"item/agentMessage/delta", codex_app_handle_text_delta},
    {"item/started", codex_app_handle_item},
    {"item/completed", codex_app_handle_item},
    {"item/reasoning/summaryTextDelta", codex_app_handle_thought_delta},
    {"item/reasoning/textDelta", codex_app_handle_thought_delta},
    {"item/commandExecution/outputDelta", codex_app_handle_output_delta},
    {"thread/tokenUsage/updated", codex_app_read_usage},
    {"turn/started", codex_app_read_turn_started},
    {"turn/plan/updated", codex_app_read_plan},
    {"turn/diff/updated", codex_app_read_diff},
    {"turn/completed", codex_app_read_turn_completed},
    {"error", codex_app_read_error},
    {"serverRequest/resolved", codex_app_handle_resolved},
    {"configWarning", codex_app_read_warning},
    {"deprecationNotice", codex_app_read_warning},
    {"warning", codex_app_read_warning},
};

static void codex_app_dispatch(const struct codex_app_line *call)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (value_equals(call->method, methods[i].method)) {
            methods[i].take(call);
            return;
        }
    if (call->error.p)
        codex_app_read_refusal(call);
    else if (!call->id.p || !call->method.p || !codex_app_handle_request(call))
        codex_app_raw(call);
}

/* The thread that the line opens, if any. */
static struct str thread_of(const struct codex_app_line *call)
{
    const struct str thread = value_get_last(call->result, "thread");
    return thread.p ? thread : value_get_last(call->params, "thread");
}

/* A failed request of the handshake: nothing will follow. */
static bool is_broken(const struct codex_app_line *call)
{
    static const char *const steps[] = {CODEX_APP_INITIALIZE, CODEX_APP_THREAD, CODEX_APP_TURN};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && call->error.p; i++)
        if (jsonrpc_is_own_id(call->id, steps[i]))
            return true;
    return !call->error.p && jsonrpc_is_own_id(call->id, CODEX_APP_THREAD) &&
           !value_string(value_get_last(thread_of(call), "id")).len;
}

static void codex_app_read_request_error(const struct codex_app_line *call)
{
    struct codex_app *const c = call->c;
    const char *const text = codex_app_text(call, value_get_last(call->error, "message"));
    if (!c->started)
        codex_app_emit_start(call, (struct str){0});
    dialect_emit_error(call->out,
                       text            ? text
                       : call->error.p ? "The Codex server rejected a request without a reason."
                                       : "The Codex server did not return a thread ID.",
                       "request_refused");
    dialect_emit_done(call->out, "error", NULL);
    c->ended = true;
}

/* Returns true if the line was handled. */
static bool codex_app_before_start(const struct codex_app_line *call)
{
    const struct str thread = thread_of(call);
    const bool begins = thread.p || value_get_last(call->params, "turnId").p ||
                        call->c->thread.len; /* a later turn */
    if (!begins) {
        if (call->error.p)
            set_refusal(call);
        prestart_append(&call->c->early, call->out->scratch, call->self);
        return true;
    }
    codex_app_emit_start(call, thread);
    return false;
}

static const char *foreign_thread(const struct codex_app_line *call)
{
    const char *const id = codex_app_get_param(call, "threadId");
    const struct buf *const own = &call->c->thread;
    return id && own->len && strcmp(id, own->p) != 0 ? id : NULL;
}

/* A command may continue after its turn has ended: its later output belongs to no turn. */
static bool is_past(const struct codex_app_line *call)
{
    const struct codex_app *const c = call->c;
    const char *const turn = codex_app_get_param(call, "turnId");
    return !c->ended && c->past.len && turn && strcmp(turn, c->past.p) == 0;
}

static int codex_app_read_line(void *state, const struct dialect_sink *out, const char *line,
                               size_t len)
{
    struct codex_app_line call = {.c = state, .self = {line, len}};
    struct str emitted = {0};
    const struct value_row rows[] = {{"id", &call.id},         {"method", &call.method},
                                     {"params", &call.params}, {"result", &call.result},
                                     {"error", &call.error},   {"emittedAtMs", &emitted}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    struct dialect_sink timed = *out;
    timed.ts = value_time(emitted);
    call.out = &timed;
    call.item = value_get_last(call.params, "item");
    call.agent = foreign_thread(&call);
    if (is_past(&call))
        return 0;
    if (is_broken(&call))
        codex_app_read_request_error(&call);
    else if (call.c->started || !codex_app_before_start(&call))
        codex_app_dispatch(&call);
    return 0;
}

/* A client whose requests were all refused had no turn. */
static void codex_app_end_stream(void *state, const struct dialect_sink *out,
                                 const struct stream_end_info *end)
{
    struct codex_app *const c = state;
    const struct codex_app_line call = {.c = c, .out = out};
    (void)end;
    if (!c->started && c->early.lines.len)
        codex_app_emit_start(&call, (struct str){0});
    if (c->ended || !c->refusal.len)
        return;
    dialect_emit_error(out, c->refusal.p, "request_refused");
    dialect_emit_done(out, "error", NULL);
}

static void codex_app_close_state(void *state)
{
    struct codex_app *const c = state;
    struct buf *const bufs[] = {&c->thread, &c->past,      &c->streamed, &c->streamed_id,
                                &c->answer, &c->answer_id, &c->refusal};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    prestart_fini(&c->early);
    open_calls_fini(&c->open);
    open_calls_fini(&c->asked);
    open_calls_fini(&c->changes);
}

static enum dialect_begin codex_app_begins_turn(const void *state, struct str line)
{
    const struct codex_app *const c = state;
    if (!c->ended || !value_equals(value_get_last(line, "method"), "turn/started"))
        return DIALECT_GOES_ON;
    const struct str thread =
        value_string(value_get_last(value_get_last(line, "params"), "threadId"));
    return str_equal(thread, (struct str){c->thread.p, c->thread.len}) ? DIALECT_USERS_TURN
                                                                       : DIALECT_GOES_ON;
}

/* Keeps the thread, and the turns of sub-agents. */
static void codex_app_next_turn(void *state, bool by_agent)
{
    struct codex_app *const c = state;
    struct codex_app old = *c;
    (void)by_agent;
    *c = (struct codex_app){.thread = old.thread, .past = old.past, .runs = old.runs};
    old.thread = old.past = (struct buf){0};
    codex_app_close_state(&old);
}

static int codex_app_sniff_line(struct str line, const char *event)
{
    (void)event;
    if (value_get_last(line, "jsonrpc").p)
        return 0;
    if (value_get_last(value_get_last(line, "result"), "codexHome").p)
        return DIALECT_SCORE_CERTAIN;
    return value_get_last(line, "method").p && value_get_last(line, "emittedAtMs").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_codex_app = {
    .name = "codex-app",
    .summary = "codex app-server: what the server writes",
    .state_size = sizeof(struct codex_app),
    .sniff = codex_app_sniff_line,
    .line = codex_app_read_line,
    .end = codex_app_end_stream,
    .close = codex_app_close_state,
    .begins = codex_app_begins_turn,
    .next = codex_app_next_turn,
    .input = &codex_app_input,
};
