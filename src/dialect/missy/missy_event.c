/* SPDX-License-Identifier: MIT
 * Table of missy's event names per dialect, and their handlers. */
#include "dialect/missy/missy.h"

static void missy_event_read_start(const struct missy_event *e)
{
    struct event ev;
    e->m->starts |= e->family;
    if (e->m->started) {
        missy_emit_duplicate(e);
        return;
    }
    e->m->started = true;
    e->m->step = -1;
    event_init(&ev, TC_START);
    ev.u.start.task = missy_text(e, "task");
    if (!ev.u.start.task)
        ev.u.start.task = missy_text(e, "goal");
    ev.u.start.run_id = missy_text(e, "run_id");
    dialect_emit_draft(e->out, &ev);
}

/* A called agent starts, progresses or ends. */
static void missy_event_emit_agent_step(const struct missy_event *e, const char *state,
                                        const char *outcome)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = state;
    ev.u.step.kind = "agent";
    ev.u.step.name = missy_text(e, "agent_name");
    ev.u.step.outcome = outcome;
    dialect_emit_draft(e->out, &ev);
}

static void missy_event_read_any_start(const struct missy_event *e)
{
    if (e->agent)
        missy_event_emit_agent_step(e, "start", NULL);
    else
        missy_event_read_start(e);
}

bool missy_is_start(const struct missy_row *row)
{
    return row->take == missy_event_read_start || row->take == missy_event_read_any_start;
}

static void missy_event_read_update(const struct missy_event *e)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.percent = value_real(value_get_last(e->detail, "pct"), -1);
    ev.u.progress.message = missy_text(e, "label");
    dialect_emit_draft(e->out, &ev);
}

static void missy_event_emit_step(const struct missy_event *e, const char *state, int64_t index,
                                  int64_t max)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = state;
    ev.u.step.index = index;
    ev.u.step.max = max;
    dialect_emit_draft(e->out, &ev);
}

/* Ends are not reported: the next iteration ends the previous one. */
static void missy_event_read_iteration(const struct missy_event *e)
{
    struct missy *const m = e->m;
    const int64_t current = value_int(value_get_last(e->detail, "current"), -1);
    const int64_t index = value_int(value_get_last(e->detail, "iteration"), current);
    const int64_t max = value_int(value_get_last(e->detail, "max"), -1);
    if (e->agent) {
        missy_event_emit_step(e, "mark", index, max);
        return;
    }
    if (m->started && m->step >= 0)
        missy_event_emit_step(e, "end", m->step, -1);
    m->started = true;
    m->step = index;
    missy_event_emit_step(e, "start", index, max);
}

static void end_run(const struct missy_event *e, const char *reason, const char *detail)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = reason;
    ev.u.done.detail = detail;
    e->m->ended = true;
    dialect_emit_draft(e->out, &ev);
}

/* The first of the two records is emitted; the second one has no new data. */
static bool missy_event_is_over(const struct missy_event *e)
{
    if (e->m->ended && !e->agent)
        missy_emit_duplicate(e);
    return e->m->ended && !e->agent;
}

static void missy_event_read_complete(const struct missy_event *e)
{
    if (e->agent)
        missy_event_emit_agent_step(e, "end", "completed");
    else if (!missy_event_is_over(e))
        end_run(e, "completed", missy_text(e, "summary"));
}

static void missy_event_read_error(const struct missy_event *e)
{
    struct event ev;
    const char *const message = missy_text(e, "error");
    if (e->agent) {
        missy_event_emit_agent_step(e, "end", "error");
        return;
    }
    if (missy_event_is_over(e))
        return;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = message ? message : "the run failed";
    ev.u.error.code = missy_text(e, "stage");
    dialect_emit_draft(e->out, &ev);
    end_run(e, "error", NULL);
}

static void missy_event_emit_usage(const struct missy_event *e)
{
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    const struct str nested = value_get_last(e->detail, "cost");
    const struct str cost = nested.p && *nested.p == '{' ? nested : e->detail;
    event_init(&ev, TC_USAGE);
    u->scope = "turn";
    u->input_tokens = value_int(value_get_last(cost, "total_prompt_tokens"), -1);
    u->output_tokens = value_int(value_get_last(cost, "total_completion_tokens"), -1);
    u->total_tokens = value_int(value_get_last(cost, "total_tokens"), -1);
    u->cost_usd = value_real(value_get_last(cost, "total_cost_usd"), -1);
    u->provider = missy_text(e, "provider");
    u->is_error = 0;
    dialect_emit_draft(e->out, &ev);
}

/* The runtime's record of the end: with its cost and, in the stream of a run, the answer. */
static void missy_event_read_run_complete(const struct missy_event *e)
{
    size_t len = 0;
    const char *const response =
        value_text(e->out->scratch, value_get_last(e->detail, "response"), &len);
    missy_event_emit_usage(e);
    if (e->agent) {
        missy_event_emit_agent_step(e, "end", "completed");
        return;
    }
    if (!e->m->ended) {
        dialect_emit_final(e->out, response, len, NULL);
        end_run(e, "completed", NULL);
    }
}

/* The run reports its end after this; if it does not, this is the end. */
static void missy_event_read_agent_error(const struct missy_event *e)
{
    const char *const said = missy_text(e, "error");
    const char *const message = said ? said : "the agent failed";
    buf_reset(&e->m->failure);
    buf_add_str(&e->m->failure, message);
    dialect_emit_notice(e->out, "error", "agent_error", message, NULL);
}

