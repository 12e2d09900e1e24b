/* SPDX-License-Identifier: MIT
 * Open message, reasoning and call parts, and the text of messages and reasoning. */
#include "dialect/ag_ui/ag_ui.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "event/json/json_writer.h"

/* Parts. */

static bool ag_ui_text_is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

struct ag_ui_part *ag_ui_find(struct ag_ui *a, enum ag_ui_part_kind sort, const char *id)
{
    for (size_t i = 0; i < AG_UI_OPEN_MAX; i++)
        if (a->parts[i].sort == sort && ag_ui_text_is_same(a->parts[i].id, id))
            return &a->parts[i];
    return NULL;
}

/* A free slot, or that of the oldest part. */
static struct ag_ui_part *ag_ui_text_find_place(struct ag_ui *a)
{
    struct ag_ui_part *oldest = &a->parts[0];
    for (size_t i = 0; i < AG_UI_OPEN_MAX; i++) {
        if (a->parts[i].sort == AG_UI_NONE)
            return &a->parts[i];
        if (a->parts[i].age < oldest->age)
            oldest = &a->parts[i];
    }
    ag_ui_close_part(oldest);
    return oldest;
}

/* A second start ends the first part. */
struct ag_ui_part *ag_ui_open(struct ag_ui *a, enum ag_ui_part_kind sort, const char *id)
{
    struct ag_ui_part *part = ag_ui_find(a, sort, id);
    if (part)
        ag_ui_close_part(part);
    else
        part = ag_ui_text_find_place(a);
    *part =
        (struct ag_ui_part){.sort = sort, .id = xstrdup(id), .text = part->text, .age = ++a->clock};
    return part;
}

void ag_ui_close_part(struct ag_ui_part *part)
{
    free(part->id);
    free(part->name);
    free(part->parent);
    free(part->agent);
    free(part->start);
    buf_fini(&part->text);
    *part = (struct ag_ui_part){0};
}

void ag_ui_append(struct ag_ui_part *part, const char *text, size_t len)
{
    if (text && len <= AG_UI_TEXT_MAX - part->text.len)
        buf_add(&part->text, text, len);
}

static char *ag_ui_text_id_of(const struct ag_ui_event *e)
{
    return value_text(e->out->scratch, e->message_id, NULL);
}

static const char *ag_ui_text_agent_of(const struct ag_ui_event *e)
{
    return value_text(e->out->scratch, e->agent, NULL);
}

/* Members of a part's start are emitted with its first event. */
static const char *ag_ui_text_read_start(const struct ag_ui_event *e, struct ag_ui_part *part)
{
    char *const start = arena_strdup(e->out->scratch, part->start);
    free(part->start);
    part->start = NULL;
    return start;
}

/* An event about a part without a known start; its agent is that of the part. */
static struct ag_ui_part *find_or_open(const struct ag_ui_event *e, enum ag_ui_part_kind sort)
{
    const char *const id = ag_ui_text_id_of(e);
    struct ag_ui_part *part = ag_ui_find(e->a, sort, id);
    if (part)
        return part;
    part = ag_ui_open(e->a, sort, id);
    part->agent = xstrdup(ag_ui_text_agent_of(e));
    return part;
}

/* Text. */

static bool is_assistant(const struct ag_ui_part *part)
{
    return !part->name || strcmp(part->name, "assistant") == 0;
}

static void ag_ui_text_store_answer(struct ag_ui *a, const struct ag_ui_part *part,
                                    const char *text, size_t len)
{
    if (part->agent || !is_assistant(part))
        return;
    if (a->answer_age != part->age) {
        a->answer_age = part->age;
        buf_reset(&a->answer);
        buf_reset(&a->answer_id);
        buf_add_str(&a->answer_id, part->id ? part->id : "");
    }
    if (len <= AG_UI_TEXT_MAX - a->answer.len)
        buf_add(&a->answer, text, len);
    a->answered_by_tool = false;
}

void ag_ui_handle_text_start(const struct ag_ui_event *e)
{
    struct ag_ui_part *const part = ag_ui_open(e->a, AG_UI_TEXT, ag_ui_text_id_of(e));
    part->name = xstrdup(value_text(e->out->scratch, e->role, NULL));
    part->agent = xstrdup(ag_ui_text_agent_of(e));
    part->start = xstrdup(e->x ? e->x : "{}");
}

