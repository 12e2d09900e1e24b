/* SPDX-License-Identifier: MIT
 * Tests of turn/guard.h, one per decision: calls and results, requests and answers, steps, and
 * how what is open is closed. */
#include <stdio.h>
#include <stdlib.h>

#include "tap/tap.h"
#include "turn/turn_test.h"

static void test_closing_order(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    step(&t, "start", "outer");
    step(&t, "start", "inner");
    request(&t, "r1", "open");
    call(&t, "t1");
    FEED(&t, tool_call, TOOL_CALL, p->tool_use_id = "t2", p->name = "Read",
         ev.meta.parent_id = "t1", ev.meta.agent = "sub");
    usage(&t, "turn");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, step start outer, step start inner, request r1 open, tool_call t1 Bash, "
           "tool_call t2 Read @sub ^t1, "
           "progress t1 cancelled, tool_result t1 failed cancelled, "
           "progress t2 cancelled @sub ^t1, tool_result t2 failed cancelled @sub ^t1, "
           "step end inner, step end outer, request r1 resolved cancelled, "
           "final ok, usage turn, done completed",
           "what is open is closed before the outcome, in order");
}

static void test_suspended(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    request(&t, "r1", "open");
    call(&t, "t1");
    done(&t, "suspended");
    final(&t, "waiting");
    finish(&t, STREAM_EOF,
           "start, request r1 open, tool_call t1 Bash, progress t1 cancelled, "
           "tool_result t1 failed cancelled, final waiting, done suspended",
           "requests of a suspended turn stay open");
    begin(&t);
    start(&t);
    request(&t, "r1", "open");
    done(&t, "suspended");
    error(&t, "e");
    finish(&t, STREAM_EOF,
           "start, request r1 open, request r1 resolved cancelled, error e, done error",
           "unless it fails");
}

static void test_pairing(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    FEED(&t, tool_result, TOOL_RESULT, p->tool_use_id = "t1", p->name = "Grep",
         ev.meta.parent_id = "t0", ev.meta.x = "{\"err\":1}");
    result(&t, "t2");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, tool_call t1 Grep ^t0, tool_result t1 ^t0 x={\"err\":1}, tool_call t2 tool, "
           "tool_result t2, final ok, done completed",
           "a result without a call brings its call");

    begin(&t);
    start(&t);
    call(&t, "t1");
    FEED(&t, tool_call, TOOL_CALL, p->tool_use_id = "t1", p->name = "Bash", p->args = "{\"c\":2}",
         p->args_len = 7, ev.meta.x = "{\"k\":1}");
    result(&t, "t1");
    result(&t, "t1");
    call(&t, "t1");
    progress(&t, "t1");
    is_int((long long)t.guard.stats.duplicates, 3, "repeated calls and results are counted");
    is_int((long long)t.guard.stats.unmatched, 1, "so is progress of a closed call");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, tool_call t1 Bash, progress t1 running x={\"args\":{\"c\":2},\"k\":1}, "
           "tool_result t1, final ok, done completed",
           "a call and its result come once");

    begin(&t);
    start(&t);
    progress(&t, "t1");
    progress(&t, NULL);
    progress(&t, "");
    call(&t, "t1");
    progress(&t, "t1");
    result(&t, "t1");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, progress t1 running, progress - running, progress - running, "
           "tool_call t1 Bash, progress t1 running, tool_result t1, final ok, done completed",
           "progress passes before and during its call");
}

static void test_nameless(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    call(&t, "");
    call(&t, "");
    call(&t, "t1");
    result(&t, "");
    result(&t, "");
    result(&t, "");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, tool_call nameless-1 Bash, tool_call nameless-2 Bash, tool_call t1 Bash, "
           "tool_result nameless-1, tool_result nameless-2, tool_call nameless-3 tool, "
           "tool_result nameless-3, progress t1 cancelled, tool_result t1 failed cancelled, "
           "final ok, done completed",
           "calls without an id get one, results take the oldest");
    begin(&t);
    start(&t);
    request(&t, "", "resolved");
    request(&t, "", "open");
    request(&t, "", "open");
    request(&t, "", "resolved");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, request nameless-1 open, request nameless-2 open, "
           "request nameless-1 resolved, request nameless-2 resolved cancelled, final ok, "
           "done completed",
           "so do requests");

    begin(&t);
    start(&t);
    call(&t, "nameless-1");
    result(&t, "nameless-1");
    result(&t, NULL);
    request(&t, "nameless-2", "open");
    request(&t, NULL, "open");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, tool_call nameless-1 Bash, tool_result nameless-1, tool_call nameless-2 tool, "
           "tool_result nameless-2, request nameless-2 open, request nameless-3 open, "
           "request nameless-2 resolved cancelled, request nameless-3 resolved cancelled, "
           "final ok, done completed",
           "an id that is made is none that the agent has used");
}

