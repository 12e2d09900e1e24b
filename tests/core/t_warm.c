/* SPDX-License-Identifier: MIT
 * Agents that outlive a turn: the next message goes to the same process, and what they work at in
 * the background may begin a turn of its own. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "core/stage.h"
#include "core/talk.h"
#include "fake/children.h"
#include "tap/tap.h"

#define INIT "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\"}"
#define SAYS(id, text)                                                                             \
    "text={\"type\":\"assistant\",\"message\":{\"id\":\"" id                                       \
    "\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" text                   \
    "\"}]},\"session_id\":\"s-1\"}"
/* The running total of the costs is `total`. */
#define ENDS(text, total, origin)                                                                  \
    "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"" text      \
    "\",\"session_id\":\"s-1\",\"num_turns\":1,\"total_cost_usd\":" total origin "}"
#define OF_TASK ",\"origin\":{\"kind\":\"task-notification\"}"
#define TASKS(list)                                                                                \
    "text={\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"session_id\":\"s-1\","   \
    "\"tasks\":[" list "]}"
#define TASK "{\"task_id\":\"t1\",\"description\":\"Count files\"}"
#define NOTIFIES                                                                                   \
    "text={\"type\":\"system\",\"subtype\":\"task_notification\",\"session_id\":\"s-1\","          \
    "\"task_id\":\"t1\",\"status\":\"completed\",\"summary\":\"12\"}"

static const char *const two[] = {
    "await=one", "text=" INIT, SAYS("m1", "first"),  ENDS("first", "0.25", ""),
    "await=two", "text=" INIT, SAYS("m2", "second"), ENDS("second", "0.75", ""),
    "eof",       NULL};

/* It answers, works on, reports, and answers once more. */
static const char *const reports[] = {"await=one",
                                      "text=" INIT,
                                      TASKS(TASK),
                                      SAYS("m1", "wait"),
                                      ENDS("wait", "0.25", ""),
                                      "await=go",
                                      TASKS(""),
                                      NOTIFIES,
                                      "text=" INIT,
                                      SAYS("m2", "12 files"),
                                      ENDS("12 files", "0.75", OF_TASK),
                                      "await=two",
                                      "text=" INIT,
                                      SAYS("m3", "second"),
                                      ENDS("second", "1", ""),
                                      "eof",
                                      NULL};

/* What the log does not say. */
static struct {
    double costs[4];
    size_t n;
    char source[40]; /* of the newest start */
} seen;

static void see(void *ctx, struct event *ev)
{
    (void)ctx;
    if (ev->kind == TC_USAGE && seen.n < sizeof seen.costs / sizeof *seen.costs)
        seen.costs[seen.n++] = ev->u.usage.cost_usd;
    if (ev->kind == TC_START)
        snprintf(seen.source, sizeof seen.source, "%s",
                 ev->u.start.source ? ev->u.start.source : "");
}

static void begin(const char *const *words)
{
    talk_begin(words);
    memset(&seen, 0, sizeof seen);
    talk.log.watch = see;
    talk.agent->keep_alive_ms = 60000;
    talk.agent->background_timeout_ms = 60000;
}

static bool is_logged(const void *text)
{
    return strstr(cast_log_text(&talk.log), text);
}

static void await_log(const char *text, const char *what)
{
    talk_spin(is_logged, text);
    ok(is_logged(text), "%s: %s in %s", what, text, cast_log_text(&talk.log));
}

static bool is_cold(const void *arg)
{
    (void)arg;
    return conversations_warm(talk.all) == 0;
}

static bool is_warm(const void *arg)
{
    return conversations_warm(talk.all) == *(const size_t *)arg;
}

static void await_warm(size_t n, const char *what)
{
    talk_spin(is_warm, &n);
    is_int((int64_t)conversations_warm(talk.all), (int64_t)n, "%s: that many wait", what);
}

static void end(const char *what)
{
    talk_await_quiet();
    talk_end(what);
}

/* ---- the next message ---- */

static void test_next(const char *chunk)
{
    const char *words[sizeof two / sizeof *two + 1] = {chunk};
    memcpy(words + 1, two, sizeof two);
    begin(words);
    talk_say("one");
    await_log("done(completed)", "a turn ends while its process lives on");
    await_warm(1, chunk);
    talk_say("two");
    await_log("final(second)", "the next message");
    talk_await_states("ended ended", "both turns end");
    is_int(talk.disk.turns[0].pid, talk.disk.turns[1].pid, "they had one process");
    is_str(cast_log_text(&talk.log),
           "start(one) step n(first) message step final(first) usage(0) done(completed) "
           "start(two) step n(second) message step final(second) usage(0) done(completed)",
           "each turn is told whole, and nothing of the other");
    await_warm(1, "it waits again");
    end("two messages");
}

