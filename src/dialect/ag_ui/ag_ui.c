/* SPDX-License-Identifier: MIT
 * Reads AG-UI, 0.x and 1.0: lines, start of a run, steps and sub-agents. */
#include "dialect/ag_ui/ag_ui.h"

#include <stdlib.h>

struct str ag_ui_value(const struct ag_ui_event *e, const char *key)
{
    return value_get_last(e->self, key);
}

char *ag_ui_text(const struct ag_ui_event *e, const char *key)
{
    return value_text(e->out->scratch, ag_ui_value(e, key), NULL);
}

void ag_ui_emit_event(const struct ag_ui_event *e, struct event *ev)
{
    if (!ev->meta.agent)
        ev->meta.agent = value_text(e->out->scratch, e->agent, NULL);
    dialect_emit_draft(e->out, ev);
}

const char *ag_ui_prepend_member(const struct ag_ui_event *e, const char *key, const char *value,
                                 const char *x)
{
    if (!value)
        return x;
    const bool more = x && strlen(x) > 2;
    return arena_sprintf(e->out->scratch, "{\"%s\":%s%s%s", key, value, more ? "," : "}",
                         more ? x + 1 : "");
}

static void ag_ui_emit_resolved(const struct ag_ui_event *e, const char *id, bool cancelled,
                                const char *answers)
{
    struct event ev;
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = id;
    ev.u.request.state = "resolved";
    ev.u.request.decision = cancelled ? "cancelled" : "answered";
    ev.u.request.answers = answers;
    dialect_emit_draft(e->out, &ev);
    open_calls_remove(&e->a->asked, id);
}

/* An entry of `resume`: the answer to an interrupt. */
static void ag_ui_read_resume(const struct ag_ui_event *e, struct str entry)
{
    const char *const id = value_text(e->out->scratch, value_get_last(entry, "interruptId"), NULL);
    if (id)
        ag_ui_emit_resolved(e, id, value_equals(value_get_last(entry, "status"), "cancelled"),
                            value_json(e->out->scratch, value_get_last(entry, "payload"), NULL));
}

/* A run continues when all its interrupts were answered, even if the stream does not repeat
 * them. */
static void ag_ui_read_answers(const struct ag_ui_event *e)
{
    struct open_calls *const asked = &e->a->asked;
    ag_ui_each(e, value_get_last(ag_ui_value(e, "input"), "resume"), ag_ui_read_resume);
    while (asked->n)
        ag_ui_emit_resolved(e, arena_strdup(e->out->scratch, asked->ids[0]), false, NULL);
}

static void ag_ui_read_run_started(const struct ag_ui_event *e)
{
    const bool resumes = e->a->suspended;
    struct event ev;
    e->a->over = e->a->suspended = false;
    event_init(&ev, TC_START);
    ev.u.start.run_id = ag_ui_text(e, "runId");
    ev.u.start.thread_id = ag_ui_text(e, "threadId");
    ev.u.start.parent_run_id = ag_ui_text(e, "parentRunId");
    ev.u.start.input = value_json(e->out->scratch, ag_ui_value(e, "input"), NULL);
    ev.meta.session_id = ev.u.start.thread_id ? ev.u.start.thread_id : "";
    ev.meta.x = e->x;
    buf_reset(&e->a->answer);
    dialect_emit_draft(e->out, &ev);
    if (resumes)
        ag_ui_read_answers(e);
}

/* Steps; the run of a sub-agent is one, too. */

static void ag_ui_emit_step(const struct ag_ui_event *e, const char *state)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = state;
    ev.u.step.name = ag_ui_text(e, "stepName");
    ev.meta.x = e->x;
    ag_ui_emit_event(e, &ev);
}

static void ag_ui_read_step_started(const struct ag_ui_event *e)
{
    ag_ui_emit_step(e, "start");
}

static void ag_ui_read_step_finished(const struct ag_ui_event *e)
{
    ag_ui_emit_step(e, "end");
}

static void init_agent(const struct ag_ui_event *e, struct event *ev, const char *state)
{
    event_init(ev, TC_STEP);
    ev->u.step.kind = "agent";
    ev->u.step.state = state;
    ev->meta.x = e->x;
}

