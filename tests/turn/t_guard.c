/* SPDX-License-Identifier: MIT
 * Tests of turn/guard.h, one per decision: the life of a turn, its start, its one outcome, what
 * may follow it. Every turn also goes past the checker of promises. */
#include "turn/guard.h"

#include <string.h>

#include "tap/tap.h"
#include "turn/turn_test.h"

#define SET_TEXT(s) p->text = (s), p->text_len = sizeof(s) - 1
#define STOPPED "x={\"reason\":\"cancelled\"}"

static void test_plain_turn(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    say(&t, "Hi");
    call(&t, "t1");
    result(&t, "t1");
    final(&t, "Hi");
    usage(&t, "turn");
    done(&t, "completed");
    is_int((long long)t.guard.seq, 6, "done is held until the end of the stream");
    finish(&t, STREAM_EOF,
           "start, narration Hi, tool_call t1 Bash, tool_result t1, final Hi, usage turn, "
           "done completed",
           "a plain turn passes as it is");
}

static void test_start(void)
{
    struct turn_test t;
    begin(&t);
    notice(&t, "early");
    start(&t);
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, notice info early, notice info restart, final ok, done completed",
           "a start is made for what comes before one, and nothing is wiped");

    begin(&t);
    start(&t);
    call(&t, "t1");
    FEED(&t, start, START, p->model = "m2", ev.meta.x = "{\"a\":1}");
    result(&t, "t1");
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, tool_call t1 Bash, notice info restart x={\"model\":\"m2\",\"x\":{\"a\":1}}, "
           "tool_result t1, final ok, done completed",
           "a later start becomes a notice and resets nothing");

    begin(&t);
    FEED(&t, start, START, ev.meta.agent = "sub");
    start(&t);
    final(&t, "ok");
    finish(&t, STREAM_EOF,
           "start, notice info restart @sub x={\"agent\":\"sub\"}, notice info restart, final ok, "
           "done completed",
           "a sub-agent's start is not the turn's");
}