static void test_costs(void)
{
    begin(two);
    talk_say("one");
    await_warm(1, "costs");
    talk_say("two");
    await_log("final(second)", "two turns");
    talk_await_quiet();
    is_int(seen.n, 2, "each tells its cost");
    ok(seen.costs[0] == 0.25 && seen.costs[1] == 0.5,
       "the second one what came on top of the first: %g, %g", seen.costs[0], seen.costs[1]);
    end("costs");
}

static void test_died(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, ENDS("first", "0", ""), "eof", NULL});
    talk_say("one");
    await_warm(1, "it answers");
    talk_finish(0); /* a signal that it does not survive */
    await_warm(0, "it dies while it waits");
    talk_say("one again");
    talk_await_states("ended ended", "the next message is answered");
    ok(talk.disk.turns[0].pid != talk.disk.turns[1].pid, "by another process");
    ok(talk_dumped("mark=s-1"), "which resumes the session");
    end("death while it waits");
}

/* It is gone with the message before it has read it. */
static void test_dies_of_message(void)
{
    char count[600];
    snprintf(count, sizeof count, "count=%s/runs", tap_tmpdir());
    begin((const char *const[]){count, "await=one", "text=" INIT, ENDS("first", "0", ""), "on=1",
                                "await=two", "exit=3", "on=0", "eof", NULL});
    talk_say("one");
    await_warm(1, "it answers");
    talk_say("two, or one of it");
    talk_await_states("ended ended", "the message is answered");
    await_log("notice(retry)", "by a process that is started anew");
    ok(!is_logged("error"), "and nobody is told an error");
    end("death with the message");
}

static void test_new(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, ENDS("first", "0", ""), "eof", NULL});
    talk_say("one");
    await_warm(1, "it answers");
    talk_say("/new");
    is_int((int64_t)conversations_warm(talk.all), 0, "/new: it does not wait any more");
    talk_say("one again");
    talk_await_states("ended ended", "the next message is answered");
    ok(talk.disk.turns[0].pid != talk.disk.turns[1].pid, "by another process");
    ok(!talk_dumped("mark=s-1"), "which begins a session");
    end("a new session");
}

static void test_time(void)
{
    begin(two);
    talk.agent->keep_alive_ms = 1;
    talk_say("one");
    await_log("done(completed)", "it answers");
    talk_spin(is_cold, NULL);
    is_int((int64_t)conversations_warm(talk.all), 0, "keep_alive_s: then it ends");
    end("keep_alive_s");
}

static bool is_noted(const void *turn)
{
    return ((const struct fake_turn *)turn)->pid > 0;
}

static void test_number(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, ENDS("first", "0", ""), "eof", NULL});
    talk.conf.conversations.max_warm = 1;
    talk_say("one");
    await_warm(1, "it answers");
    talk_as("tg", "1", "B", "one");
    talk_await_states("ended ended", "so does one of another conversation");
    await_warm(1, "max_warm: the older one ends");
    talk_as("tg", "1", "B", "one");
    talk_await_states("ended ended running", "the newer one");
    talk_spin(is_noted, &talk.disk.turns[2]);
    is_int(talk.disk.turns[1].pid, talk.disk.turns[2].pid, "gets the next message");
    talk_as("tg", "1", "B", "/stop");
    end("max_warm");
}

static void test_off(void)
{
    begin(two);
    talk.agent->keep_alive_ms = 0;
    talk_say("one");
    talk_await_states("ended", "it answers");
    talk_await_quiet();
    is_int((int64_t)conversations_warm(talk.all), 0, "keep_alive_s = 0: it ends with its turn");
    end("off");
}

static void on_drained(void *ctx)
{
    *(bool *)ctx = true;
}

static bool is_true(const void *flag)
{
    return *(const bool *)flag;
}

static void test_drain(void)
{
    bool drained = false;
    begin(two);
    talk_say("one");
    await_warm(1, "it answers");
    conversations_drain(talk.all, on_drained, &drained);
    is_int((int64_t)conversations_warm(talk.all), 0, "when the host ends it waits no longer");
    talk_spin(is_true, &drained);
    ok(drained, "and the host ends behind it");
    end("the host ends");
}

