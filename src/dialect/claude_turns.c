/* SPDX-License-Identifier: MIT
 * Owns what goes on from one turn of a process to the next, and what the process says between two:
 * how its background work goes, and when that makes it begin a turn by itself. */
#include "dialect/claude.h"

/* Costs are running totals of the process, and so is the number of results. */
void claude_next(void *state, bool by_agent)
{
    struct claude *const c = state;
    struct claude old = *c;
    *c = (struct claude){
        .profile = old.profile,
        .shape = old.shape,
        .results = old.results,
        .costs = old.costs,
        .cost_seen = old.cost_seen + (old.costs ? old.spent.cost_usd : 0),
        .unnamed = old.unnamed,
        .begun_by = by_agent ? old.begun_by : NULL,
        .work = {.tasks = old.work.tasks,
                 .count = old.work.count,
                 .seen = old.work.count > 0,
                 .wakes = old.work.wakes,
                 .own = by_agent},
        .spent = CLAUDE_NOTHING_SPENT,
        .started = by_agent && old.asks_between, /* no init comes before the question */
    };
    old.shape = (struct claude_shape){0};
    old.work.tasks = (struct buf){0};
    claude_close(&old);
}

static bool is_question(const struct claude_line *l)
{
    const struct str request = value_member(l->self, "request");
    return value_is(value_member(request, "subtype"), "can_use_tool");
}

static void take_system(struct claude *c, const struct claude_line *l)
{
    if (str_is(l->subtype, "background_tasks_changed"))
        claude_work_tasks(c, l);
    else if (str_is(l->subtype, "task_notification"))
        c->begun_by = "background_task";
}

static void take_lifecycle(struct claude *c, const struct claude_line *l)
{
    claude_work_lifecycle(c, l);
    if (value_member(l->self, "wakeup_source").p)
        c->begun_by = "timer";
}

bool claude_between(void *state, const struct dialect_out *out, const char *line, size_t len)
{
    struct claude *const c = state;
    const struct claude_line *const l = claude_shape_read(&c->shape, line, len);
    if (!l)
        return false;
    c->out = out;
    c->asks_between = str_is(l->type, "control_request") && is_question(l);
    if (c->asks_between && !c->begun_by)
        c->begun_by = "background_task";
    if (str_is(l->type, "command_lifecycle"))
        take_lifecycle(c, l);
    else if (str_is(l->type, "system"))
        take_system(c, l);
    return c->asks_between || (str_is(l->type, "system") && str_is(l->subtype, "init"));
}
