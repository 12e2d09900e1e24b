/* SPDX-License-Identifier: MIT
 * Tool calls being composed, complete calls, results. */
#include "dialect/claude/claude.h"

#include "event/json/json_writer.h"

static void claude_tool_emit_phase(struct claude *c, const struct claude_lane *lane,
                                   const struct claude_block *b, const char *phase)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = b->id.p;
    ev.u.progress.name = b->name.len ? b->name.p : NULL;
    ev.u.progress.phase = phase;
    claude_emit(c, lane, &ev);
}

void claude_tool_preparing(struct claude *c, const struct claude_lane *lane,
                           const struct claude_block *b)
{
    claude_tool_emit_phase(c, lane, b, "preparing");
}

void claude_tool_cancelled(struct claude *c, const struct claude_lane *lane,
                           const struct claude_block *b)
{
    claude_tool_emit_phase(c, lane, b, "cancelled");
}

void claude_tool_args(struct claude *c, const struct claude_lane *lane,
                      const struct claude_block *b, const char *piece, size_t len)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = b->id.p;
    ev.u.progress.name = b->name.len ? b->name.p : NULL;
    ev.u.progress.phase = "args";
    ev.u.progress.args_delta = piece;
    ev.u.progress.args_delta_len = len;
    claude_emit(c, lane, &ev);
}

/* Arguments that are not an object: {"_raw": text}, and the text in args_raw. */
static void set_raw_args(struct claude *c, struct tc_tool_call *call, const char *raw, size_t len)
{
    CLEANUP_BUF struct buf args = {0};
    buf_add_str(&args, "{\"_raw\":");
    jsonw_string(&args, raw, len);
    buf_add_char(&args, '}');
    call->args = arena_strndup(c->out->scratch, args.p, args.len);
    call->args_len = args.len;
    call->args_raw = raw;
    call->args_raw_len = len;
}

/* Claude Code's replacement text for arguments that were not valid JSON. */
static struct str unparsed_input(struct str input)
{
    const struct str wrapper = value_get_last(input, "__unparsedToolInput");
    return value_string(value_get_last(wrapper, "raw"));
}

/* Converts a valid value. */
static void set_args(struct claude *c, struct tc_tool_call *call, struct str input)
{
    if (!input.p || str_is(input, "null"))
        return; /* as set by event_init: {} */
    if (*input.p != '{') {
        size_t len = 0;
        const struct str text = value_string(input);
        const char *const raw = text.p ? claude_unescape(c, text, &len)
                                       : json_reader_compact_dup(c->out->scratch, input, &len);
        set_raw_args(c, call, raw, len);
        return;
    }
    const struct str unparsed = memmem(input.p, input.len < 64 ? input.len : 64, "__unparsed", 10)
                                    ? unparsed_input(input)
                                    : (struct str){0};
    if (unparsed.p) {
        size_t len = 0;
        const char *const raw = claude_unescape(c, unparsed, &len);
        set_raw_args(c, call, raw, len);
        return;
    }
    call->args = json_reader_compact_dup(c->out->scratch, input, &call->args_len);
}

static void claude_tool_emit_call(struct claude *c, const struct claude_lane *lane,
                                  struct event *ev, const char *id, const char *name)
{
    ev->u.tool_call.tool_use_id = id ? id : "";
    ev->u.tool_call.name = name ? name : "";
    ev->u.tool_call.message_id = lane->message.id.p;
    claude_plan_store(c, &ev->u.tool_call);
    claude_emit(c, lane, ev);
}

void claude_tool_call(struct claude *c, const struct claude_lane *lane,
                      const struct claude_content *content, const char *uuid)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    set_args(c, &ev.u.tool_call, content->input);
    ev.meta.id = *uuid ? uuid : NULL;
    claude_tool_emit_call(c, lane, &ev, claude_unescape(c, content->id, NULL),
                          claude_unescape(c, content->name, NULL));
}

void claude_tool_call_streamed(struct claude *c, const struct claude_lane *lane,
                               const struct claude_block *b)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    const struct str streamed = {b->text.p, b->text.len};
    if (!b->text.len)
        set_args(c, &ev.u.tool_call, (struct str){b->input.p, b->input.len});
    else if (value_parse_line(streamed.p, streamed.len, NULL, 0) == 0) /* may be any text */
        set_args(c, &ev.u.tool_call, streamed);
    else
        set_raw_args(c, &ev.u.tool_call, b->text.p, b->text.len);
    claude_tool_emit_call(c, lane, &ev, b->id.p, b->name.p);
}