static void ag_ui_read_subagent_started(const struct ag_ui_event *e)
{
    struct event ev;
    init_agent(e, &ev, "start");
    ev.u.step.name = ag_ui_text(e, "name");
    ev.meta.parent_id = ag_ui_text(e, "parentToolCallId");
    ag_ui_emit_event(e, &ev);
}

static void ag_ui_read_subagent_finished(const struct ag_ui_event *e)
{
    static const char *const told[] = {"type", NULL};
    struct arena *const scratch = e->out->scratch;
    const struct str outcome = ag_ui_value(e, "outcome");
    struct event ev;
    init_agent(e, &ev, "end");
    ev.u.step.outcome = value_text(scratch, value_get_last(outcome, "type"), NULL);
    ev.u.step.result = value_json(scratch, ag_ui_value(e, "result"), NULL);
    ev.meta.x =
        ag_ui_prepend_member(e, "outcome", value_extra_except(scratch, outcome, told), e->x);
    ag_ui_emit_event(e, &ev);
}

static void ag_ui_read_subagent_error(const struct ag_ui_event *e)
{
    static const char *const parts[] = {"message", "code", NULL};
    struct event ev;
    init_agent(e, &ev, "end");
    ev.u.step.outcome = "error";
    ev.u.step.error = value_copy_members(e->out->scratch, e->self, parts, NULL);
    ag_ui_emit_event(e, &ev);
}

/* Lines. */

#define KNOWN(...) ((const char *const[]){"type", "subagentRunId", __VA_ARGS__, NULL})
#define ALL ((const char *const[]){NULL})

/* Types of events, and the members that they use; other members go to x. */
static const struct ag_ui_event_type {
    const char *type;
    void (*take)(const struct ag_ui_event *e);
    const char *const *known;
    bool between; /* may come between chunks of one message */
} types[] = {
    {"TEXT_MESSAGE_CONTENT", ag_ui_handle_text_content, KNOWN("messageId", "delta"), false},
    {"TEXT_MESSAGE_START", ag_ui_handle_text_start, KNOWN("messageId"), false},
    {"TEXT_MESSAGE_END", ag_ui_handle_text_end, KNOWN("messageId"), false},
    {"TEXT_MESSAGE_CHUNK", ag_ui_handle_text_chunk, KNOWN("messageId", "delta"), true},
    {"TOOL_CALL_ARGS", ag_ui_handle_call_args, KNOWN("toolCallId", "delta"), false},
    {"TOOL_CALL_START", ag_ui_handle_call_start, KNOWN("toolCallId", "toolCallName"), false},
    {"TOOL_CALL_END", ag_ui_handle_call_end, KNOWN("toolCallId"), false},
    {"TOOL_CALL_CHUNK", ag_ui_handle_call_chunk, KNOWN("toolCallId", "toolCallName", "delta"),
     true},
    {"TOOL_CALL_RESULT", ag_ui_handle_result, KNOWN("messageId", "toolCallId", "content", "role"),
     false},
    {"REASONING_MESSAGE_CONTENT", ag_ui_handle_reasoning_content, KNOWN("messageId", "delta"),
     false},
    {"REASONING_MESSAGE_START", ag_ui_handle_reasoning_start, KNOWN("messageId"), false},
    {"REASONING_MESSAGE_END", ag_ui_handle_reasoning_end, KNOWN("messageId"), false},
    {"REASONING_MESSAGE_CHUNK", ag_ui_handle_reasoning_chunk, KNOWN("messageId", "delta"), true},
    {"REASONING_START", ag_ui_handle_span_start, KNOWN("messageId"), false},
    {"REASONING_END", ag_ui_handle_span_end, KNOWN("messageId"), false},
    {"REASONING_ENCRYPTED_VALUE", ag_ui_handle_encrypted,
     KNOWN("subtype", "entityId", "encryptedValue"), true},
    {"THINKING_TEXT_MESSAGE_CONTENT", ag_ui_handle_reasoning_content, KNOWN("delta"), false},
    {"THINKING_TEXT_MESSAGE_START", ag_ui_handle_reasoning_start, KNOWN(NULL), false},
    {"THINKING_TEXT_MESSAGE_END", ag_ui_handle_reasoning_end, KNOWN(NULL), false},
    {"THINKING_START", ag_ui_handle_span_start, KNOWN(NULL), false},
    {"THINKING_END", ag_ui_handle_span_end, KNOWN(NULL), false},
    {"STATE_SNAPSHOT", ag_ui_handle_state_snapshot, KNOWN("snapshot"), false},
    {"STATE_DELTA", ag_ui_handle_state_delta, KNOWN("delta"), false},
    {"MESSAGES_SNAPSHOT", ag_ui_handle_messages, KNOWN("messages"), false},
    {"ACTIVITY_SNAPSHOT", ag_ui_handle_activity_snapshot,
     KNOWN("messageId", "activityType", "content", "replace"), true},
    {"ACTIVITY_DELTA", ag_ui_handle_activity_delta, KNOWN("messageId", "activityType", "patch"),
     true},
    {"STEP_STARTED", ag_ui_read_step_started, KNOWN("stepName"), false},
    {"STEP_FINISHED", ag_ui_read_step_finished, KNOWN("stepName"), false},
    {"SUBAGENT_STARTED", ag_ui_read_subagent_started, KNOWN("name", "parentToolCallId"), false},
    {"SUBAGENT_FINISHED", ag_ui_read_subagent_finished, KNOWN("result", "outcome"), false},
    {"SUBAGENT_ERROR", ag_ui_read_subagent_error, KNOWN("message", "code"), false},
    {"RUN_STARTED", ag_ui_read_run_started, KNOWN("threadId", "runId", "parentRunId", "input"),
     false},
    {"RUN_FINISHED", ag_ui_handle_run_finished,
     KNOWN("threadId", "runId", "result", "outcome", "usage"), false},
    {"RUN_ERROR", ag_ui_handle_run_error, KNOWN("message", "code", "usage"), false},
    {"RAW", NULL, ALL, true},
    {"CUSTOM", NULL, ALL, false},
};

