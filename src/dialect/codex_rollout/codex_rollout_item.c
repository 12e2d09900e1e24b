/* SPDX-License-Identifier: MIT
 * Reads messages, reasoning and tools of a codex session file, in both of its families.
 */
#include "dialect/codex_rollout/codex_rollout.h"
#include "dialect/reader/dialect_emit.h"

static const char *codex_rollout_item_item_text(const struct codex_rollout_line *l, const char *key)
{
    return codex_rollout_text(l, value_get_last(l->item, key));
}

static void codex_rollout_item_set(struct buf *to, const char *text, size_t len)
{
    buf_reset(to);
    buf_add(to, text, len);
}

/* Messages. */

static void codex_rollout_item_emit_text(const struct codex_rollout_line *l, const char *text,
                                         size_t len, const char *id)
{
    struct codex_rollout *const c = l->c;
    codex_rollout_start(l, NULL);
    dialect_emit_narration(l->out, text, len, id);
    dialect_emit_message(l->out, text, len, id);
    codex_rollout_item_set(&c->answer, text, len);
    codex_rollout_item_set(&c->answer_id, id ? id : "", id ? strlen(id) : 0);
}

static void codex_rollout_item_emit_user_message(const struct codex_rollout_line *l,
                                                 const char *text, size_t len, const char *id)
{
    struct event ev;
    codex_rollout_start(l, text);
    l->c->asked = true;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "user";
    ev.u.message.text = text;
    ev.u.message.text_len = len;
    ev.u.message.message_id = id;
    dialect_emit_draft(l->out, &ev);
}

static void codex_rollout_item_emit_thinking(const struct codex_rollout_line *l, const char *text,
                                             size_t len, const char *id)
{
    codex_rollout_start(l, NULL);
    dialect_emit_thinking(l->out, text, len, id);
}

/* Tools. */

static void codex_rollout_item_emit_call(const struct codex_rollout_line *l, const char *id,
                                         const char *name, struct event *ev)
{
    codex_rollout_start(l, NULL);
    buf_reset(&l->c->answer); /* text before a tool call is narration */
    ev->u.tool_call.tool_use_id = id;
    ev->u.tool_call.name = name ? name : "tool";
    open_calls_add(&l->c->open, id, ev->u.tool_call.name);
    dialect_emit_draft(l->out, ev);
}

/* The result of an open call; the first record counts. */
static void codex_rollout_item_emit_result(const struct codex_rollout_line *l, const char *id,
                                           struct event *ev)
{
    const char *const name = open_calls_get_name(&l->c->open, id);
    ev->u.tool_result.tool_use_id = id;
    ev->u.tool_result.name = name ? arena_strdup(l->out->scratch, name) : NULL;
    open_calls_remove(&l->c->open, id);
    open_calls_add(&l->c->closed, id, NULL);
    dialect_emit_draft(l->out, ev);
}

/* Items that are tools: their names, and the members that are their arguments. */
static const struct tool_kind {
    const char *type, *name;
    const char *const *args; /* NULL: they are in "arguments" */
} tool_kinds[] = {
    {"CommandExecution", "shell", (const char *const[]){"command", "cwd", NULL}},
    {"FileChange", "apply_patch", (const char *const[]){"changes", NULL}},
    {"WebSearch", "web_search", (const char *const[]){"query", "action", NULL}},
    {"ImageView", "view_image", (const char *const[]){"path", NULL}},
    {"McpToolCall", NULL, NULL},
    {"DynamicToolCall", NULL, NULL},
};

static const char *codex_rollout_item_name_of(const struct codex_rollout_line *l,
                                              const struct tool_kind *kind)
{
    const char *const tool = codex_rollout_item_item_text(l, "tool"),
                      *const server = codex_rollout_item_item_text(l, "server");
    if (kind->name)
        return kind->name;
    if (server)
        return arena_sprintf(l->out->scratch, "mcp__%s__%s", server, tool ? tool : "tool");
    return tool;
}

