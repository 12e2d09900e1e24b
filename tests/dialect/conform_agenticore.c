/* SPDX-License-Identifier: MIT
 * The progress events of agenticore as a checker, as they stand in its stream of completion
 * chunks. */
#include <stdlib.h>
#include <string.h>

#include "dialect/conform.h"

struct agent_stream {
    struct conform *c;
    json_t *calls;      /* tool_use_id -> true: called; false: it has its result */
    const char *answer; /* of the final, or NULL */
    bool over, failed;
};

static const char *content_of(struct agent_stream *s, size_t i, const json_t *delta,
                              const char *key)
{
    const char *const text = conform_text(s->c, i, delta, key);
    if (!*text)
        conform_fail(s->c, i, "an empty %s", key);
    return text;
}

static void see_narration(struct agent_stream *s, size_t i, const json_t *choice)
{
    content_of(s, i, json_object_get(choice, "delta"), "content");
    if (s->answer)
        conform_fail(s->c, i, "narration after the final");
}

/* Its payload is the text, also when that was narrated: the authoritative finish signal. */
static void see_final(struct agent_stream *s, size_t i, const json_t *choice)
{
    if (s->answer)
        conform_fail(s->c, i, "a second final");
    s->answer = content_of(s, i, json_object_get(choice, "delta"), "content");
}

static void see_thinking(struct agent_stream *s, size_t i, const json_t *choice)
{
    content_of(s, i, json_object_get(choice, "delta"), "reasoning_content");
}

static void see_tool_use(struct agent_stream *s, size_t i, const json_t *choice)
{
    const char *const id = conform_text(s->c, i, choice, "x_agenticore_tool_use_id");
    content_of(s, i, json_object_get(choice, "delta"), "reasoning_content");
    conform_text(s->c, i, choice, "x_agenticore_tool_name");
    if (json_object_get(s->calls, id))
        conform_fail(s->c, i, "a second call %s", id);
    json_object_set_new(s->calls, id, json_true());
}

static void see_tool_result(struct agent_stream *s, size_t i, const json_t *choice)
{
    const char *const id = conform_text(s->c, i, choice, "x_agenticore_tool_use_id");
    content_of(s, i, json_object_get(choice, "delta"), "reasoning_content");
    conform_bool(s->c, i, choice, "x_agenticore_is_error");
    if (!json_is_true(json_object_get(s->calls, id)))
        conform_fail(s->c, i, "a result of %s, which was not called", id);
    json_object_set_new(s->calls, id, json_false());
}

static void see_error(struct agent_stream *s, size_t i, const json_t *choice)
{
    (void)choice;
    const json_t *const error = conform_object(s->c, i, json_array_get(s->c->lines, i), "error");
    if (!*conform_text(s->c, i, error, "message") || !*conform_text(s->c, i, error, "code"))
        conform_fail(s->c, i, "an error without a message or a code");
    s->failed = true;
}

static void see_event(struct agent_stream *s, size_t i, const json_t *choice)
{
    static const struct {
        const char *tag;
        void (*see)(struct agent_stream *s, size_t i, const json_t *choice);
    } tags[] = {
        {"narration", see_narration},     {"final", see_final},
        {"thinking", see_thinking},       {"tool_use", see_tool_use},
        {"tool_result", see_tool_result}, {"error", see_error},
    };
    const char *const tag = conform_maybe_text(s->c, i, choice, "x_agenticore_event_type");
    for (size_t k = 0; tag && k < sizeof tags / sizeof *tags; k++)
        if (strcmp(tag, tags[k].tag) == 0)
            tags[k].see(s, i, choice);
}

static void see_finish(struct agent_stream *s, size_t i, const json_t *line, const char *finish)
{
    static const char *const known[] = {"stop", "length", NULL};
    const json_t *const usage = conform_object(s->c, i, line, "usage");
    if (!conform_is_one_of(finish, known))
        conform_fail(s->c, i, "finish_reason %s", finish);
    conform_count(s->c, i, usage, "prompt_tokens");
    conform_count(s->c, i, usage, "completion_tokens");
    conform_count(s->c, i, usage, "total_tokens");
    s->over = true;
}

static void see_chunk(struct agent_stream *s, size_t i, const json_t *line)
{
    const json_t *const choice = json_array_get(json_object_get(line, "choices"), 0);
    const json_t *const finish = json_object_get(choice, "finish_reason");
    if (strcmp(conform_text(s->c, i, line, "object"), "chat.completion.chunk") != 0 || !choice)
        conform_fail(s->c, i, "no chunk");
    if (s->over)
        conform_fail(s->c, i, "a chunk after the finish");
    if (!i &&
        strcmp(conform_text(s->c, i, json_object_get(choice, "delta"), "role"), "assistant") != 0)
        conform_fail(s->c, i, "the role is not the first");
    see_event(s, i, choice);
    if (json_is_string(finish))
        see_finish(s, i, line, json_string_value(finish));
}

static bool has_open_call(const struct agent_stream *s)
{
    const char *id;
    json_t *open;
    json_object_foreach(s->calls, id, open)
    {
        if (json_is_true(open))
            return true;
    }
    return false;
}

void conform_agenticore(struct conform *c)
{
    struct agent_stream s = {.c = c, .calls = json_object()};
    const char *const final = c->turn->final;
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        see_chunk(&s, i, line);
    }
    if (!s.over)
        conform_fail(c, i, "no finish_reason");
    if (has_open_call(&s))
        conform_fail(c, i, "a call without its result");
    if (c->turn->failed != s.failed)
        conform_fail(c, i, c->turn->failed ? "no error" : "an error of a turn that did not fail");
    if (final && *final && (!s.answer || strcmp(s.answer, final) != 0))
        conform_fail(c, i, "final \"%.60s\" is told as \"%.60s\"", final, s.answer ? s.answer : "");
    json_decref(s.calls);
}
