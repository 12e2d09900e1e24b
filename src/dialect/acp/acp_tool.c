/* SPDX-License-Identifier: MIT
 * Tool calls of an ACP stream. Agents start a call in different ways: complete, without arguments,
 * with a permission request, or only with updates; the call is emitted when it is complete. */
#include <stdlib.h>

#include "base/alloc.h"
#include "dialect/acp/acp.h"
#include "dialect/reader/tool_args.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* Members of a call, of an update or of the toolCall of a request. */
struct facts {
    struct str self, id, name, title, kind, status, input, output, content, meta;
};

static struct facts read_facts(struct str value)
{
    struct facts f = {.self = value};
    const struct value_row rows[] = {
        {"toolCallId", &f.id},   {"name", &f.name},        {"title", &f.title},
        {"kind", &f.kind},       {"status", &f.status},    {"rawInput", &f.input},
        {"content", &f.content}, {"rawOutput", &f.output}, {"_meta", &f.meta}};
    value_get_members(value, VALUE_ROWS(rows));
    return f;
}

void acp_tool_fini(struct acp_tool *tool)
{
    free(tool->id);
    free(tool->name);
    free(tool->request_id);
    free(tool->input);
    buf_fini(&tool->output);
    *tool = (struct acp_tool){0};
}

static struct acp_tool *acp_tool_find_tool(struct acp *a, const char *id)
{
    for (size_t i = 0; i < ACP_CALLS; i++)
        if (a->tools[i].id && strcmp(a->tools[i].id, id) == 0)
            return &a->tools[i];
    return NULL;
}

static struct acp_tool *oldest_slot(struct acp *a)
{
    struct acp_tool *oldest = &a->tools[0];
    for (size_t i = 0; i < ACP_CALLS; i++) {
        if (!a->tools[i].id)
            return &a->tools[i];
        if (a->tools[i].number < oldest->number)
            oldest = &a->tools[i];
    }
    return oldest;
}

/* The kind names the tool if nothing else does. The title may be written by the model, and is used
 * only without a kind, and if it is one word. */
static char *acp_tool_name_of(const struct acp_line *call, const struct facts *f, bool *titled)
{
    char *const title = acp_text(call, f->title);
    *titled = false;
    if (f->name.p)
        return acp_text(call, f->name);
    *titled = (!f->kind.p || value_equals(f->kind, "other")) && title && !strpbrk(title, " \t\n");
    return *titled ? title : acp_text(call, f->kind);
}

/* Whether the model's arguments are still missing: there are only members added by the agent. */
static bool acp_tool_is_bare(struct str input)
{
    struct json j;
    struct str key;
    if (!json_reader_open_object(&j, input))
        return !input.p;
    while (json_reader_next_key(&j, &key)) {
        json_reader_skip(&j, NULL);
        if (!str_is(key, "cwd"))
            return false;
    }
    return true;
}

/* Finds the tool call, or adds it. */
static struct acp_tool *enter_tool(const struct acp_line *call, const struct facts *f)
{
    const char *const id = acp_text(call, f->id);
    bool titled;
    const char *const name = acp_tool_name_of(call, f, &titled);
    struct acp_tool *tool = acp_tool_find_tool(call->a, id ? id : "");
    if (!tool) {
        tool = oldest_slot(call->a);
        acp_tool_fini(tool);
        *tool = (struct acp_tool){.id = xstrdup(id ? id : ""), .number = call->a->calls++};
    }
    if (name && !tool->name) {
        tool->name = xstrdup(name);
        tool->titled = titled;
    }
    if (!acp_tool_is_bare(f->input) && f->input.len <= ACP_INPUT_MAX) {
        free(tool->input);
        tool->input = xstrndup(f->input.p, f->input.len);
    }
    return tool;
}

