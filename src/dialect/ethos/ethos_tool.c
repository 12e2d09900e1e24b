/* SPDX-License-Identifier: MIT
 * Tool calls, approvals, clarifications and credential requests. */
#include <string.h>

#include "dialect/ethos/ethos.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

static const char *text_or_empty(const struct ethos_ctx *call, struct str value)
{
    const char *const text = ethos_copy(call, value);
    return text ? text : "";
}

/* Calls made by a script have ids PARENT#N. */
static const char *ethos_tool_parent_of(const struct ethos_ctx *call, const char *id)
{
    const char *const hash = strrchr(id, '#');
    return hash && hash != id ? arena_strndup(call->out->scratch, id, (size_t)(hash - id)) : NULL;
}

static const char *known_audience(struct str audience)
{
    static const char *const known[] = {"user", "internal", "dashboard"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (value_equals(audience, known[i]))
            return known[i];
    return NULL;
}

static bool ethos_tool_is_object(struct str value)
{
    return value.p && *value.p == '{';
}

void ethos_tool_start(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "toolCallId", "toolName", "audience", NULL};
    static const char *const known_args[] = {"type",     "toolCallId", "toolName",
                                             "audience", "args",       NULL};
    struct event ev;
    struct tc_tool_call *const tc = &ev.u.tool_call;
    event_init(&ev, TC_TOOL_CALL);
    tc->tool_use_id = text_or_empty(call, call->l->id);
    tc->name = text_or_empty(call, call->l->name);
    tool_args_parse(call->out->scratch, tc, call->l->args);
    ev.meta.parent_id = ethos_tool_parent_of(call, tc->tool_use_id);
    ev.meta.audience = known_audience(call->l->audience);
    ev.meta.x = ethos_rest(call, ethos_tool_is_object(call->l->args) ? known_args : known);
    if (!open_calls_contains(&call->e->open, tc->tool_use_id))
        open_calls_add(&call->e->open, tc->tool_use_id, tc->name);
    dialect_emit_draft(call->out, &ev);
}

/* The event has only the tool's name: the oldest call of that name is meant. Without an explicit
 * audience it is internal; the web bridge marks everything as "user". */
void ethos_tool_progress(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "toolName", "message", "percent", "audience", NULL};
    static const char *const known_web[] = {"type", "toolName", "message", "percent", NULL};
    struct event ev;
    struct tc_progress *const p = &ev.u.progress;
    const char *const audience = call->web ? NULL : known_audience(call->l->audience);
    event_init(&ev, TC_PROGRESS);
    p->name = ethos_copy(call, call->l->name);
    p->tool_use_id = p->name ? open_calls_find_by_name(&call->e->open, p->name) : NULL;
    p->phase = "running";
    p->message = ethos_copy(call, call->l->message);
    p->percent = value_real(call->l->percent, -1);
    ev.meta.parent_id = p->tool_use_id ? ethos_tool_parent_of(call, p->tool_use_id) : NULL;
    ev.meta.audience = audience ? audience : "internal";
    ev.meta.x = ethos_rest(call, audience ? known : known_web);
    dialect_emit_draft(call->out, &ev);
}

static void ethos_tool_set_content(const struct ethos_ctx *call, struct tc_tool_result *result)
{
    const struct str value = call->l->result.p ? call->l->result : call->l->error;
    if (value.p)
        result->content = value_text_or_json(call->out->scratch, value, &result->content_len);
}

/* A call rejected by a hook has no start: the guard creates it. */
void ethos_tool_end(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type",     "toolCallId", "toolName",   "ok", "durationMs",
                                        "audience", "result",     "structured", NULL};
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    event_init(&ev, TC_TOOL_RESULT);
    result->tool_use_id = text_or_empty(call, call->l->id);
    result->name = ethos_copy(call, call->l->name);
    result->is_error = !value_is_true(call->l->ok);
    result->duration_ms = value_real(call->l->duration, -1);
    result->structured = value_json(call->out->scratch, call->l->structured, NULL);
    ethos_tool_set_content(call, result);
    const bool started = open_calls_remove(&call->e->open, result->tool_use_id);
    const bool rejected = !started && result->duration_ms <= 0;
    result->outcome = !result->is_error ? "succeeded" : rejected ? "denied" : "failed";
    ev.meta.parent_id = ethos_tool_parent_of(call, result->tool_use_id);
    ev.meta.audience = known_audience(call->l->audience);
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}

static struct tc_request *init_request(struct event *ev, const char *kind, bool open)
{
    event_init(ev, TC_REQUEST);
    ev->u.request.kind = kind;
    ev->u.request.state = open ? "open" : "resolved";
    return &ev->u.request;
}

/* An announcement only: the call runs anyway. */
void ethos_approval(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "toolCallId", "toolName", "args", NULL};
    struct event ev;
    struct tc_request *const r = init_request(&ev, "approval", true);
    r->request_id = text_or_empty(call, call->l->id);
    r->tool_use_id = ethos_copy(call, call->l->id);
    r->tool = ethos_copy(call, call->l->name);
    r->args = value_json(call->out->scratch, call->l->args, NULL);
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}

