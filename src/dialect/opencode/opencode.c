/* SPDX-License-Identifier: MIT
 * Reader for `opencode run --format json`: complete parts, tools once at their end, no terminal
 * record. */
#include <inttypes.h>

#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/step_counter.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

struct opencode {
    struct buf text;       /* of the step being told */
    struct buf message_id; /* and its message */
    struct buf answer;     /* text of the step that ended the turn */
    struct buf answer_id;
    struct buf error, error_code;
    struct usage_totals tally; /* of the steps */
    struct steps steps;
    bool ended, failed;
    bool told; /* the outcome */
    bool started;
    char reason[32]; /* of the last step that finished */
};

struct opencode_call {
    struct opencode *o;
    const struct dialect_sink *out;
    struct str self, type, part, error;
};

static char *opencode_text_of(const struct opencode_call *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

static void opencode_replace(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}

static void opencode_emit_start(const struct opencode_call *call, const char *session)
{
    struct event ev;
    event_init(&ev, TC_START);
    ev.meta.session_id = session ? session : "";
    call->o->started = true;
    dialect_emit_draft(call->out, &ev);
}

/* outcome: of its finish; NULL: none. */
static void opencode_end_step(const struct opencode_call *call, const char *outcome)
{
    struct event ev;
    if (!step_counter_end(&call->o->steps, &ev))
        return;
    if (outcome)
        ev.u.step.message_id = opencode_text_of(call, value_get_last(call->part, "messageID"));
    ev.u.step.outcome = outcome;
    dialect_emit_draft(call->out, &ev);
}

static void opencode_read_step_start(const struct opencode_call *call)
{
    struct opencode *const o = call->o;
    struct event ev;
    buf_reset(&o->text);
    o->ended = false;
    opencode_end_step(call, NULL); /* outcome of a step without a finish */
    step_counter_start(&o->steps, &ev,
                       opencode_text_of(call, value_get_last(call->part, "messageID")));
    dialect_emit_draft(call->out, &ev);
}

static void opencode_read_text(const struct opencode_call *call)
{
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->part, "text"), &len);
    const char *const id = opencode_text_of(call, value_get_last(call->part, "id"));
    /* Text inserted by OpenCode after a compaction is not the model's. */
    if (!len || value_is_true(value_get_last(call->part, "synthetic")))
        return;
    dialect_emit_narration(call->out, text, len, id);
    dialect_emit_message(call->out, text, len, id);
    buf_add(&call->o->text, text, len);
    opencode_replace(&call->o->message_id, id);
}

static void opencode_read_reasoning(const struct opencode_call *call)
{
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->part, "text"), &len);
    dialect_emit_thinking(call->out, text, len,
                          opencode_text_of(call, value_get_last(call->part, "id")));
}

static void opencode_emit_call(const struct opencode_call *call, const char *id, const char *name,
                               struct str state)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.tool_use_id = id ? id : "";
    ev.u.tool_call.name = name ? name : "tool";
    ev.u.tool_call.message_id = opencode_text_of(call, value_get_last(call->part, "messageID"));
    tool_args_parse(call->out->scratch, &ev.u.tool_call, value_get_last(state, "input"));
    dialect_emit_draft(call->out, &ev);
}

static double duration(struct str state)
{
    const struct str time = value_get_last(state, "time");
    const double start = value_real(value_get_last(time, "start"), -1);
    const double end = value_real(value_get_last(time, "end"), -1);
    return start >= 0 && end >= start ? end - start : -1;
}

static char *tool_extra(const struct opencode_call *call, struct str state)
{
    static const char *const told[] = {"status",   "input", "output", "error",
                                       "metadata", "time",  NULL};
    return value_extra_except(call->out->scratch, state, told);
}