static void acp_tool_emit_call(const struct acp_line *call, struct acp_tool *tool,
                               const struct facts *f)
{
    static const char *const told[] = {"sessionUpdate", "toolCallId", "name",    "status",
                                       "rawInput",      "rawOutput",  "content", NULL};
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.tool_use_id = tool->id;
    ev.u.tool_call.name = tool->name ? tool->name : "tool";
    tool_args_parse(call->out->scratch, &ev.u.tool_call, f->input);
    ev.meta.x = value_extra_except(call->out->scratch, f->self, told);
    tool->told = true;
    acp_emit(call, &ev);
}

static void acp_tool_emit_preparing(const struct acp_line *call, const struct acp_tool *tool)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = tool->id;
    ev.u.progress.name = tool->name;
    ev.u.progress.phase = "preparing";
    acp_emit(call, &ev);
}

/* Text before a tool call is narration. */
static void acp_tool_end_text(const struct acp_line *call)
{
    acp_complete_message(call->a, call->out);
    buf_reset(&call->a->answer);
}

void acp_handle_tool_call(const struct acp_line *call)
{
    const struct facts f = read_facts(call->update);
    acp_tool_end_text(call);
    struct acp_tool *const tool = enter_tool(call, &f);
    if (value_equals(f.status, "pending") && acp_tool_is_bare(f.input))
        acp_tool_emit_preparing(call, tool);
    else
        acp_tool_emit_call(call, tool, &f);
    if (value_equals(f.status, "completed") || value_equals(f.status, "failed"))
        acp_handle_tool_update(call);
}

/* Joins the text parts of the content; *other: there were other parts. */
static char *content_text(const struct acp_line *call, struct str content, size_t *len, bool *other)
{
    CLEANUP_BUF struct buf joined = {0};
    struct json j;
    struct str part;
    json_reader_open_array(&j, content);
    while (json_reader_next_value(&j, &part)) {
        size_t n = 0;
        const char *const text = value_text(
            call->out->scratch, value_get_last(value_get_last(part, "content"), "text"), &n);
        *other |= !text;
        if (joined.len && n)
            buf_add_char(&joined, '\n');
        buf_add(&joined, text, n);
    }
    *len = joined.len;
    return arena_strndup(call->out->scratch, joined.p ? joined.p : "", joined.len);
}

/* New output in this update: content is complete each time, terminal output is incremental. */
static const char *new_output(const struct acp_line *call, struct acp_tool *tool,
                              const struct facts *f, size_t *len)
{
    bool other = false;
    const char *text =
        value_text(call->out->scratch,
                   value_get_last(value_get_last(f->meta, "terminal_output_delta"), "data"), len);
    if (!text) {
        text = content_text(call, f->content, len, &other);
        const size_t had = tool->output.len;
        if (*len >= had && (!had || memcmp(text, tool->output.p, had) == 0)) {
            text += had;
            *len -= had;
        } else {
            buf_reset(&tool->output);
        }
    }
    if (tool->output.len + *len <= ACP_OUTPUT_MAX)
        buf_add(&tool->output, text, *len);
    return text;
}

static void acp_tool_emit_progress(const struct acp_line *call, struct acp_tool *tool,
                                   const struct facts *f)
{
    struct event ev;
    struct tc_progress *const p = &ev.u.progress;
    event_init(&ev, TC_PROGRESS);
    p->tool_use_id = tool->id;
    p->name = tool->name;
    p->phase = "running";
    p->output = new_output(call, tool, f, &p->output_len);
    if (!p->output_len)
        p->output = NULL;
    p->message = p->output ? NULL : acp_text(call, f->title);
    acp_emit(call, &ev);
}

static void acp_tool_emit_resolved(const struct acp_line *call, struct acp_tool *tool,
                                   const char *decision)
{
    struct event ev;
    if (!tool->request_id)
        return;
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = tool->request_id;
    ev.u.request.kind = "approval";
    ev.u.request.state = "resolved";
    ev.u.request.tool_use_id = tool->id;
    ev.u.request.decision = decision;
    acp_emit(call, &ev);
    free(tool->request_id);
    tool->request_id = NULL;
}

/* A call that failed directly after the permission request was denied, unless it reports another
 * failure. */
