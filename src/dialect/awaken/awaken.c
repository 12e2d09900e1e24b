/* SPDX-License-Identifier: MIT
 * Reads the events of tirea 0.5 and of awaken: lines, the run, its steps and its end. */
#include "dialect/awaken/awaken.h"

#include <inttypes.h>
#include <stdlib.h>

#include "event/json/json_reader.h"

struct str awaken_value(const struct awaken_event *e, const char *key)
{
    return value_get_last(e->members, key);
}

char *awaken_text(const struct awaken_event *e, const char *key)
{
    return value_text(e->out->scratch, awaken_value(e, key), NULL);
}

/* Member of the event, or of its envelope. */
static char *awaken_id_of(const struct awaken_event *e, struct str envelope, const char *key)
{
    return value_text(e->out->scratch, envelope.p ? envelope : awaken_value(e, key), NULL);
}

static const char *awaken_or_null(const struct buf *b)
{
    return b->len ? b->p : NULL;
}

const char *awaken_message_id(const struct awaken_event *e)
{
    return e->child ? NULL : awaken_or_null(&e->a->message_id);
}

static void awaken_replace(struct buf *to, const char *text)
{
    buf_reset(to);
    if (text)
        buf_add_str(to, text);
}

/* The run. */

/* A nested run belongs to a sub-agent. */
static void awaken_emit_child_step(const struct awaken_event *e, const char *state,
                                   const char *outcome)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = state;
    ev.u.step.kind = "agent";
    ev.u.step.outcome = outcome;
    ev.u.step.result = value_json(e->out->scratch, awaken_value(e, "result"), NULL);
    dialect_emit_draft(e->out, &ev);
}

static void awaken_read_run_start(const struct awaken_event *e)
{
    struct awaken *const a = e->a;
    if (e->child) {
        awaken_emit_child_step(e, "start", NULL);
        return;
    }
    struct event ev;
    event_init(&ev, TC_START);
    ev.u.start.run_id = awaken_id_of(e, e->run_id, "run_id");
    ev.u.start.thread_id = awaken_id_of(e, e->thread_id, "thread_id");
    ev.u.start.parent_run_id = awaken_text(e, "parent_run_id");
    ev.meta.session_id = ev.u.start.thread_id ? ev.u.start.thread_id : "";
    if (!a->running)
        awaken_replace(&a->run_id, ev.u.start.run_id);
    a->running = true;
    a->over = a->resumable = false;
    dialect_emit_draft(e->out, &ev);
}

/* Outcome of a run, as the runtime emits or stores it. */
static const struct awaken_end_kind {
    const char *type, *reason, *code;
} endings[] = {
    {"natural_end", "completed", NULL},
    {"natural", "completed", NULL},
    {"behavior_requested", "completed", "behavior_requested"},
    {"plugin_requested", "completed", "behavior_requested"},
    {"stopped", "stopped", NULL},
    {"cancelled", "cancelled", NULL},
    {"suspended", "suspended", NULL},
    {"blocked", "refused", NULL},
    {"error", "error", NULL},
};

struct termination {
    const char *reason, *code, *detail;
};

static const struct awaken_end_kind *awaken_find_ending(const char *type, size_t len)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (str_is((struct str){type, len}, endings[i].type))
            return &endings[i];
    return NULL;
}

/* An unknown outcome is not a success. */
static struct termination make_termination(const struct awaken_end_kind *known, const char *type)
{
    return known ? (struct termination){.reason = known->reason, .code = known->code}
                 : (struct termination){.reason = "stopped", .code = type};
}

/* "stopped:max_rounds", as in the record of the run. */
static struct termination read_status(struct arena *a, struct str value)
{
    char *const text = value_text(a, value, NULL);
    const size_t len = strcspn(text, ":");
    const struct awaken_end_kind *const known = awaken_find_ending(text, len);
    struct termination t = make_termination(known, text);
    if (!known || !text[len])
        return t;
    if (strcmp(t.reason, "stopped") == 0)
        t.code = text + len + 1;
    else
        t.detail = text + len + 1;
    return t;
}

