/* SPDX-License-Identifier: MIT
 * Detects where a turn of a process begins, keeps state across turns, and reads lines between two
 * turns: progress of background work, and turns that the agent starts by itself.
 *
 * Every turn begins with an init, which lists the uuids of the user messages that it answers, if
 * they had any. Results that report background work belong to the turn that waits for it, so in a
 * recording an init begins another turn only when the one before it is over, or when it answers a
 * user message while an answer is held. Messages without a uuid that are sent while background work
 * is open become part of the waiting turn. Results are never counted: several messages may share
 * one, and a message that joins a running turn has none. */
#include "dialect/claude/claude.h"

static bool is_init(struct str line)
{
    return value_equals(value_get_last(line, "type"), "system") &&
           value_equals(value_get_last(line, "subtype"), "init");
}

bool claude_answers_user(struct str init)
{
    struct json j;
    const struct str uuids = value_get_last(init, "user_message_uuids");
    return json_reader_open_array(&j, uuids) && json_reader_next_element(&j);
}

enum dialect_begin claude_begins(const void *state, struct str line)
{
    const struct claude *const c = state;
    const bool held = c->work.done && !c->work.busy;
    if ((!c->closed && !held) || !is_init(line))
        return DIALECT_GOES_ON;
    if (claude_answers_user(line))
        return DIALECT_USERS_TURN;
    if (!c->closed)
        return DIALECT_GOES_ON;
    const bool by_agent = c->has_uuids || c->work.reported || c->begun_by;
    return by_agent ? DIALECT_AGENTS_TURN : DIALECT_USERS_TURN;
}

/* Costs and the number of results are running totals of the process. */
void claude_next(void *state, bool by_agent)
{
    struct claude *const c = state;
    struct claude old = *c;
    if (!old.begun_by && old.work.reported)
        old.begun_by = "background_task";
    *c = (struct claude){
        .profile = old.profile,
        .shape = old.shape,
        .totals = {.results = old.totals.results,
                   .costs = old.totals.costs,
                   .cost_seen = old.totals.cost_seen + (old.totals.costs ? old.spent.cost_usd : 0),
                   .tokens_before = claude_result_tokens(&old)},
        .unnamed = old.unnamed,
        .has_uuids = old.has_uuids,
        .tasks = old.tasks,
        .begun_by = by_agent ? old.begun_by : NULL,
        .work = {.tasks = old.work.tasks,
                 .count = old.work.count,
                 .seen = old.work.count > 0,
                 .wakes = old.work.wakes,
                 .own = by_agent},
        .spent = CLAUDE_NOTHING_SPENT,
        .started = by_agent && old.asks_between, /* the question is not followed by an init */
    };
    old.shape = (struct claude_shape){0};
    old.work.tasks = (struct buf){0};
    old.tasks = (struct claude_ids){0};
    claude_close(&old);
}

static bool is_question(const struct claude_line *l)
{
    const struct str request = value_get_last(l->self, "request");
    return value_equals(value_get_last(request, "subtype"), "can_use_tool");
}

static void claude_turns_read_system(struct claude *c, const struct claude_line *l)
{
    if (str_is(l->subtype, "background_tasks_changed"))
        claude_work_tasks(c, l);
    else if (str_is(l->subtype, "task_notification"))
        c->begun_by = "background_task";
}

static void claude_turns_read_lifecycle(struct claude *c, const struct claude_line *l)
{
    claude_work_lifecycle(c, l);
    if (value_get_last(l->self, "wakeup_source").p)
        c->begun_by = "timer";
}

bool claude_between(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct claude *const c = state;
    const struct claude_line *const l = claude_line_cache_parse(&c->shape, line, len);
    if (!l)
        return false;
    c->out = out;
    c->asks_between = str_is(l->type, "control_request") && is_question(l);
    if (c->asks_between && !c->begun_by)
        c->begun_by = "background_task";
    if (str_is(l->type, "command_lifecycle"))
        claude_turns_read_lifecycle(c, l);
    else if (str_is(l->type, "system"))
        claude_turns_read_system(c, l);
    return c->asks_between || (str_is(l->type, "system") && str_is(l->subtype, "init"));
}
