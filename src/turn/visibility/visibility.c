/* SPDX-License-Identifier: MIT
 * The visibility settings, and the setting that controls each kind of event: from the table of
 * kinds. */
#include "turn/visibility/visibility.h"

#include <string.h>
#include <strings.h>

#include "event/json/json_writer.h"

static const struct switch_row {
    const char *key;
    size_t offset;
} switches[VISIBILITY_KEYS] = {
    {"show_thinking", offsetof(struct visibility, thinking)},
    {"show_tools", offsetof(struct visibility, tools)},
    {"show_text", offsetof(struct visibility, text)},
    {"show_narration", offsetof(struct visibility, narration)},
    {"show_final", offsetof(struct visibility, final)},
};

const char *visibility_key(size_t i)
{
    return i < VISIBILITY_KEYS ? switches[i].key : NULL;
}

enum visibility_switch *visibility_switch_at(struct visibility *v, size_t i)
{
    return (enum visibility_switch *)(void *)((char *)v + switches[i].offset);
}

struct visibility visibility_default(void)
{
    return visibility_resolve(
        (struct visibility){SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET});
}

static enum visibility_switch show_or(enum visibility_switch value, enum visibility_switch fallback)
{
    return value == SHOW_UNSET ? fallback : value;
}

struct visibility visibility_resolve(struct visibility v)
{
    const enum visibility_switch text = show_or(v.text, SHOW_ON);
    return (struct visibility){
        .thinking = show_or(v.thinking, SHOW_OFF),
        .tools = show_or(v.tools, SHOW_OFF),
        .text = text,
        .narration = show_or(v.narration, text),
        .final = show_or(v.final, text),
    };
}

bool visibility_equal(const struct visibility *a, const struct visibility *b)
{
    return a->thinking == b->thinking && a->tools == b->tools && a->text == b->text &&
           a->narration == b->narration && a->final == b->final;
}

enum visibility_switch visibility_parse_value(const char *value)
{
    static const char *const truths[] = {"1", "true", "yes", "on"};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        if (strcasecmp(value, truths[i]) == 0)
            return SHOW_ON;
    return SHOW_OFF;
}

void visibility_append_json(struct buf *out, struct visibility v)
{
    v = visibility_resolve(v);
    buf_add_char(out, '{');
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        jsonw_member_bool(out, switches[i].key, *visibility_switch_at(&v, i) == SHOW_ON);
    buf_add_char(out, '}');
}

static enum visibility_decision view_if(enum visibility_switch value)
{
    return value == SHOW_ON ? VIEW_SHOW : VIEW_HIDE;
}

/* A message without hidden parts is only a mark and always shown. */
static enum visibility_decision view_message(const struct visibility *v, const struct tc_message *m)
{
    const bool hides_text = m->text && v->narration != SHOW_ON;
    const bool hides_reasoning = m->reasoning && v->thinking != SHOW_ON;
    if (!hides_text && !hides_reasoning)
        return VIEW_SHOW;
    const bool keeps = (m->text && !hides_text) || (m->reasoning && !hides_reasoning);
    return keeps ? VIEW_STRIP : VIEW_HIDE;
}

enum visibility_decision visibility_decide(const struct visibility *v, const struct event *ev)
{
    switch (kind_visibility(ev->kind)) {
    case VISIBILITY_ALWAYS:
    case VISIBILITY_ASKED:
        return VIEW_SHOW;
    case VISIBILITY_NARRATION:
        return view_if(v->narration);
    case VISIBILITY_FINAL:
        return view_if(v->final);
    case VISIBILITY_TOOLS:
        return view_if(v->tools);
    case VISIBILITY_PROGRESS:
        return ev->u.progress.tool_use_id || ev->u.progress.name ? view_if(v->tools) : VIEW_SHOW;
    case VISIBILITY_THINKING:
        return view_if(v->thinking);
    case VISIBILITY_MESSAGE:
        return view_message(v, &ev->u.message);
    }
    return VIEW_HIDE;
}

/* Events that people must see, whatever their audience. */
static bool passes_any_audience(const struct event *ev)
{
    return ev->kind == TC_START || ev->kind == TC_FINAL || ev->kind == TC_ERROR ||
           ev->kind == TC_DONE || (ev->kind == TC_TOOL_RESULT && ev->u.tool_result.is_error);
}

bool visibility_matches_audience(const char *consumer, const struct event *ev)
{
    const char *const of_event = ev->meta.audience;
    if (of_event == consumer) /* usually, neither is set */
        return true;
    return strcmp(of_event ? of_event : "user", consumer ? consumer : "user") == 0 ||
           passes_any_audience(ev);
}

/* Keeps only the fields that say that the call has ended, and how. */
static void strip_result(struct event *ev)
{
    struct tc_tool_result *const r = &ev->u.tool_result;
    r->content = "";
    r->content_len = 0;
    r->structured = r->patch = r->diff = ev->meta.x = NULL;
    r->added = r->removed = -1;
}

void visibility_tell_failure(struct event *ev, struct buf *text)
{
    const struct tc_meta meta = ev->meta;
    const struct tc_tool_result result = ev->u.tool_result;
    buf_reset(text);
    buf_printf(text, "%s failed", result.name && *result.name ? result.name : "A tool");
    if (result.content_len) {
        buf_add_str(text, ": ");
        buf_add(text, result.content, result.content_len);
    }
    event_init_notice(ev, "warn", "tool_failed", text->p);
    ev->meta = meta;
    ev->meta.x = NULL;
    ev->u.meta = &ev->meta;
}

void visibility_strip(const struct visibility *v, struct event *ev)
{
    if (ev->kind == TC_TOOL_RESULT)
        strip_result(ev);
    if (kind_visibility(ev->kind) != VISIBILITY_MESSAGE)
        return;
    struct tc_message *m = &ev->u.message;
    if (v->narration != SHOW_ON) {
        m->text = NULL;
        m->text_len = 0;
    }
    if (v->thinking != SHOW_ON) {
        m->reasoning = NULL;
        m->reasoning_len = 0;
    }
}