static const char *missy_event_level_of(struct str result)
{
    static const char *const levels[][2] = {
        {"error", "error"}, {"warn", "warn"}, {"alert", "warn"}, {"deny", "warn"}};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (value_equals(result, levels[i][0]))
            return levels[i][1];
    return "info";
}

/* Text for people for an event without one. */
static const char *missy_event_text_of(const char *name)
{
    static const char *const texts[][2] = {
        {"agent.budget.exceeded", "The budget of the run is exhausted."},
        {"agent.done_criteria.unverified", "The run ended with unresolved errors."},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(name, texts[i][0]) == 0)
            return texts[i][1];
    return name;
}

static void missy_event_read_notice(const struct missy_event *e)
{
    const char *const dot = strchr(e->name, '.');
    dialect_emit_notice(e->out, missy_event_level_of(e->result), dot ? dot + 1 : e->name,
                        missy_event_text_of(e->name), NULL);
}

#define KNOWN(...) ((const char *const[]){"event", "session_id", __VA_ARGS__, NULL})
#define TOOL_KNOWN KNOWN("tool", "summary", "is_error", "duration_ms")
#define RUN_KNOWN                                                                                  \
    KNOWN("run_id", "response", "provider", "total_prompt_tokens", "total_completion_tokens",      \
          "total_tokens", "total_cost_usd")

const struct missy_row missy_audit_rows[] = {
    {"agent.progress.start", missy_event_read_any_start, MISSY_PROGRESS, KNOWN("task")},
    {"agent.progress.update", missy_event_read_update, MISSY_PROGRESS, KNOWN("pct", "label")},
    {"agent.progress.iteration", missy_event_read_iteration, MISSY_PROGRESS,
     KNOWN("iteration", "max")},
    {"agent.progress.tool_start", missy_handle_tool_start, MISSY_PROGRESS, TOOL_KNOWN},
    {"agent.progress.tool_done", missy_handle_tool_done, MISSY_PROGRESS, TOOL_KNOWN},
    {"agent.progress.complete", missy_event_read_complete, MISSY_PROGRESS, KNOWN("summary")},
    {"agent.progress.error", missy_event_read_error, MISSY_PROGRESS, KNOWN("error")},
    {"agent.tool.start", missy_handle_tool_start, MISSY_TOOL, TOOL_KNOWN},
    {"agent.tool.complete", missy_handle_tool_done, MISSY_TOOL, TOOL_KNOWN},
    {"agent.run.start", missy_event_read_any_start, MISSY_TOOL, KNOWN("goal")},
    {"agent.run.complete", missy_event_read_run_complete, MISSY_TOOL, RUN_KNOWN},
    {"agent.run.error", missy_event_read_error, MISSY_TOOL, KNOWN("error", "stage")},
    {"agent.budget.", missy_event_read_notice, 0, KNOWN(NULL)},
    {"agent.response.", missy_event_read_notice, 0, KNOWN(NULL)},
    {"agent.done_criteria.", missy_event_read_notice, 0, KNOWN(NULL)},
    {NULL, NULL, 0, NULL},
};

const struct missy_row missy_json_rows[] = {
    {"start", missy_event_read_start, MISSY_PROGRESS, KNOWN("task")},
    {"progress", missy_event_read_update, MISSY_PROGRESS, KNOWN("pct", "label")},
    {"iteration", missy_event_read_iteration, MISSY_PROGRESS, KNOWN("current", "iteration", "max")},
    {"tool_start", missy_handle_tool_start, MISSY_PROGRESS, TOOL_KNOWN},
    {"tool_done", missy_handle_tool_done, MISSY_PROGRESS, TOOL_KNOWN},
    {"complete", missy_event_read_complete, MISSY_PROGRESS, KNOWN("summary")},
    {"error", missy_event_read_error, MISSY_PROGRESS, KNOWN("error")},
    {NULL, NULL, 0, NULL},
};

/* Producer and consumer once used different names for these events: both are read. A ping has no
 * data. */
const struct missy_row missy_run_rows[] = {
    {"run.start", missy_event_read_start, MISSY_TOOL, KNOWN("run_id")},
    {"run.started", missy_event_read_start, MISSY_TOOL, KNOWN("run_id")},
    {"agent.start", missy_event_read_start, MISSY_TOOL, KNOWN("run_id")},
    {"tool.request", missy_handle_tool_start, MISSY_TOOL, TOOL_KNOWN},
    {"tool.result", missy_handle_tool_done, MISSY_TOOL, TOOL_KNOWN},
    {"agent.complete", missy_emit_duplicate, MISSY_TOOL, KNOWN(NULL)},
    {"agent.error", missy_event_read_agent_error, MISSY_TOOL, KNOWN("error")},
    {"run.complete", missy_event_read_run_complete, MISSY_TOOL, RUN_KNOWN},
    {"run.completed", missy_event_read_run_complete, MISSY_TOOL, RUN_KNOWN},
    {"run.error", missy_event_read_error, MISSY_TOOL, KNOWN("error")},
    {"run.failed", missy_event_read_error, MISSY_TOOL, KNOWN("error")},
    {"ping", NULL, 0, NULL},
    {NULL, NULL, 0, NULL},
};
