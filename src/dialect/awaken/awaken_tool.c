/* SPDX-License-Identifier: MIT
 * Tool calls, results and suspended calls. */
#include "dialect/awaken/awaken.h"

static void awaken_tool_emit_progress(const struct awaken_event *e, const char *phase)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    struct tc_progress *const p = &ev.u.progress;
    p->tool_use_id = awaken_text(e, "id");
    p->name = awaken_text(e, "name");
    p->phase = phase;
    p->args_delta = value_text(e->out->scratch, awaken_value(e, "args_delta"), &p->args_delta_len);
    p->output = value_text(e->out->scratch, awaken_value(e, "delta"), &p->output_len);
    dialect_emit_draft(e->out, &ev);
}

void awaken_handle_call_start(const struct awaken_event *e)
{
    awaken_tool_emit_progress(e, "preparing");
}

void awaken_handle_call_delta(const struct awaken_event *e)
{
    awaken_tool_emit_progress(e, "args");
}

void awaken_handle_call_output(const struct awaken_event *e)
{
    awaken_tool_emit_progress(e, "running");
}

void awaken_handle_call_ready(const struct awaken_event *e)
{
    static const char *const known[] = {"event_type", "id", "name", "arguments", NULL};
    static const char *const odd[] = {"event_type", "id", "name", NULL};
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    const char *const id = awaken_text(e, "id"), *const name = awaken_text(e, "name");
    const struct str args = awaken_value(e, "arguments");
    ev.u.tool_call.tool_use_id = id ? id : "";
    ev.u.tool_call.name = name ? name : "tool";
    ev.u.tool_call.message_id = awaken_message_id(e);
    tool_args_parse(e->out->scratch, &ev.u.tool_call, args);
    /* Arguments that are not an object are kept as text. */
    ev.meta.x =
        value_extra_except(e->out->scratch, e->members, args.p && *args.p == '{' ? known : odd);
    if (!args.p)
        ev.meta.x = "{\"arguments\":null}";
    e->a->answered_by_tool |= !e->child;
    open_calls_add(&e->a->open, ev.u.tool_call.tool_use_id, ev.u.tool_call.name);
    dialect_emit_draft(e->out, &ev);
}

/* A tool_call_done. */
struct outcome {
    const struct awaken_event *e;
    const char *id, *name; /* id of the call */
    struct str result, data;
    const char *outcome; /* succeeded failed suspended */
    const char *message; /* or NULL */
};

/* The call is from an earlier run of the thread: emitted again, for readers of this run only. */
static void awaken_tool_emit_earlier_call(const struct outcome *o)
{
    struct event ev;
    struct arena *const scratch = o->e->out->scratch;
    const struct str pending = value_get_last(value_get_last(o->result, "suspension"), "pending");
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.tool_use_id = o->id;
    ev.u.tool_call.name = o->name ? o->name : "tool";
    tool_args_parse(scratch, &ev.u.tool_call, value_get_last(pending, "arguments"));
    ev.meta.x = "{\"synthesized\":true}";
    open_calls_add(&o->e->a->open, o->id, ev.u.tool_call.name);
    dialect_emit_draft(o->e->out, &ev);
}

/* The content is the data (a string unquoted); for a failure without data, its message.
 * `structured` is set if the content does not fully represent the data. */
static void awaken_tool_set_content(const struct outcome *o, struct tc_tool_result *result)
{
    struct arena *const scratch = o->e->out->scratch;
    if (!o->data.p) {
        result->content = o->message ? o->message : "";
        result->content_len = strlen(result->content);
        return;
    }
    result->content = value_text_or_json(scratch, o->data, &result->content_len);
    const bool plain = value_string(o->data).p && result->content_len > 0 &&
                       !(o->message && strcmp(o->message, result->content) == 0);
    if (!plain)
        result->structured = value_json(scratch, o->data, NULL);
}

/* Other members of a result: {"result":{…}}. */
static char *result_rest(const struct outcome *o)
{
    static const char *const told[] = {"tool_name", "data", NULL};
    static const char *const known[] = {"event_type", "id",    "message_id", "outcome",
                                        "result",     "patch", NULL};
    struct arena *const scratch = o->e->out->scratch;
    const char *const inner = value_extra_except(scratch, o->result, told);
    const char *const outer = value_extra_except(scratch, o->e->members, known);
    return arena_sprintf(scratch, "{\"result\":%s%s%s", inner ? inner : "{}", outer ? "," : "",
                         outer ? outer + 1 : "}");
}

static void awaken_tool_emit_result(const struct outcome *o)
{
    struct event ev;
    event_init(&ev, TC_TOOL_RESULT);
    struct tc_tool_result *const result = &ev.u.tool_result;
    result->tool_use_id = o->id;
    result->name = o->name;
    result->outcome = o->outcome;
    result->is_error = strcmp(o->outcome, "failed") == 0;
    result->message_id = awaken_text(o->e, "message_id");
    result->patch = value_json(o->e->out->scratch, awaken_value(o->e, "patch"), NULL);
    awaken_tool_set_content(o, result);
    ev.meta.x = result_rest(o);
    open_calls_remove(&o->e->a->open, o->id);
    dialect_emit_draft(o->e->out, &ev);
}

