/* SPDX-License-Identifier: MIT
 * Items of a thread: messages, reasoning, tools. */
#include "dialect/codex/codex_app.h"

/* Items that are tools: their names, and the members that are their arguments. */
static const struct codex_app_tool_item {
    const char *type, *name;
    const char *const *args;
} tool_kinds[] = {
    {"commandExecution", "shell", (const char *const[]){"command", "cwd", NULL}},
    {"fileChange", "apply_patch", (const char *const[]){"changes", NULL}},
    {"webSearch", "web_search", (const char *const[]){"query", "action", NULL}},
    {"collabAgentToolCall", NULL, (const char *const[]){"prompt", "receiverThreadIds", NULL}},
    {"mcpToolCall", NULL, NULL},
    {"dynamicToolCall", NULL, NULL},
};

static char *codex_app_item_item_text(const struct codex_app_line *call, const char *key)
{
    return codex_app_text(call, value_get_last(call->item, key));
}

static bool is_completed(const struct codex_app_line *call)
{
    return value_equals(call->method, "item/completed");
}

static void codex_app_item_set(struct buf *to, const char *text, size_t len)
{
    buf_reset(to);
    buf_add(to, text, len);
}

static void codex_app_item_send_text(const struct codex_app_line *call, enum tc_kind kind,
                                     const char *text, size_t len, const char *id)
{
    struct event ev;
    if (!len)
        return;
    event_init_text(&ev, kind, text, len, id);
    codex_app_emit(call, &ev);
}

static void codex_app_item_read_delta(const struct codex_app_line *call, enum tc_kind kind)
{
    struct codex_app *const c = call->c;
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->params, "delta"), &len);
    const char *const id = codex_app_get_param(call, "itemId");
    codex_app_item_send_text(call, kind, text, len, id);
    if (!id || !len)
        return;
    if (!c->streamed_id.len || strcmp(c->streamed_id.p, id) != 0)
        buf_reset(&c->streamed);
    codex_app_item_set(&c->streamed_id, id, strlen(id));
    buf_add(&c->streamed, text, len);
}

void codex_app_handle_text_delta(const struct codex_app_line *call)
{
    codex_app_item_read_delta(call, TC_NARRATION);
}

void codex_app_handle_thought_delta(const struct codex_app_line *call)
{
    codex_app_item_read_delta(call, TC_THINKING);
}

void codex_app_handle_output_delta(const struct codex_app_line *call)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = codex_app_get_param(call, "itemId");
    ev.u.progress.phase = "running";
    ev.u.progress.output = value_text(call->out->scratch, value_get_last(call->params, "delta"),
                                      &ev.u.progress.output_len);
    codex_app_emit(call, &ev);
}

/* Emits the part of the text that the deltas lack; if the deltas differ from the complete text,
 * they are kept: the message event has the correct text. */
static void codex_app_item_emit_rest(const struct codex_app_line *call, enum tc_kind kind,
                                     const char *text, size_t len, const char *id)
{
    const struct codex_app *const c = call->c;
    const bool same = id && c->streamed_id.len && strcmp(c->streamed_id.p, id) == 0;
    const size_t told = same ? c->streamed.len : 0;
    if (told <= len && (!told || memcmp(text, c->streamed.p, told) == 0))
        codex_app_item_send_text(call, kind, text + told, len - told, id);
}

static void codex_app_item_read_message(const struct codex_app_line *call)
{
    struct codex_app *const c = call->c;
    struct event ev;
    size_t len = 0;
    const char *const text =
        value_text(call->out->scratch, value_get_last(call->item, "text"), &len);
    const char *const id = codex_app_item_item_text(call, "id");
    if (!is_completed(call) || !len)
        return;
    codex_app_item_emit_rest(call, TC_NARRATION, text, len, id);
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "assistant";
    ev.u.message.text = text;
    ev.u.message.text_len = len;
    ev.u.message.message_id = id;
    codex_app_emit(call, &ev);
    if (call->agent)
        return;
    /* Commentary is never the answer; a message without a phase is, unless something follows it. */
    const bool commentary = value_equals(value_get_last(call->item, "phase"), "commentary");
    codex_app_item_set(&c->answer, text, commentary ? 0 : len);
    codex_app_item_set(&c->answer_id, id ? id : "", id ? strlen(id) : 0);
}

static void codex_app_item_read_reasoning(const struct codex_app_line *call)
{
    size_t len = 0;
    struct str list = value_get_last(call->item, "summary");
    if (!is_completed(call))
        return;
    const char *text = value_join_texts(call->out->scratch, list, "\n\n", &len);
    if (!len)
        text = value_join_texts(call->out->scratch, value_get_last(call->item, "content"), "\n\n",
                                &len);
    codex_app_item_emit_rest(call, TC_THINKING, text, len, codex_app_item_item_text(call, "id"));
}

static void codex_app_item_read_user(const struct codex_app_line *call)
{
    struct event ev;
    if (!is_completed(call))
        return;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "user";
    ev.u.message.message_id = codex_app_item_item_text(call, "id");
    ev.u.message.text = value_join_texts(call->out->scratch, value_get_last(call->item, "content"),
                                         "\n", &ev.u.message.text_len);
    codex_app_emit(call, &ev);
}

