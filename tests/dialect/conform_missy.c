/* SPDX-License-Identifier: MIT
 * The ProgressReporter protocol of missy as a checker, of its JSON reporter and its audit log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/conform.h"

struct loop {
    struct conform *c;
    json_t *running; /* tool -> how many of it were started and are not done */
    json_int_t iterations;
    bool started, over;
};

static void see_start(struct loop *l, size_t i, const json_t *detail)
{
    conform_text(l->c, i, detail, "task");
    if (i)
        conform_fail(l->c, i, "start is not the first");
    l->started = true;
}

static void see_progress(struct loop *l, size_t i, const json_t *detail)
{
    const double pct = conform_number(l->c, i, detail, "pct");
    conform_text(l->c, i, detail, "label");
    if (pct < 0 || pct > 100)
        conform_fail(l->c, i, "pct %g", pct);
}

static json_int_t count_running(const struct loop *l, const char *tool)
{
    return json_integer_value(json_object_get(l->running, tool));
}

static void see_tool_start(struct loop *l, size_t i, const json_t *detail)
{
    const char *const tool = conform_text(l->c, i, detail, "tool");
    if (!l->iterations)
        conform_fail(l->c, i, "a tool before the first iteration");
    json_object_set_new(l->running, tool, json_integer(count_running(l, tool) + 1));
}

static void see_tool_done(struct loop *l, size_t i, const json_t *detail)
{
    static const char *const summaries[] = {"ok", "error", NULL};
    const char *const tool = conform_text(l->c, i, detail, "tool");
    const char *const summary = conform_text(l->c, i, detail, "summary");
    if (!conform_is_one_of(summary, summaries))
        conform_fail(l->c, i, "summary %s", summary);
    if (!count_running(l, tool))
        conform_fail(l->c, i, "%s is done and was not started", tool);
    json_object_set_new(l->running, tool, json_integer(count_running(l, tool) - 1));
}

static void see_iteration(struct loop *l, size_t i, const json_t *detail, const char *key)
{
    if (conform_count(l->c, i, detail, key) != l->iterations)
        conform_fail(l->c, i, "not iteration %" JSON_INTEGER_FORMAT, l->iterations);
    if (!json_object_get(detail, "max"))
        conform_fail(l->c, i, "no max");
    l->iterations++;
}

static void see_complete(struct loop *l, size_t i, const json_t *detail)
{
    const char *const summary = conform_text(l->c, i, detail, "summary");
    char wanted[80];
    snprintf(wanted, sizeof wanted, "finished after %" JSON_INTEGER_FORMAT " iteration(s)",
             l->iterations);
    if (strncmp(summary, "finished after ", 15) == 0 && strcmp(summary, wanted) != 0)
        conform_fail(l->c, i, "%s, and there were %" JSON_INTEGER_FORMAT, summary, l->iterations);
    if (!l->iterations && l->c->turn->final && *l->c->turn->final)
        conform_fail(l->c, i, "an answer without an iteration");
    if (l->c->turn->failed)
        conform_fail(l->c, i, "complete, and The turn failed without an error message.");
    l->over = true;
}

static void see_error(struct loop *l, size_t i, const json_t *detail)
{
    conform_text(l->c, i, detail, "error");
    if (strcmp(l->c->turn->reason, "completed") == 0)
        conform_fail(l->c, i, "an error of a turn that completed");
    l->over = true;
}

static void see(struct loop *l, size_t i, const char *event, const json_t *detail, const char *key)
{
    static const struct {
        const char *event;
        void (*see)(struct loop *l, size_t i, const json_t *detail);
    } events[] = {
        {"start", see_start},         {"progress", see_progress}, {"tool_start", see_tool_start},
        {"tool_done", see_tool_done}, {"complete", see_complete}, {"error", see_error},
    };
    if (l->over)
        conform_fail(l->c, i, "%s after the end", event);
    if (strcmp(event, "iteration") == 0) {
        see_iteration(l, i, detail, key);
        return;
    }
    for (size_t k = 0; k < sizeof events / sizeof *events; k++)
        if (strcmp(event, events[k].event) == 0) {
            events[k].see(l, i, detail);
            return;
        }
    conform_fail(l->c, i, "an event %s", event);
}

static void finish(struct loop *l)
{
    if (!l->started)
        conform_fail(l->c, 0, "no start");
    if (!l->over)
        conform_fail(l->c, json_array_size(l->c->lines), "neither complete nor error");
    json_decref(l->running);
}

void conform_missy_json(struct conform *c)
{
    struct loop l = {.c = c, .running = json_object()};
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        see(&l, i, conform_text(c, i, line, "event"), line, "current");
    }
    finish(&l);
}

void conform_missy_audit(struct conform *c)
{
    static const char prefix[] = "agent.progress.";
    struct loop l = {.c = c, .running = json_object()};
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        const char *const type = conform_text(c, i, line, "event_type");
        if (strcmp(conform_text(c, i, line, "category"), "agent") != 0 ||
            strcmp(conform_text(c, i, line, "result"), "allow") != 0)
            conform_fail(c, i, "category or result");
        if (strncmp(type, prefix, strlen(prefix)) != 0) {
            conform_fail(c, i, "an event %s", type);
            continue;
        }
        const char *const event = type + strlen(prefix);
        see(&l, i, strcmp(event, "update") == 0 ? "progress" : event,
            conform_object(c, i, line, "detail"), "iteration");
    }
    finish(&l);
}
