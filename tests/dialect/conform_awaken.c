/* SPDX-License-Identifier: MIT
 * The events page of tirea as a checker: lifecycle, pairs, the payload of a tool's progress, and
 * what a finished call has on the wire. */
#include <stdio.h>
#include <string.h>

#include "dialect/conform.h"

struct run {
    struct conform *c;
    json_t *calls; /* id -> how far it is */
    size_t steps;
    bool over;
};

enum { CALL_NONE, CALL_STARTED, CALL_READY, CALL_DONE };

static json_int_t call_state(const struct run *r, const char *id)
{
    return json_integer_value(json_object_get(r->calls, id));
}

static void set_call(const struct run *r, const char *id, json_int_t state)
{
    json_object_set_new(r->calls, id, json_integer(state));
}

static void see_run_start(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "thread_id");
    conform_text(r->c, i, line, "run_id");
    if (i)
        conform_fail(r->c, i, "a second run_start");
}

static void see_run_finish(struct run *r, size_t i, const json_t *line)
{
    static const char *const failures[] = {"error", NULL};
    const json_t *const termination = conform_object(r->c, i, line, "termination");
    const char *const type = conform_text(r->c, i, termination, "type");
    conform_text(r->c, i, line, "thread_id");
    conform_text(r->c, i, line, "run_id");
    if (r->c->turn->failed != conform_is_one_of(type, failures))
        conform_fail(r->c, i, "termination %s of a turn that ended %s", type, r->c->turn->reason);
    if (r->steps)
        conform_fail(r->c, i, "a step is open");
    r->over = true;
}

static void see_step_start(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "message_id");
    r->steps++;
}

static void see_step_end(struct run *r, size_t i, const json_t *line)
{
    (void)line;
    if (!r->steps--)
        conform_fail(r->c, i, "step_end without its start");
}

static void see_delta(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "delta");
}

static void see_inference(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "model");
    conform_count(r->c, i, line, "duration_ms");
}

static void see_call_start(struct run *r, size_t i, const json_t *line)
{
    const char *const id = conform_text(r->c, i, line, "id");
    conform_text(r->c, i, line, "name");
    if (call_state(r, id) != CALL_NONE)
        conform_fail(r->c, i, "a second tool_call_start of %s", id);
    set_call(r, id, CALL_STARTED);
}

static void see_call_delta(struct run *r, size_t i, const json_t *line)
{
    const char *const id = conform_text(r->c, i, line, "id");
    conform_text(r->c, i, line, "args_delta");
    if (call_state(r, id) != CALL_STARTED)
        conform_fail(r->c, i, "arguments of %s, which is not being composed", id);
}

static void see_call_ready(struct run *r, size_t i, const json_t *line)
{
    const char *const id = conform_text(r->c, i, line, "id");
    conform_text(r->c, i, line, "name");
    if (!json_object_get(line, "arguments"))
        conform_fail(r->c, i, "no arguments");
    if (call_state(r, id) != CALL_STARTED)
        conform_fail(r->c, i, "tool_call_ready of %s, which was not started", id);
    set_call(r, id, CALL_READY);
}

static void see_call_done(struct run *r, size_t i, const json_t *line)
{
    static const char *const outcomes[] = {"succeeded", "failed", "suspended", NULL};
    const char *const id = conform_text(r->c, i, line, "id");
    const char *const outcome = conform_text(r->c, i, line, "outcome");
    conform_text(r->c, i, line, "message_id");
    if (!conform_is_one_of(outcome, outcomes))
        conform_fail(r->c, i, "outcome %s", outcome);
    if (strcmp(outcome, "suspended") == 0)
        return; /* it is resumed, in this run or in another one */
    if (call_state(r, id) != CALL_READY && !(r->c->turn->resumes && !call_state(r, id)))
        conform_fail(r->c, i, "tool_call_done of %s, which was not ready", id);
    set_call(r, id, CALL_DONE);
}

/* Older producers have the bare id of the call as the id of the node. */
static void check_progress(struct run *r, size_t i, const json_t *line, const json_t *content)
{
    static const char *const states[] = {"pending", "running", "done", "failed", "cancelled", NULL};
    const char *const node = conform_text(r->c, i, line, "message_id");
    const char *const call = conform_text(r->c, i, content, "call_id");
    char wanted[300];
    snprintf(wanted, sizeof wanted, "tool_call:%s", call);
    if (strcmp(node, wanted) != 0 && strcmp(node, call) != 0)
        conform_fail(r->c, i, "node %s of call %s", node, call);
    if (strcmp(conform_text(r->c, i, content, "schema"), "tool-call-progress.v1") != 0)
        conform_fail(r->c, i, "the schema");
    if (strcmp(conform_text(r->c, i, content, "node_id"), node) != 0)
        conform_fail(r->c, i, "node_id is not message_id");
    conform_text(r->c, i, content, "tool_name");
    if (!conform_is_one_of(conform_text(r->c, i, content, "status"), states))
        conform_fail(r->c, i, "the status");
    if (json_object_get(content, "progress"))
        conform_number(r->c, i, content, "progress");
}

static void see_snapshot(struct run *r, size_t i, const json_t *line)
{
    const char *const type = conform_text(r->c, i, line, "activity_type");
    const json_t *const content = json_object_get(line, "content");
    if (!content)
        conform_fail(r->c, i, "no content");
    if (strcmp(type, "tool-call-progress") == 0 && json_object_get(content, "schema"))
        check_progress(r, i, line, content);
}

static const struct variant {
    const char *type;
    void (*see)(struct run *r, size_t i, const json_t *line);
} variants[] = {
    {"run_start", see_run_start},
    {"run_finish", see_run_finish},
    {"step_start", see_step_start},
    {"step_end", see_step_end},
    {"text_delta", see_delta},
    {"reasoning_delta", see_delta},
    {"inference_complete", see_inference},
    {"tool_call_start", see_call_start},
    {"tool_call_delta", see_call_delta},
    {"tool_call_ready", see_call_ready},
    {"tool_call_done", see_call_done},
    {"activity_snapshot", see_snapshot},
};

void conform_awaken(struct conform *c)
{
    struct run r = {.c = c, .calls = json_object()};
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        const char *const type = conform_text(c, i, line, "event_type");
        if (r.over)
            conform_fail(c, i, "%s after run_finish", type);
        if (!i && strcmp(type, "run_start") != 0)
            conform_fail(c, i, "%s is the first", type);
        for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
            if (strcmp(type, variants[k].type) == 0)
                variants[k].see(&r, i, line);
    }
    if (!r.over)
        conform_fail(c, i, "no run_finish");
    json_decref(r.calls);
}