static const char *codex_app_item_tool_name(const struct codex_app_line *call,
                                            const struct codex_app_tool_item *kind)
{
    const char *const tool = codex_app_item_item_text(call, "tool");
    const char *const server = codex_app_item_item_text(call, "server");
    if (kind->name)
        return kind->name;
    if (server)
        return arena_sprintf(call->out->scratch, "mcp__%s__%s", server, tool ? tool : "tool");
    return tool ? tool : kind->type;
}

/* Kept for a request that may follow, which does not repeat it. */
static void codex_app_item_store_change(struct open_calls *changes, const char *id,
                                        const struct tc_tool_call *tc)
{
    if (tc->args_len > CODEX_APP_CHANGE_MAX)
        return;
    if (changes->n == CODEX_APP_CHANGES)
        open_calls_remove(changes, changes->ids[0]);
    open_calls_add(changes, id, tc->args);
}

static void codex_app_item_emit_call(const struct codex_app_line *call,
                                     const struct codex_app_tool_item *kind, const char *id)
{
    struct event ev;
    struct tc_tool_call *const tc = &ev.u.tool_call;
    const struct str read_only = value_get_last(call->item, "readOnlyHint");
    event_init(&ev, TC_TOOL_CALL);
    tc->tool_use_id = id;
    tc->name = codex_app_item_tool_name(call, kind);
    tc->read_only = read_only.p ? value_is_true(read_only) : -1;
    if (kind->args)
        tc->args = value_copy_members(call->out->scratch, call->item, kind->args, &tc->args_len);
    else
        tool_args_parse(call->out->scratch, tc, value_get_last(call->item, "arguments"));
    open_calls_add(&call->c->open, id, tc->name);
    if (strcmp(kind->type, "fileChange") == 0)
        codex_app_item_store_change(&call->c->changes, id, tc);
    codex_app_emit(call, &ev);
}

static void codex_app_item_set_content(const struct codex_app_line *call,
                                       struct tc_tool_result *result)
{
    struct arena *const a = call->out->scratch;
    struct str output = {0}, answer = {0}, error = {0}, items = {0};
    const struct value_row rows[] = {{"aggregatedOutput", &output},
                                     {"result", &answer},
                                     {"error", &error},
                                     {"contentItems", &items}};
    value_get_members(call->item, VALUE_ROWS(rows));
    const struct str content = value_get_last(answer, "content");
    const struct str structured = value_get_last(answer, "structuredContent");
    const struct str message = value_get_last(error, "message");
    if (output.p)
        result->content = value_text_or_json(a, output, &result->content_len);
    else if (content.p || items.p)
        result->content =
            value_join_texts(a, content.p ? content : items, "\n", &result->content_len);
    else if (error.p)
        result->content = value_text_or_json(a, message.p ? message : error, &result->content_len);
    if (structured.p)
        result->structured = value_json(a, structured, NULL);
}

static void codex_app_item_emit_result(const struct codex_app_line *call,
                                       const struct codex_app_tool_item *kind, const char *id)
{
    static const char *const told[] = {
        "id",     "type",    "status", "aggregatedOutput", "arguments",   "result",        "tool",
        "server", "command", "cwd",    "durationMs",       "startedAtMs", "completedAtMs", NULL};
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    const struct str status = value_get_last(call->item, "status");
    const bool denied = value_equals(status, "declined");
    event_init(&ev, TC_TOOL_RESULT);
    result->tool_use_id = id;
    result->name = codex_app_item_tool_name(call, kind);
    result->is_error = denied || value_equals(status, "failed");
    result->outcome = denied ? "denied" : result->is_error ? "failed" : "succeeded";
    result->duration_ms = value_real(value_get_last(call->item, "durationMs"), -1);
    codex_app_item_set_content(call, result);
    ev.meta.x = value_extra_except(call->out->scratch, call->item, told);
    codex_app_emit(call, &ev);
}

static void codex_app_item_read_tool(const struct codex_app_line *call,
                                     const struct codex_app_tool_item *kind)
{
    struct codex_app *const c = call->c;
    const char *const id = codex_app_item_item_text(call, "id");
    if (!id) {
        codex_app_raw(call);
        return;
    }
    if (!open_calls_contains(&c->open, id)) {
        if (!call->agent)
            buf_reset(&c->answer); /* text before a tool call is narration */
        codex_app_item_emit_call(call, kind, id);
    }
    if (is_completed(call)) {
        open_calls_remove(&c->open, id);
        open_calls_remove(&c->changes, id);
        codex_app_item_emit_result(call, kind, id);
    }
}

void codex_app_handle_item(const struct codex_app_line *call)
{
    const struct str type = value_get_last(call->item, "type");
    for (size_t i = 0; i < sizeof(tool_kinds) / sizeof(tool_kinds[0]); i++)
        if (value_equals(type, tool_kinds[i].type)) {
            codex_app_item_read_tool(call, &tool_kinds[i]);
            return;
        }
    if (value_equals(type, "agentMessage"))
        codex_app_item_read_message(call);
    else if (value_equals(type, "reasoning"))
        codex_app_item_read_reasoning(call);
    else if (value_equals(type, "userMessage"))
        codex_app_item_read_user(call);
    else
        codex_app_raw(call);
}
