/* SPDX-License-Identifier: MIT
 * Reads `gemini -o stream-json`: text in pieces without ids, tools, and a result without text. Text
 * after the last tool call is the answer. Results of tools go to the model, so its next output is
 * another step. */
#include "base/bytes/buf.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/step_counter.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/value.h"

struct gemini {
    struct buf text;    /* text of the current message */
    struct buf trouble; /* the last error message, because the result may lack one */
    bool looped;        /* stopped because of a detected loop */
    struct steps steps;
};

struct gemini_line {
    struct str self, type, session_id, model, role, content, tool_name, tool_id, parameters;
    struct str status, output, error, severity, message, stats;
};

struct gemini_call {
    struct gemini *g;
    const struct dialect_sink *out;
    const struct gemini_line *line;
};

static char *gemini_text_of(const struct gemini_call *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

static void gemini_read_init(const struct gemini_call *call)
{
    struct event ev;
    const char *const session = gemini_text_of(call, call->line->session_id);
    event_init(&ev, TC_START);
    ev.meta.session_id = session ? session : "";
    ev.u.start.model = gemini_text_of(call, call->line->model);
    dialect_emit_draft(call->out, &ev);
}

/* The assistant's text so far is a complete message; later text is another one. */
static void seal_message(struct gemini *g, const struct dialect_sink *out)
{
    if (g->text.len)
        dialect_emit_message(out, g->text.p, g->text.len, NULL);
    buf_reset(&g->text);
}

/* Ends the current message and its step. */
static void gemini_end_step(struct gemini *g, const struct dialect_sink *out)
{
    struct event ev;
    seal_message(g, out);
    if (step_counter_end(&g->steps, &ev))
        dialect_emit_draft(out, &ev);
}

/* Output of the model: text or a call. */
static void enter_step(const struct gemini_call *call)
{
    struct gemini *const g = call->g;
    struct event ev;
    if (!step_counter_is_due(&g->steps))
        return;
    gemini_end_step(g, call->out);
    step_counter_start(&g->steps, &ev, NULL);
    dialect_emit_draft(call->out, &ev);
}

static void gemini_read_message(const struct gemini_call *call)
{
    struct event ev;
    size_t len = 0;
    const char *const text = value_text(call->out->scratch, call->line->content, &len);
    if (!len)
        return;
    if (value_equals(call->line->role, "assistant")) {
        enter_step(call);
        dialect_emit_narration(call->out, text, len, NULL);
        buf_add(&call->g->text, text, len);
        return;
    }
    call->g->steps.asked = true;
    event_init(&ev, TC_MESSAGE);
    const char *const role = gemini_text_of(call, call->line->role);
    ev.u.message.role = role ? role : "unknown";
    ev.u.message.text = text;
    ev.u.message.text_len = len;
    dialect_emit_draft(call->out, &ev);
}

static void gemini_read_tool_use(const struct gemini_call *call)
{
    struct event ev;
    enter_step(call);
    seal_message(call->g, call->out);
    event_init(&ev, TC_TOOL_CALL);
    const char *const name = gemini_text_of(call, call->line->tool_name);
    const char *const id = gemini_text_of(call, call->line->tool_id);
    ev.u.tool_call.name = name ? name : "tool";
    ev.u.tool_call.tool_use_id = id ? id : "";
    tool_args_parse(call->out->scratch, &ev.u.tool_call, call->line->parameters);
    dialect_emit_draft(call->out, &ev);
}

static void gemini_read_tool_result(const struct gemini_call *call)
{
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    const struct gemini_line *const l = call->line;
    call->g->steps.asked = true;
    event_init(&ev, TC_TOOL_RESULT);
    const char *const id = gemini_text_of(call, l->tool_id);
    result->tool_use_id = id ? id : "";
    result->is_error = value_equals(l->status, "error");
    result->outcome = result->is_error ? "failed" : "succeeded";
    const struct str shown = l->output.p ? l->output : value_get_last(l->error, "message");
    if (shown.p)
        result->content = value_text_or_json(call->out->scratch, shown, &result->content_len);
    if (l->error.p)
        ev.meta.x = arena_sprintf(call->out->scratch, "{\"error\":%s}",
                                  value_json(call->out->scratch, l->error, NULL));
    dialect_emit_draft(call->out, &ev);
}

static void gemini_read_error(const struct gemini_call *call)
{
    const bool warning = value_equals(call->line->severity, "warning");
    const char *const text = gemini_text_of(call, call->line->message);
    const char *const shown = text ? text : "";
    if (!warning) {
        buf_reset(&call->g->trouble);
        buf_add_str(&call->g->trouble, shown);
    }
    call->g->looped |= warning && strncmp(shown, "Loop detected", 13) == 0;
    dialect_emit_notice(call->out, warning ? "warn" : "error", warning ? "warning" : "stream_error",
                        shown, NULL);
}

static void gemini_emit_usage(const struct gemini_call *call, bool failed)
{
    static const char *const told[] = {"total_tokens", "input_tokens", "output_tokens",
                                       "cached",       "duration_ms",  NULL};
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    struct str total = {0}, input = {0}, output = {0}, cached = {0}, duration = {0};
    const struct value_row rows[] = {{"total_tokens", &total},
                                     {"input_tokens", &input},
                                     {"output_tokens", &output},
                                     {"cached", &cached},
                                     {"duration_ms", &duration}};
    value_get_members(call->line->stats, VALUE_ROWS(rows));
    event_init(&ev, TC_USAGE);
    u->scope = "turn";
    u->input_tokens = value_int(input, -1);
    u->output_tokens = value_int(output, -1);
    u->total_tokens = value_int(total, -1);
    u->cache_read_tokens = value_int(cached, -1);
    u->cache_counted = 1;
    u->duration_ms = value_real(duration, -1);
    u->is_error = failed;
    ev.meta.x = value_extra_except(call->out->scratch, call->line->stats, told);
    dialect_emit_draft(call->out, &ev);
}

/* A configured limit is not a failure: the run stops. */
static bool hit_limit(const struct gemini_call *call)
{
    return value_equals(value_get_last(call->line->error, "type"), "FatalTurnLimitedError");
}

static void gemini_emit_end(const struct gemini_call *call, bool failed)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = failed ? "error" : "completed";
    ev.u.done.turns = call->g->steps.count ? call->g->steps.count : -1;
    if (hit_limit(call)) {
        ev.u.done.reason = "stopped";
        ev.u.done.code = "max_turns";
        ev.u.done.detail = gemini_text_of(call, value_get_last(call->line->error, "message"));
    } else if (call->g->looped && !failed) {
        ev.u.done.reason = "stopped";
        ev.u.done.code = "loop_detected";
    }
    dialect_emit_draft(call->out, &ev);
}