/* The default start has no information. */
static const char *unusual(const char *start)
{
    return start && strcmp(start, "{\"role\":\"assistant\"}") == 0 ? NULL : start;
}

static void ag_ui_text_emit_text(const struct ag_ui_event *e, struct ag_ui_part *part,
                                 const char *x)
{
    size_t len = 0;
    const char *const text = value_text(e->out->scratch, e->delta, &len);
    struct event ev;
    if (!len)
        return;
    ag_ui_append(part, text, len);
    if (!is_assistant(part))
        return; /* only the agent's messages are narration; others are emitted at their end */
    event_init_text(&ev, TC_NARRATION, text, len, part->id);
    ev.meta.agent = part->agent;
    ev.meta.x =
        ag_ui_prepend_member(e, "TEXT_MESSAGE_START", unusual(ag_ui_text_read_start(e, part)), x);
    ag_ui_emit_event(e, &ev);
    ag_ui_text_store_answer(e->a, part, text, len);
}

void ag_ui_handle_text_content(const struct ag_ui_event *e)
{
    ag_ui_text_emit_text(e, find_or_open(e, AG_UI_TEXT), e->x);
}

static void ag_ui_text_end_text(const struct ag_ui_event *e, struct ag_ui_part *part, const char *x)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = part->name ? part->name : "assistant";
    ev.u.message.message_id = part->id;
    ev.u.message.text = part->text.p ? part->text.p : "";
    ev.u.message.text_len = part->text.len;
    ev.meta.agent = part->agent;
    ev.meta.x = ag_ui_prepend_member(e, "TEXT_MESSAGE_START", ag_ui_text_read_start(e, part), x);
    ag_ui_emit_event(e, &ev);
    ag_ui_close_part(part);
}

void ag_ui_handle_text_end(const struct ag_ui_event *e)
{
    struct ag_ui_part *const part = ag_ui_find(e->a, AG_UI_TEXT, ag_ui_text_id_of(e));
    if (part)
        ag_ui_text_end_text(e, part, e->x);
}

/* Reasoning. The old form has no ids; a span groups messages and has no text. */

void ag_ui_handle_span_start(const struct ag_ui_event *e)
{
    struct ag_ui *const a = e->a;
    const char *const id = ag_ui_text_id_of(e);
    buf_reset(&a->span);
    buf_add_str(&a->span, id ? id : "");
    free(a->span_start);
    a->span_start = xstrdup(e->x);
    a->spanning = true;
    a->span_used = false;
}

void ag_ui_handle_span_end(const struct ag_ui_event *e)
{
    e->a->spanning = false;
}

/* The span of a message, if it is not its own: x.span, "" for none. */
static const char *ag_ui_text_add_span(const struct ag_ui_event *e, const char *id, const char *x)
{
    struct ag_ui *const a = e->a;
    const bool own = a->spanning && !a->span_used && strcmp(a->span.p, id ? id : "") == 0;
    if (a->span_start && a->spanning)
        x = ag_ui_prepend_member(e, "REASONING_START", a->span_start, x);
    free(a->span_start);
    a->span_start = NULL;
    a->span_used = true;
    if (own || !id)
        return x;
    CLEANUP_BUF struct buf name = {0};
    jsonw_string(&name, a->spanning ? a->span.p : "", a->spanning ? a->span.len : 0);
    return ag_ui_prepend_member(e, "span", arena_strdup(e->out->scratch, name.p), x);
}

void ag_ui_handle_reasoning_start(const struct ag_ui_event *e)
{
    static const char *const usual[] = {"type", "subagentRunId", "messageId", "role", NULL};
    struct ag_ui_part *const part = ag_ui_open(e->a, AG_UI_REASONING, ag_ui_text_id_of(e));
    part->agent = xstrdup(ag_ui_text_agent_of(e));
    part->start = xstrdup(value_extra_except(e->out->scratch, e->self, usual));
}

static void ag_ui_text_emit_reasoning(const struct ag_ui_event *e, struct ag_ui_part *part,
                                      const char *x)
{
    size_t len = 0;
    const char *const text = value_text(e->out->scratch, e->delta, &len);
    struct event ev;
    if (!len)
        return;
    event_init_text(&ev, TC_THINKING, text, len, part->id);
    ev.meta.agent = part->agent;
    x = ag_ui_prepend_member(e, "REASONING_MESSAGE_START", ag_ui_text_read_start(e, part), x);
    ev.meta.x = part->text.len ? x : ag_ui_text_add_span(e, part->id, x);
    ag_ui_append(part, text, len);
    ag_ui_emit_event(e, &ev);
}

