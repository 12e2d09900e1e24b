/* SPDX-License-Identifier: MIT
 * Decisions that depend on earlier visible events. */
#include "turn/visibility/view_pairing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void view_pairing_fini(struct showing *s)
{
    for (size_t i = 0; i < SHOWING_KINDS; i++) {
        open_items_fini(&s->of[i].shown);
        open_items_fini(&s->of[i].hidden);
    }
}

static void view_pairing_add(struct open_items *b, const char *id, const struct event *ev)
{
    const struct open_item_info note = {.index = -1, .meta = &ev->meta};
    b->forgets = true;
    if (open_items_find(b, id))
        return;
    while (open_items_is_full(b))
        open_items_close(b, b->open.oldest);
    open_items_open(b, id, &note);
}

static bool view_pairing_remove(struct open_items *b, const char *id)
{
    struct open_items_entry *const e = open_items_find(b, id);
    if (e)
        open_items_close(b, e);
    return e;
}

/* Records the first event of a pair. */
static enum visibility_decision begin_pair(struct showing_books *books, const char *id,
                                           enum visibility_decision view, const struct event *ev)
{
    view_pairing_add(view == VIEW_HIDE ? &books->hidden : &books->shown, id, ev);
    return view;
}

/* Decides the second event: it is shown if the first was. `alone`: decision without a first
 * event. */
static enum visibility_decision end_pair(struct showing_books *books, const char *id,
                                         enum visibility_decision alone)
{
    if (view_pairing_remove(&books->shown, id))
        return VIEW_SHOW;
    return view_pairing_remove(&books->hidden, id) ? VIEW_HIDE : alone;
}

static bool is_cancelled(const struct tc_tool_result *r)
{
    return r->outcome && strcmp(r->outcome, "cancelled") == 0;
}

static enum visibility_decision view_result(struct showing *s, const struct visibility *v,
                                            const char *audience, const struct event *ev)
{
    const struct tc_tool_result *const r = &ev->u.tool_result;
    if (end_pair(&s->of[SHOWING_CALL], r->tool_use_id, VIEW_HIDE) == VIEW_SHOW)
        return visibility_matches_audience(audience, ev) ? VIEW_SHOW : VIEW_STRIP;
    const bool failed = r->is_error && !is_cancelled(r);
    return failed && visibility_decide(v, ev) == VIEW_SHOW ? VIEW_FAILURE : VIEW_HIDE;
}

/* Progress of a hidden call is hidden, unless it is meant for this audience. */
static enum visibility_decision
view_progress(const struct showing *s, enum visibility_decision alone, const struct event *ev)
{
    const char *const id = ev->u.progress.tool_use_id;
    if (alone == VIEW_HIDE || !id || ev->meta.audience)
        return alone;
    return open_items_find(&s->of[SHOWING_CALL].hidden, id) ? VIEW_HIDE : alone;
}

static enum visibility_decision view_request(struct showing *s, enum visibility_decision alone,
                                             const struct event *ev)
{
    const struct tc_request *const r = &ev->u.request;
    struct showing_books *const books = &s->of[SHOWING_REQUEST];
    if (strcmp(r->state, "resolved") == 0)
        return end_pair(books, r->request_id, alone);
    return begin_pair(books, r->request_id, alone, ev);
}

/* The guard gives the end of a step the identifying fields of its start. */
static enum visibility_decision view_step(struct showing *s, enum visibility_decision alone,
                                          const struct event *ev)
{
    const struct tc_step *const step = &ev->u.step;
    const char *const parts[] = {step->kind, ev->meta.agent, step->step_id, step->name};
    CLEANUP_BUF struct buf id = {0};
    if (strcmp(step->state, "mark") == 0)
        return alone;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_printf(&id, "%s\n", parts[i] ? parts[i] : "");
    buf_printf(&id, "%" PRId64, step->index);
    if (strcmp(step->state, "end") == 0)
        return end_pair(&s->of[SHOWING_STEP], id.p, alone);
    return begin_pair(&s->of[SHOWING_STEP], id.p, alone, ev);
}

/* Records whether a piece of that text was shown; a text may have shown and hidden parts. */
static enum visibility_decision view_text(struct showing *s, enum visibility_decision view,
                                          const char *id, const struct event *ev)
{
    char *const last = view == VIEW_HIDE ? s->last_hidden : s->last_shown;
    if (!id || strcmp(id, last) == 0)
        return view;
    begin_pair(&s->of[SHOWING_TEXT], id, view, ev);
    const bool fits = snprintf(last, SHOWING_ID_MAX, "%s", id) < SHOWING_ID_MAX;
    if (!fits)
        *last = '\0';
    return view;
}

/* A retraction is shown if the text was, whatever its own audience. */
static enum visibility_decision view_notice(const struct showing *s, enum visibility_decision alone,
                                            const struct event *ev)
{
    const struct tc_notice *const n = &ev->u.notice;
    const struct showing_books *const texts = &s->of[SHOWING_TEXT];
    if (!n->message_id || !n->code || strcmp(n->code, "retracted") != 0)
        return alone;
    if (open_items_find(&texts->shown, n->message_id))
        return VIEW_SHOW;
    return open_items_find(&texts->hidden, n->message_id) ? VIEW_HIDE : alone;
}

enum visibility_decision view_pairing_view(struct showing *s, const struct visibility *v,
                                           const char *audience, const struct event *ev)
{
    const enum visibility_decision alone =
        visibility_matches_audience(audience, ev) ? visibility_decide(v, ev) : VIEW_HIDE;
    switch (ev->kind) {
    case TC_NARRATION:
        return view_text(s, alone, ev->u.narration.message_id, ev);
    case TC_THINKING:
        return view_text(s, alone, ev->u.thinking.message_id, ev);
    case TC_TOOL_CALL:
        return begin_pair(&s->of[SHOWING_CALL], ev->u.tool_call.tool_use_id, alone, ev);
    case TC_TOOL_RESULT:
        return view_result(s, v, audience, ev);
    case TC_PROGRESS:
        return view_progress(s, alone, ev);
    case TC_REQUEST:
        return view_request(s, alone, ev);
    case TC_STEP:
        return view_step(s, alone, ev);
    case TC_NOTICE:
        return view_notice(s, alone, ev);
    case TC_MESSAGE:
    case TC_FINAL:
    case TC_START:
    case TC_ERROR:
    case TC_DONE:
    case TC_USAGE:
    case TC_STATE:
    case TC_RAW:
        break;
    }
    return alone;
}
