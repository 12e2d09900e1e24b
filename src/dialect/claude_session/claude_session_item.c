/* SPDX-License-Identifier: MIT
 * Messages, thinking and tools of a Claude Code session file: each block has a line, whose stop
 * reason and usage are those of the whole message. */
#include "dialect/claude_session/claude_session.h"
#include "dialect/reader/dialect_emit.h"
#include "event/json/json_reader.h"

static void claude_session_item_set(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}

/* Messages. */

void claude_session_flush(struct claude_session *c, const struct dialect_sink *out)
{
    struct event ev;
    if (c->said.len)
        dialect_emit_message(out, c->said.p, c->said.len, c->message_id.p);
    if (c->counted) {
        event_init(&ev, TC_USAGE);
        ev.u.usage = c->usage;
        ev.u.usage.scope = "call";
        ev.u.usage.model = c->model.len ? c->model.p : NULL;
        usage_totals_add(&c->tally, &ev.u.usage);
        dialect_emit_draft(out, &ev);
    }
    buf_reset(&c->said);
    buf_reset(&c->message_id);
    c->counted = false;
    c->texts = 0;
}

static void claude_session_item_read_usage(struct claude_session *c, struct str usage)
{
    struct event ev;
    if (!usage.p)
        return;
    event_init(&ev, TC_USAGE);
    c->usage = ev.u.usage;
    c->usage.input_tokens = value_int(value_get_last(usage, "input_tokens"), -1);
    c->usage.output_tokens = value_int(value_get_last(usage, "output_tokens"), -1);
    c->usage.cache_read_tokens = value_int(value_get_last(usage, "cache_read_input_tokens"), -1);
    c->usage.cache_write_tokens =
        value_int(value_get_last(usage, "cache_creation_input_tokens"), -1);
    c->usage.cache_counted = 0;
    c->counted = true;
}

/* The line continues the message, or begins another one. */
static void claude_session_item_read_message(const struct claude_session_line *l)
{
    struct claude_session *const c = l->c;
    const char *const id = claude_session_text(l, value_get_last(l->message, "id"));
    const char *const model = claude_session_text(l, value_get_last(l->message, "model"));
    if (!id || strcmp(id, c->message_id.len ? c->message_id.p : "") != 0) {
        claude_session_flush(c, l->out);
        claude_session_item_set(&c->message_id, id);
        buf_reset(&c->answer);
        claude_session_item_set(&c->answer_id, id);
    }
    if (model && *model != '<')
        claude_session_item_set(&c->model, model);
    claude_session_item_set(&c->stop,
                            claude_session_text(l, value_get_last(l->message, "stop_reason")));
    claude_session_item_read_usage(c, value_get_last(l->message, "usage"));
}

static void claude_session_item_read_text(const struct claude_session_line *l, struct str block)
{
    struct claude_session *const c = l->c;
    struct event ev;
    size_t len = 0;
    const char *const text = value_text(l->out->scratch, value_get_last(block, "text"), &len);
    if (!len)
        return;
    if (l->agent) { /* complete already */
        event_init(&ev, TC_MESSAGE);
        ev.u.message.text = text;
        ev.u.message.text_len = len;
        claude_session_emit(l, &ev);
        return;
    }
    event_init_text(&ev, TC_NARRATION, text, len,
                    arena_sprintf(l->out->scratch, "%s#%lld",
                                  c->message_id.len ? c->message_id.p : "", (long long)c->texts++));
    claude_session_emit(l, &ev);
    if (len > CLAUDE_SESSION_TEXT_MAX - c->said.len ||
        len > CLAUDE_SESSION_TEXT_MAX - c->answer.len)
        return;
    buf_add(&c->said, text, len);
    buf_add(&c->answer, text, len);
}

static void claude_session_item_read_thinking(const struct claude_session_line *l, struct str block)
{
    struct event ev;
    size_t len = 0;
    const char *const text = value_text(l->out->scratch, value_get_last(block, "thinking"), &len);
    event_init_text(&ev, TC_THINKING, text ? text : "", len,
                    l->c->message_id.len ? l->c->message_id.p : NULL);
    ev.u.thinking.encrypted = claude_session_text(l, value_get_last(block, "data"));
    if (len || ev.u.thinking.encrypted)
        claude_session_emit(l, &ev);
}

static void claude_session_item_read_call(const struct claude_session_line *l, struct str block)
{
    struct event ev;
    struct tc_tool_call *const call = &ev.u.tool_call;
    const char *const name = claude_session_text(l, value_get_last(block, "name"));
    event_init(&ev, TC_TOOL_CALL);
    call->tool_use_id = claude_session_text(l, value_get_last(block, "id"));
    call->name = name ? name : "tool";
    call->message_id = !l->agent && l->c->message_id.len ? l->c->message_id.p : NULL;
    tool_args_parse(l->out->scratch, call, value_get_last(block, "input"));
    if (!l->agent)
        buf_reset(&l->c->answer);
    claude_session_emit(l, &ev);
}