static struct termination read_termination(struct arena *a, struct str value)
{
    if (!value.p)
        return (struct termination){.reason = "completed"};
    if (value_string(value).p)
        return read_status(a, value);
    size_t len = 0;
    const char *const type = value_text(a, value_get_last(value, "type"), &len);
    struct termination t = make_termination(type ? awaken_find_ending(type, len) : NULL, type);
    const struct str said = value_get_last(value, "value");
    if (strcmp(t.reason, "stopped") != 0) {
        t.detail = value_text_or_json(a, said, NULL);
        return t;
    }
    const char *const code = value_text(a, value_get_last(said, "code"), NULL);
    t.code = code ? code : t.code;
    t.detail =
        value_text(a, said.p && *said.p == '{' ? value_get_last(said, "detail") : said, NULL);
    return t;
}

/* The run's answer; without one, the model's last message. */
static void awaken_emit_answer(const struct awaken_event *e)
{
    const struct awaken *const a = e->a;
    struct event ev;
    event_init(&ev, TC_FINAL);
    struct tc_final *const final = &ev.u.final;
    const struct str response = value_get_last(awaken_value(e, "result"), "response");
    final->message_id = awaken_or_null(&a->message_id);
    if (response.p) {
        final->text = value_text_or_json(e->out->scratch, response, &final->text_len);
    } else if (a->text.len && !a->answered_by_tool) {
        final->text = a->text.p;
        final->text_len = a->text.len;
        ev.meta.x = "{\"derived\":true}";
    }
    if (final->text_len)
        dialect_emit_draft(e->out, &ev);
}

static void awaken_emit_end(const struct awaken_event *e, const struct termination *t)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = t->reason;
    ev.u.done.code = t->code;
    ev.u.done.detail = t->detail;
    ev.u.done.result = value_json(e->out->scratch, awaken_value(e, "result"), NULL);
    dialect_emit_draft(e->out, &ev);
}

static void awaken_read_run_finish(const struct awaken_event *e)
{
    struct awaken *const a = e->a;
    const struct termination t = read_termination(e->out->scratch, awaken_value(e, "termination"));
    const bool failed = strcmp(t.reason, "error") == 0;
    if (e->child) {
        awaken_emit_child_step(e, "end", t.reason);
        return;
    }
    awaken_settle_activity(a, e->out, NULL);
    a->over = true;
    a->resumable = strcmp(t.reason, "suspended") == 0;
    const struct usage_totals spent = a->tally;
    usage_totals_emit(&a->tally, e->out, failed);
    if (a->resumable) /* the run that resumes it reports the sum */
        a->tally = spent;
    if (failed)
        dialect_emit_error(e->out, t.detail ? t.detail : "The run failed.", NULL);
    awaken_emit_end(e, &t); /* before a final, so that requests of a suspended run stay open */
    if (!failed)
        awaken_emit_answer(e);
    a->running = a->stepping = false;
    buf_reset(&a->text);
    buf_reset(&a->relay_error);
}

/* Steps. */

static void awaken_emit_step(const struct awaken_event *e, const char *state, int64_t index,
                             const char *message_id)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = state;
    ev.u.step.index = index;
    ev.u.step.message_id = message_id;
    ev.u.step.step_id = value_text(e->out->scratch, e->step_id, NULL);
    dialect_emit_draft(e->out, &ev);
}

static void awaken_read_step_end(const struct awaken_event *e)
{
    if (!e->child)
        e->a->stepping = false;
    awaken_emit_step(e, "end", -1, awaken_message_id(e));
}

/* The next step ends a step without an end. */
static void awaken_read_step_start(const struct awaken_event *e)
{
    struct awaken *const a = e->a;
    const char *const message_id = awaken_text(e, "message_id");
    if (e->child) {
        awaken_emit_step(e, "start", a->steps++, message_id);
        return;
    }
    if (a->stepping) {
        struct awaken_event last = *e;
        last.step_id = (struct str){0};
        awaken_read_step_end(&last);
    }
    a->stepping = true;
    awaken_replace(&a->message_id, message_id);
    buf_reset(&a->text);
    awaken_emit_step(e, "start", a->steps++, message_id);
}

/* Output of the model. */

