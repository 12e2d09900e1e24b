/* SPDX-License-Identifier: MIT
 * Checks the events of one turn against the promises, one function per promise. */
#include "promise.h"

#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "event/json/json_reader.h"

/* A call, request or step, by its name. */
struct thing {
    char *name;
    bool open, opened, closed;
};

__attribute__((__format__(__printf__, 2, 3))) static void broken(struct promise *p, const char *fmt,
                                                                 ...)
{
    if (p->broken[0])
        return;
    va_list ap;
    const int n = snprintf(p->broken, sizeof(p->broken), "event %" PRIu64 ": ", p->seen);
    va_start(ap, fmt);
    vsnprintf(p->broken + n, sizeof(p->broken) - (size_t)n, fmt, ap);
    va_end(ap);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct thing *)a)->name, ((const struct thing *)b)->name);
}

static void free_thing(void *p)
{
    free(((struct thing *)p)->name);
    free(p);
}

void promise_fini(struct promise *p)
{
    tdestroy(p->things, free_thing);
    *p = (struct promise){0};
}

/* Takes over the name. */
static struct thing *thing(struct promise *p, char *name)
{
    const struct thing key = {.name = name};
    struct thing **const found = tsearch(&key, &p->things, by_name);
    if (*found != &key) {
        free(name);
        return *found;
    }
    struct thing *const made = xcalloc(1, sizeof(*made));
    made->name = name;
    return *found = made;
}

static void opens(struct promise *p, struct thing *t, size_t *count)
{
    if (t->open)
        broken(p, "%s is open already", t->name);
    t->open = t->opened = true;
    ++*count;
}

static void closes(struct promise *p, struct thing *t, size_t *count)
{
    if (!t->open) {
        broken(p, "%s is not open", t->name);
        return;
    }
    t->open = false;
    t->closed = true;
    --*count;
}

static void check_json(struct promise *p, const struct event_field *f, struct str text)
{
    struct json j;
    json_init(&j, text.p, text.len);
    if (f->type == FIELD_OBJECT && json_reader_peek(&j) != JSON_AT_OBJECT)
        broken(p, "%s is no object", f->key);
    json_reader_skip(&j, NULL);
    if (json_reader_finish(&j) < 0)
        broken(p, "%s is no JSON", f->key);
}

/* Text is valid UTF-8 and NUL-terminated at its length; JSON is JSON. */
static void check_texts(struct promise *p, const struct event_field *f, const void *base)
{
    for (; f->key; f++) {
        if (!field_is_text(f))
            continue;
        const struct str text = field_get_text(f, base);
        if (!text.p)
            continue;
        if (strlen(text.p) != text.len)
            broken(p, "the length of %s is wrong", f->key);
        else if (!utf8_is_valid(text.p, text.len))
            broken(p, "%s is not UTF-8", f->key);
        else if (f->type != FIELD_STR)
            check_json(p, f, text);
    }
}

static void check_envelope(struct promise *p, const struct event *ev)
{
    const struct tc_meta *const meta = &ev->meta;
    if (ev->u.meta != meta)
        broken(p, "the payload does not point to its meta");
    if (meta->seq != p->seen)
        broken(p, "seq is %" PRIu64, meta->seq);
    if (!(meta->ts >= 0))
        broken(p, "no time");
    if (!meta->src || !meta->correlation_id || !meta->session_id) {
        broken(p, "the envelope is incomplete");
        return;
    }
    if (p->seen == 1)
        snprintf(p->correlation, sizeof(p->correlation), "%s", meta->correlation_id);
    else if (strncmp(p->correlation, meta->correlation_id, sizeof(p->correlation) - 1) != 0)
        broken(p, "of another turn");
}

static void check_place(struct promise *p, const struct event *ev)
{
    if (p->done)
        broken(p, "%s after done", kind_name(ev->kind));
    if ((p->seen == 1) != (ev->kind == TC_START))
        broken(p, "%s at this place", kind_name(ev->kind));
    if (p->outcome && ev->kind != TC_NOTICE && ev->kind != TC_USAGE && ev->kind != TC_DONE)
        broken(p, "%s after the outcome", kind_name(ev->kind));
}

static void see_outcome(struct promise *p, const struct event *ev)
{
    if (ev->meta.agent || ev->meta.parent_id)
        broken(p, "the outcome is a sub-agent's");
    if (p->open_calls || p->open_steps)
        broken(p, "%zu calls and %zu steps are open at the outcome", p->open_calls, p->open_steps);
    p->outcome = true;
    p->failed = ev->kind == TC_ERROR;
}