static void each_block(const struct claude_session_line *l,
                       void (*take)(const struct claude_session_line *, struct str))
{
    struct json j;
    struct str block;
    json_reader_open_array(&j, l->content);
    while (json_reader_next_value(&j, &block))
        take(l, block);
}

static void claude_session_item_read_assistant_block(const struct claude_session_line *l,
                                                     struct str block)
{
    const struct str type = value_get_last(block, "type");
    if (value_equals(type, "text"))
        claude_session_item_read_text(l, block);
    else if (value_equals(type, "thinking") || value_equals(type, "redacted_thinking"))
        claude_session_item_read_thinking(l, block);
    else if (value_equals(type, "tool_use") || value_equals(type, "server_tool_use"))
        claude_session_item_read_call(l, block);
}

/* A message of the CLI about a failed API request. */
static void claude_session_item_read_api_error(const struct claude_session_line *l)
{
    size_t len = 0;
    claude_session_flush(l->c, l->out);
    claude_session_item_set(&l->c->error,
                            value_join_texts(l->out->scratch, l->content, "\n", &len));
    claude_session_item_set(&l->c->code, claude_session_text(l, claude_session_value(l, "error")));
    buf_reset(&l->c->stop);
    if (!l->c->error.len)
        claude_session_item_set(&l->c->error, "The API failed.");
}

void claude_session_assistant(const struct claude_session_line *l)
{
    struct claude_session *const c = l->c;
    if (!l->agent && value_is_true(claude_session_value(l, "isApiErrorMessage"))) {
        claude_session_item_read_api_error(l);
        return;
    }
    if (!l->agent) {
        if (c->error.len)
            claude_session_notice(l, "error", c->code.len ? c->code.p : "api_error", c->error.p);
        buf_reset(&c->error);
        c->interrupted = false;
        claude_session_item_read_message(l);
    }
    each_block(l, claude_session_item_read_assistant_block);
}

/* Results. */

/* Texts of the parts; for other parts, only their types. */
static const char *parts_text(const struct claude_session_line *l, struct str content, size_t *len)
{
    CLEANUP_BUF struct buf joined = {0};
    struct json j;
    struct str part;
    if (!json_reader_open_array(&j, content))
        return value_text_or_json(l->out->scratch, content, len);
    while (json_reader_next_value(&j, &part)) {
        const char *const text = claude_session_text(l, value_get_last(part, "text"));
        const char *const type = claude_session_text(l, value_get_last(part, "type"));
        if (joined.len)
            buf_add_char(&joined, '\n');
        if (text)
            buf_add_str(&joined, text);
        else
            buf_printf(&joined, "[%s]", type ? type : "part");
    }
    *len = joined.len;
    return arena_strndup(l->out->scratch, joined.p ? joined.p : "", joined.len);
}

static void claude_session_item_read_result(const struct claude_session_line *l, struct str block)
{
    struct event ev;
    struct tc_tool_result *const r = &ev.u.tool_result;
    const struct str structured = claude_session_value(l, "toolUseResult");
    const struct str decision =
        value_get_last(claude_session_value(l, "permissionDecision"), "decision");
    event_init(&ev, TC_TOOL_RESULT);
    r->tool_use_id = claude_session_text(l, value_get_last(block, "tool_use_id"));
    r->content = parts_text(l, value_get_last(block, "content"), &r->content_len);
    r->is_error = value_is_true(value_get_last(block, "is_error"));
    r->outcome = value_equals(decision, "reject") ? "denied" : r->is_error ? "failed" : "succeeded";
    if (structured.p && *structured.p == '{' && structured.len <= CLAUDE_SESSION_STRUCTURED_MAX)
        r->structured = value_json(l->out->scratch, structured, NULL);
    claude_session_emit(l, &ev);
}

static void claude_session_item_read_block(const struct claude_session_line *l, struct str block)
{
    const struct str text = value_get_last(block, "text");
    if (value_equals(value_get_last(block, "type"), "tool_result"))
        claude_session_item_read_result(l, block);
    else if (!l->agent && str_has_prefix(value_string(text), STR("[Request interrupted by user")))
        l->c->interrupted = true;
}

void claude_session_blocks(const struct claude_session_line *l)
{
    if (!l->agent)
        claude_session_flush(l->c, l->out);
    each_block(l, claude_session_item_read_block);
}