static const struct ag_ui_event_type *ag_ui_find_type(struct str value)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(value, types[i].type))
            return &types[i];
    return NULL;
}

static int ag_ui_read_line(void *state, const struct dialect_sink *out, const char *line,
                           size_t len)
{
    struct ag_ui_event e = {.a = state, .out = out, .self = {line, len}};
    struct str timestamp = {0};
    const struct value_row rows[] = {
        {"type", &e.type},          {"messageId", &e.message_id},
        {"toolCallId", &e.call_id}, {"delta", &e.delta},
        {"role", &e.role},          {"toolCallName", &e.name},
        {"timestamp", &timestamp},  {"subagentRunId", &e.agent},
    };
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    const struct ag_ui_event_type *const type = ag_ui_find_type(e.type);
    struct dialect_sink timed = *out;
    timed.ts = value_time(timestamp);
    e.out = &timed;
    if (!type || !type->between)
        ag_ui_end_chunks(&e);
    if (!type || !type->take) {
        dialect_emit_raw(&timed, "ag-ui", e.self, value_text(out->scratch, e.type, NULL));
        return 0;
    }
    e.x = value_extra_except(out->scratch, e.self, type->known);
    type->take(&e);
    return 0;
}

/* A run after an interrupt answers it, because the thread accepts no other run before. */
static enum dialect_begin ag_ui_begins_turn(const void *state, struct str line)
{
    const struct ag_ui *const a = state;
    const bool begins =
        a->over && !a->suspended && value_equals(value_get_last(line, "type"), "RUN_STARTED");
    return begins ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
}

static void ag_ui_close_state(void *state)
{
    struct ag_ui *const a = state;
    for (size_t i = 0; i < AG_UI_OPEN_MAX; i++)
        ag_ui_close_part(&a->parts[i]);
    buf_fini(&a->chunk_id);
    buf_fini(&a->span);
    free(a->span_start);
    buf_fini(&a->answer);
    buf_fini(&a->answer_id);
    open_calls_fini(&a->asked);
    open_calls_fini(&a->called);
}

/* No other dialect uses these event names. */
static int ag_ui_sniff_line(struct str line, const char *event)
{
    (void)event;
    return ag_ui_find_type(value_get_last(line, "type")) ? DIALECT_SCORE_CERTAIN : 0;
}

const struct dialect dialect_ag_ui = {
    .name = "ag-ui",
    .summary = "AG-UI 0.x and 1.0",
    .state_size = sizeof(struct ag_ui),
    .sniff = ag_ui_sniff_line,
    .line = ag_ui_read_line,
    .close = ag_ui_close_state,
    .begins = ag_ui_begins_turn,
};