static void awaken_read_text(const struct awaken_event *e)
{
    struct awaken *const a = e->a;
    size_t len = 0;
    const char *const text = value_text(e->out->scratch, awaken_value(e, "delta"), &len);
    dialect_emit_narration(e->out, text, len, awaken_message_id(e));
    if (e->child || len > AWAKEN_TEXT_MAX - a->text.len)
        return;
    buf_add(&a->text, text ? text : "", len);
    a->answered_by_tool = false;
}

static void awaken_read_reasoning(const struct awaken_event *e)
{
    size_t len = 0;
    const char *const text = value_text(e->out->scratch, awaken_value(e, "delta"), &len);
    dialect_emit_thinking(e->out, text, len, awaken_message_id(e));
}

static void awaken_read_encrypted(const struct awaken_event *e)
{
    struct event ev;
    event_init(&ev, TC_THINKING);
    ev.u.thinking.encrypted = awaken_text(e, "encrypted_value");
    ev.u.thinking.message_id = awaken_message_id(e);
    if (ev.u.thinking.encrypted)
        dialect_emit_draft(e->out, &ev);
}

static void awaken_read_inference(const struct awaken_event *e)
{
    static const char *const known[] = {"event_type", "model", "duration_ms", "usage", NULL};
    static const char *const counts[] = {"prompt_tokens",
                                         "completion_tokens",
                                         "total_tokens",
                                         "cache_read_tokens",
                                         "thinking_tokens",
                                         "cache_creation_tokens",
                                         NULL};
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    const struct str usage = awaken_value(e, "usage");
    event_init(&ev, TC_USAGE);
    u->scope = "call";
    u->input_tokens = value_int(value_get_last(usage, "prompt_tokens"), -1);
    u->output_tokens = value_int(value_get_last(usage, "completion_tokens"), -1);
    u->total_tokens = value_int(value_get_last(usage, "total_tokens"), -1);
    u->cache_read_tokens = value_int(value_get_last(usage, "cache_read_tokens"), -1);
    u->cache_write_tokens = value_int(value_get_last(usage, "cache_creation_tokens"), -1);
    u->reasoning_tokens = value_int(value_get_last(usage, "thinking_tokens"), -1);
    u->duration_ms = value_real(awaken_value(e, "duration_ms"), -1);
    u->model = awaken_text(e, "model");
    ev.meta.x = value_extra_except(e->out->scratch, e->members, known);
    const char *const more = value_extra_except(e->out->scratch, usage, counts);
    if (more && !ev.meta.x)
        ev.meta.x = arena_sprintf(e->out->scratch, "{\"usage\":%s}", more);
    else if (usage.p && strcmp(value_json(e->out->scratch, usage, NULL), "{}") == 0)
        ev.meta.x = "{\"usage\":{}}";
    if (!e->child)
        usage_totals_add(&e->a->tally, u);
    dialect_emit_draft(e->out, &ev);
}

/* State. */

static void awaken_emit_state(const struct awaken_event *e, const char *scope, const char *key,
                              bool delta)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = scope;
    ev.u.state.op = delta ? "delta" : "snapshot";
    const char *const json = value_json(e->out->scratch, awaken_value(e, key), NULL);
    if (delta)
        ev.u.state.patch = json;
    else
        ev.u.state.value = json;
    dialect_emit_draft(e->out, &ev);
}

static void awaken_read_state_snapshot(const struct awaken_event *e)
{
    awaken_emit_state(e, "state", "snapshot", false);
}

static void awaken_read_state_delta(const struct awaken_event *e)
{
    awaken_emit_state(e, "state", "delta", true);
}

static void awaken_read_messages(const struct awaken_event *e)
{
    awaken_emit_state(e, "messages", "messages", false);
}

/* An error event is not the end of the run; but if the stream breaks off after it, it is the
 * reason, especially an error of the relay. */
static void awaken_read_error(const struct awaken_event *e)
{
    const char *const message = awaken_text(e, "message"), *const code = awaken_text(e, "code");
    const char *const text = message ? message : "the run reported an error";
    dialect_emit_notice(e->out, "error", code, text, "{\"event_type\":\"error\"}");
    if (e->child)
        return;
    awaken_replace(&e->a->relay_error, text);
    awaken_replace(&e->a->relay_code, code);
}

