/* SPDX-License-Identifier: MIT
 * The first line of the program: the events that it wants, whether it acknowledges them, and the
 * permissions that it needs. */
#include <string.h>

#include "exec.h"

static const char *const kinds[TC_KINDS] = {
    [TC_NARRATION] = "narration",
    [TC_THINKING] = "thinking",
    [TC_MESSAGE] = "message",
    [TC_FINAL] = "final",
    [TC_TOOL_CALL] = "tool_call",
    [TC_PROGRESS] = "progress",
    [TC_TOOL_RESULT] = "tool_result",
    [TC_REQUEST] = "request",
    [TC_START] = "start",
    [TC_STEP] = "step",
    [TC_ERROR] = "error",
    [TC_DONE] = "done",
    [TC_USAGE] = "usage",
    [TC_NOTICE] = "notice",
    [TC_STATE] = "state",
    [TC_RAW] = "raw",
};

/* In the order of EXEC_MAY_…. */
static const char *const permissions[] = {"submit", "cancel", "answer"};

/* A member that is a list of words, each for a bit. */
struct hello_words {
    const char *member;
    const char *const *words;
    size_t count;
    bool has_all; /* "*" stands for all of them */
};
static const struct hello_words wants = {"wants", kinds, TC_KINDS, true};
static const struct hello_words may = {"may", permissions, sizeof permissions / sizeof *permissions,
                                       false};

static uint32_t hello_find_bit(const struct exec *e, const struct hello_words *w, const char *word)
{
    if (w->has_all && strcmp(word, "*") == 0)
        return (UINT32_C(1) << w->count) - 1;
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->words[i], word) == 0)
            return UINT32_C(1) << i;
    tc_log(e->inst, TC_WARN, "hello: unknown word \"%.32s\" in %s", word, w->member);
    return 0;
}

/* `missing`: value if the hello lacks the member. */
static uint32_t hello_read_bits(const struct exec *e, const json_t *message,
                                const struct hello_words *w, uint32_t missing)
{
    const json_t *const list = json_object_get(message, w->member);
    uint32_t bits = list ? 0 : missing;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *const word = json_string_value(json_array_get(list, i));
        bits |= hello_find_bit(e, w, word ? word : "");
    }
    return bits;
}

static int hello_read_routes(const struct exec *e, const json_t *routes)
{
    for (size_t i = 0; i < json_array_size(routes); i++) {
        const char *const path = json_string_value(json_array_get(routes, i));
        if (!path || tc_route(e->inst, path) < 0)
            return -1;
    }
    return 0;
}

static int hello_fail(const struct exec *e, const char *why)
{
    tc_log(e->inst, TC_ERR, "hello: %s; see turncast-exec(7)", why);
    return -1;
}

int exec_hello_read(struct exec *e, const json_t *message)
{
    const json_t *const protocol = json_object_get(message, "protocol");
    const json_t *const window = json_object_get(message, "window");
    const json_int_t n = window ? json_integer_value(window) : EXEC_WINDOW;
    if (!json_is_integer(protocol) || json_integer_value(protocol) != EXEC_PROTOCOL)
        return hello_fail(e, "protocol must be 1");
    if (n < 1 || n > EXEC_WINDOW_MAX)
        return hello_fail(e, "window must be an integer from 1 to 512");
    e->hello = (struct exec_hello){
        .is_known = true,
        .delivers = json_is_true(json_object_get(message, "delivers")),
        .wants = hello_read_bits(e, message, &wants, UINT32_MAX),
        .may = hello_read_bits(e, message, &may, 0),
        .window = (size_t)n,
    };
    const json_t *const chat = json_object_get(message, "chat");
    const char *const why = chat ? exec_chat_describe(e, chat) : NULL;
    if (why)
        return hello_fail(e, why);
    if (e->has_routes)
        return 0; /* left over from an earlier run of the program */
    e->has_routes = true;
    return hello_read_routes(e, json_object_get(message, "routes"));
}
