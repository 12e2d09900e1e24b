/* SPDX-License-Identifier: MIT
 * Owns the played clock, turn, agent and memory. */
#include "core/asked.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "io/loop/loop.h"

struct asked asked;

/* ---- the clock ---- */

struct loop_timer {
    struct loop_timer *next;
    void (*fn)(void *arg);
    void *arg;
    int64_t at_ms; /* negative: not armed */
};

static struct loop_timer *timers;

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *arg), void *arg)
{
    (void)l;
    struct loop_timer *const t = xmalloc(sizeof *t);
    *t = (struct loop_timer){timers, fn, arg, -1};
    timers = t;
    return t;
}

void loop_timer_set(struct loop_timer *t, int64_t ms)
{
    t->at_ms = ms < 0 ? -1 : clock_mono_ms() + ms;
}

void loop_timer_free(struct loop_timer *t)
{
    struct loop_timer **at = &timers;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    free(t);
}

static struct loop_timer *next_due(int64_t until_ms)
{
    struct loop_timer *due = NULL;
    for (struct loop_timer *t = timers; t; t = t->next)
        if (t->at_ms >= 0 && t->at_ms <= until_ms && (!due || t->at_ms < due->at_ms))
            due = t;
    return due;
}

void asked_pass(int64_t ms)
{
    const int64_t until_ms = clock_mono_ms() + ms;
    for (struct loop_timer *t; (t = next_due(until_ms)) != NULL;) {
        clock_fake_advance(t->at_ms - clock_mono_ms());
        t->at_ms = -1;
        t->fn(t->arg);
    }
    clock_fake_advance(until_ms - clock_mono_ms());
}

size_t asked_timers(void)
{
    size_t n = 0;
    for (const struct loop_timer *t = timers; t; t = t->next)
        n += t->at_ms >= 0;
    return n;
}

/* ---- the turn ---- */

void turn_resolve_request(struct turn *t, const struct tc_request *r)
{
    (void)t;
    buf_printf(&asked.told, "%s:%s by %s%s%s;", r->request_id, r->decision, r->by,
               r->answers ? " " : "", r->answers ? r->answers : "");
}

/* ---- the agent ---- */

static int take(void *state, struct buf *out, const struct dialect_answer *answer)
{
    (void)state;
    (void)out;
    (void)answer;
    return 0;
}

static const struct dialect_input input = {.answer = take};
const struct dialect asked_dialect = {.name = "asked", .input = &input};

int request_api_handle_answer(void *ctx, const struct dialect_answer *a)
{
    static const char *const words[] = {
        [DIALECT_ALLOW] = "allow", [DIALECT_DENY] = "deny", [DIALECT_ANSWERED] = "answered"};
    (void)ctx;
    if (asked.deaf)
        return -1;
    buf_printf(&asked.agent, "%s:%s", a->request_id, words[a->decision]);
    if (a->reason)
        buf_printf(&asked.agent, " reason=%s", a->reason);
    if (a->args)
        buf_printf(&asked.agent, " args=%s", a->args);
    if (a->answers)
        buf_printf(&asked.agent, " answers=%s", a->answers);
    buf_printf(&asked.agent, "%s%s;", a->remember ? " remember" : "",
               a->interrupt ? " interrupt" : "");
    return 0;
}

/* ---- the memory ---- */

bool approvals_match(struct approvals *a, const char *agent, const char *conversation,
                     const char *turn, const char *tool, const char *argument)
{
    (void)a;
    (void)agent;
    (void)conversation;
    (void)turn;
    (void)tool;
    return asked.remembered && strcmp(asked.remembered, argument) == 0;
}

void approvals_remember(struct approvals *a, enum approvals_scope scope, const char *agent,
                        const char *conversation, const char *turn, const char *tool,
                        const char *argument, const char *by)
{
    (void)a;
    (void)agent;
    (void)conversation;
    (void)turn;
    buf_printf(&asked.kept, "%d %s %s by %s;", (int)scope, tool, argument, by);
}

void approvals_append_summary(struct buf *out, const char *argument)
{
    buf_add_str(out, argument);
}

void journal_async_put_question(struct journal_async *l, const struct journal_question *q,
                                journal_done_fn *done, void *ctx)
{
    (void)l;
    (void)done;
    (void)ctx;
    buf_printf(&asked.noted, "%s %s %s %s%s%s;", q->turn, q->id, q->tool, q->shown,
               q->decision ? " " : "", q->decision ? q->decision : "");
}

void approvals_end_turn(struct approvals *a, const char *turn)
{
    (void)a;
    (void)turn;
}

void asked_reset(void)
{
    buf_fini(&asked.told);
    buf_fini(&asked.agent);
    buf_fini(&asked.kept);
    buf_fini(&asked.noted);
    asked = (struct asked){0};
}
