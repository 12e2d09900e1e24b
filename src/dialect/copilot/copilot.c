/* SPDX-License-Identifier: MIT
 * Reads GitHub Copilot's `copilot --output-format json`: an envelope around about thirty types,
 * most of them for bookkeeping. A message without tool calls is an answer; a run has several. */
#include "base/bytes/buf.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"

struct copilot {
    struct buf streamed, streamed_id; /* text of the current message, and its id */
    struct buf thought;               /* emitted reasoning that was not repeated completely yet */
    struct buf answer, answer_id;     /* of the newest message without tool calls */
    struct buf error, error_code;
    struct buf session;
    bool started, aborted, failed, ended;
};

struct copilot_call {
    struct copilot *c;
    const struct dialect_sink *out;
    struct str self, type, data, id, session_id, exit_code, usage;
    const char *parent_id; /* call that spawned the sub-agent whose event it is, or NULL */
};

static char *copilot_text_of(const struct copilot_call *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

static char *data_text(const struct copilot_call *call, const char *key)
{
    return copilot_text_of(call, value_get_last(call->data, key));
}

static void copilot_replace(struct buf *to, const char *text, size_t len)
{
    buf_reset(to);
    buf_add(to, text, len);
}

static void copilot_set(struct buf *to, const char *text)
{
    copilot_replace(to, text ? text : "", text ? strlen(text) : 0);
}

static void copilot_send(const struct copilot_call *call, struct event *ev)
{
    ev->meta.parent_id = call->parent_id;
    if (call->c->session.len)
        ev->meta.session_id = call->c->session.p;
    dialect_emit_draft(call->out, ev);
}

static void copilot_emit_start(const struct copilot_call *call)
{
    struct event ev;
    event_init(&ev, TC_START);
    ev.u.start.model = data_text(call, "model");
    ev.u.start.source = "copilot";
    call->c->started = true;
    copilot_send(call, &ev);
}

static void copilot_emit_raw(const struct copilot_call *call)
{
    dialect_emit_raw(call->out, "copilot", call->self, copilot_text_of(call, call->type));
}

static void copilot_send_text(const struct copilot_call *call, enum tc_kind kind, const char *text,
                              size_t len, const char *id)
{
    struct event ev;
    if (!len)
        return;
    event_init_text(&ev, kind, text, len, id);
    copilot_send(call, &ev);
}

/* Streamed text that was never completed belongs to a failed attempt. */
static void retract_streamed(const struct copilot_call *call)
{
    struct copilot *const c = call->c;
    struct event ev;
    if (c->streamed.len && c->streamed_id.len) {
        event_init_notice(&ev, "info", "retracted", "The text of a failed attempt was retracted.");
        ev.u.notice.message_id = c->streamed_id.p;
        copilot_send(call, &ev);
    }
    buf_reset(&c->streamed);
}

static void copilot_read_delta(const struct copilot_call *call)
{
    struct copilot *const c = call->c;
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->data, "deltaContent"), &len);
    const char *const id = data_text(call, "messageId");
    if (!call->parent_id && c->streamed_id.len && strcmp(c->streamed_id.p, id ? id : "") != 0)
        retract_streamed(call);
    copilot_send_text(call, TC_NARRATION, text, len, id);
    if (call->parent_id || !len)
        return;
    copilot_set(&c->streamed_id, id);
    buf_add(&c->streamed, text, len);
}

static void copilot_read_reasoning_delta(const struct copilot_call *call)
{
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->data, "deltaContent"), &len);
    copilot_send_text(call, TC_THINKING, text, len, data_text(call, "reasoningId"));
    if (!call->parent_id && len)
        buf_add(&call->c->thought, text, len);
}

static void copilot_read_reasoning(const struct copilot_call *call)
{
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->data, "content"), &len);
    if (!call->c->thought.len)
        copilot_send_text(call, TC_THINKING, text, len, data_text(call, "reasoningId"));
    buf_reset(&call->c->thought);
}

