/* SPDX-License-Identifier: MIT
 * Messages that come while a turn runs: the agent takes them into it, or answers them behind it;
 * and they are taken back before it has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/agent_lines.h"
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

static void begin(const char *const *words, enum conf_running how)
{
    talk_begin(words);
    talk.agent->keep_alive_ms = 60000;
    talk.agent->background_timeout_ms = 60000;
    talk.agent->background = CONF_FOLLOW;
    talk.agent->while_running = how;
}

static void steer(const char *const *words)
{
    begin(words, CONF_STEER);
    talk_say("one");
    talk_await_working(1);
}

static void say_two(enum tc_accepted how, const char *answer)
{
    talk_is(talk_say("two"), how, answer, "two");
}

#define GIVEN "The agent receives this message while it is working."

static void test_steer(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "ack=started", SAYS("m2", "both"),
                                ENDS("both", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_await_states("ended merged", "the message is merged into the running turn");
    talk_await_log("notice(steered)", "a notice reports the merged message");
    talk_await_log("final(both)", "the answer covers both messages");
    talk_end_quiet("a message during a turn");
}

/* The model was not called again: it is answered by a turn of its own, and was written once. */
static void test_steer_late(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", ENDS("hi", "0", ""), "ack=started", "text=" INIT,
                                SAYS("m2", "second"), ENDS("second", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_await_states("ended ended", "a message after the answer is a separate turn");
    talk_await_log("final(second)", "the separate turn has its own answer");
    ok(!talk_is_logged("steered"), "the message was not merged into the first turn");
    is_int(talk.disk.turns[0].pid, talk.disk.turns[1].pid, "both turns had one process");
    talk_end_quiet("a message after the answer");
}

static void test_steer_death(void)
{
    char count[600];
    snprintf(count, sizeof count, "count=%s/steered", tap_tmpdir());
    steer((const char *const[]){count, "on=1", "await=one", "text=" INIT, SAYS("m1", "hi"),
                                "await=two", ENDS("hi", "0", ""), "exit=0", "on=2", "await=two",
                                "text=" INIT, ENDS("second", "0", ""), "on=0", "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_await_states("ended ended", "the message of a process that exited is answered");
    talk_await_log("final(second)", "another process answers the message");
    talk_end_quiet("a process that exits with a waiting message");
}

static void test_steer_stop(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping the running turn. Dropped 1 queued message.",
            "/stop");
    talk_await_states("ended cancelled", "/stop withdraws the waiting message");
    talk_end_quiet("stop with a waiting message");
}

/* It would have to begin a turn of its own there. */
static void test_steer_order(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "await=three", "ack=queued", ENDS("hi", "0", ""),
                                "text=" INIT, SAYS("m2", "two and three"),
                                ENDS("two and three", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_is(talk_say("three"), TC_GIVEN, GIVEN, "three");
    talk_await_states("ended ended merged", "two messages after the answer are answered together");
    talk_end_quiet("two messages after the answer");
}

/* The turn that runs is not told to who is named, so the message waits for a turn that is. */
static void test_steer_named(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "ack=started", SAYS("m2", "both"),
                                ENDS("both", "0", ""), "await=three", "text=" INIT,
                                SAYS("m3", "last"), ENDS("last", "0", ""), "eof", NULL},
          CONF_STEER);
    talk_name("sl", "one");
    talk_await_working(1);
    talk_is(talk_name("tg", "three"), TC_QUEUED, NULL,
            "a message that names another instance waits");
    talk_is(talk_say("/queue clear"), TC_COMMAND, NULL, "the waiting message is dropped");
    talk_is(talk_name("sl", "two"), TC_GIVEN, GIVEN,
            "a message that names the same instance is given to the agent");
    talk_is(talk_name("tg", "three"), TC_QUEUED, NULL,
            "another message that names another instance waits");
    talk_await_states("ended cancelled merged ended", "the waiting message is a separate turn");
    talk_await_log("for(tg)", "the separate turn is cast to the named instance");
    talk_end_quiet("messages that name instances during a turn");
}

/* Whatever has begun the turn. */
static void test_steer_agents_turn(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, TASKS(TASK), SAYS("m1", "wait"),
                                ENDS("wait", "0", ""), "ms=50", TASKS(""), NOTIFIES, "text=" INIT,
                                SAYS("m2", "12"), "await=two", "ack=started",
                                ENDS("both", "0", OF_TASK), "eof", NULL},
          CONF_STEER);
    talk_say("one");
    talk_await_log("n(12)", "the agent begins a turn by itself");
    say_two(TC_GIVEN, GIVEN);
    talk_await_states("ended ended merged", "the message is merged into the turn of the agent");
    talk_await_log("final(both)", "the turn of the agent answers the message");
    talk_end_quiet("a message during a turn that the agent began");
}

