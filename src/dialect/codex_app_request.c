/* SPDX-License-Identifier: MIT
 * Owns what the app-server asks its client: approvals, answers of a person. */
#include "dialect/codex_app.h"

static const struct request_kind {
    const char *method, *kind, *tool;
} kinds[] = {
    {"item/commandExecution/requestApproval", "approval", "shell"},
    {"item/fileChange/requestApproval", "approval", "apply_patch"},
    {"item/permissions/requestApproval", "approval", NULL},
    {"mcpServer/elicitation/request", "input", NULL},
    {"item/tool/requestUserInput", "ask", NULL},
};

/* An elicitation that asks for leave to call a tool. */
static void set_mcp(const struct codex_app_call *call, struct tc_request *r, struct str meta)
{
    struct arena *const a = call->out->scratch;
    const char *const server = codex_app_param(call, "serverName");
    const char *const tool = codex_app_text(call, value_member(meta, "tool_name"));
    const struct str args = value_member(meta, "tool_params");
    r->kind = "approval";
    r->tool = arena_sprintf(a, "mcp__%s__%s", server ? server : "server", tool ? tool : "tool");
    r->args = args.p ? value_json(a, args, NULL) : NULL;
}

static void set_subject(const struct codex_app_call *call, struct tc_request *r)
{
    static const char *const keys[] = {"command", "cwd", NULL};
    const char *const command = codex_app_param(call, "command");
    const char *const root = codex_app_param(call, "grantRoot");
    r->subject = command ? command : root;
    if (command)
        r->args = value_select(call->out->scratch, call->params, keys, NULL);
}

static const char *request_id(const struct codex_app_call *call, struct str id)
{
    const char *const text = value_show(call->out->scratch, id, NULL);
    return text ? text : "";
}

bool codex_app_take_request(const struct codex_app_call *call)
{
    static const char *const told[] = {"threadId", "turnId",  "itemId",          "command", "cwd",
                                       "reason",   "message", "requestedSchema", NULL};
    struct event ev;
    struct tc_request *const r = &ev.u.request;
    size_t i = 0;
    while (i < sizeof(kinds) / sizeof(kinds[0]) && !value_is(call->method, kinds[i].method))
        i++;
    if (i == sizeof(kinds) / sizeof(kinds[0]))
        return false;
    event_init(&ev, TC_REQUEST);
    r->request_id = request_id(call, call->id);
    r->kind = kinds[i].kind;
    r->state = "open";
    r->tool_use_id = codex_app_param(call, "itemId");
    r->tool = kinds[i].tool;
    r->reason = codex_app_param(call, "reason");
    r->message = codex_app_param(call, "message");
    r->blocking = true;
    const struct str schema = value_member(call->params, "requestedSchema");
    r->schema = schema.p ? value_json(call->out->scratch, schema, NULL) : NULL;
    set_subject(call, r);
    const struct str meta = value_member(call->params, "_meta");
    if (value_is(value_member(meta, "codex_approval_kind"), "mcp_tool_call"))
        set_mcp(call, r, meta);
    ev.meta.x = value_rest(call->out->scratch, call->params, told);
    codex_app_send(call, &ev);
    tool_set_add(&call->c->asked, r->request_id, r->kind);
    return true;
}

/* That it was answered, not how: the item says what came of it. */
void codex_app_take_resolved(const struct codex_app_call *call)
{
    struct event ev;
    const char *const id = request_id(call, value_member(call->params, "requestId"));
    const char *const kind = tool_set_name(&call->c->asked, id);
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = id;
    ev.u.request.kind = kind ? kind : "approval";
    ev.u.request.state = "resolved";
    ev.u.request.decision = "answered";
    codex_app_send(call, &ev);
    tool_set_take(&call->c->asked, id);
}