void ethos_approval_response(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "toolCallId", "approved", "reason", NULL};
    struct event ev;
    struct tc_request *const r = init_request(&ev, "approval", false);
    r->request_id = text_or_empty(call, call->l->id);
    r->tool_use_id = ethos_copy(call, call->l->id);
    r->decision = value_is_true(call->l->approved) ? "allow" : "deny";
    r->reason = ethos_copy(call, call->l->reason);
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}

/* The actual approval request: the run waits. */
void ethos_push_approval(const struct ethos_ctx *call)
{
    static const char *const known[] = {"approvalId", "toolCallId", "toolName",
                                        "args",       "reason",     NULL};
    const struct str request = value_get_last(call->l->self, "request");
    struct str id = {0}, tool_use_id = {0}, tool = {0}, args = {0}, reason = {0}, session = {0};
    const struct value_row rows[] = {{"approvalId", &id}, {"toolCallId", &tool_use_id},
                                     {"toolName", &tool}, {"args", &args},
                                     {"reason", &reason}, {"sessionId", &session}};
    struct event ev;
    struct tc_request *const r = init_request(&ev, "approval", true);
    value_get_members(request, VALUE_ROWS(rows));
    r->request_id = text_or_empty(call, id);
    r->tool_use_id = ethos_copy(call, tool_use_id);
    r->tool = ethos_copy(call, tool);
    r->args = value_json(call->out->scratch, args, NULL);
    r->reason = ethos_copy(call, reason);
    r->blocking = true;
    ev.meta.session_id = text_or_empty(call, session);
    ev.meta.x = value_extra_except(call->out->scratch, request, known);
    dialect_emit_draft(call->out, &ev);
}

void ethos_push_approval_resolved(const struct ethos_ctx *call)
{
    const struct str self = call->l->self;
    struct event ev;
    struct tc_request *const r = init_request(&ev, "approval", false);
    r->request_id = text_or_empty(call, value_get_last(self, "approvalId"));
    r->decision = value_equals(value_get_last(self, "decision"), "allow") ? "allow" : "deny";
    r->by = ethos_copy(call, value_get_last(self, "decidedBy"));
    dialect_emit_draft(call->out, &ev);
}

/* Options are plain strings here. */
static void ethos_tool_add_options(struct buf *b, const struct ethos_ctx *call, struct str options)
{
    struct json j;
    struct str option;
    bool first = true;
    json_reader_open_array(&j, options);
    while (json_reader_next_value(&j, &option)) {
        size_t len = 0;
        const char *const label = value_text_or_json(call->out->scratch, option, &len);
        buf_add_str(b, first ? "{\"label\":" : ",{\"label\":");
        jsonw_string(b, label, len);
        buf_add_char(b, '}');
        first = false;
    }
}

static const char *question_json(const struct ethos_ctx *call, const char *id)
{
    CLEANUP_BUF struct buf b = {0};
    buf_add_str(&b, "[{");
    jsonw_member_str(&b, "id", id);
    jsonw_member_str(&b, "prompt", text_or_empty(call, value_get_last(call->l->self, "question")));
    buf_add_str(&b, ",\"options\":[");
    ethos_tool_add_options(&b, call, value_get_last(call->l->self, "options"));
    buf_add_str(&b, "],\"multi\":false}]");
    return arena_strndup(call->out->scratch, b.p, b.len);
}

void ethos_clarify(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type",    "requestId",         "question",
                                        "options", "defaultDeadlineAt", NULL};
    struct event ev;
    struct tc_request *const r = init_request(&ev, "ask", true);
    r->request_id = text_or_empty(call, value_get_last(call->l->self, "requestId"));
    r->questions = question_json(call, r->request_id);
    r->expires_ms = value_int(value_get_last(call->l->self, "defaultDeadlineAt"), -1);
    r->blocking = true;
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}

void ethos_clarify_resolved(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "requestId", NULL};
    const char *const source = text_or_empty(call, value_get_last(call->l->self, "source"));
    struct event ev;
    struct tc_request *const r = init_request(&ev, "ask", false);
    r->request_id = text_or_empty(call, value_get_last(call->l->self, "requestId"));
    r->decision = strncmp(source, "timeout", 7) == 0 ? "timeout"
                  : strcmp(source, "cancel") == 0    ? "cancelled"
                                                     : "answered";
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}

/* The run ends after it, so nothing waits. */
void ethos_credential(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "label", "description", NULL};
    const struct str self = call->l->self;
    struct event ev;
    struct tc_request *const r = init_request(&ev, "credential", true);
    r->request_id = arena_sprintf(call->out->scratch, "%s:%s",
                                  text_or_empty(call, value_get_last(self, "pluginId")),
                                  text_or_empty(call, value_get_last(self, "credentialKey")));
    r->subject = ethos_copy(call, value_get_last(self, "label"));
    r->message = ethos_copy(call, value_get_last(self, "description"));
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}