/* A short description of a part of a result that is not text. */
static void add_placeholder(struct claude *c, struct buf *out, const struct claude_content *part,
                            struct str value)
{
    struct str source = {0}, media = {0}, data = {0}, tool = {0};
    const struct value_row wants[] = {{"source", &source}, {"tool_name", &tool}};
    value_get_members(value, VALUE_ROWS(wants));
    const struct value_row in_source[] = {{"media_type", &media}, {"data", &data}};
    value_get_members(source, VALUE_ROWS(in_source));
    const char *const type = claude_unescape(c, part->type, NULL);
    const char *const what = claude_text(c, media.p ? media : tool);
    buf_printf(out, "[%s", type ? type : "part");
    if (what)
        buf_printf(out, " %s", what);
    if (data.len > 2)
        buf_printf(out, ", %zu bytes", (data.len - 2) / 4 * 3);
    buf_add_char(out, ']');
}

/* Returns whether the list has parts other than text. */
static bool claude_tool_join_parts(struct claude *c, struct buf *out, struct str list)
{
    bool other = false, first = true;
    struct json j;
    json_reader_open_array(&j, list);
    for (; json_reader_next_element(&j); first = false) {
        struct claude_content part;
        claude_content_read(&j, &part);
        if (!first)
            buf_add_char(out, '\n');
        const bool text = str_is(part.type, "text") && part.text.p;
        size_t len = 0;
        const char *const words = text ? claude_unescape(c, part.text, &len) : NULL;
        if (words)
            buf_add(out, words, len);
        else
            add_placeholder(c, out, &part, part.self);
        other |= !text;
    }
    return other;
}

static void claude_tool_set_content(struct claude *c, struct tc_tool_result *result,
                                    struct str content)
{
    const struct str text = value_string(content);
    if (text.p) {
        result->content = claude_unescape(c, text, &result->content_len);
        return;
    }
    struct arena *const a = c->out->scratch;
    if (!content.len || *content.p != '[') {
        if (content.p && !str_is(content, "null"))
            result->content = json_reader_compact_dup(a, content, &result->content_len);
        return;
    }
    CLEANUP_BUF struct buf joined = {0};
    const bool other = claude_tool_join_parts(c, &joined, content);
    result->content = arena_strndup(a, joined.p ? joined.p : "", joined.len);
    result->content_len = joined.len;
    if (other && content.len <= CLAUDE_STRUCTURED_MAX)
        result->structured = json_reader_compact_dup(a, content, NULL);
}

/* Prefixes of results of tools that were not executed, in releases without an explicit mark. */
static const char *const denials[] = {
    "The user doesn't want to proceed with this tool use",
    "Claude requested permissions to ",
    "This command requires approval",
    "Permission to use ",
    "Permission for this tool use was denied",
    "Tool permission request failed",
};

static bool claude_tool_was_denied(struct claude *c, const struct tc_tool_result *result,
                                   struct str meta)
{
    if (claude_ids_remove(&c->denied, result->tool_use_id))
        return true;
    if (meta.p)
        return memmem(meta.p, meta.len, "\"non_execution_kind\":\"", 22) != NULL;
    for (size_t i = 0; i < sizeof(denials) / sizeof(*denials); i++)
        if (strncmp(result->content, denials[i], strlen(denials[i])) == 0)
            return true;
    return false;
}

void claude_tool_result(struct claude *c, const struct claude_lane *lane,
                        const struct claude_content *content, const struct claude_line *l)
{
    struct event ev;
    event_init(&ev, TC_TOOL_RESULT);
    struct tc_tool_result *const result = &ev.u.tool_result;
    const char *const id = claude_unescape(c, content->tool_use_id, NULL);
    char uuid[CLAUDE_UUID];
    claude_copy_code(uuid, sizeof(uuid), l->uuid);
    result->tool_use_id = id ? id : "";
    result->is_error = content->is_error;
    claude_tool_set_content(c, result, content->content);
    const struct str structured = l->tool_use_result;
    if (structured.p && !str_is(structured, "null") && structured.len <= CLAUDE_STRUCTURED_MAX)
        result->structured = json_reader_compact_dup(c->out->scratch, structured, NULL);
    result->outcome = !result->is_error                                        ? "succeeded"
                      : claude_tool_was_denied(c, result, l->tool_result_meta) ? "denied"
                                                                               : "failed";
    ev.meta.id = uuid[0] ? uuid : NULL;
    claude_emit(c, lane, &ev);
    claude_request_settled(c, result->tool_use_id, result->outcome, result->is_error);
    claude_work_scheduled(c, structured);
}
