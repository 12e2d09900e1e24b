/* SPDX-License-Identifier: MIT
 * The first line of the program: which events it wants, whether it acknowledges them, and what it
 * may ask. */
#include <string.h>

#include "exec.h"

#define ALL_KINDS ((UINT32_C(1) << TC_KINDS) - 1)

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

static uint32_t hello_kind_bit(const struct exec *e, const char *name)
{
    if (strcmp(name, "*") == 0)
        return ALL_KINDS;
    for (size_t i = 0; i < TC_KINDS; i++)
        if (strcmp(kinds[i], name) == 0)
            return UINT32_C(1) << i;
    tc_log(e->inst, TC_WARN, "hello: unknown kind of event \"%.32s\" in wants", name);
    return 0;
}

static uint32_t hello_read_wants(const struct exec *e, const json_t *wants)
{
    uint32_t bits = 0;
    size_t i;
    const json_t *item;
    if (!wants)
        return ALL_KINDS;
    json_array_foreach(wants, i, item) bits |=
        json_is_string(item) ? hello_kind_bit(e, json_string_value(item)) : 0;
    return bits;
}

static unsigned hello_may_bit(const struct exec *e, const char *name)
{
    static const struct {
        const char *name;
        unsigned bit;
    } rows[] = {
        {"submit", EXEC_MAY_SUBMIT}, {"cancel", EXEC_MAY_CANCEL}, {"answer", EXEC_MAY_ANSWER}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].bit;
    tc_log(e->inst, TC_WARN, "hello: unknown permission \"%.32s\" in may", name);
    return 0;
}

static unsigned hello_read_may(const struct exec *e, const json_t *may)
{
    unsigned bits = 0;
    size_t i;
    const json_t *item;
    json_array_foreach(may, i, item) bits |=
        hello_may_bit(e, json_is_string(item) ? json_string_value(item) : "");
    return bits;
}

static int hello_read_routes(const struct exec *e, const json_t *routes)
{
    size_t i;
    const json_t *item;
    json_array_foreach(routes, i,
                       item) if (!json_is_string(item) ||
                                 tc_route(e->inst, json_string_value(item)) < 0) return -1;
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
        .wants = hello_read_wants(e, json_object_get(message, "wants")),
        .may = hello_read_may(e, json_object_get(message, "may")),
        .window = (size_t)n,
    };
    if (e->has_routes)
        return 0; /* of an earlier run of the program */
    e->has_routes = true;
    return hello_read_routes(e, json_object_get(message, "routes"));
}
