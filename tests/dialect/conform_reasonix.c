/* SPDX-License-Identifier: MIT
 * The event package of Reasonix as a checker: its kinds under their names in the stream of its
 * server. Kinds that the package does not have are for newer readers; they are not looked at. */
#include <stdlib.h>
#include <string.h>

#include "dialect/conform.h"

struct turn {
    struct conform *c;
    json_t *calls; /* id -> true: dispatched; false: it has its result */
    char *said;    /* text that was streamed */
    double cost;
    size_t open;
    bool over;
    const char *err; /* of the end, or NULL */
};

static void see_text(struct turn *t, size_t i, const json_t *line)
{
    conform_append(&t->said, conform_text(t->c, i, line, "text"));
}

static void see_reasoning(struct turn *t, size_t i, const json_t *line)
{
    conform_text(t->c, i, line, "text");
}

/* Whether the text ends with another one, white space apart: paragraphs are joined in two ways. */
static bool ends_with(const char *text, const char *end)
{
    static const char white[] = " \t\r\n";
    size_t n = strlen(text), left = strlen(end);
    for (;;) {
        while (n && strchr(white, text[n - 1]))
            n--;
        while (left && strchr(white, end[left - 1]))
            left--;
        if (!n || !left || text[n - 1] != end[left - 1])
            return !left;
        n--;
        left--;
    }
}

/* Text holds the full answer, which was streamed already. Empty members are left out. */
static void see_message(struct turn *t, size_t i, const json_t *line)
{
    const char *const text = conform_maybe_text(t->c, i, line, "text");
    conform_maybe_text(t->c, i, line, "reasoning");
    if (text && !ends_with(t->said ? t->said : "", text))
        conform_fail(t->c, i, "message \"%.60s\" was not streamed", text);
}

static void see_tool_dispatch(struct turn *t, size_t i, const json_t *line)
{
    const json_t *const tool = conform_object(t->c, i, line, "tool");
    const char *const id = json_string_value(json_object_get(tool, "id"));
    conform_text(t->c, i, tool, "name");
    conform_maybe_text(t->c, i, tool, "args");
    conform_bool(t->c, i, tool, "readOnly");
    const json_t *const known = id ? json_object_get(t->calls, id) : NULL;
    if (json_is_true(json_object_get(tool, "partial"))) {
        if (json_is_false(known))
            conform_fail(t->c, i, "a partial dispatch of %s, which has its result", id);
        return;
    }
    if (!id || json_is_false(known))
        conform_fail(t->c, i, "a dispatch of %s, which has its result", id ? id : "no id");
    else if (!known)
        t->open++;
    json_object_set_new(t->calls, id ? id : "", json_true());
}

static void see_tool_result(struct turn *t, size_t i, const json_t *line)
{
    const json_t *const tool = conform_object(t->c, i, line, "tool");
    const char *const id = conform_text(t->c, i, tool, "id");
    conform_text(t->c, i, tool, "name");
    conform_maybe_text(t->c, i, tool, "output");
    conform_maybe_text(t->c, i, tool, "err");
    conform_bool(t->c, i, tool, "readOnly");
    if (!json_is_true(json_object_get(t->calls, id)))
        conform_fail(t->c, i, "a result of %s, which is not dispatched", id);
    json_object_set_new(t->calls, id, json_false());
    t->open--;
}

static void see_usage(struct turn *t, size_t i, const json_t *line)
{
    static const char *const counts[] = {
        "promptTokens",    "completionTokens",      "totalTokens",           "cacheHitTokens",
        "cacheMissTokens", "sessionCacheHitTokens", "sessionCacheMissTokens"};
    const json_t *const usage = conform_object(t->c, i, line, "usage");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        conform_count(t->c, i, usage, counts[k]);
    const char *const currency = conform_maybe_text(t->c, i, usage, "currency");
    if (currency && strcmp(currency, "$") == 0)
        t->cost += json_number_value(json_object_get(usage, "cost"));
}

static void see_notice(struct turn *t, size_t i, const json_t *line)
{
    static const char *const levels[] = {"info", "warn", NULL};
    conform_maybe_text(t->c, i, line, "text");
    if (!conform_is_one_of(conform_text(t->c, i, line, "level"), levels))
        conform_fail(t->c, i, "the level of a notice");
}

static void see_phase(struct turn *t, size_t i, const json_t *line)
{
    conform_text(t->c, i, line, "text");
}

static void see_approval(struct turn *t, size_t i, const json_t *line)
{
    const json_t *const approval = conform_object(t->c, i, line, "approval");
    conform_text(t->c, i, approval, "id");
    conform_text(t->c, i, approval, "tool");
    conform_text(t->c, i, approval, "subject");
}

static void see_ask(struct turn *t, size_t i, const json_t *line)
{
    const json_t *const ask = conform_object(t->c, i, line, "ask");
    size_t k, n;
    json_t *question, *option;
    conform_text(t->c, i, ask, "id");
    json_array_foreach(json_object_get(ask, "questions"), k, question)
    {
        conform_text(t->c, i, question, "id");
        conform_text(t->c, i, question, "prompt");
        json_array_foreach(json_object_get(question, "options"), n, option)
        {
            conform_text(t->c, i, option, "label");
        }
    }
    if (!k)
        conform_fail(t->c, i, "an ask without questions");
}

static void see_end(struct turn *t, size_t i, const json_t *line)
{
    t->err = conform_maybe_text(t->c, i, line, "err");
    t->over = i == json_array_size(t->c->lines) - 1;
    if (t->over && t->open)
        conform_fail(t->c, i, "%zu calls have no result", t->open);
}

static void see(struct turn *t, size_t i, const json_t *line)
{
    static const struct {
        const char *kind;
        void (*see)(struct turn *t, size_t i, const json_t *line);
    } kinds[] = {
        {"text", see_text},
        {"reasoning", see_reasoning},
        {"message", see_message},
        {"tool_dispatch", see_tool_dispatch},
        {"tool_result", see_tool_result},
        {"usage", see_usage},
        {"notice", see_notice},
        {"phase", see_phase},
        {"approval_request", see_approval},
        {"ask_request", see_ask},
        {"turn_done", see_end},
        {"turn_aborted", see_end},
    };
    const char *const kind = conform_text(t->c, i, line, "kind");
    if (!i && strcmp(kind, "turn_started") != 0)
        conform_fail(t->c, i, "%s is the first", kind);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kind, kinds[k].kind) == 0)
            kinds[k].see(t, i, line);
}

void conform_reasonix(struct conform *c)
{
    struct turn t = {.c = c, .calls = json_object()};
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        see(&t, i, line);
    }
    if (!t.over)
        conform_fail(c, i, "turn_done is not the last");
    if (c->turn->failed && !t.err)
        conform_fail(c, i, "The turn failed without an error message. and its end has no err");
    if (c->turn->final && *c->turn->final && !c->turn->by_host && !t.said && !t.err)
        conform_fail(c, i, "the answer is not told");
    conform_sum(c, t.cost);
    json_decref(t.calls);
    free(t.said);
}