/* Streamed text is not emitted again; if the complete text differs, that is emitted. */
static void copilot_emit_rest(const struct copilot_call *call, const char *text, size_t len,
                              const char *id)
{
    struct copilot *const c = call->c;
    const struct buf *const had = &c->streamed;
    const bool same_id = id && c->streamed_id.len && strcmp(id, c->streamed_id.p) == 0;
    const size_t told = same_id ? had->len : 0;
    if (told <= len && (!told || memcmp(text, had->p, told) == 0)) {
        copilot_send_text(call, TC_NARRATION, text + told, len - told, id);
    } else {
        retract_streamed(call);
        copilot_send_text(call, TC_NARRATION, text, len,
                          arena_sprintf(call->out->scratch, "%s~1", id));
    }
    if (same_id)
        buf_reset(&c->streamed);
}

static void copilot_send_message(const struct copilot_call *call, const char *text, size_t len,
                                 const char *id)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "assistant";
    ev.u.message.text = len ? text : NULL;
    ev.u.message.text_len = len;
    ev.u.message.message_id = id;
    copilot_send(call, &ev);
}

static void copilot_emit_call(const struct copilot_call *call, struct str id, struct str name,
                              struct str args, const char *message_id)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    const char *const tool = copilot_text_of(call, name);
    const char *const tool_use_id = copilot_text_of(call, id);
    ev.u.tool_call.name = tool ? tool : "tool";
    ev.u.tool_call.tool_use_id = tool_use_id ? tool_use_id : "";
    ev.u.tool_call.message_id = message_id;
    tool_args_parse(call->out->scratch, &ev.u.tool_call, args);
    copilot_send(call, &ev);
}

/* Returns the number of calls. Emits calls here, because the start of an execution may be
 * missing. */
static size_t copilot_read_requests(const struct copilot_call *call, const char *message_id)
{
    const struct str list = value_get_last(call->data, "toolRequests");
    size_t count = 0;
    struct json j;
    struct str request;
    json_reader_open_array(&j, list);
    for (; json_reader_next_value(&j, &request); count++) {
        struct str id = {0}, name = {0}, args = {0};
        const struct value_row rows[] = {
            {"toolCallId", &id}, {"name", &name}, {"arguments", &args}};
        value_get_members(request, VALUE_ROWS(rows));
        copilot_emit_call(call, id, name, args, message_id);
    }
    return count;
}

static void copilot_read_message(const struct copilot_call *call)
{
    struct copilot *const c = call->c;
    size_t len = 0;
    const char *text = value_text(call->out->scratch, value_get_last(call->data, "content"), &len);
    const char *const id = data_text(call, "messageId");
    text = text ? text : "";
    copilot_emit_rest(call, text, len, id);
    copilot_send_message(call, text, len, id);
    const size_t requests = copilot_read_requests(call, id);
    if (call->parent_id)
        return;
    copilot_replace(&c->answer, text, requests ? 0 : len);
    copilot_set(&c->answer_id, id);
}

static void copilot_read_tool_start(const struct copilot_call *call)
{
    copilot_emit_call(call, value_get_last(call->data, "toolCallId"),
                      value_get_last(call->data, "toolName"),
                      value_get_last(call->data, "arguments"), NULL);
}

static void copilot_read_tool_complete(const struct copilot_call *call)
{
    static const char *const told[] = {"toolCallId", "success", "result",        "interactionId",
                                       "turnId",     "model",   "toolTelemetry", NULL};
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    const struct str error = value_get_last(call->data, "error");
    const struct str code = value_get_last(error, "code");
    event_init(&ev, TC_TOOL_RESULT);
    const char *const id = data_text(call, "toolCallId");
    result->tool_use_id = id ? id : "";
    result->is_error = !value_is_true(value_get_last(call->data, "success"));
    const bool denied = value_equals(code, "denied") || value_equals(code, "rejected");
    result->outcome = !result->is_error ? "succeeded" : denied ? "denied" : "failed";
    struct str shown = value_get_last(value_get_last(call->data, "result"), "content");
    if (!shown.p)
        shown = value_get_last(error, "message");
    if (shown.p)
        result->content = value_text_or_json(call->out->scratch, shown, &result->content_len);
    ev.meta.x = value_extra_except(call->out->scratch, call->data, told);
    copilot_send(call, &ev);
}