void ag_ui_handle_reasoning_content(const struct ag_ui_event *e)
{
    ag_ui_text_emit_reasoning(e, find_or_open(e, AG_UI_REASONING), e->x);
}

static void ag_ui_text_end_reasoning(const struct ag_ui_event *e, struct ag_ui_part *part,
                                     const char *x)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "assistant";
    ev.u.message.message_id = part->id;
    ev.u.message.reasoning = part->text.p ? part->text.p : "";
    ev.u.message.reasoning_len = part->text.len;
    ev.meta.agent = part->agent;
    ev.meta.x = x;
    ag_ui_emit_event(e, &ev);
    ag_ui_close_part(part);
}

void ag_ui_handle_reasoning_end(const struct ag_ui_event *e)
{
    struct ag_ui_part *const part = ag_ui_find(e->a, AG_UI_REASONING, ag_ui_text_id_of(e));
    if (part)
        ag_ui_text_end_reasoning(e, part, e->x);
}

void ag_ui_handle_encrypted(const struct ag_ui_event *e)
{
    struct event ev;
    event_init(&ev, TC_THINKING);
    ev.u.thinking.encrypted = ag_ui_text(e, "encryptedValue");
    ev.u.thinking.entity_id = ag_ui_text(e, "entityId");
    ev.u.thinking.entity = ag_ui_text(e, "subtype");
    if (ev.u.thinking.entity && strcmp(ev.u.thinking.entity, "message") == 0)
        ev.u.thinking.message_id = ev.u.thinking.entity_id;
    ev.meta.x = e->x;
    if (ev.u.thinking.encrypted)
        ag_ui_emit_event(e, &ev);
}

/* Chunks: messages without start and end. */

void ag_ui_end_chunks(const struct ag_ui_event *e)
{
    struct ag_ui *const a = e->a;
    const enum ag_ui_part_kind sort = a->chunked;
    struct ag_ui_event ending = *e;
    if (sort == AG_UI_NONE)
        return;
    struct ag_ui_part *const part = ag_ui_find(a, sort, a->chunk_id.len ? a->chunk_id.p : NULL);
    a->chunked = AG_UI_NONE;
    ending.agent = (struct str){0};
    if (part && sort == AG_UI_TEXT)
        ag_ui_text_end_text(&ending, part, NULL);
    else if (part && sort == AG_UI_REASONING)
        ag_ui_text_end_reasoning(&ending, part, NULL);
    else if (part)
        ag_ui_end_call(&ending, part, NULL);
}

/* The part of a chunk; a new id ends the previous part. */
static struct ag_ui_part *find_chunk(const struct ag_ui_event *e, enum ag_ui_part_kind sort)
{
    struct ag_ui *const a = e->a;
    const char *const id = ag_ui_text_id_of(e);
    const bool goes_on = a->chunked == sort && (!id || strcmp(id, a->chunk_id.p) == 0);
    if (goes_on)
        return ag_ui_find(a, sort, a->chunk_id.len ? a->chunk_id.p : NULL);
    ag_ui_end_chunks(e);
    struct ag_ui_part *const part = ag_ui_open(a, sort, id);
    part->agent = xstrdup(ag_ui_text_agent_of(e));
    a->chunked = sort;
    buf_reset(&a->chunk_id);
    buf_add_str(&a->chunk_id, id ? id : "");
    if (sort == AG_UI_TEXT)
        part->name = xstrdup(value_text(e->out->scratch, e->role, NULL));
    return part;
}

void ag_ui_handle_text_chunk(const struct ag_ui_event *e)
{
    static const char *const known[] = {"type", "subagentRunId", "messageId",
                                        "role", "delta",         NULL};
    struct ag_ui_part *const part = find_chunk(e, AG_UI_TEXT);
    if (part)
        ag_ui_text_emit_text(e, part, value_extra_except(e->out->scratch, e->self, known));
}

void ag_ui_handle_reasoning_chunk(const struct ag_ui_event *e)
{
    struct ag_ui_part *const part = find_chunk(e, AG_UI_REASONING);
    if (part)
        ag_ui_text_emit_reasoning(e, part, e->x);
}
