/* SPDX-License-Identifier: MIT
 * Reads `codex exec --json`: threads of items, whole when they are complete, no deltas. A message
 * is the answer if the turn ends after it, otherwise narration. */
#include "base/bytes/buf.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"

struct codex {
    struct buf answer;     /* text of the newest message */
    struct buf message_id; /* and its item */
    struct open_calls open;
};

/* Members of a line. */
struct codex_line {
    struct str type, thread_id, item, usage, message, error;
    struct str kind, text, status, output, exit_code, tool, server, arguments, result;
};

struct codex_call {
    struct codex *codex;
    const struct dialect_sink *out;
    const struct codex_line *line;
    const char *id; /* of the item */
};

/* Items that are tools: their names, and the members that are their arguments. */
static const struct codex_tool_item {
    const char *type, *name;
    const char *const *args;
} tool_kinds[] = {
    {"command_execution", "shell", (const char *const[]){"command", NULL}},
    {"file_change", "apply_patch", (const char *const[]){"changes", NULL}},
    {"web_search", "web_search", (const char *const[]){"query", "action", NULL}},
    {"collab_tool_call", NULL, (const char *const[]){"prompt", "receiver_thread_ids", NULL}},
    {"mcp_tool_call", NULL, NULL},
};

static void codex_store_answer(struct codex *c, const char *id, const char *text, size_t len)
{
    buf_reset(&c->answer);
    buf_add(&c->answer, text, len);
    buf_reset(&c->message_id);
    buf_add_str(&c->message_id, id);
}

static void codex_emit_start(const struct dialect_sink *out, const char *thread_id)
{
    struct event ev;
    event_init(&ev, TC_START);
    ev.meta.session_id = thread_id ? thread_id : "";
    ev.u.start.thread_id = thread_id;
    dialect_emit_draft(out, &ev);
}

static void codex_read_message(const struct codex_call *call)
{
    size_t len = 0;
    const char *const text = value_text(call->out->scratch, call->line->text, &len);
    if (!len)
        return;
    dialect_emit_narration(call->out, text, len, call->id);
    dialect_emit_message(call->out, text, len, call->id);
    codex_store_answer(call->codex, call->id, text, len);
}

static void codex_read_reasoning(const struct codex_call *call)
{
    size_t len = 0;
    const char *const text = value_text(call->out->scratch, call->line->text, &len);
    dialect_emit_thinking(call->out, text, len, call->id);
}

static void codex_read_plan(const struct codex_call *call)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = "activity";
    ev.u.state.op = "snapshot";
    ev.u.state.activity_type = "plan";
    ev.u.state.key = call->id;
    ev.u.state.value =
        value_json(call->out->scratch, value_get_last(call->line->item, "items"), NULL);
    dialect_emit_draft(call->out, &ev);
}

static const char *message_of(const struct codex_call *call)
{
    const char *const text = value_text(call->out->scratch, call->line->message, NULL);
    return text ? text : "";
}

static const char *codex_tool_name(const struct codex_call *call,
                                   const struct codex_tool_item *kind)
{
    struct arena *const a = call->out->scratch;
    const char *const tool = value_text(a, call->line->tool, NULL);
    const char *const server = value_text(a, call->line->server, NULL);
    if (kind->name)
        return kind->name;
    if (server)
        return arena_sprintf(a, "mcp__%s__%s", server, tool ? tool : "tool");
    return tool ? tool : kind->type;
}

/* A web search has two ids: that of the item, and that of the provider. */
static const char *second_id(const struct codex_call *call)
{
    const char *const last =
        value_text(call->out->scratch, value_get_last(call->line->item, "id"), NULL);
    return last && strcmp(last, call->id) != 0 ? last : NULL;
}

static void codex_emit_call(const struct codex_call *call, const struct codex_tool_item *kind)
{
    struct event ev;
    struct tc_tool_call *const tc = &ev.u.tool_call;
    event_init(&ev, TC_TOOL_CALL);
    ev.meta.id = second_id(call);
    tc->tool_use_id = call->id;
    tc->name = codex_tool_name(call, kind);
    if (kind->args)
        tc->args =
            value_copy_members(call->out->scratch, call->line->item, kind->args, &tc->args_len);
    else
        tool_args_parse(call->out->scratch, tc, call->line->arguments);
    open_calls_add(&call->codex->open, call->id, tc->name);
    dialect_emit_draft(call->out, &ev);
}