/* Lines. */

#define KNOWN(...) ((const char *const[]){"event_type", __VA_ARGS__, NULL})

/* Types of events, and the members that they use; other members go to x. `known` is NULL if the
 * handler does this. */
static const struct awaken_event_type {
    const char *type;
    void (*take)(const struct awaken_event *e);
    const char *const *known;
} types[] = {
    {"text_delta", awaken_read_text, KNOWN("delta")},
    {"reasoning_delta", awaken_read_reasoning, KNOWN("delta")},
    {"tool_call_delta", awaken_handle_call_delta, KNOWN("id", "args_delta")},
    {"tool_call_stream_delta", awaken_handle_call_output, KNOWN("id", "name", "delta")},
    {"tool_call_start", awaken_handle_call_start, KNOWN("id", "name")},
    {"tool_call_ready", awaken_handle_call_ready, NULL},
    {"tool_call_done", awaken_handle_call_done, NULL},
    {"tool_call_resumed", awaken_handle_call_resumed, KNOWN("target_id", "result")},
    {"activity_snapshot", awaken_handle_activity_snapshot, NULL},
    {"activity_delta", awaken_handle_activity_delta, NULL},
    {"reasoning_encrypted_value", awaken_read_encrypted, KNOWN("encrypted_value")},
    {"step_start", awaken_read_step_start, KNOWN("message_id")},
    {"step_end", awaken_read_step_end, KNOWN(NULL)},
    {"inference_complete", awaken_read_inference, NULL},
    {"state_snapshot", awaken_read_state_snapshot, KNOWN("snapshot")},
    {"state_delta", awaken_read_state_delta, KNOWN("delta")},
    {"messages_snapshot", awaken_read_messages, KNOWN("messages")},
    {"run_start", awaken_read_run_start, KNOWN("run_id", "thread_id", "parent_run_id")},
    {"run_finish", awaken_read_run_finish, KNOWN("run_id", "thread_id", "result", "termination")},
    {"error", awaken_read_error, NULL},
};

static const struct awaken_event_type *awaken_find_type(struct str value)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(value, types[i].type))
            return &types[i];
    return NULL;
}

/* Fields common to all events of a line: id, owning run, other members. */
struct awaken_sink {
    const struct dialect_sink *to;
    const char *id, *agent, *x;
};

static void awaken_emit_marked(void *ctx, struct event *ev)
{
    struct awaken_sink *const mark = ctx;
    ev->meta.id = mark->id;
    ev->meta.agent = mark->agent;
    if (!ev->meta.x) {
        ev->meta.x = mark->x;
        mark->x = NULL;
    }
    mark->to->emit(mark->to->ctx, ev);
}

/* A nested run of the emitted one. */
static const char *awaken_child_of(const struct awaken_event *e, struct arena *arena)
{
    const char *const run = value_text(arena, e->run_id, NULL);
    const bool child = run && e->a->running && e->a->run_id.len && strcmp(run, e->a->run_id.p) != 0;
    return child ? run : NULL;
}

static void awaken_read_marked(struct awaken_event *e, const struct dialect_sink *out, double ts)
{
    const struct awaken_event_type *const type = awaken_find_type(e->type);
    const int64_t seq = value_int(e->seq, -1);
    struct awaken_sink mark = {.to = out,
                               .agent = e->enveloped ? awaken_child_of(e, out->scratch) : NULL};
    e->child = mark.agent;
    if (type && type->known)
        mark.x = value_extra_except(out->scratch, e->members, type->known);
    if (seq >= 0)
        mark.id = arena_sprintf(out->scratch, "%" PRId64, seq);
    struct dialect_sink marked = *out;
    marked.emit = awaken_emit_marked;
    marked.ctx = &mark;
    marked.ts = ts;
    e->out = &marked;
    if (type && type->take != awaken_read_error)
        buf_reset(&e->a->relay_error);
    if (type)
        type->take(e);
    else
        dialect_emit_raw(&marked, e->dialect, e->self, value_text(out->scratch, e->type, NULL));
}