static void test_no_terminal(void)
{
    static const struct {
        enum stream_end how;
        const char *wanted;
    } rows[] = {
        {STREAM_EOF, "start, narration Hi, error agent_no_result, done lost agent_no_result"},
        {STREAM_EXIT, "start, narration Hi, error agent_exit, done lost agent_exit"},
        {STREAM_SIGNAL, "start, narration Hi, error agent_signal, done lost agent_signal"},
        {STREAM_TIMEOUT, "start, narration Hi, error agent_timeout, done error agent_timeout"},
        {STREAM_CANCELLED, "start, narration Hi, final made:Hi " STOPPED ", done cancelled"},
        {STREAM_SHUTDOWN, "start, narration Hi, error host_shutdown, done error host_shutdown"},
        {STREAM_SPAWN, "start, narration Hi, error agent_spawn, done error agent_spawn"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct turn_test t;
        begin(&t);
        start(&t);
        say(&t, "Hi");
        finish(&t, rows[i].how, rows[i].wanted,
               "no outcome: narrated text is one only of a turn that was stopped");
    }
    struct turn_test t;
    begin(&t);
    finish(&t, STREAM_EOF, "start, error agent_no_result, done lost agent_no_result",
           "an empty stream has a start and an outcome");
}

static void end_with(struct turn_test *t, const struct stream_end_info *end, const char *wanted,
                     const char *name)
{
    begin(t);
    start(t);
    guard_end(&t->guard, end);
    finish(t, STREAM_EOF, wanted, name);
}

static void test_end_details(void)
{
    struct turn_test t;
    end_with(&t, &(struct stream_end_info){.how = STREAM_EOF, .truncated = true},
             "start, error agent_truncated, done lost agent_truncated",
             "a last line that broke off says so");
    end_with(&t, &(struct stream_end_info){.how = STREAM_EXIT, .truncated = true},
             "start, error agent_exit, done lost agent_exit", "the exit status says more");
    end_with(&t, &(struct stream_end_info){.how = STREAM_EXIT, .code = "agent_session"},
             "start, error agent_session, done lost agent_session", "the host's own code counts");
    end_with(&t, NULL, "start, error agent_no_result, done lost agent_no_result",
             "no information is end of file");
}

/* The stream said done and told no outcome. */
static void test_outcome_of_done(void)
{
    static const struct {
        const char *reason, *wanted;
    } rows[] = {
        {"completed", "start, final made:, done completed"},
        {"stopped", "start, final made:because, done stopped"},
        {"cancelled", "start, final made: " STOPPED ", done cancelled"},
        {"suspended", "start, final made:, done suspended"},
        {"refused", "start, final made:because, done refused"},
        {"error", "start, error -, done error"},
        {"lost", "start, error agent_no_result, done lost"},
        {"enough", "start, error -, done error"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct turn_test t;
        begin(&t);
        start(&t);
        FEED(&t, done, DONE, p->reason = rows[i].reason, p->detail = "because");
        ok(guard_has_outcome(&t.guard), "%s: the stream has said how it ends", rows[i].reason);
        finish(&t, STREAM_EOF, rows[i].wanted, "the outcome follows from the done");
    }
}

static void test_cancel(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    done(&t, "error");
    finish(&t, STREAM_CANCELLED, "start, final made: " STOPPED ", done cancelled",
           "a failure after our own cancelling is the cancelling");
    begin(&t);
    start(&t);
    final(&t, "ok");
    done(&t, "completed");
    finish(&t, STREAM_CANCELLED, "start, final ok, done completed",
           "a turn that was over before the cancelling is completed");
    begin(&t);
    start(&t);
    error(&t, "overloaded");
    finish(&t, STREAM_SIGNAL, "start, error overloaded, done error",
           "the stream's own error counts, not how the process died");
}

/* What was written since the last tool call stays, and nothing that was taken back. */
static void test_kept_text(void)
{
    struct turn_test t;
    begin(&t);
    FEED(&t, narration, NARRATION, SET_TEXT("I look"), p->message_id = "m1");
    call(&t, "t1");
    result(&t, "t1");
    finish(&t, STREAM_CANCELLED,
           "start, narration I look, tool_call t1 Bash, tool_result t1, final made: " STOPPED
           ", done cancelled",
           "text ahead of a tool call is no answer");

    begin(&t);
    FEED(&t, narration, NARRATION, SET_TEXT("One"), p->message_id = "m1");
    FEED(&t, narration, NARRATION, SET_TEXT("Tw"), p->message_id = "m2");
    FEED(&t, narration, NARRATION, SET_TEXT("sub"), ev.meta.agent = "sub");
    FEED(&t, narration, NARRATION, SET_TEXT("o"), p->message_id = "m2");
    done(&t, "cancelled");
    finish(&t, STREAM_EOF,
           "start, narration One, narration Tw, narration sub @sub, narration o, final "
           "made:Two " STOPPED ", done cancelled",
           "of several messages the last one, without a sub-agent's words");

    begin(&t);
    say(&t, "Hi");
    call(&t, "t1");
    FEED(&t, message, MESSAGE, p->role = "assistant", SET_TEXT("Hi"));
    finish(&t, STREAM_CANCELLED,
           "start, narration Hi, tool_call t1 Bash, message Hi, progress t1 cancelled, "
           "tool_result t1 failed cancelled, final made: " STOPPED ", done cancelled",
           "a whole message repeats what has been told");

    begin(&t);
    say(&t, "Hi");
    FEED(&t, message, MESSAGE, p->role = "user", SET_TEXT("And this?"));
    finish(&t, STREAM_CANCELLED,
           "start, narration Hi, message And this?, final made: " STOPPED ", done cancelled",
           "what a person said between is not the agent's, nor what was before it");

    begin(&t);
    FEED(&t, narration, NARRATION, SET_TEXT("Wrong"), p->message_id = "m1");
    FEED(&t, notice, NOTICE, p->level = "info", p->code = "retracted", p->text = "",
         p->message_id = "m0");
    FEED(&t, notice, NOTICE, p->level = "info", p->code = "retracted", p->text = "",
         p->message_id = "m1");
    finish(
        &t, STREAM_CANCELLED,
        "start, narration Wrong, notice info retracted, notice info retracted, final made: " STOPPED
        ", done cancelled",
        "what was taken back is gone");
}

/* Its memory does not grow with the stream. */
static void test_kept_bound(void)
{
    struct kept kept = {0};
    struct event ev;
    char text[1000];
    memset(text, 'x', sizeof text);
    event_init(&ev, TC_NARRATION);
    ev.u.narration.text = text;
    ev.u.narration.text_len = sizeof text;
    for (int i = 0; i < 1000; i++)
        kept_text_see(&kept, &ev);
    struct tc_final final = {0};
    kept_text_fill(&kept, &final);
    is_int((long long) final.text_len, (long long)KEPT_MAX, "no more than that is kept");
    kept_text_fini(&kept);
}

static void test_done_fits_the_outcome(void)
{
    struct turn_test t;
    begin(&t);
    error(&t, "e");
    done(&t, "completed");
    finish(&t, STREAM_EOF, "start, error e, done error", "an error is never reported as success");
    begin(&t);
    final(&t, "ok");
    done(&t, "lost");
    finish(&t, STREAM_EOF, "start, final ok, done completed", "what gave a result is not lost");
    begin(&t);
    final(&t, "ok");
    done(&t, "stopped");
    done(&t, "error");
    is_int((long long)t.guard.stats.duplicates, 1, "a second done is counted");
    finish(&t, STREAM_EOF, "start, final ok, done stopped", "the first done counts");
    begin(&t);
    FEED(&t, done, DONE, p->reason = "error", ev.meta.agent = "sub");
    final(&t, "ok");
    finish(&t, STREAM_EOF, "start, final ok, done completed",
           "a sub-agent's done is not the turn's");
}

static void test_second_outcomes(void)
{
    struct turn_test t;
    begin(&t);
    final(&t, "one");
    final(&t, "two");
    final(&t, "three");
    is_int((long long)t.guard.stats.duplicates, 2, "second finals are counted");
    finish(&t, STREAM_EOF, "start, final one, notice warn duplicate_result, done completed",
           "the first final counts, the rest is told once");
    begin(&t);
    final(&t, "one");
    error(&t, "late");
    error(&t, "later");
    finish(&t, STREAM_EOF,
           "start, final one, notice error late, notice warn duplicate_result, done completed",
           "an error after the final is a notice");
    begin(&t);
    error(&t, "first");
    final(&t, "one");
    error(&t, "second");
    finish(&t, STREAM_EOF, "start, error first, notice warn duplicate_result, done error",
           "an error stays the outcome");
}

static void test_late_events(void)
{
    struct turn_test t;
    begin(&t);
    final(&t, "ok");
    say(&t, "more");
    call(&t, "t9");
    notice(&t, "passes");
    usage(&t, "call");
    start(&t);
    is_int((long long)t.guard.stats.late, 3, "late events are counted, a call's usage is not");
    finish(&t, STREAM_EOF,
           "start, final ok, notice info passes, notice info late_event x={\"count\":3}, "
           "done completed",
           "nothing but notices and usage follows the outcome");
    begin(&t);
    final(&t, "ok");
    guard_end(&t.guard, NULL);
    say(&t, "after the end");
    guard_end(&t.guard, NULL);
    finish(&t, STREAM_EOF, "start, final ok, done completed",
           "nothing follows done, and it is once");
}

static void test_usage(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    usage(&t, "call");
    usage(&t, "turn");
    usage(&t, "turn");
    say(&t, "Hi");
    final(&t, "Hi");
    usage(&t, "turn");
    is_int((long long)t.guard.stats.duplicates, 2, "second usages of the turn are counted");
    finish(&t, STREAM_EOF, "start, usage call, narration Hi, final Hi, usage turn, done completed",
           "the turn's usage waits for the outcome and comes once");
    begin(&t);
    start(&t);
    usage(&t, "turn");
    finish(&t, STREAM_EXIT, "start, error agent_exit, usage turn, done lost agent_exit",
           "also for an outcome that the host gave");
    begin(&t);
    FEED(&t, usage, USAGE, p->scope = "turn", ev.meta.agent = "sub");
    final(&t, "ok");
    usage(&t, "turn");
    finish(&t, STREAM_EOF, "start, usage call @sub, final ok, usage turn, done completed",
           "a sub-agent's total is one of the turn's calls");
}

static void test_children(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    FEED(&t, final, FINAL, p->text = "sub says", p->text_len = 8, ev.meta.parent_id = "t1");
    FEED(&t, error, ERROR, p->message = "sub broke", p->code = "e", ev.meta.agent = "sub");
    ok(!guard_has_outcome(&t.guard), "a sub-agent's end is not the turn's");
    final(&t, "mine");
    FEED(&t, final, FINAL, p->text = "late", p->text_len = 4, ev.meta.agent = "sub");
    finish(&t, STREAM_EOF,
           "start, message sub says ^t1, notice error e @sub, final mine, "
           "notice info late_event x={\"count\":1}, done completed",
           "a sub-agent's final is a message, its error a notice");
}

static void test_empty_texts(void)
{
    struct turn_test t;
    begin(&t);
    start(&t);
    say(&t, "");
    FEED(&t, thinking, THINKING, );
    FEED(&t, thinking, THINKING, p->encrypted = "AA==");
    final(&t, "");
    finish(&t, STREAM_EOF, "start, thinking, final , done completed",
           "empty deltas are dropped, an empty answer is an answer");
}

static void test_meta(void)
{
    struct turn_test t;
    begin(&t);
    FEED(&t, start, START, ev.meta.ts = 12.5, ev.meta.session_id = "s-1");
    is_real(t.last_ts, 12.5, "the source's time is kept");
    is_str(t.session, "s-1", "the session is the stream's");
    say(&t, "a");
    is_real(t.last_ts, 1784884501.5, "else it is the time of arrival");
    is_str(t.session, "s-1", "and the session is the newest told");
    FEED(&t, narration, NARRATION, p->text = "b", p->text_len = 1, ev.meta.session_id = "s-2");
    FEED(&t, narration, NARRATION, p->text = "c", p->text_len = 1, ev.meta.session_id = "sub",
         ev.meta.agent = "sub");
    is_str(t.session, "sub", "a sub-agent keeps its own");
    say(&t, "d");
    is_str(t.session, "s-2", "which is not the turn's");
    guard_end(&t.guard, NULL);
    finish(&t, STREAM_EOF,
           "start, narration a, narration b, narration c @sub, narration d, "
           "error agent_no_result, done lost agent_no_result",
           "meta is filled in");
}

static void begin_suspended(struct turn_test *t, bool may_resume)
{
    begin(t);
    if (may_resume)
        guard_may_resume(&t->guard);
    start(t);
    request(t, "r", "open");
    done(t, "suspended");
    final(t, "half");
}

static void test_suspended(void)
{
    struct turn_test t;
    begin_suspended(&t, false);
    ok(strstr(t.told.p, "final half") && !guard_is_suspended(&t.guard),
       "a run that cannot be resumed ends at once");
    finish(&t, STREAM_EOF, "start, request r open, final half, done suspended", "suspended");

    begin_suspended(&t, true);
    ok(!strstr(t.told.p, "final half") && guard_is_suspended(&t.guard),
       "the end of one that can is held");
    finish(&t, STREAM_EOF, "start, request r open, final half, done suspended",
           "nobody has resumed it");

    begin_suspended(&t, true);
    start(&t);
    ok(!guard_is_suspended(&t.guard) && !guard_has_outcome(&t.guard), "it goes on");
    request(&t, "r", "resolved");
    final(&t, "whole");
    done(&t, "completed");
    finish(&t, STREAM_EOF,
           "start, request r open, notice info resumed, request r resolved, final whole, "
           "done completed",
           "the resumed run says how the turn ends");

    begin_suspended(&t, true);
    error(&t, "broken");
    finish(&t, STREAM_EOF,
           "start, request r open, request r resolved cancelled, error broken, done error",
           "an error behind it is the outcome");
}

int main(void)
{
    plan_lazy();
    test_suspended();
    test_plain_turn();
    test_start();
    test_no_terminal();
    test_end_details();
    test_outcome_of_done();
    test_cancel();
    test_kept_text();
    test_kept_bound();
    test_done_fits_the_outcome();
    test_second_outcomes();
    test_late_events();
    test_usage();
    test_children();
    test_empty_texts();
    test_meta();
}