/* Joins the text parts of an MCP result. */
static char *result_text(struct arena *a, struct str result, size_t *len)
{
    const struct str content = value_get_last(result, "content");
    CLEANUP_BUF struct buf joined = {0};
    struct json j;
    struct str part;
    if (!json_reader_open_array(&j, content))
        return value_text_or_json(a, result, len);
    while (json_reader_next_value(&j, &part)) {
        const struct str text = value_get_last(part, "text");
        size_t n = 0;
        const char *const shown = value_text_or_json(a, text.p ? text : part, &n);
        if (joined.len)
            buf_add_char(&joined, '\n');
        buf_add(&joined, shown, n);
    }
    *len = joined.len;
    return arena_strndup(a, joined.p ? joined.p : "", joined.len);
}

static void codex_set_content(const struct codex_call *call, struct tc_tool_result *result)
{
    struct arena *const a = call->out->scratch;
    const struct codex_line *const l = call->line;
    if (l->output.p)
        result->content = value_text_or_json(a, l->output, &result->content_len);
    else if (l->result.p)
        result->content = result_text(a, l->result, &result->content_len);
    else if (l->error.p)
        result->content = value_text_or_json(a, l->error, &result->content_len);
}

/* For a result that is text, only the text is kept; structured results are kept unchanged. */
static void set_structured(const struct codex_call *call, struct tc_tool_result *result)
{
    const struct str structured = value_get_last(call->line->result, "structured_content");
    if (structured.p)
        result->structured = value_json(call->out->scratch, structured, NULL);
}

static void codex_emit_result(const struct codex_call *call, const struct codex_tool_item *kind)
{
    static const char *const told[] = {"id",     "type", "status", "aggregated_output", "arguments",
                                       "result", "tool", "server", "command",           NULL};
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    if (!open_calls_remove(&call->codex->open, call->id)) {
        codex_emit_call(call, kind);
        open_calls_remove(&call->codex->open, call->id);
    }
    event_init(&ev, TC_TOOL_RESULT);
    result->tool_use_id = call->id;
    result->name = codex_tool_name(call, kind);
    result->is_error =
        value_equals(call->line->status, "failed") || value_equals(call->line->status, "declined");
    result->outcome = value_equals(call->line->status, "declined") ? "denied"
                      : result->is_error                           ? "failed"
                                                                   : "succeeded";
    codex_set_content(call, result);
    set_structured(call, result);
    ev.meta.id = second_id(call);
    ev.meta.x = value_extra_except(call->out->scratch, call->line->item, told);
    dialect_emit_draft(call->out, &ev);
}

static void codex_emit_progress(const struct codex_call *call, const struct codex_tool_item *kind)
{
    static const char *const told[] = {"id",     "type",    "arguments", "tool",
                                       "server", "command", NULL};
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = call->id;
    ev.u.progress.name = codex_tool_name(call, kind);
    ev.u.progress.phase = "running";
    ev.meta.x = value_extra_except(call->out->scratch, call->line->item, told);
    dialect_emit_draft(call->out, &ev);
}

/* Text before a tool call is narration; the end of a background tool after the answer changes
 * nothing. */
static void codex_read_tool(const struct codex_call *call, const struct codex_tool_item *kind)
{
    struct codex *const c = call->codex;
    const bool open = open_calls_contains(&c->open, call->id);
    if (!open)
        buf_reset(&c->answer);
    if (value_equals(call->line->type, "item.completed"))
        codex_emit_result(call, kind);
    else if (open)
        codex_emit_progress(call, kind);
    else
        codex_emit_call(call, kind);
}

static const struct codex_tool_item *tool_kind_find(struct str type)
{
    for (size_t i = 0; i < sizeof(tool_kinds) / sizeof(tool_kinds[0]); i++)
        if (value_equals(type, tool_kinds[i].type))
            return &tool_kinds[i];
    return NULL;
}

static void codex_read_item(const struct codex_call *call)
{
    const struct str kind = call->line->kind;
    const bool completed = value_equals(call->line->type, "item.completed");
    const struct codex_tool_item *const tool = tool_kind_find(kind);
    if (tool)
        codex_read_tool(call, tool);
    else if (value_equals(kind, "todo_list"))
        codex_read_plan(call);
    else if (value_equals(kind, "agent_message") && completed)
        codex_read_message(call);
    else if (value_equals(kind, "reasoning") && completed)
        codex_read_reasoning(call);
    else if (value_equals(kind, "error"))
        dialect_emit_notice(call->out, "warn", "warning", message_of(call), NULL);
    else
        dialect_emit_raw(call->out, "codex", call->line->item,
                         value_text(call->out->scratch, kind, NULL));
}

