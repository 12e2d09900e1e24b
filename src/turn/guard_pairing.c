/* SPDX-License-Identifier: MIT
 * Pairs calls with results, requests with answers, and starts with ends of steps: supplies the
 * missing half, drops duplicates. */
#include <inttypes.h>
#include <stdio.h>

#include "turn/guard_internal.h"

/* Makes an id for an event without one. */
struct made_id {
    char text[32];
};

/* Makes an id that the agent has not used for an open item. */
static const char *guard_pairing_make_id(struct guard *g, const struct open_items *book,
                                         struct made_id *id)
{
    do
        snprintf(id->text, sizeof(id->text), "nameless-%" PRIu64, ++g->nameless);
    while (open_items_find(book, id->text));
    return id->text;
}

static bool said(const char *s)
{
    return s && *s;
}

/* The oldest open item among those whose source gives no ids. */
static struct open_items_entry *oldest_nameless(const struct open_items *b)
{
    struct open_items_entry *e = b->open.oldest;
    while (e && !e->nameless)
        e = e->next;
    return e;
}

/* A draft that refers to the item. */
static void init_about(struct event *ev, enum tc_kind kind, const struct open_items_entry *e)
{
    event_init(ev, kind);
    ev->meta.agent = e->agent;
    ev->meta.parent_id = e->parent_id;
}

static void cancel_call(struct guard *g, struct open_items_entry *e)
{
    struct event ev;
    init_about(&ev, TC_PROGRESS, e);
    ev.u.progress.tool_use_id = e->id;
    ev.u.progress.name = e->name;
    ev.u.progress.phase = "cancelled";
    guard_emit(g, &ev);

    init_about(&ev, TC_TOOL_RESULT, e);
    ev.u.tool_result.tool_use_id = e->id;
    ev.u.tool_result.name = e->name;
    ev.u.tool_result.outcome = "cancelled";
    ev.u.tool_result.is_error = true;
    guard_emit(g, &ev);
    open_items_close(&g->tools, e);
}

static void guard_pairing_end_step(struct guard *g, struct open_items_entry *e)
{
    struct event ev;
    init_about(&ev, TC_STEP, e);
    ev.u.step.state = "end";
    ev.u.step.kind = e->kind;
    ev.u.step.name = e->name;
    ev.u.step.step_id = e->step_id;
    ev.u.step.index = e->index;
    guard_emit(g, &ev);
    open_items_close(&g->steps, e);
}

static void cancel_request(struct guard *g, struct open_items_entry *e)
{
    struct event ev;
    init_about(&ev, TC_REQUEST, e);
    ev.u.request.request_id = e->id;
    ev.u.request.kind = e->kind;
    ev.u.request.state = "resolved";
    ev.u.request.decision = "cancelled";
    ev.u.request.by = "host";
    guard_emit(g, &ev);
    open_items_close(&g->requests, e);
}

void guard_close_items(struct guard *g, bool requests)
{
    while (g->tools.open.oldest)
        cancel_call(g, g->tools.open.oldest);
    while (g->steps.open.newest) /* innermost first */
        guard_pairing_end_step(g, g->steps.open.newest);
    while (requests && g->requests.open.oldest)
        cancel_request(g, g->requests.open.oldest);
}

static struct open_items_entry *open_call(struct guard *g, const struct event *ev, bool nameless)
{
    while (open_items_is_full(&g->tools))
        cancel_call(g, g->tools.open.oldest);
    const struct open_item_info note = {
        .name = ev->u.tool_call.name, .index = -1, .nameless = nameless, .meta = &ev->meta};
    return open_items_open(&g->tools, ev->u.tool_call.tool_use_id, &note);
}

/* A repeated call: its arguments were completed, or the source repeats itself. */
static void guard_emit_repeated_call(struct guard *g, const struct event *call)
{
    CLEANUP_BUF struct buf x = {0};
    buf_add_str(&x, "{\"args\":");
    buf_add(&x, call->u.tool_call.args, call->u.tool_call.args_len);
    const bool more = call->meta.x && strlen(call->meta.x) > 2;
    buf_add_str(&x, more ? "," : "}");
    if (more)
        buf_add_str(&x, call->meta.x + 1);
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.meta = call->meta;
    ev.meta.x = x.p;
    ev.u.progress.tool_use_id = call->u.tool_call.tool_use_id;
    ev.u.progress.name = call->u.tool_call.name;
    ev.u.progress.phase = "running";
    guard_emit(g, &ev);
}