static void gemini_emit_failure(const struct gemini_call *call)
{
    const struct buf *const trouble = &call->g->trouble;
    const char *const message = gemini_text_of(call, value_get_last(call->line->error, "message"));
    const char *const code = gemini_text_of(call, value_get_last(call->line->error, "type"));
    const char *const known = trouble->len ? trouble->p : "the turn failed";
    dialect_emit_error(call->out, message ? message : known, code);
}

static void gemini_read_result(const struct gemini_call *call)
{
    const bool failed = value_equals(call->line->status, "error") && !hit_limit(call);
    const struct buf *const text = &call->g->text;
    const size_t len = text->len;
    const char *const answer = arena_strndup(call->out->scratch, len ? text->p : "", len);
    gemini_end_step(call->g, call->out);
    if (failed)
        gemini_emit_failure(call);
    else
        dialect_emit_final(call->out, answer, len, NULL);
    if (call->line->stats.p)
        gemini_emit_usage(call, failed);
    gemini_emit_end(call, failed);
}

static void gemini_read_unknown(const struct gemini_call *call)
{
    dialect_emit_raw(call->out, "gemini", call->line->self, gemini_text_of(call, call->line->type));
}

static int gemini_read_line(void *state, const struct dialect_sink *out, const char *line,
                            size_t len)
{
    static const struct {
        const char *type;
        void (*take)(const struct gemini_call *call);
    } types[] = {{"init", gemini_read_init},         {"message", gemini_read_message},
                 {"tool_use", gemini_read_tool_use}, {"tool_result", gemini_read_tool_result},
                 {"error", gemini_read_error},       {"result", gemini_read_result}};
    struct gemini_line l = {.self = {line, len}};
    struct str timestamp = {0};
    const struct value_row rows[] = {
        {"type", &l.type},           {"timestamp", &timestamp}, {"session_id", &l.session_id},
        {"model", &l.model},         {"role", &l.role},         {"content", &l.content},
        {"tool_name", &l.tool_name}, {"tool_id", &l.tool_id},   {"parameters", &l.parameters},
        {"status", &l.status},       {"output", &l.output},     {"error", &l.error},
        {"severity", &l.severity},   {"message", &l.message},   {"stats", &l.stats}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    struct dialect_sink timed = *out;
    timed.ts = value_time(timestamp);
    const struct gemini_call call = {state, &timed, &l};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(l.type, types[i].type)) {
            types[i].take(&call);
            return 0;
        }
    gemini_read_unknown(&call);
    return 0;
}

/* An interrupted run has no result, and its last text has no end mark. */
static void gemini_end_stream(void *state, const struct dialect_sink *out,
                              const struct stream_end_info *end)
{
    (void)end;
    gemini_end_step(state, out);
}

static void gemini_close_state(void *state)
{
    struct gemini *const g = state;
    buf_fini(&g->text);
    buf_fini(&g->trouble);
}

static int gemini_sniff_line(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    if (!value_get_last(line, "timestamp").p || value_get_last(line, "data").p)
        return 0;
    if (value_equals(type, "init") && value_get_last(line, "session_id").p)
        return DIALECT_SCORE_CERTAIN;
    return value_equals(type, "tool_use") && value_get_last(line, "tool_id").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_gemini = {
    .name = "gemini",
    .summary = "gemini --output-format stream-json",
    .state_size = sizeof(struct gemini),
    .sniff = gemini_sniff_line,
    .line = gemini_read_line,
    .end = gemini_end_stream,
    .close = gemini_close_state,
};
