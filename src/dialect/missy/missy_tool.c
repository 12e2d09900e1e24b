/* SPDX-License-Identifier: MIT
 * Pairs tool results with calls that have no id: oldest open call of that name first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "dialect/missy/missy.h"

static void remove_call(struct missy *m, struct missy_call *call)
{
    const size_t i = (size_t)(call - m->calls);
    free(call->name);
    m->count--;
    memmove(call, call + 1, (m->count - i) * sizeof(*call));
}

static struct missy_call *missy_tool_add_call(struct missy *m, const char *name)
{
    if (m->count == MISSY_CALLS)
        remove_call(m, &m->calls[0]);
    m->calls = alloc_grow(m->calls, m->count, &m->cap, sizeof(*m->calls));
    struct missy_call *const call = &m->calls[m->count++];
    *call = (struct missy_call){.name = xstrdup(name)};
    snprintf(call->id, sizeof(call->id), "call-%" PRIu64, ++m->calls_made);
    return call;
}

/* The oldest call of that name that these families reported (or did not report). */
static struct missy_call *missy_tool_find_call(struct missy *m, const char *name, unsigned started,
                                               unsigned not_started, unsigned not_ended)
{
    for (size_t i = 0; i < m->count; i++) {
        struct missy_call *const call = &m->calls[i];
        if ((call->started & started) == started && !(call->started & not_started) &&
            !(call->ended & not_ended) && strcmp(call->name, name) == 0)
            return call;
    }
    return NULL;
}

static const char *missy_tool_tool_name(const struct missy_event *e)
{
    const char *const name = missy_text(e, "tool");
    return name && *name ? name : "tool";
}

static struct missy_call *missy_tool_emit_call(const struct missy_event *e, const char *name)
{
    struct missy_call *const call = missy_tool_add_call(e->m, name);
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.name = call->name;
    ev.u.tool_call.tool_use_id = call->id;
    call->started = e->family;
    dialect_emit_draft(e->out, &ev);
    return call;
}

/* Adds data of the other family to a known call. */
static void missy_tool_emit_progress(const struct missy_event *e, const struct missy_call *call)
{
    static const char *const known[] = {"event", "tool", "session_id", "task_id", NULL};
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.meta.x = value_extra_except(e->out->scratch, e->detail, known);
    ev.u.progress.tool_use_id = call->id;
    ev.u.progress.name = call->name;
    ev.u.progress.phase = "running";
    if (ev.meta.x)
        dialect_emit_draft(e->out, &ev);
}

void missy_handle_tool_start(const struct missy_event *e)
{
    const char *const name = missy_tool_tool_name(e);
    struct missy_call *const call = missy_tool_find_call(e->m, name, 0, e->family, ~0U);
    if (call) {
        call->started |= e->family;
        missy_tool_emit_progress(e, call);
        return;
    }
    missy_tool_emit_call(e, name);
}

static void init_result(struct event *ev, const struct missy_event *e,
                        const struct missy_call *call)
{
    const struct str summary = value_get_last(e->detail, "summary");
    struct tc_tool_result *const result = &ev->u.tool_result;
    event_init(ev, TC_TOOL_RESULT);
    result->tool_use_id = call->id;
    result->name = call->name;
    if (summary.p) {
        result->content = value_text_or_json(e->out->scratch, summary, &result->content_len);
        result->is_error = !value_equals(summary, "ok");
    } else {
        result->is_error = value_is_true(value_get_last(e->detail, "is_error"));
        result->content = result->is_error ? "error" : "ok";
        result->content_len = strlen(result->content);
    }
    result->outcome = result->is_error ? "failed" : "succeeded";
    result->duration_ms = value_real(value_get_last(e->detail, "duration_ms"), -1);
}

/* The next record has the duration, so the result is held for one event. */
static void missy_tool_emit_result(const struct missy_event *e, const struct missy_call *call)
{
    struct event ev;
    init_result(&ev, e, call);
    const bool more = e->family == MISSY_PROGRESS && (call->started & MISSY_TOOL);
    if (!more) {
        dialect_emit_draft(e->out, &ev);
        return;
    }
    ev.meta.x = e->x;
    ev.meta.agent = e->agent;
    ev.meta.ts = e->out->ts > 0 ? e->out->ts : -1;
    e->m->held = shared_event_new(&ev);
    e->m->held_name = xstrdup(call->name);
}

static void drop_held(struct missy *m)
{
    shared_event_unref(m->held);
    free(m->held_name);
    m->held = NULL;
    m->held_name = NULL;
}

static void add_to_held(const struct missy_event *e)
{
    struct missy *const m = e->m;
    struct event ev = *shared_event_get(m->held);
    struct tc_tool_result *const result = &ev.u.tool_result;
    result->duration_ms = value_real(value_get_last(e->detail, "duration_ms"), -1);
    result->is_error |= value_is_true(value_get_last(e->detail, "is_error"));
    result->outcome = result->is_error ? "failed" : "succeeded";
    dialect_emit_draft(e->out, &ev);
    drop_held(m);
}

void missy_handle_tool_done(const struct missy_event *e)
{
    struct missy *const m = e->m;
    const char *const name = missy_tool_tool_name(e);
    struct missy_call *call = missy_tool_find_call(m, name, e->family, 0, e->family);
    if (!call)
        call = missy_tool_find_call(m, name, 0, 0, ~0U);
    if (!call)
        call = missy_tool_emit_call(e, name);
    const bool told = call->ended;
    call->started |= e->family;
    call->ended |= e->family;
    if (m->held)
        add_to_held(e);
    else if (!told)
        missy_tool_emit_result(e, call);
    else
        missy_emit_duplicate(e);
    if (call->ended == call->started)
        remove_call(m, call);
}

static bool may_add(const struct missy *m, const struct missy_event *e)
{
    const char *const name = missy_text(e, "tool");
    return e->family == MISSY_TOOL && value_get_last(e->detail, "is_error").p && name &&
           strcmp(name, m->held_name) == 0;
}

void missy_flush_held_result(struct missy *m, const struct dialect_sink *out,
                             const struct missy_event *next)
{
    if (!m->held || (next && may_add(m, next)))
        return;
    struct event ev = *shared_event_get(m->held);
    dialect_emit_draft(out, &ev);
    drop_held(m);
}

void missy_calls_fini(struct missy *m)
{
    while (m->count)
        remove_call(m, &m->calls[m->count - 1]);
    free(m->calls);
    drop_held(m);
}