/* ---- other dialogs ---- */

#define CODEX(id, result) "text={\"id\":\"turncast-" id "\",\"result\":" result "}"
#define CODEX_TURN(turn)                                                                           \
    "text={\"method\":\"turn/started\",\"params\":{\"threadId\":\"th-1\",\"turn\":{\"id\":\"" turn \
    "\"}}}"
#define CODEX_SAYS(turn, text)                                                                     \
    "text={\"method\":\"item/completed\",\"params\":{\"threadId\":\"th-1\",\"turnId\":\"" turn     \
    "\",\"item\":{\"type\":\"agentMessage\",\"id\":\"i-" turn "\",\"text\":\"" text "\"}}}"
#define CODEX_SPENT(turn, n)                                                                       \
    "text={\"method\":\"thread/tokenUsage/updated\",\"params\":{\"threadId\":\"th-1\","            \
    "\"turnId\":\"" turn "\",\"tokenUsage\":{\"last\":{\"inputTokens\":" n "}}}}"
#define CODEX_ENDS(turn)                                                                           \
    "text={\"method\":\"turn/"                                                                     \
    "completed\",\"params\":{\"threadId\":\"th-1\",\"turn\":{\"id\":\"" turn                       \
    "\",\"status\":\"completed\"}}}"

static void test_codex(void)
{
    begin((const char *const[]){
        "await=\"initialize\"", CODEX("initialize", "{\"codexHome\":\"/c\"}"),
        "await=\"thread/start\"", CODEX("thread", "{\"thread\":{\"id\":\"th-1\"}}"),
        "await=\"turn/start\"", CODEX("turn", "{\"turn\":{\"id\":\"a\"}}"), CODEX_TURN("a"),
        CODEX_SAYS("a", "first"), CODEX_SPENT("a", "7"), CODEX_ENDS("a"), CODEX_SAYS("a", "late"),
        "await=\"two\"", CODEX("turn", "{\"turn\":{\"id\":\"b\"}}"), CODEX_TURN("b"),
        CODEX_SAYS("b", "second"), CODEX_SPENT("b", "9"), CODEX_ENDS("b"), "eof", NULL});
    talk.agent->dialect = (char[]){"codex-app"};
    talk_say("one");
    await_warm(1, "codex-app: a thread");
    talk_say("two");
    await_log("final(second)", "takes another turn");
    talk_await_quiet();
    await_warm(1, "codex-app: and waits again");
    is_str(cast_log_text(&talk.log),
           "start(one) raw raw raw n(first) message usage(7) final(first) usage(7) "
           "done(completed) start(two) raw n(second) message usage(9) final(second) usage(9) "
           "done(completed)",
           "codex-app: each turn is told whole; what comes late is of neither");
    end("codex-app");
}

#define ACP(id, result)                                                                            \
    "text={\"jsonrpc\":\"2.0\",\"id\":\"turncast-" id "\",\"result\":" result "}"
#define ACP_UPDATE(update)                                                                         \
    "text={\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\","   \
    "\"update\":{" update "}}}"
#define ACP_SAYS(text)                                                                             \
    ACP_UPDATE("\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","         \
               "\"text\":\"" text "\"}")
#define ACP_COST(amount)                                                                           \
    ACP_UPDATE("\"sessionUpdate\":\"usage_update\",\"cost\":{\"amount\":" amount                   \
               ",\"currency\":\"USD\"}")

static void test_acp(void)
{
    begin((const char *const[]){
        "await=\"initialize\"",
        ACP("initialize", "{\"protocolVersion\":1,\"agentCapabilities\":{}}"),
        "await=\"session/new\"", ACP("new", "{\"sessionId\":\"s-1\"}"), "await=\"one\"",
        ACP_SAYS("first"), ACP_COST("0.25"), ACP("prompt", "{\"stopReason\":\"end_turn\"}"),
        "await=\"two\"", ACP_SAYS("second"), ACP_COST("0.75"),
        ACP("prompt", "{\"stopReason\":\"end_turn\"}"), "eof", NULL});
    talk.agent->dialect = (char[]){"acp"};
    talk_say("one");
    await_warm(1, "acp: a session");
    talk_say("two");
    await_log("final(second)", "takes another prompt");
    talk_await_quiet();
    ok(seen.n == 4 && seen.costs[1] == 0.25 && seen.costs[3] == 0.5,
       "acp: a turn costs what came on top: %zu, %g, %g", seen.n, seen.costs[1], seen.costs[3]);
    end("acp");
}