static void feed_call(struct guard *g, struct event *ev)
{
    struct tc_tool_call *const call = &ev->u.tool_call;
    struct made_id made;
    const bool nameless = !said(call->tool_use_id);
    if (nameless)
        call->tool_use_id = guard_pairing_make_id(g, &g->tools, &made);
    const struct open_items_entry *const known = open_items_find(&g->tools, call->tool_use_id);
    if (known) {
        g->stats.duplicates++;
        if (known->open)
            guard_emit_repeated_call(g, ev);
        return;
    }
    open_call(g, ev, nameless);
    guard_emit(g, ev);
}

static void feed_progress(struct guard *g, struct event *ev)
{
    const char *const id = said(ev->u.progress.tool_use_id) ? ev->u.progress.tool_use_id : NULL;
    const struct open_items_entry *const known = id ? open_items_find(&g->tools, id) : NULL;
    ev->u.progress.tool_use_id = id;
    if (known && !known->open)
        g->stats.unmatched++;
    else
        guard_emit(g, ev);
}

static struct open_items_entry *invent_call(struct guard *g, const struct event *result,
                                            bool nameless)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.meta = result->meta;
    ev.meta.x = ev.meta.id = NULL;
    ev.u.tool_call.name = said(result->u.tool_result.name) ? result->u.tool_result.name : "tool";
    ev.u.tool_call.tool_use_id = result->u.tool_result.tool_use_id;
    struct open_items_entry *const e = open_call(g, &ev, nameless);
    guard_emit(g, &ev);
    return e;
}

static void feed_result(struct guard *g, struct event *ev)
{
    struct tc_tool_result *const result = &ev->u.tool_result;
    struct made_id made;
    const bool nameless = !said(result->tool_use_id);
    struct open_items_entry *e =
        nameless ? oldest_nameless(&g->tools) : open_items_find(&g->tools, result->tool_use_id);
    if (e && !e->open) {
        g->stats.duplicates++;
        return;
    }
    if (nameless)
        result->tool_use_id = e ? e->id : guard_pairing_make_id(g, &g->tools, &made);
    if (!e)
        e = invent_call(g, ev, nameless);
    if (!said(result->name))
        result->name = e->name;
    guard_emit(g, ev);
    open_items_close(&g->tools, e);
}

static struct open_items_entry *open_request(struct guard *g, const struct event *ev, bool nameless)
{
    while (open_items_is_full(&g->requests))
        cancel_request(g, g->requests.open.oldest);
    const struct open_item_info note = {
        .kind = ev->u.request.kind, .index = -1, .nameless = nameless, .meta = &ev->meta};
    return open_items_open(&g->requests, ev->u.request.request_id, &note);
}

static void feed_open_request(struct guard *g, struct event *ev)
{
    struct tc_request *const request = &ev->u.request;
    struct made_id made;
    const bool nameless = !said(request->request_id);
    if (nameless)
        request->request_id = guard_pairing_make_id(g, &g->requests, &made);
    if (open_items_find(&g->requests, request->request_id)) {
        g->stats.duplicates++;
        return;
    }
    open_request(g, ev, nameless);
    guard_emit(g, ev);
}

static void feed_resolved_request(struct guard *g, struct event *ev)
{
    struct tc_request *const request = &ev->u.request;
    const bool nameless = !said(request->request_id);
    struct open_items_entry *e = nameless ? oldest_nameless(&g->requests)
                                          : open_items_find(&g->requests, request->request_id);
    if (nameless && !e) {
        g->stats.unmatched++;
        return;
    }
    if (e && !e->open) {
        g->stats.duplicates++;
        return;
    }
    if (!e) /* opened in an earlier turn: emitted, and recorded as resolved */
        e = open_request(g, ev, false);
    request->request_id = e->id;
    if (!said(request->kind) && e->kind)
        request->kind = e->kind;
    guard_emit(g, ev);
    open_items_close(&g->requests, e);
}