static void send_progress(const struct copilot_call *call, const char *phase, struct str args,
                          struct str output)
{
    struct event ev;
    struct tc_progress *const p = &ev.u.progress;
    event_init(&ev, TC_PROGRESS);
    p->tool_use_id = data_text(call, "toolCallId");
    p->name = data_text(call, "toolName");
    p->phase = phase;
    if (args.p)
        p->args_delta = value_text(call->out->scratch, args, &p->args_delta_len);
    if (output.p)
        p->output = value_text(call->out->scratch, output, &p->output_len);
    copilot_send(call, &ev);
}

static void copilot_read_call_delta(const struct copilot_call *call)
{
    send_progress(call, "args", value_get_last(call->data, "inputDelta"), (struct str){0});
}

/* The incremental output; tool.execution_partial_result repeats it from the beginning. */
static void copilot_read_shell_output(const struct copilot_call *call)
{
    send_progress(call, "running", (struct str){0}, value_get_last(call->data, "text"));
}

static void copilot_read_retry(const struct copilot_call *call)
{
    static const char *const told[] = {"reason", NULL};
    const char *const reason = data_text(call, "reason");
    retract_streamed(call);
    dialect_emit_notice(call->out, "warn", "retry", reason ? reason : "Retrying the model request.",
                        value_extra_except(call->out->scratch, call->data, told));
}

static void copilot_read_info(const struct copilot_call *call)
{
    static const char *const told[] = {"message", NULL};
    const bool retry = value_equals(value_get_last(call->data, "infoType"), "model_retry");
    const char *const text = data_text(call, "message");
    dialect_emit_notice(call->out, retry ? "warn" : "info", retry ? "retry" : "info",
                        text ? text : "", value_extra_except(call->out->scratch, call->data, told));
}

static void copilot_read_call_failure(const struct copilot_call *call)
{
    static const char *const told[] = {"errorMessage", "requestFingerprint", NULL};
    const char *const text = data_text(call, "errorMessage");
    dialect_emit_notice(call->out, "warn", "api_error", text ? text : "A model request failed.",
                        value_extra_except(call->out->scratch, call->data, told));
}

static void copilot_read_error(const struct copilot_call *call)
{
    static const char *const told[] = {"message", "originatingMessageId", NULL};
    struct copilot *const c = call->c;
    const char *const message = data_text(call, "message");
    copilot_set(&c->error, message ? message : "the turn failed");
    copilot_set(&c->error_code, data_text(call, "errorType"));
    c->failed = true;
    dialect_emit_notice(call->out, "error", "stream_error", c->error.p,
                        value_extra_except(call->out->scratch, call->data, told));
}

static void copilot_read_abort(const struct copilot_call *call)
{
    call->c->aborted = true;
    copilot_emit_raw(call);
}

static void copilot_read_idle(const struct copilot_call *call)
{
    call->c->aborted |= value_is_true(value_get_last(call->data, "aborted"));
    copilot_emit_raw(call);
}

static void copilot_read_user(const struct copilot_call *call)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "user";
    ev.u.message.message_id = data_text(call, "messageId");
    ev.u.message.text = value_text(call->out->scratch, value_get_last(call->data, "content"),
                                   &ev.u.message.text_len);
    copilot_send(call, &ev);
}

static void copilot_emit_usage(const struct copilot_call *call, bool failed)
{
    static const char *const told[] = {"sessionDurationMs", NULL};
    struct event ev;
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "turn";
    ev.u.usage.duration_ms = value_real(value_get_last(call->usage, "sessionDurationMs"), -1);
    ev.u.usage.is_error = failed;
    ev.meta.x = value_extra_except(call->out->scratch, call->usage, told);
    copilot_send(call, &ev);
}