static int read_tirea(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct awaken_event e = {
        .a = state, .dialect = "tirea", .self = {line, len}, .members = STR("{}")};
    struct str data = {0}, timestamp = {0};
    const struct value_row rows[] = {
        {"type", &e.type},       {"run_id", &e.run_id}, {"thread_id", &e.thread_id},
        {"seq", &e.seq},         {"data", &data},       {"timestamp_ms", &timestamp},
        {"step_id", &e.step_id},
    };
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    e.enveloped = true;
    if (data.p)
        e.members = data;
    else if (value_equals(e.type, "error"))
        e.members = e.self; /* error frame of a relay, without an envelope */
    awaken_read_marked(&e, out, value_time(timestamp));
    return 0;
}

static int read_awaken(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct awaken_event e = {
        .a = state, .dialect = "awaken", .self = {line, len}, .members = {line, len}};
    struct str type = {0};
    const struct value_row rows[] = {{"event_type", &e.type}, {"type", &type}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    if (!e.type.p)
        e.type = type; /* a frame of the relay itself */
    awaken_read_marked(&e, out, 0);
    return 0;
}

static void awaken_end_stream(void *state, const struct dialect_sink *out,
                              const struct stream_end_info *end)
{
    struct awaken *const a = state;
    awaken_settle_activity(a, out, NULL);
    if (end->how != STREAM_EOF || !a->relay_error.len)
        return;
    usage_totals_emit(&a->tally, out, true);
    dialect_emit_error(out, a->relay_error.p, awaken_or_null(&a->relay_code));
    dialect_emit_done(out, "lost", awaken_or_null(&a->relay_code));
}

/* A run after a suspended run resumes it, regardless of its id, because the thread accepts no other
 * run before. */
static enum dialect_begin awaken_begins_turn(const void *state, struct str line)
{
    const struct awaken *const a = state;
    if (!a->over || a->resumable)
        return DIALECT_GOES_ON;
    const bool begins = value_equals(value_get_last(line, "event_type"), "run_start") ||
                        value_equals(value_get_last(line, "type"), "run_start");
    return begins ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
}

static void awaken_close_state(void *state)
{
    struct awaken *const a = state;
    buf_fini(&a->run_id);
    buf_fini(&a->message_id);
    buf_fini(&a->text);
    buf_fini(&a->relay_error);
    buf_fini(&a->relay_code);
    open_calls_fini(&a->open);
    open_calls_fini(&a->suspended);
    for (size_t i = 0; i < AWAKEN_ACTIVITIES; i++)
        awaken_activity_fini(&a->activities[i]);
}

static int sniff_tirea(struct str line, const char *event)
{
    (void)event;
    const struct str type = value_get_last(line, "type");
    const bool numbered = value_get_last(line, "seq").p && value_get_last(line, "timestamp_ms").p;
    if (value_equals(type, "run_start") || value_equals(type, "run_finish"))
        return value_get_last(line, "run_id").p || value_get_last(line, "thread_id").p
                   ? DIALECT_SCORE_CERTAIN
                   : 0;
    return value_string(type).p && (numbered || value_get_last(line, "step_id").p)
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

static int sniff_awaken(struct str line, const char *event)
{
    (void)event;
    const bool tagged = value_string(value_get_last(line, "event_type")).p;
    const bool others = value_get_last(line, "content").p || value_get_last(line, "detail").p;
    return tagged && (!others || value_get_last(line, "activity_type").p) ? DIALECT_SCORE_CERTAIN
                                                                          : 0;
}

const struct dialect dialect_tirea = {
    .name = "tirea",
    .summary = "tirea 0.5 (events in an envelope)",
    .state_size = sizeof(struct awaken),
    .sniff = sniff_tirea,
    .line = read_tirea,
    .end = awaken_end_stream,
    .close = awaken_close_state,
    .begins = awaken_begins_turn,
};

const struct dialect dialect_awaken = {
    .name = "awaken",
    .summary = "awaken (flat events)",
    .state_size = sizeof(struct awaken),
    .sniff = sniff_awaken,
    .line = read_awaken,
    .end = awaken_end_stream,
    .close = awaken_close_state,
    .begins = awaken_begins_turn,
};
