/* SPDX-License-Identifier: MIT
 * Writes steps as AG-UI. The step of a sub-agent has a separate lifecycle in 1.0 and is a step in
 * 0.x; names of open steps are unique. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "dialect/ag_ui/ag_ui_check.h"
#include "dialect/ag_ui/ag_ui_write.h"

static bool is_agent(const struct tc_step *step)
{
    return step->kind && strcmp(step->kind, "agent") == 0;
}

static const char *ag_ui_write_step_or_empty(const char *s)
{
    return s ? s : "";
}

/* Identity of a step, by which the guard pairs it. */
static const char *ag_ui_write_step_key_of(const struct ag_ui_write_ctx *e)
{
    const struct tc_step *const step = &e->ev->u.step;
    return arena_sprintf(e->a, "%d\n%s\n%s\n%s\n%" PRId64, is_agent(step),
                         ag_ui_write_step_or_empty(e->ev->meta.agent),
                         ag_ui_write_step_or_empty(step->step_id),
                         ag_ui_write_step_or_empty(step->name), step->index);
}

static struct ag_ui_step *find_step(struct ag_ui_writer *w, const char *key)
{
    for (size_t i = w->n_steps; i-- > 0;)
        if (strcmp(w->steps[i].key, key) == 0)
            return &w->steps[i];
    return NULL;
}

static bool ag_ui_write_step_is_taken(const struct ag_ui_writer *w, const char *name)
{
    for (size_t i = 0; i < w->n_steps; i++)
        if (!w->steps[i].agent && strcmp(w->steps[i].name, name) == 0)
            return true;
    return false;
}

/* Name of the step, with a number if it is used already. */
static const char *ag_ui_write_step_name_of(const struct ag_ui_write_ctx *e)
{
    const struct tc_step *const step = &e->ev->u.step;
    const char *const base = step->name       ? step->name
                             : is_agent(step) ? ag_ui_write_step_or_empty(e->ev->meta.agent)
                             : step->index < 0
                                 ? "step"
                                 : arena_sprintf(e->a, "step_%" PRId64, step->index + 1);
    const char *name = base;
    for (unsigned n = 2; ag_ui_write_step_is_taken(e->w, name); n++)
        name = arena_sprintf(e->a, "%s (%u)", base, n);
    return name;
}

static void write_plain(const struct ag_ui_write_ctx *e, const char *type, const char *name,
                        const char *tag)
{
    struct buf *const b = ag_ui_begin(e, type, tag);
    json_style_member_str(b, S, "stepName", name);
    ag_ui_end(e, b, ag_ui_x(e));
}

static void write_agent_started(const struct ag_ui_write_ctx *e)
{
    const struct tc_meta *const meta = &e->ev->meta;
    const char *const parent = value_text(e->a, ag_ui_x_member(e, "parentSubagentRunId"), NULL);
    struct buf *const b = ag_ui_begin(e, "SUBAGENT_STARTED", meta->agent);
    json_style_member_str(b, S, "name", e->ev->u.step.name ? e->ev->u.step.name : "agent");
    const struct str description = ag_ui_x_member(e, "description");
    if (value_string(description).p)
        ag_ui_add_json(b, "description", description);
    if (parent && open_calls_contains(&e->w->agents, parent))
        json_style_member_str(b, S, "parentSubagentRunId", parent);
    ag_ui_add_str(b, "parentToolCallId", ag_ui_scoped(e, meta->parent_id));
    static const char *const written[] = {"description", NULL};
    const char *const rest = value_extra_except(e->a, ag_ui_x(e), written);
    ag_ui_end(e, b, (struct str){rest, rest ? strlen(rest) : 0});
    open_calls_add(&e->w->agents, meta->agent, meta->parent_id);
}

static void ag_ui_write_step_start_step(const struct ag_ui_write_ctx *e)
{
    struct ag_ui_writer *const w = e->w;
    const char *const agent = e->ev->meta.agent;
    const bool lives = e->v1 && is_agent(&e->ev->u.step) && agent && *agent &&
                       !open_calls_contains(&w->agents, agent);
    w->steps = alloc_grow(w->steps, w->n_steps, &w->cap_steps, sizeof(*w->steps));
    const char *const tag = lives ? agent : is_agent(&e->ev->u.step) ? NULL : ag_ui_tag(e);
    const struct ag_ui_step step = {.key = xstrdup(ag_ui_write_step_key_of(e)),
                                    .name = xstrdup(ag_ui_write_step_name_of(e)),
                                    .tag = xstrdup(tag),
                                    .agent = lives};
    if (lives)
        write_agent_started(e);
    else
        write_plain(e, "STEP_STARTED", step.name, step.tag);
    w->steps[w->n_steps++] = step;
}