/* The outcome from earlier events, because the exit code is 0 after an abort, too. */
static void copilot_emit_end(struct copilot *c, const struct dialect_sink *out,
                             const struct copilot_call *result)
{
    const bool failed = !c->aborted && (c->failed || (result && value_int(result->exit_code, 0)));
    const char *const code = c->error_code.len ? c->error_code.p : NULL;
    c->ended = true;
    if (failed)
        dialect_emit_error(out, c->error.len ? c->error.p : "the agent ended with an error", code);
    else
        dialect_emit_final(out, c->answer.p, c->answer.len, c->answer_id.p);
    if (result && result->usage.p)
        copilot_emit_usage(result, failed);
    dialect_emit_done(out, c->aborted ? "cancelled" : failed ? "error" : "completed", NULL);
}

static void copilot_read_result(const struct copilot_call *call)
{
    copilot_set(&call->c->session, copilot_text_of(call, call->session_id));
    copilot_emit_end(call->c, call->out, call);
}

static const struct {
    const char *type;
    void (*take)(const struct copilot_call *call);
} types[] = {
    {"session.background_tasks_changed", copilot_emit_raw},
    {"assistant.message_delta", copilot_read_delta},
    {"assistant.tool_call_delta", copilot_read_call_delta},
    {"assistant.message", copilot_read_message},
    {"assistant.reasoning_delta", copilot_read_reasoning_delta},
    {"assistant.reasoning", copilot_read_reasoning},
    {"tool.execution_start", copilot_read_tool_start},
    {"tool.execution_complete", copilot_read_tool_complete},
    {"tool.shell_output", copilot_read_shell_output},
    {"assistant.turn_retry", copilot_read_retry},
    {"session.info", copilot_read_info},
    {"model.call_failure", copilot_read_call_failure},
    {"session.error", copilot_read_error},
    {"abort", copilot_read_abort},
    {"agent.interrupted", copilot_read_abort},
    {"assistant.idle", copilot_read_idle},
    {"user.message", copilot_read_user},
    {"result", copilot_read_result},
};

static void copilot_dispatch(const struct copilot_call *call)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(call->type, types[i].type)) {
            types[i].take(call);
            return;
        }
    copilot_emit_raw(call);
}

static int copilot_read_line(void *state, const struct dialect_sink *out, const char *line,
                             size_t len)
{
    struct copilot_call call = {.c = state, .self = {line, len}};
    struct str timestamp = {0};
    const struct value_row rows[] = {{"type", &call.type},
                                     {"data", &call.data},
                                     {"id", &call.id},
                                     {"timestamp", &timestamp},
                                     {"sessionId", &call.session_id},
                                     {"exitCode", &call.exit_code},
                                     {"usage", &call.usage}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    struct dialect_sink timed = *out;
    timed.ts = value_time(timestamp);
    call.out = &timed;
    call.parent_id = data_text(&call, "parentToolCallId");
    if (!call.c->started)
        copilot_emit_start(&call);
    copilot_dispatch(&call);
    return 0;
}

/* An interrupted run may end without a result: earlier events decide the outcome. */
static void copilot_end_stream(void *state, const struct dialect_sink *out,
                               const struct stream_end_info *end)
{
    struct copilot *const c = state;
    (void)end;
    if (!c->ended && (c->aborted || c->failed))
        copilot_emit_end(c, out, NULL);
}

static void copilot_close_state(void *state)
{
    struct copilot *const c = state;
    struct buf *const bufs[] = {&c->streamed,  &c->streamed_id, &c->thought,    &c->answer,
                                &c->answer_id, &c->error,       &c->error_code, &c->session};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
}

static int copilot_sniff_line(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    if (value_get_last(line, "data").p && value_get_last(line, "parentId").p &&
        value_get_last(line, "timestamp").p)
        return DIALECT_SCORE_CERTAIN;
    return value_equals(type, "result") && value_get_last(line, "exitCode").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_copilot = {
    .name = "copilot",
    .summary = "copilot --output-format json",
    .state_size = sizeof(struct copilot),
    .sniff = copilot_sniff_line,
    .line = copilot_read_line,
    .end = copilot_end_stream,
    .close = copilot_close_state,
};
