/* SPDX-License-Identifier: MIT
 * The result object, from events. */
#include "core/turn/turn_result.h"

#include <jansson.h>

#include "tap/tap.h"

static void feed_start(struct turn_result *r)
{
    struct event ev;
    event_init(&ev, TC_START);
    ev.meta.session_id = "s-1";
    turn_result_feed(r, &ev);
}

static void feed_final(struct turn_result *r, const char *text)
{
    struct event ev;
    event_init(&ev, TC_FINAL);
    ev.meta.session_id = "s-2";
    ev.u.final.text = text;
    ev.u.final.text_len = strlen(text);
    turn_result_feed(r, &ev);
}

static void feed_error(struct turn_result *r, const char *message, const char *code)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = message;
    ev.u.error.code = code;
    turn_result_feed(r, &ev);
}

static void feed_usage(struct turn_result *r, const char *scope, int64_t in, double cost)
{
    struct event ev;
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = scope;
    ev.u.usage.input_tokens = in;
    ev.u.usage.output_tokens = 2;
    ev.u.usage.cost_usd = cost;
    ev.u.usage.model = "m \"x\"";
    turn_result_feed(r, &ev);
}

static void feed_call(struct turn_result *r, const char *args)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.name = "Bash";
    ev.u.tool_call.args = args;
    ev.u.tool_call.args_len = strlen(args);
    ev.u.tool_call.tool_use_id = "t";
    turn_result_feed(r, &ev);
}

static void feed_done(struct turn_result *r)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.turns = 3;
    turn_result_feed(r, &ev);
}

static void is_result(const struct turn_result *r, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    turn_result_append_json(&out, r, 1234);
    is_str(out.p, wanted, "%s", what);
    json_t *const parsed = json_loadb(out.p, out.len, 0, NULL);
    ok(parsed, "%s: valid JSON", what);
    json_decref(parsed);
}

static void test_many_calls(void)
{
    struct turn_result r = {0};
    for (int i = 0; i < RESULT_TOOL_USES + 5; i++)
        feed_call(&r, "{}");
    is_int(r.n_tool_uses, RESULT_TOOL_USES, "the number of stored tool calls is limited");
    CLEANUP_BUF struct buf out = {0};
    turn_result_append_json(&out, &r, 0);
    has_str(out.p, ",\"tool_uses_omitted\":5}", "omitted tool calls are counted");
    turn_result_fini(&r);
    CLEANUP_BUF struct buf big = {0};
    buf_add_str(&big, "{\"a\":\"");
    for (int i = 0; i < 3 << 20; i++)
        buf_add_char(&big, 'x');
    buf_add_str(&big, "\"}");
    feed_call(&r, big.p);
    feed_call(&r, big.p);
    feed_call(&r, "{}");
    is_int(r.n_omitted, 1, "the size of stored tool calls is limited");
    is_int(r.n_tool_uses, 2, "a small tool call is stored after a large one was omitted");
    turn_result_fini(&r);
}

static void is_incomplete(const char *reason, const char *code, const char *detail,
                          const char *answer, const char *result, const char *error)
{
    struct turn_result r = {0};
    struct event ev;
    CLEANUP_BUF struct buf json = {0};
    feed_start(&r);
    feed_final(&r, answer);
    event_init(&ev, TC_DONE);
    ev.u.done.reason = reason;
    ev.u.done.code = code;
    ev.u.done.detail = detail;
    turn_result_feed(&r, &ev);
    turn_result_append_json(&json, &r, 5);
    json_t *const o = json_loads(json.p, 0, NULL);
    ok(json_is_boolean(json_object_get(o, "is_error")) &&
           json_is_true(json_object_get(o, "is_error")) == turn_result_is_error(&r) &&
           turn_result_is_error(&r) == (error != NULL),
       "%s: is_error", reason);
    is_str(json_string_value(json_object_get(o, "result")), result, "%s: result", reason);
    is_str(json_string_value(json_object_get(o, "error")), error, "%s: error", reason);
    json_decref(o);
    turn_result_fini(&r);
}

static void test_incomplete(void)
{
    is_incomplete("stopped", "error_max_turns", NULL, "",
                  "The agent stopped before it was done: error_max_turns",
                  "The agent stopped before it was done: error_max_turns");
    is_incomplete("stopped", NULL, NULL, "half", "half", "The agent stopped before it was done");
    is_incomplete("refused", "refusal", "not this", "", "The agent refused: not this",
                  "The agent refused: not this");
    is_incomplete("completed", NULL, NULL, "", "", NULL);
    is_incomplete("suspended", NULL, NULL, "", "", NULL);
    is_incomplete("cancelled", NULL, NULL, "", "", NULL);
}

int main(void)
{
    plan_lazy();
    struct turn_result r = {0};
    is_result(&r,
              "{\"result\":\"\",\"session_id\":\"\",\"cost_usd\":0,\"duration_ms\":1234,"
              "\"num_turns\":0,\"is_error\":false,\"usage\":{},\"tool_uses\":[]}",
              "a turn without events");
    feed_start(&r);
    feed_call(&r, "{\"command\":\"df\"}");
    feed_call(&r, "{}");
    feed_usage(&r, "call", 999, 9);
    feed_final(&r, "it is\nat \"89\" %");
    feed_usage(&r, "turn", 812, 0.0142);
    feed_done(&r);
    is_result(&r,
              "{\"result\":\"it is\\nat \\\"89\\\" %\",\"session_id\":\"s-2\",\"cost_usd\":0.0142,"
              "\"duration_ms\":1234,\"num_turns\":3,\"is_error\":false,"
              "\"usage\":{\"input_tokens\":812,\"output_tokens\":2,\"cost_usd\":0.0142,"
              "\"model\":\"m \\\"x\\\"\"},"
              "\"tool_uses\":[{\"name\":\"Bash\",\"input\":{\"command\":\"df\"}},"
              "{\"name\":\"Bash\",\"input\":{}}]}",
              "a completed turn");
    turn_result_fini(&r);
    feed_start(&r);
    feed_error(&r, "agent error", "agent_exit");
    is_result(&r,
              "{\"result\":\"agent error\",\"session_id\":\"s-1\",\"cost_usd\":0,"
              "\"duration_ms\":1234,\"num_turns\":0,\"is_error\":true,\"usage\":{},"
              "\"tool_uses\":[],\"error\":\"agent error\"}",
              "a failed turn");
    is_str(r.error_code.p, "agent_exit", "the error code is stored");
    turn_result_fini(&r);
    feed_start(&r);
    feed_final(&r, "half an answer");
    struct event cancelled;
    event_init(&cancelled, TC_DONE);
    cancelled.u.done.reason = "cancelled";
    turn_result_feed(&r, &cancelled);
    is_result(&r,
              "{\"result\":\"half an answer\",\"session_id\":\"s-2\",\"cost_usd\":0,"
              "\"duration_ms\":1234,\"num_turns\":0,\"is_error\":false,\"usage\":{},"
              "\"tool_uses\":[],\"cancelled\":true}",
              "a cancelled turn is not an error");
    turn_result_fini(&r);
    test_many_calls();
    test_incomplete();
    return 0;
}