#define OVERLOADED                                                                                 \
    "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"session_id\":\"s-1\","  \
    "\"result\":\"API Error: 529 overloaded_error\",\"api_error_status\":529}"

/* The process that had the message is gone, the turn goes on with another one. */
static void test_steer_retry(void)
{
    char count[600];
    snprintf(count, sizeof count, "count=%s/retried", tap_tmpdir());
    steer((const char *const[]){count, "on=1", "await=one", "text=" INIT, SAYS("m1", "hi"),
                                "await=two", "ack=queued", OVERLOADED, "exit=1", "on=2",
                                "await=one", "text=" INIT, ENDS("first", "0", ""), "await=two",
                                "text=" INIT, ENDS("second", "0", ""), "on=0", "eof", NULL});
    talk.agent->attempts = 2;
    say_two(TC_GIVEN, GIVEN);
    talk_await_log("notice(retry)", "the turn is retried");
    talk_await_states("ended ended", "the message is given to the next process");
    talk_await_log("final(second)", "the next process answers the message");
    talk_end_quiet("a retry with a given message");
}

/* Nobody has asked for that: it is sent again. */
static void test_steer_dropped(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=cancelled", ENDS("hi", "0", ""), "await=two", "text=" INIT,
                                ENDS("second", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_await_states("ended ended", "a message that the agent drops is a separate turn");
    talk_await_log("final(second)", "the separate turn has an answer");
    talk_end_quiet("a message that the agent dropped");
}

/* ---- messages that are taken back ---- */

static void clear_queue(const char *answer)
{
    talk_is(talk_say("/queue clear"), TC_COMMAND, answer, "/queue clear");
}

static void test_clear(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "await=cancel_async_message", "ack=cancelled",
                                "await=three", "ack=started", SAYS("m2", "more"),
                                ENDS("more", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    clear_queue("Dropped 1 queued message.");
    talk_await_states("running cancelled", "the message is dropped");
    talk_is(talk_say("three"), TC_GIVEN, GIVEN, "three");
    talk_await_states("ended cancelled merged", "the turn continues with the next message");
    talk_end_quiet("/queue clear");
}

static void test_clear_late(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "await=cancel_async_message", "ack=started", SAYS("m2", "both"),
                                ENDS("both", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    clear_queue("1 message was not dropped: the agent has already received it.");
    talk_await_states("ended merged", "a message that the agent took is merged");
    talk_end_quiet("/queue clear after the agent took the message");
}

/* The process might answer it after all. */
static void test_clear_unsettled(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "await=cancel_async_message", ENDS("hi", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    clear_queue("Dropped 1 queued message.");
    talk_await_states("ended cancelled",
                      "/queue clear cancels the message without an answer of the agent");
    talk_await_quiet();
    is_int((int64_t)turn_scheduler_warm(talk.all), 0, "the agent is ended after the turn");
    talk_end_quiet("/queue clear without an answer");
}

static void test_clear_death(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "await=cancel_async_message", "exit=1", NULL});
    say_two(TC_GIVEN, GIVEN);
    clear_queue("Dropped 1 queued message.");
    talk_await_states("ended cancelled", "the message of a process that exited is cancelled");
    talk_end_quiet("/queue clear and an exit of the process");
}

/* The turn goes on, with a process that has not had the message. */
static void test_clear_retry(void)
{
    char count[600];
    snprintf(count, sizeof count, "count=%s/cleared", tap_tmpdir());
    steer((const char *const[]){count, "on=1", "await=one", "text=" INIT, SAYS("m1", "hi"),
                                "await=two", "await=cancel_async_message", OVERLOADED, "exit=1",
                                "on=2", "await=one", "text=" INIT, SAYS("m1", "hi"), "eof", NULL});
    talk.agent->attempts = 2;
    say_two(TC_GIVEN, GIVEN);
    clear_queue("Dropped 1 queued message.");
    talk_await_states("running cancelled", "the message of an attempt that ended is cancelled");
    talk_say("/stop");
    talk_end_quiet("/queue clear and a retry");
}

static bool waits(const void *arg)
{
    (void)arg;
    return turn_scheduler_warm(talk.all) == 1;
}

/* The turn is over but for its end on disk: the process has the message and would answer it. */
static void test_stop_behind(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", ENDS("hi", "0", ""), "eof", NULL});
    talk.disk.holds = true;
    say_two(TC_GIVEN, GIVEN);
    talk_spin(waits, NULL);
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping the running turn. Dropped 1 queued message.",
            "/stop");
    is_int((int64_t)turn_scheduler_warm(talk.all), 0,
           "the process with the dropped message is ended");
    fake_ledger_release(&talk.disk);
    talk_await_states("ended cancelled", "the dropped message is not answered");
    talk_end_quiet("stop after the answer");
}

static void test_cancel_given(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "await=three", "await=cancel_async_message", "ack=cancelled",
                                ENDS("hi", "0", ""), "ms=50", "text=" INIT, SAYS("m2", "three"),
                                ENDS("three", "0", ""), "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_is(talk_say("three"), TC_GIVEN, GIVEN, "three");
    ok(turn_scheduler_cancel_turn(talk.all, talk.disk.turns[1].id),
       "one of two given messages is cancelled");
    talk_await_states("ended cancelled ended", "only the cancelled message is withdrawn");
    talk_end_quiet("cancelling a given message");
}

static void test_steer_stop_written(void)
{
    char tee[620], path[600];
    snprintf(path, sizeof path, "%s/stopped", tap_tmpdir());
    snprintf(tee, sizeof tee, "tee=%s", path);
    steer((const char *const[]){tee, "await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "await=interrupt", "eof", NULL});
    say_two(TC_GIVEN, GIVEN);
    talk_say("/stop");
    talk_await_states("ended cancelled", "/stop");
    size_t len;
    char *const told = tap_slurp(path, &len);
    const char *const withdrawn = strstr(told, "cancel_async_message");
    ok(withdrawn && strstr(withdrawn, "\"interrupt\""),
       "the agent receives the withdrawal, then the interrupt");
    free(told);
    talk_end_quiet("stop");
}

static void test_interrupt(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "eof", NULL},
          CONF_INTERRUPT);
    talk_say("one");
    talk_await_working(1);
    say_two(TC_INTERRUPT, "Stopping the running turn to answer this message.");
    talk_await_log("done(cancelled)", "the running turn is stopped");
    talk_await_states("ended running", "the message is the next turn");
    talk_say("/stop");
    talk_end_quiet("interrupt");
}

static void test_steer_codex(const char *reply, const char *states)
{
    begin(
        (const char *const[]){
            "await=\"initialize\"", CODEX("initialize", "{\"codexHome\":\"/c\"}"),
            "await=\"thread/start\"", CODEX("thread", "{\"thread\":{\"id\":\"th-1\"}}"),
            "await=\"turn/start\"", CODEX("turn", "{\"turn\":{\"id\":\"a\"}}"),
            CODEX_SAYS("a", "hi"), "await=\"expectedTurnId\":\"a\"", reply, CODEX_SAYS("a", "both"),
            CODEX_ENDS("a"), "await=turn/start", CODEX("turn", "{\"turn\":{\"id\":\"b\"}}"),
            CODEX_ENDS("b"), "eof", NULL},
        CONF_STEER);
    talk.agent->dialect = (char[]){"codex-app"};
    talk_say("one");
    talk_await_working(1);
    say_two(TC_GIVEN, GIVEN);
    talk_await_states(states, reply);
    ok(!talk_is_logged("error"), "codex-app: no error is shown");
    talk_end_quiet("codex-app");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_steer();
    test_steer_late();
    test_steer_death();
    test_steer_stop();
    test_steer_stop_written();
    test_steer_order();
    test_steer_named();
    test_steer_agents_turn();
    test_steer_retry();
    test_steer_dropped();
    test_clear();
    test_clear_late();
    test_clear_unsettled();
    test_clear_death();
    test_clear_retry();
    test_stop_behind();
    test_cancel_given();
    test_interrupt();
    test_steer_codex(CODEX("steer", "{\"turnId\":\"a\"}"), "ended merged");
    test_steer_codex("text={\"id\":\"turncast-steer\",\"error\":{\"code\":-32600,\"message\":"
                     "\"no active turn to steer\"}}",
                     "ended ended");
    stage_fini();
    return 0;
}