static void call_of_item(const struct codex_rollout_line *l, const struct tool_kind *kind,
                         const char *id)
{
    struct event ev;
    struct tc_tool_call *const call = &ev.u.tool_call;
    event_init(&ev, TC_TOOL_CALL);
    if (kind->args)
        call->args = value_copy_members(l->out->scratch, l->item, kind->args, &call->args_len);
    else
        tool_args_parse(l->out->scratch, call, value_get_last(l->item, "arguments"));
    codex_rollout_item_emit_call(l, id, codex_rollout_item_name_of(l, kind), &ev);
}

/* {"secs":2,"nanos":5} in milliseconds; negative: unknown. */
static double duration_of(struct str value)
{
    const double secs = value_real(value_get_last(value, "secs"), -1);
    const double nanos = value_real(value_get_last(value, "nanos"), 0);
    return secs < 0 ? value_real(value, -1) : secs * 1000 + nanos / 1e6;
}

static void codex_rollout_item_set_content(const struct codex_rollout_line *l,
                                           struct tc_tool_result *r)
{
    struct arena *const a = l->out->scratch;
    const struct str output = value_get_last(l->item, "aggregated_output");
    const struct str result = value_get_last(l->item, "result");
    const struct str error = value_get_last(l->item, "error");
    const struct str content = value_get_last(result, "content");
    if (output.p)
        r->content = value_text_or_json(a, output, &r->content_len);
    else if (content.p)
        r->content = value_join_texts(a, content, "\n", &r->content_len);
    else
        r->content = value_text_or_json(a, result.p ? result : error, &r->content_len);
}

static void result_of_item(const struct codex_rollout_line *l, const char *id)
{
    const struct str status = value_get_last(l->item, "status");
    const bool denied = value_equals(status, "declined");
    struct event ev;
    struct tc_tool_result *const r = &ev.u.tool_result;
    event_init(&ev, TC_TOOL_RESULT);
    r->is_error = denied || value_equals(status, "failed");
    r->outcome = denied ? "denied" : r->is_error ? "failed" : "succeeded";
    r->duration_ms = duration_of(value_get_last(l->item, "duration"));
    codex_rollout_item_set_content(l, r);
    ev.meta.x = value_extra_only(l->out->scratch, l->item,
                                 (const char *const[]){"exit_code", "process_id", "source", NULL});
    codex_rollout_item_emit_result(l, id, &ev);
}

static bool codex_rollout_item_read_tool(const struct codex_rollout_line *l,
                                         const struct tool_kind *kind)
{
    const char *const id = codex_rollout_item_item_text(l, "id");
    if (!id || open_calls_contains(&l->c->closed, id))
        return false;
    if (!open_calls_contains(&l->c->open, id))
        call_of_item(l, kind, id);
    result_of_item(l, id);
    return true;
}

bool codex_rollout_handle_item(const struct codex_rollout_line *l)
{
    struct arena *const a = l->out->scratch;
    const struct str type = value_get_last(l->item, "type");
    const char *const id = codex_rollout_item_item_text(l, "id");
    size_t len = 0;
    for (size_t i = 0; i < sizeof(tool_kinds) / sizeof(tool_kinds[0]); i++)
        if (value_equals(type, tool_kinds[i].type))
            return codex_rollout_item_read_tool(l, &tool_kinds[i]);
    if (value_equals(type, "AgentMessage")) {
        const char *const text = value_join_texts(a, value_get_last(l->item, "content"), "", &len);
        l->c->has_messages = true;
        codex_rollout_item_emit_text(l, text, len, id);
    } else if (value_equals(type, "UserMessage")) {
        const char *const text =
            value_join_texts(a, value_get_last(l->item, "content"), "\n", &len);
        codex_rollout_item_emit_user_message(l, text, len, id);
    } else if (value_equals(type, "Reasoning")) {
        const char *const text =
            value_join_texts(a, value_get_last(l->item, "summary_text"), "\n\n", &len);
        l->c->has_thoughts = true;
        codex_rollout_item_emit_thinking(l, text, len, id);
    } else {
        return false;
    }
    return true;
}