static bool acp_tool_was_denied(const struct acp_tool *tool, const struct facts *f)
{
    const struct str code = value_get_last(f->output, "code");
    if (code.p)
        return value_equals(code, "rejected") || value_equals(code, "denied");
    return tool->asked && !tool->output.len && !value_get_last(f->output, "exit_code").p;
}

static void acp_tool_set_content(const struct acp_line *call, struct acp_tool *tool,
                                 const struct facts *f, struct tc_tool_result *result)
{
    static const char *const members[] = {"content", "output", "error", "message"};
    bool other = false;
    result->content = content_text(call, f->content, &result->content_len, &other);
    struct str shown = value_string(f->output).p ? f->output : (struct str){0};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !shown.p; i++)
        shown = value_get_last(f->output, members[i]);
    if (!result->content_len && shown.p)
        result->content = value_text_or_json(call->out->scratch, shown, &result->content_len);
    if (!result->content_len && tool->output.len) {
        result->content = tool->output.p;
        result->content_len = tool->output.len;
    }
    if (f->output.p && !value_string(f->output).p)
        result->structured = value_json(call->out->scratch, f->output, NULL);
}

static void acp_tool_emit_result(const struct acp_line *call, struct acp_tool *tool,
                                 const struct facts *f)
{
    static const char *const told[] = {"sessionUpdate", "toolCallId", "name",    "status", "kind",
                                       "rawInput",      "rawOutput",  "content", NULL};
    static const char *const with_content[] = {"sessionUpdate", "toolCallId", "name",      "status",
                                               "kind",          "rawInput",   "rawOutput", NULL};
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    bool other = false;
    size_t len, added;
    event_init(&ev, TC_TOOL_RESULT);
    content_text(call, f->content, &len, &other);
    const bool denied = value_equals(f->status, "failed") && acp_tool_was_denied(tool, f);
    if (value_get_last(f->meta, "terminal_output_delta").p)
        new_output(call, tool, f, &added);
    result->tool_use_id = tool->id;
    result->name = tool->name;
    result->is_error = value_equals(f->status, "failed");
    result->outcome = denied ? "denied" : result->is_error ? "failed" : "succeeded";
    acp_tool_set_content(call, tool, f, result);
    ev.meta.x = value_extra_except(call->out->scratch, f->self, other ? with_content : told);
    acp_tool_emit_resolved(call, tool, denied ? "deny" : "allow");
    call->a->denied = denied;
    acp_emit(call, &ev);
    acp_tool_fini(tool);
}

void acp_handle_tool_update(const struct acp_line *call)
{
    const struct facts f = read_facts(call->update);
    const bool over = value_equals(f.status, "completed") || value_equals(f.status, "failed");
    struct acp_tool *const tool = enter_tool(call, &f);
    if (!tool->told &&
        (over || !acp_tool_is_bare(f.input) || value_equals(f.status, "in_progress")))
        acp_tool_emit_call(call, tool, &f);
    else if (!over)
        acp_tool_emit_progress(call, tool, &f);
    if (over) {
        acp_tool_emit_result(call, tool, &f);
        return;
    }
    if (value_equals(f.status, "in_progress")) {
        tool->asked = false;
        acp_tool_emit_resolved(call, tool, "allow");
    }
}

/* --- permission requests ---------------------------------------------------------------------- */

/* The parts of the content that are file changes, as a list; the path of the first. */
static size_t find_changes(const struct acp_line *call, struct str content, struct buf *list,
                           struct str *path)
{
    static const char *const told[] = {"path", "oldText", "newText", NULL};
    size_t n = 0;
    struct json j;
    struct str part;
    if (!json_reader_open_array(&j, content))
        return 0;
    while (json_reader_next_value(&j, &part)) {
        if (!value_equals(value_get_last(part, "type"), "diff"))
            continue;
        if (n++ == 0)
            *path = value_get_last(part, "path");
        buf_add_str(list, n > 1 ? "," : "");
        buf_add_str(list, value_copy_members(call->out->scratch, part, told, NULL));
    }
    return n;
}

