/* SPDX-License-Identifier: MIT
 * The AgentEvent reference of Ethos as a checker. Types that the reference does not have are for
 * other readers; all that holds for them is that nothing follows the end. */
#include <stdlib.h>
#include <string.h>

#include "dialect/conform.h"

struct run {
    struct conform *c;
    json_t *calls; /* id -> true: started; false: ended */
    char *said;    /* text_delta joined */
    double cost;
    size_t open;
    bool started, spoke, over;
};

/* The third one is younger than the reference. */
static const char *const audiences[] = {"internal", "user", "dashboard", NULL};
static const char *const sources[] = {"team-coordinator", "team-personality", "personality",
                                      "global", NULL};

static void check_audience(struct run *r, size_t i, const json_t *line)
{
    const char *const audience = conform_maybe_text(r->c, i, line, "audience");
    if (audience && !conform_is_one_of(audience, audiences))
        conform_fail(r->c, i, "audience %s", audience);
}

static void see_run_start(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "provider");
    conform_text(r->c, i, line, "model");
    const char *const source = conform_text(r->c, i, line, "source");
    if (!conform_is_one_of(source, sources))
        conform_fail(r->c, i, "source %s", source);
    if (r->started || r->spoke)
        conform_fail(r->c, i, "run_start is not once and first");
    r->started = true;
}

static void see_context_meta(struct run *r, size_t i, const json_t *line)
{
    conform_object(r->c, i, line, "data");
}

static void see_text_delta(struct run *r, size_t i, const json_t *line)
{
    conform_append(&r->said, conform_text(r->c, i, line, "text"));
    r->spoke = true;
}

static void see_thinking_delta(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "thinking");
    r->spoke = true;
}

static void see_tool_start(struct run *r, size_t i, const json_t *line)
{
    const char *const id = conform_text(r->c, i, line, "toolCallId");
    conform_text(r->c, i, line, "toolName");
    if (!json_object_get(line, "args"))
        conform_fail(r->c, i, "no args");
    if (json_object_get(r->calls, id))
        conform_fail(r->c, i, "a second tool_start of %s", id);
    json_object_set_new(r->calls, id, json_true());
    r->open++;
}

static void see_tool_progress(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "toolName");
    conform_text(r->c, i, line, "message");
    conform_text(r->c, i, line, "audience");
    check_audience(r, i, line);
    if (json_object_get(line, "percent")) {
        const double percent = conform_number(r->c, i, line, "percent");
        if (percent < 0 || percent > 100)
            conform_fail(r->c, i, "percent %g", percent);
    }
}

static void see_tool_end(struct run *r, size_t i, const json_t *line)
{
    const char *const id = conform_text(r->c, i, line, "toolCallId");
    conform_text(r->c, i, line, "toolName");
    conform_bool(r->c, i, line, "ok");
    conform_number(r->c, i, line, "durationMs");
    conform_maybe_text(r->c, i, line, "result");
    check_audience(r, i, line);
    if (!json_is_true(json_object_get(r->calls, id)))
        conform_fail(r->c, i, "tool_end of %s, which is not open", id);
    json_object_set_new(r->calls, id, json_false());
    r->open--;
}

static void see_usage(struct run *r, size_t i, const json_t *line)
{
    conform_count(r->c, i, line, "inputTokens");
    conform_count(r->c, i, line, "outputTokens");
    const double cost = conform_number(r->c, i, line, "estimatedCostUsd");
    if (cost < 0)
        conform_fail(r->c, i, "a negative cost");
    r->cost += cost;
}

static void see_end(struct run *r, size_t i)
{
    r->over = true;
    if (r->open)
        conform_fail(r->c, i, "%zu calls have no tool_end", r->open);
}

static void see_error(struct run *r, size_t i, const json_t *line)
{
    conform_text(r->c, i, line, "error");
    if (!*conform_text(r->c, i, line, "code"))
        conform_fail(r->c, i, "an error without a code");
    if (!r->c->turn->failed && strcmp(r->c->turn->reason, "cancelled") != 0)
        conform_fail(r->c, i, "an error of a turn that did not fail");
    see_end(r, i);
}

static void see_done(struct run *r, size_t i, const json_t *line)
{
    const char *const text = conform_text(r->c, i, line, "text");
    conform_count(r->c, i, line, "turnCount");
    if (strcmp(text, r->said ? r->said : "") != 0)
        conform_fail(r->c, i, "text is \"%.60s\", joined deltas \"%.60s\"", text, r->said);
    if (r->c->turn->failed)
        conform_fail(r->c, i, "done of a turn that failed");
    see_end(r, i);
}

static const struct variant {
    const char *type;
    void (*see)(struct run *r, size_t i, const json_t *line);
} variants[] = {
    {"run_start", see_run_start},   {"context_meta", see_context_meta},
    {"text_delta", see_text_delta}, {"thinking_delta", see_thinking_delta},
    {"tool_start", see_tool_start}, {"tool_progress", see_tool_progress},
    {"tool_end", see_tool_end},     {"usage", see_usage},
    {"error", see_error},           {"done", see_done},
};

/* Readers that show text alone must get the answer, too. */
static void check_answer(const struct run *r)
{
    const char *const final = r->c->turn->final;
    if (final && *final && !r->said)
        conform_fail(r->c, json_array_size(r->c->lines), "the answer is not told");
}

void conform_ethos(struct conform *c)
{
    struct run r = {.c = c, .calls = json_object()};
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        const char *const type = conform_text(c, i, line, "type");
        if (r.over)
            conform_fail(c, i, "%s after the end", type);
        for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
            if (strcmp(type, variants[k].type) == 0)
                variants[k].see(&r, i, line);
    }
    if (!r.over)
        conform_fail(c, i, "neither done nor error");
    conform_sum(c, r.cost);
    check_answer(&r);
    json_decref(r.calls);
    free(r.said);
}