/* Old releases have an event for each message instead of items. */
bool codex_rollout_handle_event(const struct codex_rollout_line *l)
{
    struct arena *const a = l->out->scratch;
    size_t len = 0;
    if (value_equals(l->kind, "user_message")) {
        const char *const text = value_text(a, value_get_last(l->payload, "message"), &len);
        codex_rollout_item_emit_user_message(l, text ? text : "", len, NULL);
    } else if (value_equals(l->kind, "agent_message")) {
        const char *const text = value_text(a, value_get_last(l->payload, "message"), &len);
        l->c->has_messages = true;
        codex_rollout_item_emit_text(l, text ? text : "", len, NULL);
    } else if (value_equals(l->kind, "agent_reasoning")) {
        const char *const text = value_text(a, value_get_last(l->payload, "text"), &len);
        l->c->has_thoughts = true;
        codex_rollout_item_emit_thinking(l, text, len, NULL);
    } else {
        return false;
    }
    return true;
}

/* Input of the model. */

static bool codex_rollout_item_read_model_call(const struct codex_rollout_line *l)
{
    struct arena *const a = l->out->scratch;
    const char *const id = codex_rollout_text(l, value_get_last(l->payload, "call_id"));
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    if (!id || open_calls_contains(&l->c->open, id) || open_calls_contains(&l->c->closed, id))
        return false;
    if (value_equals(l->kind, "custom_tool_call"))
        ev.u.tool_call.args = value_copy_members(
            a, l->payload, (const char *const[]){"input", NULL}, &ev.u.tool_call.args_len);
    else if (value_equals(l->kind, "local_shell_call"))
        tool_args_parse(a, &ev.u.tool_call, value_get_last(l->payload, "action"));
    else
        tool_args_parse(a, &ev.u.tool_call, value_get_last(l->payload, "arguments"));
    const char *const name = codex_rollout_text(l, value_get_last(l->payload, "name"));
    codex_rollout_item_emit_call(l, id, name ? name : "shell", &ev);
    return true;
}

/* A text, or an object with it; without information whether the tool failed. */
static bool codex_rollout_item_read_model_output(const struct codex_rollout_line *l)
{
    const char *const id = codex_rollout_text(l, value_get_last(l->payload, "call_id"));
    const struct str output = value_get_last(l->payload, "output");
    const struct str content = value_get_last(output, "content");
    const struct str success = value_get_last(output, "success");
    struct event ev;
    event_init(&ev, TC_TOOL_RESULT);
    if (!id || !open_calls_contains(&l->c->open, id))
        return false;
    ev.u.tool_result.content = value_text_or_json(l->out->scratch, content.p ? content : output,
                                                  &ev.u.tool_result.content_len);
    ev.u.tool_result.is_error = success.p && !value_is_true(success);
    codex_rollout_item_emit_result(l, id, &ev);
    return true;
}

static bool codex_rollout_item_read_model_message(const struct codex_rollout_line *l)
{
    size_t len = 0;
    if (l->c->has_messages || !value_equals(value_get_last(l->payload, "role"), "assistant"))
        return false;
    const char *const text =
        value_join_texts(l->out->scratch, value_get_last(l->payload, "content"), "", &len);
    codex_rollout_item_emit_text(l, text, len,
                                 codex_rollout_text(l, value_get_last(l->payload, "id")));
    return true;
}

static bool codex_rollout_item_read_model_thought(const struct codex_rollout_line *l)
{
    size_t len = 0;
    if (l->c->has_thoughts)
        return false;
    const char *const text =
        value_join_texts(l->out->scratch, value_get_last(l->payload, "summary"), "\n\n", &len);
    if (len)
        codex_rollout_item_emit_thinking(l, text, len,
                                         codex_rollout_text(l, value_get_last(l->payload, "id")));
    return len > 0;
}

bool codex_rollout_handle_response(const struct codex_rollout_line *l)
{
    static const struct {
        const char *kind;
        bool (*take)(const struct codex_rollout_line *l);
    } kinds[] = {
        {"message", codex_rollout_item_read_model_message},
        {"reasoning", codex_rollout_item_read_model_thought},
        {"function_call", codex_rollout_item_read_model_call},
        {"custom_tool_call", codex_rollout_item_read_model_call},
        {"local_shell_call", codex_rollout_item_read_model_call},
        {"function_call_output", codex_rollout_item_read_model_output},
        {"custom_tool_call_output", codex_rollout_item_read_model_output},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (value_equals(l->kind, kinds[i].kind))
            return kinds[i].take(l);
    return false;
}