/* ---- what goes on in the background ---- */

static void begin_follow(const char *const *words)
{
    begin(words);
    talk.agent->background = CONF_FOLLOW;
}

/* It goes on by itself. */
static void test_follow(const char *chunk)
{
    const char *words[sizeof reports / sizeof *reports + 1] = {chunk};
    memcpy(words + 1, reports, sizeof reports);
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], "await=go") == 0)
            words[i] = "ms=100";
    begin_follow(words);
    talk_say("one");
    await_log("final(wait)", "the first answer is told while a task runs");
    await_log("final(12 files)", "what comes of it is told");
    talk_await_states("ended ended", "as a turn of its own");
    is_str(talk.disk.turns[1].conv, "tg:A", "in the same conversation");
    is_str(talk.disk.turns[1].route, "{\"r\":1}", "on the route of the message");
    ok(talk.disk.turns[1].targets == 1, "and whoever has to be told is");
    is_str(seen.source, "background_task", "it says why it began, in %s", cast_log_text(&talk.log));
    await_warm(1, "then it waits");
    talk_say("two");
    await_log("final(second)", "for the next message");
    is_int(talk.disk.turns[0].pid, talk.disk.turns[2].pid, "it was one process all the time");
    end("background work");
}

/* All of it comes in one piece: the second turn begins while the first one ends. */
static void test_at_once(void)
{
    char path[600], play[620];
    CLEANUP_BUF struct buf lines = {0};
    for (size_t i = 0; strcmp(reports[i], "await=two") != 0; i++)
        if (strncmp(reports[i], "text=", 5) == 0)
            buf_printf(&lines, "%s\n", reports[i] + 5);
    snprintf(path, sizeof path, "%s/at-once", tap_tmpdir());
    snprintf(play, sizeof play, "play=%s", path);
    tap_spew(path, lines.p, lines.len);
    begin_follow((const char *const[]){"chunk=65536", "await=one", play, "eof", NULL});
    talk_say("one");
    await_log("final(12 files)", "both turns at once");
    talk_await_states("ended ended", "are two");
    end("both at once");
}

static void test_stop(void)
{
    begin_follow(reports);
    talk_say("one");
    await_log("final(wait)", "it answers and works on");
    await_warm(1, "it works");
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping the work in the background.", "/stop");
    is_int((int64_t)conversations_warm(talk.all), 0, "it is ended");
    talk_is(talk_say("/stop"), TC_COMMAND, "Nothing is running.", "/stop again");
    end("stop");
}

static void test_wait(void)
{
    begin(reports);
    talk_say("one");
    await_log("n(wait)", "where turns wait the first answer is narration");
    ok(!is_logged("final"), "and none yet");
    talk_say("/stop");
    end("wait");
}

static void test_too_long(void)
{
    begin_follow(reports);
    talk.agent->background_timeout_ms = 1;
    talk_say("one");
    await_log("final(wait)", "it answers and works on");
    talk_spin(is_cold, NULL);
    is_int((int64_t)conversations_warm(talk.all), 0, "background_timeout_s: then it is ended");
    end("background_timeout_s");
}

/* A question of a sub-agent comes between two turns. */
static void test_question(void)
{
    begin_follow((const char *const[]){
        "await=one", "text=" INIT, TASKS(TASK), ENDS("wait", "0", ""), "ms=50",
        "text={\"type\":\"control_request\",\"request_id\":\"q1\",\"request\":{\"subtype\":"
        "\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"ls\"}}}",
        "await=control_response", TASKS(""), NOTIFIES, "text=" INIT, ENDS("done", "0", OF_TASK),
        "eof", NULL});
    talk_say("one");
    await_log("request", "a question between turns is asked in one of its own");
    talk_say("/stop");
    end("a question");
}

/* ---- messages to an agent at work ---- */

static void steer(const char *const *words)
{
    begin(words);
    talk.agent->while_running = CONF_STEER;
    talk_say("one");
    talk_await_working(1);
}

static void say_two(const char *answer)
{
    talk_is(talk_say("two"), TC_QUEUED, answer, "two");
}

#define GIVEN "The agent gets this while it works."

static void test_steer(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "ack=started", SAYS("m2", "both"),
                                ENDS("both", "0", ""), "eof", NULL});
    say_two(GIVEN);
    talk_await_states("ended merged", "it is part of the turn that runs");
    await_log("notice(steered)", "which tells that");
    await_log("final(both)", "and answers both");
    end("a message for the turn that runs");
}

