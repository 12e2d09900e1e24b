/* SPDX-License-Identifier: MIT
 * Assembles tool calls from their parts, and reads their results. */
#include <stdlib.h>

#include "base/alloc.h"
#include "dialect/ag_ui/ag_ui.h"
#include "event/json/json_reader.h"

static char *ag_ui_tool_id_of(const struct ag_ui_event *e)
{
    return value_text(e->out->scratch, e->call_id, NULL);
}

static struct ag_ui_part *ag_ui_tool_find_call(const struct ag_ui_event *e)
{
    const char *const id = ag_ui_tool_id_of(e);
    return id ? ag_ui_find(e->a, AG_UI_CALL, id) : NULL;
}

static void ag_ui_tool_emit_progress(const struct ag_ui_event *e, const struct ag_ui_part *part,
                                     const char *phase, const char *x)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    struct tc_progress *const p = &ev.u.progress;
    p->tool_use_id = part->id;
    p->name = part->name;
    p->phase = phase;
    if (strcmp(phase, "args") == 0)
        p->args_delta = value_text(e->out->scratch, e->delta, &p->args_delta_len);
    ev.meta.agent = part->agent;
    ev.meta.x = x;
    ag_ui_emit_event(e, &ev);
}

/* A repeated start of an open call is ignored. */
void ag_ui_handle_call_start(const struct ag_ui_event *e)
{
    struct arena *const scratch = e->out->scratch;
    const char *const id = ag_ui_tool_id_of(e), *const name = value_text(scratch, e->name, NULL);
    const char *const agent = value_text(scratch, e->agent, NULL);
    const char *const parent = ag_ui_text(e, "parentMessageId");
    if (ag_ui_tool_find_call(e))
        return;
    struct ag_ui_part *const part = ag_ui_open(e->a, AG_UI_CALL, id ? id : "");
    part->name = xstrdup(name ? name : "tool");
    part->parent = xstrdup(parent);
    part->agent = xstrdup(agent);
    e->a->answered_by_tool |= !agent;
    ag_ui_tool_emit_progress(e, part, "preparing", e->x);
}

static void ag_ui_tool_read_piece(const struct ag_ui_event *e, struct ag_ui_part *part,
                                  const char *x)
{
    size_t len = 0;
    const char *const text = value_text(e->out->scratch, e->delta, &len);
    if (!len)
        return;
    ag_ui_append(part, text, len);
    ag_ui_tool_emit_progress(e, part, "args", x);
}

void ag_ui_handle_call_args(const struct ag_ui_event *e)
{
    struct ag_ui_part *const part = ag_ui_tool_find_call(e);
    if (part)
        ag_ui_tool_read_piece(e, part, e->x);
}

void ag_ui_end_call(const struct ag_ui_event *e, struct ag_ui_part *part, const char *x)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.tool_use_id = part->id;
    ev.u.tool_call.name = part->name;
    ev.u.tool_call.message_id = part->parent;
    if (part->text.len)
        tool_args_parse_text(e->out->scratch, &ev.u.tool_call, part->text.p, part->text.len);
    ev.meta.agent = part->agent;
    ev.meta.x = x;
    open_calls_add(&e->a->called, part->id, NULL);
    ag_ui_emit_event(e, &ev);
    ag_ui_close_part(part);
}

void ag_ui_handle_call_end(const struct ag_ui_event *e)
{
    struct ag_ui_part *const part = ag_ui_tool_find_call(e);
    if (part)
        ag_ui_end_call(e, part, e->x);
}

void ag_ui_handle_call_chunk(const struct ag_ui_event *e)
{
    struct ag_ui *const a = e->a;
    const char *const id = ag_ui_tool_id_of(e);
    const bool goes_on = a->chunked == AG_UI_CALL && (!id || strcmp(id, a->chunk_id.p) == 0);
    if (!goes_on) {
        ag_ui_end_chunks(e);
        ag_ui_handle_call_start(e);
        a->chunked = AG_UI_CALL;
        buf_reset(&a->chunk_id);
        buf_add_str(&a->chunk_id, id ? id : "");
    }
    struct ag_ui_part *const part = ag_ui_find(a, AG_UI_CALL, a->chunk_id.p ? a->chunk_id.p : "");
    if (part)
        ag_ui_tool_read_piece(e, part, goes_on ? e->x : NULL);
}

/* Joins the text parts of a result with newlines; other parts go to `structured`. */
static char *ag_ui_tool_join_parts(const struct ag_ui_event *e, struct str parts, size_t *len)
{
    CLEANUP_BUF struct buf text = {0};
    struct json j;
    struct str part;
    json_reader_open_array(&j, parts);
    while (json_reader_next_value(&j, &part)) {
        size_t n = 0;
        const char *const said = value_text(e->out->scratch, value_get_last(part, "text"), &n);
        if (n && text.len)
            buf_add_char(&text, '\n');
        buf_add(&text, said ? said : "", n);
    }
    *len = text.len;
    return arena_strndup(e->out->scratch, text.p ? text.p : "", text.len);
}

static void ag_ui_tool_set_content(const struct ag_ui_event *e, struct tc_tool_result *result)
{
    const struct str content = ag_ui_value(e, "content");
    if (content.p && *content.p == '[') {
        result->content = ag_ui_tool_join_parts(e, content, &result->content_len);
        result->structured = value_json(e->out->scratch, content, NULL);
    } else if (content.p) {
        result->content = value_text_or_json(e->out->scratch, content, &result->content_len);
    }
}

/* AG-UI has no error flag; producers put it into the metadata. */
static void set_outcome(const struct ag_ui_event *e, struct tc_tool_result *result)
{
    static const char *const flags[] = {"isError", "is_error"};
    static const char *const outcomes[] = {"succeeded", "failed", "denied", "cancelled"};
    const struct str metadata = ag_ui_value(e, "metadata");
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        result->is_error |= value_is_true(value_get_last(metadata, flags[i]));
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        if (value_equals(value_get_last(metadata, "outcome"), outcomes[i]))
            result->outcome = outcomes[i];
}

/* The call is from an earlier run of the thread: emitted again, for readers of this run only. */
static void ag_ui_tool_emit_earlier_call(const struct ag_ui_event *e, const char *id)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.tool_use_id = id;
    ev.u.tool_call.name = "tool";
    ev.meta.x = "{\"synthesized\":true}";
    ag_ui_emit_event(e, &ev);
}

/* A result ends the arguments of a call without an end. */
void ag_ui_handle_result(const struct ag_ui_event *e)
{
    struct ag_ui_part *const open = ag_ui_tool_find_call(e);
    const char *const said = ag_ui_tool_id_of(e), *const id = said ? said : "";
    struct event ev;
    if (open)
        ag_ui_end_call(e, open, NULL);
    if (!open_calls_remove(&e->a->called, id))
        ag_ui_tool_emit_earlier_call(e, id);
    event_init(&ev, TC_TOOL_RESULT);
    struct tc_tool_result *const result = &ev.u.tool_result;
    result->tool_use_id = id;
    result->message_id = value_text(e->out->scratch, e->message_id, NULL);
    ag_ui_tool_set_content(e, result);
    set_outcome(e, result);
    ev.meta.x = e->role.p ? e->x : ag_ui_prepend_member(e, "role", "null", e->x);
    ag_ui_emit_event(e, &ev);
}
