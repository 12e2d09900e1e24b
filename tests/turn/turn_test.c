/* SPDX-License-Identifier: MIT
 * Feeds the guard and writes down what it tells. */
#include "turn/turn_test.h"

#include <stdio.h>

#include "tap/tap.h"

static double fixed_time(void)
{
    return 1784884501.5;
}

static const char *or_dash(const char *s)
{
    return s ? s : "-";
}

static void describe_tools(struct buf *b, const struct event *ev)
{
    if (ev->kind == TC_TOOL_CALL)
        buf_printf(b, " %s %s", ev->u.tool_call.tool_use_id, ev->u.tool_call.name);
    else if (ev->kind == TC_PROGRESS)
        buf_printf(b, " %s %s", or_dash(ev->u.progress.tool_use_id), or_dash(ev->u.progress.phase));
    else if (ev->kind == TC_TOOL_RESULT)
        buf_printf(b, " %s%s%s%s", ev->u.tool_result.tool_use_id,
                   ev->u.tool_result.is_error ? " failed" : "",
                   ev->u.tool_result.outcome ? " " : "",
                   ev->u.tool_result.outcome ? ev->u.tool_result.outcome : "");
    else
        buf_printf(b, " %s %s%s%s", ev->u.request.request_id, ev->u.request.state,
                   ev->u.request.decision ? " " : "",
                   ev->u.request.decision ? ev->u.request.decision : "");
}

static void describe_rest(struct buf *b, const struct event *ev)
{
    if (ev->kind == TC_NARRATION)
        buf_printf(b, " %s", ev->u.narration.text);
    else if (ev->kind == TC_MESSAGE)
        buf_printf(b, " %s", or_dash(ev->u.message.text));
    else if (ev->kind == TC_FINAL)
        buf_printf(b, " %s%s", ev->u.final.synthesized ? "made:" : "", ev->u.final.text);
    else if (ev->kind == TC_STEP)
        buf_printf(b, " %s %s", ev->u.step.state, or_dash(ev->u.step.name));
    else if (ev->kind == TC_ERROR)
        buf_printf(b, " %s", or_dash(ev->u.error.code));
    else if (ev->kind == TC_DONE)
        buf_printf(b, " %s%s%s", ev->u.done.reason, ev->u.done.code ? " " : "",
                   ev->u.done.code ? ev->u.done.code : "");
    else if (ev->kind == TC_USAGE)
        buf_printf(b, " %s", ev->u.usage.scope);
    else if (ev->kind == TC_NOTICE)
        buf_printf(b, " %s %s", ev->u.notice.level, or_dash(ev->u.notice.code));
}

static void hear(void *ctx, struct event *ev)
{
    struct turn_test *const t = ctx;
    promise_see(&t->promise, ev);
    t->last_ts = ev->meta.ts;
    snprintf(t->session, sizeof(t->session), "%s", ev->meta.session_id);
    if (t->told.len)
        buf_add_str(&t->told, ", ");
    buf_add_str(&t->told, kind_name(ev->kind));
    if (ev->kind >= TC_TOOL_CALL && ev->kind <= TC_REQUEST)
        describe_tools(&t->told, ev);
    else
        describe_rest(&t->told, ev);
    if (ev->meta.agent)
        buf_printf(&t->told, " @%s", ev->meta.agent);
    if (ev->meta.parent_id)
        buf_printf(&t->told, " ^%s", ev->meta.parent_id);
    if (ev->meta.x)
        buf_printf(&t->told, " x=%s", ev->meta.x);
}

void begin(struct turn_test *t)
{
    *t = (struct turn_test){0};
    guard_init(&t->guard, "claude", "c-1", hear, t);
    t->guard.now = fixed_time;
}

void finish(struct turn_test *t, enum stream_end how, const char *wanted, const char *name)
{
    guard_end(&t->guard, &(struct stream_end_info){.how = how});
    is_str(t->told.p, wanted, "%s", name);
    const char *const broken = promise_end(&t->promise);
    ok(!broken, "%s: promises%s%s", name, broken ? ": " : "", broken ? broken : "");
    promise_fini(&t->promise);
    guard_fini(&t->guard);
    buf_fini(&t->told);
}

void say(struct turn_test *t, const char *text)
{
    FEED(t, narration, NARRATION, p->text = text, p->text_len = strlen(text));
}

void start(struct turn_test *t)
{
    FEED(t, start, START, );
}

void call(struct turn_test *t, const char *id)
{
    FEED(t, tool_call, TOOL_CALL, p->tool_use_id = id, p->name = "Bash");
}

void result(struct turn_test *t, const char *id)
{
    FEED(t, tool_result, TOOL_RESULT, p->tool_use_id = id);
}

void progress(struct turn_test *t, const char *id)
{
    FEED(t, progress, PROGRESS, p->tool_use_id = id, p->phase = "running");
}

void request(struct turn_test *t, const char *id, const char *state)
{
    FEED(t, request, REQUEST, p->request_id = id, p->kind = "approval", p->state = state);
}

void step(struct turn_test *t, const char *state, const char *name)
{
    FEED(t, step, STEP, p->state = state, p->name = name);
}

void agent_step(struct turn_test *t, const char *state, const char *name, const char *agent)
{
    FEED(t, step, STEP, p->state = state, p->kind = "agent", p->name = name, ev.meta.agent = agent);
}

void final(struct turn_test *t, const char *text)
{
    FEED(t, final, FINAL, p->text = text, p->text_len = strlen(text));
}

void error(struct turn_test *t, const char *code)
{
    FEED(t, error, ERROR, p->message = "it broke", p->code = code);
}

void done(struct turn_test *t, const char *reason)
{
    FEED(t, done, DONE, p->reason = reason);
}

void usage(struct turn_test *t, const char *scope)
{
    FEED(t, usage, USAGE, p->scope = scope);
}

void notice(struct turn_test *t, const char *code)
{
    FEED(t, notice, NOTICE, p->text = "n", p->code = code);
}
