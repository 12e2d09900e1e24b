/* SPDX-License-Identifier: MIT
 * Server requests that a person answers: approvals, permissions, questions. */
#include "dialect/codex/codex_app.h"
#include "event/json/json_reader.h"

static const struct request_kind {
    const char *method, *kind, *tool;
} kinds[] = {
    [CODEX_APP_ASKS_COMMAND] = {"item/commandExecution/requestApproval", "approval", "shell"},
    [CODEX_APP_ASKS_CHANGE] = {"item/fileChange/requestApproval", "approval", "apply_patch"},
    [CODEX_APP_ASKS_PERMISSIONS] = {"item/permissions/requestApproval", "approval", NULL},
    [CODEX_APP_ASKS_TOOL] = {"mcpServer/elicitation/request", "approval", NULL},
    [CODEX_APP_ASKS_FORM] = {"mcpServer/elicitation/request", "input", NULL},
    [CODEX_APP_ASKS_QUESTIONS] = {"item/tool/requestUserInput", "ask", NULL},
};

enum codex_app_request_kind codex_app_classify_request(struct str method, struct str params)
{
    size_t i = CODEX_APP_ASKS_COMMAND;
    while (i < sizeof(kinds) / sizeof(kinds[0]) && !value_equals(method, kinds[i].method))
        i++;
    if (i == sizeof(kinds) / sizeof(kinds[0]))
        return CODEX_APP_ASKS_NOTHING;
    const struct str meta = value_get_last(params, "_meta");
    if (i == CODEX_APP_ASKS_TOOL &&
        !value_equals(value_get_last(meta, "codex_approval_kind"), "mcp_tool_call"))
        return CODEX_APP_ASKS_FORM;
    return (enum codex_app_request_kind)i;
}

static const char *select_params(const struct codex_app_line *call, const char *const *keys)
{
    return value_copy_members(call->out->scratch, call->params, keys, NULL);
}

static void set_command(const struct codex_app_line *call, struct tc_request *r)
{
    r->subject = codex_app_get_param(call, "command");
    if (r->subject)
        r->args = select_params(call, (const char *const[]){"command", "cwd", NULL});
}

/* The file, or the first of several. */
static const char *codex_app_request_subject_of(const struct codex_app_line *call,
                                                struct str changes)
{
    struct str path = {0};
    struct json j;
    struct str change;
    size_t more = 0;
    json_reader_open_array(&j, changes);
    while (json_reader_next_value(&j, &change)) {
        if (path.p)
            more++;
        else
            path = value_get_last(change, "path");
    }
    const char *const text = codex_app_text(call, path);
    return text && more ? arena_sprintf(call->out->scratch, "%s and %zu more", text, more) : text;
}

/* The change itself was emitted at its start. */
static void set_change(const struct codex_app_line *call, struct tc_request *r)
{
    struct arena *const a = call->out->scratch;
    const char *const args =
        r->tool_use_id ? open_calls_get_name(&call->c->changes, r->tool_use_id) : NULL;
    r->subject = codex_app_get_param(call, "grantRoot");
    if (!args)
        return;
    r->args = arena_strdup(a, args);
    if (!r->subject)
        r->subject = codex_app_request_subject_of(
            call, value_get_last((struct str){args, strlen(args)}, "changes"));
}

static void set_permissions(const struct codex_app_line *call, struct tc_request *r)
{
    r->args = select_params(call, (const char *const[]){"permissions", "cwd", NULL});
}

/* An elicitation that asks for permission to call a tool. */
static void set_tool(const struct codex_app_line *call, struct tc_request *r)
{
    struct arena *const a = call->out->scratch;
    const struct str meta = value_get_last(call->params, "_meta");
    const char *const server = codex_app_get_param(call, "serverName");
    const char *const tool = codex_app_text(call, value_get_last(meta, "tool_name"));
    const struct str args = value_get_last(meta, "tool_params");
    r->tool = arena_sprintf(a, "mcp__%s__%s", server ? server : "server", tool ? tool : "tool");
    r->args = args.p ? value_json(a, args, NULL) : NULL;
}

static void set_form(const struct codex_app_line *call, struct tc_request *r)
{
    r->subject = codex_app_get_param(call, "url");
    r->questions = codex_app_convert_form(call);
}

static void set_questions(const struct codex_app_line *call, struct tc_request *r)
{
    r->questions = codex_app_convert_questions(call);
    if (codex_app_is_secret(call))
        r->kind = "credential";
}

static const char *request_id(const struct codex_app_line *call, struct str id)
{
    const char *const text = value_text_or_json(call->out->scratch, id, NULL);
    return text ? text : "";
}

bool codex_app_handle_request(const struct codex_app_line *call)
{
    static const char *const told[] = {"threadId", "turnId",      "itemId",  "command",
                                       "cwd",      "reason",      "message", "requestedSchema",
                                       "url",      "permissions", NULL};
    static void (*const set[])(const struct codex_app_line *call, struct tc_request *r) = {
        [CODEX_APP_ASKS_COMMAND] = set_command,
        [CODEX_APP_ASKS_CHANGE] = set_change,
        [CODEX_APP_ASKS_PERMISSIONS] = set_permissions,
        [CODEX_APP_ASKS_TOOL] = set_tool,
        [CODEX_APP_ASKS_FORM] = set_form,
        [CODEX_APP_ASKS_QUESTIONS] = set_questions};
    struct event ev;
    struct tc_request *const r = &ev.u.request;
    const enum codex_app_request_kind ask = codex_app_classify_request(call->method, call->params);
    if (ask == CODEX_APP_ASKS_NOTHING)
        return false;
    event_init(&ev, TC_REQUEST);
    r->request_id = request_id(call, call->id);
    r->kind = kinds[ask].kind;
    r->state = "open";
    r->tool_use_id = codex_app_get_param(call, "itemId");
    r->tool = kinds[ask].tool;
    r->reason = codex_app_get_param(call, "reason");
    r->message = codex_app_get_param(call, "message");
    r->blocking = true;
    const struct str schema = value_get_last(call->params, "requestedSchema");
    r->schema = schema.p ? value_json(call->out->scratch, schema, NULL) : NULL;
    set[ask](call, r);
    ev.meta.x = value_extra_except(call->out->scratch, call->params, told);
    codex_app_emit(call, &ev);
    open_calls_add(&call->c->asked, r->request_id, r->kind);
    return true;
}

/* The event says only that the request was answered; the item has the result. */
void codex_app_handle_resolved(const struct codex_app_line *call)
{
    struct event ev;
    const char *const id = request_id(call, value_get_last(call->params, "requestId"));
    const char *const kind = open_calls_get_name(&call->c->asked, id);
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = id;
    ev.u.request.kind = kind ? kind : "approval";
    ev.u.request.state = "resolved";
    ev.u.request.decision = "answered";
    codex_app_emit(call, &ev);
    open_calls_remove(&call->c->asked, id);
}