/* The title of this agent is the command itself; titles of others are written by the model. */
static bool has_command_as_title(const struct acp_line *call, const struct facts *f)
{
    const struct buf *const agent = &call->a->agent;
    return agent->len && strcmp(agent->p, "gemini-cli") == 0 && value_equals(f->kind, "execute") &&
           value_string(f->title).p;
}

static const char *subject_in(const struct acp_line *call, struct str input)
{
    static const char *const members[] = {"command",  "path",     "filePath", "file_path",
                                          "filepath", "fileName", "url"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct str value = value_get_last(input, members[i]);
        if (value.p)
            return value_text_or_json(call->out->scratch, value, NULL);
    }
    return NULL;
}

/* The subject is the command or the change itself, never the model's description, which is the
 * message. */
static void set_subject(const struct acp_line *call, const struct acp_tool *tool,
                        const struct facts *f, struct tc_request *r)
{
    CLEANUP_BUF struct buf list = {0};
    struct arena *const a = call->out->scratch;
    struct str path = {0};
    if (tool->input || !acp_tool_is_bare(f->input)) {
        const struct str input =
            acp_tool_is_bare(f->input) ? (struct str){tool->input, strlen(tool->input)} : f->input;
        r->args = value_json(a, input, NULL);
        r->subject = subject_in(call, input);
        return;
    }
    const size_t changes = find_changes(call, f->content, &list, &path);
    if (changes) {
        r->args =
            changes == 1 ? arena_strdup(a, list.p) : arena_sprintf(a, "{\"changes\":[%s]}", list.p);
        r->subject = acp_text(call, path);
        if (r->subject && changes > 1)
            r->subject = arena_sprintf(a, "%s and %zu more", r->subject, changes - 1);
    } else if (has_command_as_title(call, f)) {
        buf_add_char(&list, '{');
        jsonw_member_str(&list, "command", acp_text(call, f->title));
        buf_add_char(&list, '}');
        r->args = arena_strdup(a, list.p);
        r->subject = acp_text(call, f->title);
    }
}

void acp_handle_permission(const struct acp_line *call)
{
    static const char *const told[] = {"sessionId", NULL};
    struct event ev;
    struct tc_request *const r = &ev.u.request;
    const struct facts f = read_facts(value_get_last(call->params, "toolCall"));
    acp_tool_end_text(call);
    struct acp_tool *const tool = enter_tool(call, &f);
    if (!tool->told)
        acp_tool_emit_call(call, tool, &f);
    event_init(&ev, TC_REQUEST);
    const char *const id = value_text_or_json(call->out->scratch, call->id, NULL);
    r->request_id = id ? id : "";
    r->kind = "approval";
    r->state = "open";
    r->tool_use_id = tool->id;
    r->tool = tool->titled ? "other" : tool->name; /* approval rules use it */
    set_subject(call, tool, &f, r);
    r->message = acp_text(call, f.title);
    r->blocking = true;
    ev.meta.x = value_extra_except(call->out->scratch, call->params, told);
    acp_emit(call, &ev);
    free(tool->request_id);
    tool->request_id = xstrdup(r->request_id);
    tool->asked = true;
}

void acp_handle_cancel(const struct acp_line *call)
{
    const char *const id =
        value_text_or_json(call->out->scratch, value_get_last(call->params, "requestId"), NULL);
    for (size_t i = 0; i < ACP_CALLS && id; i++) {
        struct acp_tool *const tool = &call->a->tools[i];
        if (tool->request_id && strcmp(tool->request_id, id) == 0) {
            acp_tool_emit_resolved(call, tool, "cancelled");
            return;
        }
    }
    acp_emit_raw(call);
}

void acp_settle_tools(const struct acp_line *call)
{
    const struct facts none = {0};
    for (size_t i = 0; i < ACP_CALLS; i++)
        if (call->a->tools[i].id && !call->a->tools[i].told)
            acp_tool_emit_call(call, &call->a->tools[i], &none);
}