static void feed_request(struct guard *g, struct event *ev)
{
    if (strcmp(ev->u.request.state, "resolved") == 0)
        feed_resolved_request(g, ev);
    else
        feed_open_request(g, ev);
}

static bool is_agent_step(const char *kind)
{
    return kind && strcmp(kind, "agent") == 0;
}

static const char *guard_pairing_or_empty(const char *s)
{
    return s ? s : "";
}

/* Identifies a step, which has no id, by its fields. Sub-agents have an id. */
static void add_step_id(struct buf *id, const struct event *ev)
{
    const struct tc_step *const step = &ev->u.step;
    const bool agent = is_agent_step(step->kind);
    buf_add_str(id, agent ? "agent\n" : "step\n");
    buf_add_str(id, guard_pairing_or_empty(ev->meta.agent));
    if (agent && said(ev->meta.agent))
        return;
    buf_printf(id, "\n%s\n%s\n%" PRId64, guard_pairing_or_empty(step->step_id),
               guard_pairing_or_empty(step->name), step->index);
}

static void feed_step_start(struct guard *g, struct event *ev)
{
    CLEANUP_BUF struct buf id = {0};
    add_step_id(&id, ev);
    if (open_items_find(&g->steps, id.p)) {
        g->stats.duplicates++;
        return;
    }
    while (open_items_is_full(&g->steps))
        guard_pairing_end_step(g, g->steps.open.newest);
    const struct tc_step *const step = &ev->u.step;
    const struct open_item_info note = {.name = step->name,
                                        .kind = step->kind,
                                        .step_id = step->step_id,
                                        .index = step->index,
                                        .meta = &ev->meta};
    open_items_open(&g->steps, id.p, &note);
    guard_emit(g, ev);
}

static bool agrees(const char *a, const char *b)
{
    return !a || !b || strcmp(a, b) == 0;
}

/* Whether the fields of the end match those of the start. */
static bool may_end(const struct event *ev, const struct open_items_entry *e)
{
    const struct tc_step *const step = &ev->u.step;
    if (is_agent_step(step->kind) != is_agent_step(e->kind))
        return false;
    if (is_agent_step(e->kind) && ev->meta.agent && e->agent)
        return strcmp(ev->meta.agent, e->agent) == 0;
    return agrees(ev->meta.agent, e->agent) && agrees(step->step_id, e->step_id) &&
           agrees(step->name, e->name) &&
           (step->index < 0 || e->index < 0 || step->index == e->index);
}

static void feed_step_end(struct guard *g, struct event *ev)
{
    struct open_items_entry *e = g->steps.open.newest;
    while (e && !may_end(ev, e))
        e = e->prev;
    if (!e) {
        g->stats.unmatched++;
        return;
    }
    /* The end gets the same identifying fields as the start, so that a reader can pair them. */
    struct tc_step *const step = &ev->u.step;
    step->kind = e->kind;
    step->name = e->name;
    step->step_id = e->step_id;
    step->index = e->index;
    ev->meta.agent = e->agent;
    guard_emit(g, ev);
    open_items_close(&g->steps, e);
}

static void feed_step(struct guard *g, struct event *ev)
{
    if (strcmp(ev->u.step.state, "start") == 0)
        feed_step_start(g, ev);
    else if (strcmp(ev->u.step.state, "end") == 0)
        feed_step_end(g, ev);
    else
        guard_emit(g, ev);
}

void guard_feed_paired(struct guard *g, struct event *ev)
{
    static void (*const feed[TC_KINDS])(struct guard *, struct event *) = {
        [TC_TOOL_CALL] = feed_call,  [TC_PROGRESS] = feed_progress, [TC_TOOL_RESULT] = feed_result,
        [TC_REQUEST] = feed_request, [TC_STEP] = feed_step,
    };
    feed[ev->kind](g, ev);
}