static bool awaken_tool_is_approval(const char *action)
{
    static const char *const words[] = {"approv", "permission", "confirm"};
    for (size_t i = 0; action && i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(action, words[i]))
            return true;
    return false;
}

static void awaken_tool_emit_request(const struct outcome *o)
{
    static const char *const known[] = {"event_type", "id", NULL};
    struct event ev;
    event_init(&ev, TC_REQUEST);
    struct tc_request *const request = &ev.u.request;
    struct arena *const scratch = o->e->out->scratch;
    const struct str suspended = value_get_last(o->result, "suspension");
    const struct str ticket = value_get_last(suspended, "suspension");
    const char *const id = value_text(scratch, value_get_last(ticket, "id"), NULL);
    const char *const message = value_text(scratch, value_get_last(ticket, "message"), NULL);
    request->request_id = id ? id : o->id;
    request->state = "open";
    request->tool_use_id = o->id;
    request->tool = o->name;
    request->args = value_json(
        scratch, value_get_last(value_get_last(suspended, "pending"), "arguments"), NULL);
    request->reason = value_text(scratch, value_get_last(ticket, "action"), NULL);
    request->kind = awaken_tool_is_approval(request->reason) ? "approval" : "input";
    request->message = message ? message : o->message;
    request->schema = value_json(scratch, value_get_last(ticket, "response_schema"), NULL);
    request->blocking = true;
    ev.meta.x = value_extra_except(scratch, o->e->members, known);
    open_calls_add(&o->e->a->suspended, request->request_id, o->id);
    dialect_emit_draft(o->e->out, &ev);
}

/* Absent: derived from the status of the result. */
static const char *read_outcome(const struct awaken_event *e, struct str result)
{
    static const char *const known[] = {"succeeded", "failed", "suspended"};
    const struct str outcome = awaken_value(e, "outcome"),
                     status = value_get_last(result, "status");
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (value_equals(outcome, known[i]))
            return known[i];
    if (!outcome.p)
        return value_equals(status, "error")     ? "failed"
               : value_equals(status, "pending") ? "suspended"
                                                 : "succeeded";
    dialect_emit_notice(e->out, "warn", "unknown_outcome",
                        arena_sprintf(e->out->scratch, "A tool ended with an unknown status: %s",
                                      value_text_or_json(e->out->scratch, outcome, NULL)),
                        NULL);
    return "failed";
}

void awaken_handle_call_done(const struct awaken_event *e)
{
    struct awaken *const a = e->a;
    struct arena *const scratch = e->out->scratch;
    const struct str result = awaken_value(e, "result");
    const char *const id = awaken_text(e, "id");
    struct outcome o = {.e = e,
                        .id = id ? id : "",
                        .name = value_text(scratch, value_get_last(result, "tool_name"), NULL),
                        .result = result,
                        .data = value_get_last(result, "data"),
                        .message = value_text(scratch, value_get_last(result, "message"), NULL)};
    o.outcome = read_outcome(e, result);
    awaken_settle_activity(a, e->out, o.id);
    if (!open_calls_contains(&a->open, o.id))
        awaken_tool_emit_earlier_call(&o);
    if (strcmp(o.outcome, "suspended") == 0)
        awaken_tool_emit_request(&o);
    else
        awaken_tool_emit_result(&o);
}

static const char *awaken_tool_read_decision(struct str result)
{
    const struct str approved = value_get_last(result, "approved");
    const struct str action = value_get_last(result, "action");
    if (value_is_true(approved))
        return "allow";
    if (approved.p || value_equals(action, "deny"))
        return "deny";
    return value_equals(action, "cancel") ? "cancelled" : "answered";
}

void awaken_handle_call_resumed(const struct awaken_event *e)
{
    struct awaken *const a = e->a;
    struct event ev;
    event_init(&ev, TC_REQUEST);
    struct tc_request *const request = &ev.u.request;
    const struct str result = awaken_value(e, "result");
    const char *const call = awaken_text(e, "target_id");
    const char *const known = call ? open_calls_find_by_name(&a->suspended, call) : NULL;
    request->request_id = arena_strdup(e->out->scratch, known ? known : call ? call : "");
    request->kind = value_get_last(result, "approved").p ? "approval" : "input";
    request->state = "resolved";
    request->tool_use_id = call;
    request->decision = awaken_tool_read_decision(result);
    request->answers = value_json(e->out->scratch, result, NULL);
    open_calls_remove(&a->suspended, request->request_id);
    dialect_emit_draft(e->out, &ev);
}