static void codex_emit_usage(const struct codex_call *call)
{
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    struct str input = {0}, output = {0}, cached = {0}, written = {0}, reasoning = {0};
    const struct value_row rows[] = {{"input_tokens", &input},
                                     {"output_tokens", &output},
                                     {"cached_input_tokens", &cached},
                                     {"cache_write_input_tokens", &written},
                                     {"reasoning_output_tokens", &reasoning}};
    value_get_members(call->line->usage, VALUE_ROWS(rows));
    event_init(&ev, TC_USAGE);
    u->scope = "turn";
    u->input_tokens = value_int(input, -1);
    u->output_tokens = value_int(output, -1);
    u->cache_read_tokens = value_int(cached, -1);
    u->cache_write_tokens = value_int(written, -1);
    u->reasoning_tokens = value_int(reasoning, -1);
    u->cache_counted = 1;
    u->is_error = 0;
    dialect_emit_draft(call->out, &ev);
}

static void codex_read_completed(const struct codex_call *call)
{
    const struct codex *const c = call->codex;
    dialect_emit_final(call->out, c->answer.p, c->answer.len, c->message_id.p);
    if (call->line->usage.p)
        codex_emit_usage(call);
    dialect_emit_done(call->out, "completed", NULL);
}

static void codex_read_failed(const struct codex_call *call)
{
    const struct str message = value_get_last(call->line->error, "message");
    const char *const text = value_text_or_json(call->out->scratch, message, NULL);
    dialect_emit_error(call->out, text ? text : "The turn failed without an error message.", NULL);
    dialect_emit_done(call->out, "error", NULL);
}

/* A single error precedes a retry; the failure itself is turn.failed. */
static void codex_read_error(const struct codex_call *call)
{
    const char *const text = message_of(call);
    const bool retry = strncmp(text, "Reconnecting...", 15) == 0;
    dialect_emit_notice(call->out, "warn", retry ? "retry" : "error", text, NULL);
}

static void codex_dispatch(const struct codex_call *call, const char *line, size_t len)
{
    const struct codex_line *const l = call->line;
    if (value_equals(l->type, "thread.started"))
        codex_emit_start(call->out, value_text(call->out->scratch, l->thread_id, NULL));
    else if (l->item.p && call->id)
        codex_read_item(call);
    else if (value_equals(l->type, "turn.completed"))
        codex_read_completed(call);
    else if (value_equals(l->type, "turn.failed"))
        codex_read_failed(call);
    else if (value_equals(l->type, "error"))
        codex_read_error(call);
    else if (!value_equals(l->type, "turn.started"))
        dialect_emit_raw(call->out, "codex", (struct str){line, len},
                         value_text(call->out->scratch, l->type, NULL));
}

static int codex_read_line(void *state, const struct dialect_sink *out, const char *line,
                           size_t len)
{
    struct codex_line l = {0};
    const struct value_row rows[] = {{"type", &l.type},       {"thread_id", &l.thread_id},
                                     {"item", &l.item},       {"usage", &l.usage},
                                     {"message", &l.message}, {"error", &l.error}};
    const struct value_row item_rows[] = {
        {"type", &l.kind},           {"text", &l.text},
        {"status", &l.status},       {"aggregated_output", &l.output},
        {"tool", &l.tool},           {"server", &l.server},
        {"arguments", &l.arguments}, {"result", &l.result},
        {"message", &l.message},     {"error", &l.error}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    value_get_members(l.item, VALUE_ROWS(item_rows));
    codex_dispatch(
        &(struct codex_call){.codex = state,
                             .out = out,
                             .line = &l,
                             .id = value_text(out->scratch, value_get_first(l.item, "id"), NULL)},
        line, len);
    return 0;
}

static void codex_close_state(void *state)
{
    struct codex *const c = state;
    buf_fini(&c->answer);
    buf_fini(&c->message_id);
    open_calls_fini(&c->open);
}

static int codex_sniff_line(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    if (value_equals(type, "thread.started") || value_equals(type, "turn.started"))
        return DIALECT_SCORE_CERTAIN;
    return value_string(value_get_last(value_get_last(line, "item"), "type")).p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_codex = {
    .name = "codex",
    .summary = "codex exec --json",
    .counts_session = true, /* codex exec resume, 0.169.0: 200 tokens, then 300 */
    .state_size = sizeof(struct codex),
    .sniff = codex_sniff_line,
    .line = codex_read_line,
    .close = codex_close_state,
};