static void test_requests(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    request(&t, "r1", "open");
    request(&t, "r1", "open");
    request(&t, "r1", "resolved");
    request(&t, "r1", "resolved");
    request(&t, "r1", "open");
    request(&t, "r0", "resolved");
    request(&t, "r0", "resolved");
    is_int((long long)t.guard.stats.duplicates, 4, "repeated requests are counted");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, request r1 open, request r1 resolved, request r0 resolved, final ok, "
           "done completed",
           "a request opens once and is resolved once, also one of an earlier turn");
}

static void test_steps(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    step(&t, "end", "never");
    step(&t, "mark", "phase");
    step(&t, "start", "a");
    step(&t, "start", "a");
    step(&t, "end", NULL);
    step(&t, "start", "a");
    step(&t, "end", "a");
    step(&t, "end", "a");
    is_int((long long)t.guard.stats.unmatched, 2, "ends of nothing are counted");
    is_int((long long)t.guard.stats.duplicates, 1, "so are repeated starts");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, step mark phase, step start a, step end a, step start a, step end a, final ok, "
           "done completed",
           "steps are balanced, and may come again");
    begin(&t);
    start(&t);
    agent_step(&t, "start", "Explore", "s1");
    agent_step(&t, "start", "Explore", "s2");
    agent_step(&t, "start", "Plan", NULL);
    agent_step(&t, "end", "renamed", "s1");
    agent_step(&t, "end", "Plan", NULL);
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, step start Explore @s1, step start Explore @s2, step start Plan, "
           "step end Explore @s1, step end Plan, step end Explore @s2, final ok, done completed",
           "sub-agents' steps are told apart by agent or name");
    begin(&t);
    start(&t);
    step(&t, "start", "a");
    agent_step(&t, "start", "b", NULL);
    step(&t, "end", NULL);
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, step start a, step start b, step end a, step end b, final ok, done completed",
           "a step's end never ends a sub-agent");
}

/* More than can be remembered: the promises hold, and memory is bounded. */
static void test_bounds(void)
{
    struct turn_test t;
    begin(&t);
    char id[32];
    for (int i = 0; i < 3 * BOOK_MAX; i++) {
        snprintf(id, sizeof(id), "open-%d", i);
        call(&t, id);
    }
    is_int((long long)t.guard.tools.open.count, BOOK_MAX, "so many calls may be open");
    ok(t.guard.tools.closed.count <= BOOK_MAX, "so many closed ones are remembered");
    result(&t, "open-5000");
    is_int((long long)t.guard.stats.duplicates, 1,
           "the result of a call cancelled for room is late");

    char *const big = malloc(3000001);
    memset(big, 'x', 3000000);
    big[3000000] = '\0';
    for (int i = 0; i < 20; i++) {
        big[0] = (char)('a' + i);
        call(&t, big);
    }
    ok(t.guard.tools.bytes < 4000000, "huge ids are bounded in bytes: %zu", t.guard.tools.bytes);
    is_int((long long)t.guard.tools.open.count, 1, "one huge one at a time");
    free(big);
    guard_end(&t.guard, NULL);
    const char *const broken = promise_end(&t.promise);
    ok(!broken, "and every promise was kept%s%s", broken ? ": " : "", broken ? broken : "");
    promise_fini(&t.promise);
    guard_fini(&t.guard);
    buf_fini(&t.told);
}

static void keep_result_name(void *ctx, struct event *ev)
{
    if (ev->kind == TC_TOOL_RESULT)
        snprintf(ctx, 64, "%s", ev->u.tool_result.name ? ev->u.tool_result.name : "(none)");
}

static void test_result_name(void)
{
    char name[64] = "";
    struct turn_test t;
    guard_init(&t.guard, "claude", "turn", keep_result_name, name);
    call(&t, "t1");
    result(&t, "t1");
    is_str(name, "Bash", "a result has the name of its call");
    call(&t, "t2");
    FEED(&t, tool_result, TOOL_RESULT, p->tool_use_id = "t2", p->name = "bash");
    is_str(name, "bash", "unless the source names it");
    result(&t, "t3");
    is_str(name, "tool", "or nobody knows the call");
    guard_end(&t.guard, NULL);
    guard_fini(&t.guard);
}

int main(void)
{
    plan_lazy();
    test_closing_order();
    test_suspended();
    test_pairing();
    test_nameless();
    test_requests();
    test_steps();
    test_bounds();
    test_result_name();
}