static void opencode_read_tool_use(const struct opencode_call *call)
{
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    const struct str state = value_get_last(call->part, "state");
    const char *const id = opencode_text_of(call, value_get_last(call->part, "callID"));
    const char *const name = opencode_text_of(call, value_get_last(call->part, "tool"));
    opencode_emit_call(call, id, name, state);
    event_init(&ev, TC_TOOL_RESULT);
    result->tool_use_id = id ? id : "";
    result->name = name;
    result->is_error = value_equals(value_get_last(state, "status"), "error");
    const struct str shown = value_get_last(state, result->is_error ? "error" : "output");
    if (shown.p)
        result->content = value_text_or_json(call->out->scratch, shown, &result->content_len);
    const bool denied = result->is_error && strstr(result->content, "rejected permission");
    result->outcome = denied ? "denied" : result->is_error ? "failed" : "succeeded";
    result->duration_ms = duration(state);
    const struct str metadata = value_get_last(state, "metadata");
    result->truncated = value_is_true(value_get_last(metadata, "truncated"));
    result->structured = value_json(call->out->scratch, metadata, NULL);
    ev.meta.x = tool_extra(call, state);
    dialect_emit_draft(call->out, &ev);
}

static void opencode_read_usage(const struct opencode_call *call)
{
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    const struct str tokens = value_get_last(call->part, "tokens");
    const struct str cache = value_get_last(tokens, "cache");
    event_init(&ev, TC_USAGE);
    u->scope = "call";
    u->input_tokens = value_int(value_get_last(tokens, "input"), 0);
    u->output_tokens = value_int(value_get_last(tokens, "output"), 0);
    u->total_tokens = value_int(value_get_last(tokens, "total"), -1);
    u->reasoning_tokens = value_int(value_get_last(tokens, "reasoning"), -1);
    u->cache_read_tokens = value_int(value_get_last(cache, "read"), -1);
    u->cache_write_tokens = value_int(value_get_last(cache, "write"), -1);
    u->cache_counted = 0;
    u->cost_usd = value_real(value_get_last(call->part, "cost"), -1);
    usage_totals_add(&call->o->tally, u);
    dialect_emit_draft(call->out, &ev);
}

static void opencode_read_step_finish(const struct opencode_call *call)
{
    struct opencode *const o = call->o;
    const char *const reason = opencode_text_of(call, value_get_last(call->part, "reason"));
    utf8_copy_truncated(o->reason, sizeof o->reason, reason);
    opencode_read_usage(call);
    opencode_end_step(call, reason);
    if (strcmp(o->reason, "unknown") == 0)
        dialect_emit_notice(call->out, "warn", "retry",
                            "The model's response was interrupted; retrying.", NULL);
    /* Another step follows a step with tool calls; any other step may be the last. */
    o->ended = strcmp(o->reason, "tool-calls") != 0 && strcmp(o->reason, "unknown") != 0;
    if (o->ended) {
        o->failed = false; /* earlier errors were overcome */
        opencode_replace(&o->answer, o->text.p);
        opencode_replace(&o->answer_id, o->message_id.p);
    }
    buf_reset(&o->text);
}

/* The message is from the model's API; the HTTP status beside it shows whether a retry may help. */
static void opencode_read_error(const struct opencode_call *call)
{
    static const char *const told[] = {"message", NULL};
    struct opencode *const o = call->o;
    const struct str data = value_get_last(call->error, "data");
    const char *const message = opencode_text_of(call, value_get_last(data, "message"));
    const char *const name = opencode_text_of(call, value_get_last(call->error, "name"));
    const int64_t status = value_int(value_get_last(data, "statusCode"), 0);
    opencode_replace(&o->error, message ? message : name);
    if (status > 0)
        buf_printf(&o->error, " (HTTP %" PRId64 ")", status);
    opencode_replace(&o->error_code, name);
    o->failed = true;
    o->ended = false;
    dialect_emit_notice(call->out, "error", "stream_error", o->error.p,
                        value_extra_except(call->out->scratch, data, told));
}