static void ag_ui_write_step_add_outcome(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const char *const outcome = e->ev->u.step.outcome;
    const struct str ids = ag_ui_get_raw(ag_ui_x_member(e, "outcome"), "interruptIds");
    if (!outcome)
        return;
    const bool suspended = strcmp(outcome, "suspended") == 0;
    json_style_append_key(b, S, "outcome");
    buf_add_char(b, '{');
    json_style_member_str(b, S, "type", suspended ? "suspended" : "success");
    if (suspended && ids.p && *ids.p == '[')
        ag_ui_add_json(b, "interruptIds", ids);
    buf_add_char(b, '}');
}

static void write_agent_ended(const struct ag_ui_write_ctx *e, const char *tag)
{
    const struct tc_step *const step = &e->ev->u.step;
    const struct str error = {step->error, step->error ? strlen(step->error) : 0};
    const char *const message = value_text(e->a, value_get_last(error, "message"), NULL);
    const bool failed = error.p || (step->outcome && strcmp(step->outcome, "error") == 0);
    struct buf *const b = ag_ui_begin(e, failed ? "SUBAGENT_ERROR" : "SUBAGENT_FINISHED", tag);
    if (failed) {
        json_style_member_str(b, S, "message", message ? message : "The sub-agent failed.");
        ag_ui_add_str(b, "code", value_text(e->a, value_get_last(error, "code"), NULL));
    } else {
        if (step->result)
            ag_ui_add_json(b, "result", (struct str){step->result, strlen(step->result)});
        ag_ui_write_step_add_outcome(e, b);
    }
    ag_ui_end(e, b, ag_ui_x(e));
}

static void drop_step(struct ag_ui_writer *w, struct ag_ui_step *step)
{
    free(step->key);
    free(step->name);
    free(step->tag);
    w->n_steps--;
    memmove(step, step + 1, (size_t)(w->steps + w->n_steps - step) * sizeof(*step));
}

static void ag_ui_write_step_end_step(const struct ag_ui_write_ctx *e)
{
    struct ag_ui_step *const step = find_step(e->w, ag_ui_write_step_key_of(e));
    if (!step)
        return;
    if (step->agent)
        write_agent_ended(e, step->tag);
    else
        write_plain(e, "STEP_FINISHED", step->name, step->tag);
    drop_step(e->w, step);
}

/* A mark is a step that ends at once. */
void ag_ui_write_step(const struct ag_ui_write_ctx *e)
{
    const char *const state = e->ev->u.step.state;
    if (!e->own) {
        ag_ui_close_text(e, (struct str){0});
        ag_ui_close_reasoning(e);
    } else if (e->w->span.open) {
        ag_ui_close_reasoning(e);
    }
    if (strcmp(state, "start") == 0) {
        ag_ui_write_step_start_step(e);
    } else if (strcmp(state, "end") == 0) {
        ag_ui_write_step_end_step(e);
    } else {
        const char *const name = ag_ui_write_step_name_of(e), *const tag = ag_ui_tag(e);
        write_plain(e, "STEP_STARTED", name, tag);
        write_plain(e, "STEP_FINISHED", name, tag);
    }
}

static void write_closed(const struct ag_ui_write_ctx *e, const struct ag_ui_step *step,
                         bool pauses)
{
    struct buf *const b =
        ag_ui_begin(e, step->agent ? "SUBAGENT_FINISHED" : "STEP_FINISHED", step->tag);
    if (!step->agent)
        json_style_member_str(b, S, "stepName", step->name);
    else if (pauses)
        ag_ui_add_json(b, "outcome", STR("{\"type\":\"suspended\"}"));
    ag_ui_end_plain(e, b);
}

/* Innermost first. */
void ag_ui_close_steps(const struct ag_ui_write_ctx *e)
{
    while (e->w->n_steps) {
        struct ag_ui_step *const step = &e->w->steps[e->w->n_steps - 1];
        write_closed(e, step, false);
        drop_step(e->w, step);
    }
}

/* Open steps continue in the next run. */
void ag_ui_pause_steps(const struct ag_ui_write_ctx *e)
{
    for (size_t i = e->w->n_steps; i-- > 0;)
        write_closed(e, &e->w->steps[i], true);
}

static void write_opened(const struct ag_ui_write_ctx *e, const struct ag_ui_step *step)
{
    struct buf *const b =
        ag_ui_begin(e, step->agent ? "SUBAGENT_STARTED" : "STEP_STARTED", step->tag);
    json_style_member_str(b, S, step->agent ? "name" : "stepName", step->name);
    if (step->agent)
        ag_ui_add_str(b, "parentToolCallId",
                      ag_ui_scoped(e, open_calls_get_name(&e->w->agents, step->tag)));
    ag_ui_end_plain(e, b);
}

void ag_ui_continue_steps(const struct ag_ui_write_ctx *e)
{
    for (size_t i = 0; i < e->w->n_steps; i++)
        write_opened(e, &e->w->steps[i]);
}

void ag_ui_fini_steps(struct ag_ui_writer *w)
{
    while (w->n_steps)
        drop_step(w, &w->steps[w->n_steps - 1]);
    free(w->steps);
}