/* The model was not called again: it is answered by a turn of its own, and was written once. */
static void test_steer_late(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", ENDS("hi", "0", ""), "ack=started", "text=" INIT,
                                SAYS("m2", "second"), ENDS("second", "0", ""), "eof", NULL});
    say_two(GIVEN);
    talk_await_states("ended ended", "it is a turn of its own");
    await_log("final(second)", "which has its own answer");
    ok(!is_logged("steered"), "and was not part of the first one");
    is_int(talk.disk.turns[0].pid, talk.disk.turns[1].pid, "by the same process");
    end("a message that came too late");
}

static void test_steer_death(void)
{
    char count[600];
    snprintf(count, sizeof count, "count=%s/steered", tap_tmpdir());
    steer((const char *const[]){count, "on=1", "await=one", "text=" INIT, SAYS("m1", "hi"),
                                "await=two", ENDS("hi", "0", ""), "exit=0", "on=2", "await=two",
                                "text=" INIT, ENDS("second", "0", ""), "on=0", "eof", NULL});
    say_two(GIVEN);
    talk_await_states("ended ended", "what a dead process had is answered");
    await_log("final(second)", "by another one");
    end("death with a message that waits");
}

static void test_steer_stop(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "eof", NULL});
    say_two(GIVEN);
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping. 1 message that waited was dropped.", "/stop");
    talk_await_states("ended cancelled", "the message is withdrawn");
    end("stop with a message that waits");
}

/* It would have to begin a turn of its own there. */
static void test_steer_order(void)
{
    steer((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "await=two",
                                "ack=queued", "await=three", "ack=queued", ENDS("hi", "0", ""),
                                "text=" INIT, SAYS("m2", "two and three"),
                                ENDS("two and three", "0", ""), "eof", NULL});
    say_two(GIVEN);
    talk_is(talk_say("three"), TC_QUEUED, GIVEN, "three");
    talk_await_states("ended ended merged", "what waits together is answered together");
    end("two messages that came too late");
}

static void test_interrupt(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, SAYS("m1", "hi"), "eof", NULL});
    talk.agent->while_running = CONF_INTERRUPT;
    talk_say("one");
    talk_await_working(1);
    say_two("The running turn is stopped for this.");
    await_log("done(cancelled)", "the turn that runs is stopped");
    talk_await_states("ended running", "and the message is next");
    talk_say("/stop");
    end("interrupt");
}

static void test_steer_codex(const char *reply, const char *states)
{
    begin((const char *const[]){
        "await=\"initialize\"", CODEX("initialize", "{\"codexHome\":\"/c\"}"),
        "await=\"thread/start\"", CODEX("thread", "{\"thread\":{\"id\":\"th-1\"}}"),
        "await=\"turn/start\"", CODEX("turn", "{\"turn\":{\"id\":\"a\"}}"), CODEX_SAYS("a", "hi"),
        "await=\"expectedTurnId\":\"a\"", reply, CODEX_SAYS("a", "both"), CODEX_ENDS("a"),
        "await=turn/start", CODEX("turn", "{\"turn\":{\"id\":\"b\"}}"), CODEX_ENDS("b"), "eof",
        NULL});
    talk.agent->dialect = (char[]){"codex-app"};
    talk.agent->while_running = CONF_STEER;
    talk_say("one");
    talk_await_working(1);
    say_two(GIVEN);
    talk_await_states(states, reply);
    ok(!is_logged("error"), "codex-app: nobody is told an error");
    end("codex-app");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_next("chunk=4096");
    test_next("chunk=1");
    test_costs();
    test_died();
    test_dies_of_message();
    test_new();
    test_time();
    test_number();
    test_off();
    test_drain();
    test_codex();
    test_acp();
    test_follow("chunk=4096");
    test_follow("chunk=1");
    test_at_once();
    test_stop();
    test_wait();
    test_too_long();
    test_question();
    test_steer();
    test_steer_late();
    test_steer_death();
    test_steer_stop();
    test_steer_order();
    test_interrupt();
    test_steer_codex(CODEX("steer", "{\"turnId\":\"a\"}"), "ended merged");
    test_steer_codex("text={\"id\":\"turncast-steer\",\"error\":{\"code\":-32600,\"message\":"
                     "\"no active turn to steer\"}}",
                     "ended ended");
    stage_fini();
    return 0;
}