static int opencode_read_line(void *state, const struct dialect_sink *out, const char *line,
                              size_t len)
{
    static const struct {
        const char *type;
        void (*take)(const struct opencode_call *call);
    } types[] = {{"step_start", opencode_read_step_start},   {"text", opencode_read_text},
                 {"reasoning", opencode_read_reasoning},     {"tool_use", opencode_read_tool_use},
                 {"step_finish", opencode_read_step_finish}, {"error", opencode_read_error}};
    struct opencode_call call = {.o = state, .self = {line, len}};
    struct str timestamp = {0}, session = {0};
    const struct value_row rows[] = {{"type", &call.type},
                                     {"timestamp", &timestamp},
                                     {"sessionID", &session},
                                     {"part", &call.part},
                                     {"error", &call.error}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    struct dialect_sink timed = *out;
    timed.ts = value_time(timestamp);
    call.out = &timed;
    if (!call.o->started)
        opencode_emit_start(&call, opencode_text_of(&call, session));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(call.type, types[i].type)) {
            types[i].take(&call);
            return 0;
        }
    dialect_emit_raw(&timed, "opencode", call.self, opencode_text_of(&call, call.type));
    return 0;
}

static void opencode_emit_outcome(struct opencode *o, const struct dialect_sink *out)
{
    o->told = true;
    if (o->failed)
        dialect_emit_error(out, o->error.p ? o->error.p : "the turn failed",
                           o->error_code.len ? o->error_code.p : NULL);
    else
        dialect_emit_final(out, o->answer.p, o->ended ? o->answer.len : 0, o->answer_id.p);
    usage_totals_emit(&o->tally, out, o->failed);
    if (o->failed)
        dialect_emit_done(out, "error", NULL);
    else if (o->ended)
        dialect_emit_done(out, "completed", strcmp(o->reason, "stop") != 0 ? o->reason : NULL);
    else
        dialect_emit_done(out, "stopped", "tool_calls");
}

/* The agent has exited: its last step decides the outcome, which is emitted now, before the host
 * decides about a retry. */
static void opencode_emit_pending_outcome(void *state, const struct dialect_sink *out)
{
    struct opencode *const o = state;
    if (!o->told && (o->failed || o->ended))
        opencode_emit_outcome(o, out);
}

static enum dialect_work opencode_work(void *state)
{
    (void)state;
    return DIALECT_NO_WORK;
}

/* A denied permission ends the turn after the tool, with exit status 0. In other cases without an
 * outcome, the guard supplies it. */
static void opencode_end_stream(void *state, const struct dialect_sink *out,
                                const struct stream_end_info *end)
{
    struct opencode *const o = state;
    opencode_emit_pending_outcome(state, out);
    if (!o->told && end->how == STREAM_EOF && !end->truncated &&
        strcmp(o->reason, "tool-calls") == 0)
        opencode_emit_outcome(o, out);
}

static void opencode_close_state(void *state)
{
    struct opencode *const o = state;
    buf_fini(&o->text);
    buf_fini(&o->message_id);
    buf_fini(&o->answer);
    buf_fini(&o->answer_id);
    buf_fini(&o->error);
    buf_fini(&o->error_code);
}

static int opencode_sniff_line(struct str line, const char *event)
{
    (void)event;
    if (!value_get_last(line, "sessionID").p || !value_get_last(line, "type").p)
        return 0;
    return value_get_last(line, "part").p || value_get_last(line, "error").p ? DIALECT_SCORE_CERTAIN
                                                                             : 0;
}

const struct dialect dialect_opencode = {
    .name = "opencode",
    .summary = "opencode run --format json",
    .state_size = sizeof(struct opencode),
    .sniff = opencode_sniff_line,
    .line = opencode_read_line,
    .end = opencode_end_stream,
    .work = opencode_work,
    .settle = opencode_emit_pending_outcome,
    .close = opencode_close_state,
};