static void see_usage(struct promise *p, const struct event *ev)
{
    const bool turn = strcmp(ev->u.usage.scope, "turn") == 0;
    if (!turn && strcmp(ev->u.usage.scope, "call") != 0)
        broken(p, "usage of %s", ev->u.usage.scope);
    if (turn != p->outcome)
        broken(p, "usage{%s} at this place", ev->u.usage.scope);
    if (turn && p->usage)
        broken(p, "a second usage{turn}");
    p->usage = p->usage || turn;
}

static void see_done(struct promise *p, const struct event *ev)
{
    static const char *const good[] = {"completed", "cancelled", "suspended", "stopped", "refused"};
    const char *const reason = ev->u.done.reason;
    bool known = strcmp(reason, "error") == 0 || (p->failed && strcmp(reason, "lost") == 0);
    for (size_t i = 0; i < 5 && !p->failed; i++)
        known = known || strcmp(reason, good[i]) == 0;
    if (!known)
        broken(p, "done{%s} after %s", reason, p->failed ? "error" : "final");
    if (!p->outcome)
        broken(p, "done without an outcome");
    if (p->open_requests && strcmp(reason, "suspended") != 0)
        broken(p, "%zu requests are open at the end", p->open_requests);
    p->done = true;
}

static void see_call(struct promise *p, const struct event *ev)
{
    struct thing *const t = thing(p, xasprintf("call %s", ev->u.tool_call.tool_use_id));
    if (!*ev->u.tool_call.tool_use_id)
        broken(p, "a call without an id");
    if (t->opened)
        broken(p, "%s came before", t->name);
    opens(p, t, &p->open_calls);
}

static void see_progress(struct promise *p, const struct event *ev)
{
    const char *const id = ev->u.progress.tool_use_id;
    if (id && thing(p, xasprintf("call %s", id))->closed)
        broken(p, "progress of call %s, which is closed", id);
}

static void see_result(struct promise *p, const struct event *ev)
{
    closes(p, thing(p, xasprintf("call %s", ev->u.tool_result.tool_use_id)), &p->open_calls);
}

/* A request of an earlier turn may be resolved in this one; none is resolved twice. */
static void see_request(struct promise *p, const struct event *ev)
{
    struct thing *const t = thing(p, xasprintf("request %s", ev->u.request.request_id));
    if (strcmp(ev->u.request.state, "resolved") != 0) {
        if (t->opened || t->closed)
            broken(p, "%s came before", t->name);
        opens(p, t, &p->open_requests);
    } else if (t->opened) {
        closes(p, t, &p->open_requests);
    } else {
        if (t->closed)
            broken(p, "%s is resolved already", t->name);
        t->closed = true;
    }
}

static void see_step(struct promise *p, const struct event *ev)
{
    const struct tc_step *const s = &ev->u.step;
    const bool agent =
        s->kind && strcmp(s->kind, "agent") == 0 && ev->meta.agent && *ev->meta.agent;
    if (strcmp(s->state, "mark") == 0)
        return;
    char *const name =
        agent ? xasprintf("agent %s", ev->meta.agent)
              : xasprintf("step %s|%s|%s|%s|%" PRId64, s->kind ? s->kind : "",
                          ev->meta.agent ? ev->meta.agent : "", s->step_id ? s->step_id : "",
                          s->name ? s->name : "", s->index);
    struct thing *const t = thing(p, name);
    if (strcmp(s->state, "start") == 0)
        opens(p, t, &p->open_steps);
    else
        closes(p, t, &p->open_steps);
}

static void see_narration(struct promise *p, const struct event *ev)
{
    if (ev->u.narration.text_len == 0)
        broken(p, "an empty narration");
}

static void see_thinking(struct promise *p, const struct event *ev)
{
    if (ev->u.thinking.text_len == 0 && !ev->u.thinking.encrypted)
        broken(p, "an empty thinking");
}

void promise_see(struct promise *p, const struct event *ev)
{
    static void (*const see[TC_KINDS])(struct promise *, const struct event *) = {
        [TC_NARRATION] = see_narration, [TC_THINKING] = see_thinking, [TC_FINAL] = see_outcome,
        [TC_TOOL_CALL] = see_call,      [TC_PROGRESS] = see_progress, [TC_TOOL_RESULT] = see_result,
        [TC_REQUEST] = see_request,     [TC_STEP] = see_step,         [TC_ERROR] = see_outcome,
        [TC_DONE] = see_done,           [TC_USAGE] = see_usage,
    };
    p->seen++;
    check_envelope(p, ev);
    check_place(p, ev);
    check_texts(p, event_fields(ev->kind), &ev->u);
    check_texts(p, event_meta_fields(), &ev->meta);
    if (see[ev->kind])
        see[ev->kind](p, ev);
}

const char *promise_end(struct promise *p)
{
    if (!p->done)
        broken(p, "the turn is not done");
    return p->broken[0] ? p->broken : NULL;
}
