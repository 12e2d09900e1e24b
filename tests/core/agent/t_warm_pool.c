/* SPDX-License-Identifier: MIT
 * Agents that outlive a turn: the next message goes to the same process, and what they work at in
 * the background may begin a turn of its own. */
#include <stdio.h>
#include <string.h>

#include "core/agent_lines.h"
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

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

static bool is_cold(const void *arg)
{
    (void)arg;
    return turn_scheduler_warm(talk.all) == 0;
}

static bool is_warm(const void *arg)
{
    return turn_scheduler_warm(talk.all) == *(const size_t *)arg;
}

static void await_warm(size_t n, const char *what)
{
    talk_spin(is_warm, &n);
    is_int((int64_t)turn_scheduler_warm(talk.all), (int64_t)n, "%s: number of waiting processes",
           what);
    ok(talk.disk.waiting >= (int)n, "%s: the ledger has the number of waiting processes", what);
}

/* ---- the next message ---- */

static void test_next(const char *chunk)
{
    const char *words[sizeof two / sizeof *two + 1] = {chunk};
    memcpy(words + 1, two, sizeof two);
    begin(words);
    talk_say("one");
    talk_await_log("done(completed)", "a turn ends while its process lives on");
    await_warm(1, chunk);
    talk_say("two");
    talk_await_log("final(second)", "the next message is answered");
    talk_await_states("ended ended", "both turns end");
    is_int(talk.disk.turns[0].pid, talk.disk.turns[1].pid, "both turns had one process");
    is_str(cast_log_text(&talk.log),
           "start(one) step n(first) message step final(first) usage(0) done(completed) "
           "start(two) step n(second) message step final(second) usage(0) done(completed)",
           "each turn has all of its events, and none of the other turn");
    await_warm(1, "the process waits again");
    talk_end_quiet("two messages");
}

static void test_costs(void)
{
    begin(two);
    talk_say("one");
    await_warm(1, "costs");
    talk_say("two");
    talk_await_log("final(second)", "two turns in one process");
    talk_await_quiet();
    is_int(seen.n, 2, "each turn reports its cost");
    ok(seen.costs[0] == 0.25 && seen.costs[1] == 0.5,
       "the second turn costs the increase of the total: %g, %g", seen.costs[0], seen.costs[1]);
    talk_end_quiet("costs");
}

static void test_died(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, ENDS("first", "0", ""), "eof", NULL});
    talk_say("one");
    await_warm(1, "the agent answers and waits");
    talk_finish(0); /* a signal that it does not survive */
    await_warm(0, "the process is killed while it waits");
    talk_say("one again");
    talk_await_states("ended ended", "the next message is answered");
    ok(talk.disk.turns[0].pid != talk.disk.turns[1].pid,
       "the next message is answered by another process");
    ok(talk_dumped("mark=s-1"), "the other process resumes the session");
    talk_end_quiet("a process that is killed while it waits");
}

/* It is gone with the message before it has read it. */
static void test_dies_of_message(void)
{
    char count[600];
    snprintf(count, sizeof count, "count=%s/runs", tap_tmpdir());
    begin((const char *const[]){count, "await=one", "text=" INIT, ENDS("first", "0", ""), "on=1",
                                "await=two", "exit=3", "on=0", "eof", NULL});
    talk_say("one");
    await_warm(1, "the agent answers and waits");
    talk_say("two, or one of it");
    talk_await_states("ended ended", "the message is answered");
    talk_await_log("notice(retry)", "the message is answered by a new process");
    ok(!talk_is_logged("error"), "no error is shown");
    talk_end_quiet("a process that exits when it receives a message");
}

static void test_new(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, ENDS("first", "0", ""), "eof", NULL});
    talk_say("one");
    await_warm(1, "the agent answers and waits");
    talk_say("/new");
    is_int((int64_t)turn_scheduler_warm(talk.all), 0, "/new ends the waiting process");
    talk_say("one again");
    talk_await_states("ended ended", "the next message is answered");
    ok(talk.disk.turns[0].pid != talk.disk.turns[1].pid,
       "the next message is answered by another process");
    ok(!talk_dumped("mark=s-1"), "the new process begins a new session");
    talk_end_quiet("a new session");
}

static void test_time(void)
{
    begin(two);
    talk.agent->keep_alive_ms = 1;
    talk_say("one");
    talk_await_log("done(completed)", "the agent answers and waits");
    talk_spin(is_cold, NULL);
    is_int((int64_t)turn_scheduler_warm(talk.all), 0, "a process ends after keep_alive_s");
    talk_end_quiet("keep_alive_s");
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
    await_warm(1, "the agent answers and waits");
    talk_as("tg", "1", "B", "one");
    talk_await_states("ended ended", "a message of another conversation is answered");
    await_warm(1, "max_warm: the process that waited longest is ended");
    talk_as("tg", "1", "B", "one");
    talk_await_states("ended ended running", "a third message for the newer process");
    talk_spin(is_noted, &talk.disk.turns[2]);
    is_int(talk.disk.turns[1].pid, talk.disk.turns[2].pid,
           "the newer process receives the third message");
    talk_as("tg", "1", "B", "/stop");
    talk_end_quiet("max_warm");
}

/* Together they use more than a megabyte, whatever they are: the last one stays. */
static void test_memory(void)
{
    begin((const char *const[]){"await=one", "text=" INIT, ENDS("first", "0", ""), "eof", NULL});
    talk.conf.conversations.max_warm_mb = 1;
    talk_say("one");
    await_warm(1, "max_warm_mb: a single process is kept");
    talk_as("tg", "1", "B", "one");
    talk_await_states("ended ended", "max_warm_mb: a message of another conversation is answered");
    await_warm(1, "max_warm_mb: the process that waited longest is ended");
    talk.conf.conversations.max_warm_mb = 4096;
    talk_say("one");
    talk_await_states("ended ended ended",
                      "max_warm_mb: another message of the first conversation is answered");
    await_warm(2, "max_warm_mb: two processes within the limit are kept");
    talk.conf.conversations.max_warm_mb = 1;
    await_warm(1, "max_warm_mb: waiting processes are measured again");
    talk_end_quiet("max_warm_mb");
}

static void test_off(void)
{
    begin(two);
    talk.agent->keep_alive_ms = 0;
    talk_say("one");
    talk_await_states("ended", "the agent answers and waits");
    talk_await_quiet();
    is_int((int64_t)turn_scheduler_warm(talk.all), 0,
           "keep_alive_s = 0: the process ends with its turn");
    talk_end_quiet("off");
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
    await_warm(1, "the agent answers and waits");
    turn_scheduler_drain(talk.all, on_drained, &drained);
    is_int((int64_t)turn_scheduler_warm(talk.all), 0,
           "waiting processes are ended when the host exits");
    talk_spin(is_true, &drained);
    ok(drained, "the host exits after the waiting processes have ended");
    talk_end_quiet("exit of the host");
}

/* ---- other dialogs ---- */

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
    await_warm(1, "codex-app: the agent answers and waits");
    talk_say("two");
    talk_await_log("final(second)", "codex-app: a second turn of the thread is answered");
    talk_await_quiet();
    await_warm(1, "codex-app: the process waits again");
    is_str(cast_log_text(&talk.log),
           "start(one) raw raw raw n(first) message usage(7) final(first) usage(7) "
           "done(completed) start(two) raw n(second) message usage(9) final(second) usage(9) "
           "done(completed)",
           "codex-app: each turn has all of its events; late events belong to neither");
    talk_end_quiet("codex-app");
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
    await_warm(1, "acp: the agent answers and waits");
    talk_say("two");
    talk_await_log("final(second)", "acp: a second prompt of the session is answered");
    talk_await_quiet();
    ok(seen.n == 4 && seen.costs[1] == 0.25 && seen.costs[3] == 0.5,
       "acp: a turn costs the increase of the total: %zu, %g, %g", seen.n, seen.costs[1],
       seen.costs[3]);
    talk_end_quiet("acp");
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
    talk_await_log("final(wait)", "the first answer is cast while a background task runs");
    talk_await_log("final(12 files)", "the result of the background task is cast");
    talk_await_states("ended ended", "the result of the background task is a separate turn");
    is_str(talk.disk.turns[1].conv, "tg:A", "the separate turn belongs to the same conversation");
    is_str(talk.disk.turns[1].route, "{\"r\":1}", "the separate turn has the route of the message");
    ok(talk.disk.turns[1].targets == 1,
       "the outcome of the separate turn is stored for its recipient");
    is_str(seen.source, "background_task", "the start has the source background_task, in %s",
           cast_log_text(&talk.log));
    await_warm(1, "the process waits after the background task");
    talk_say("two");
    talk_await_log("final(second)", "the next message is answered");
    is_int(talk.disk.turns[0].pid, talk.disk.turns[2].pid, "all turns had one process");
    talk_end_quiet("background work");
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
    talk_await_log("final(12 files)", "the answer and the result of the background task are cast");
    talk_await_states("ended ended", "output in one piece makes two turns");
    talk_end_quiet("output of two turns in one piece");
}

static void test_stop(void)
{
    begin_follow(reports);
    talk_say("one");
    talk_await_log("final(wait)", "the agent answers, and its background task runs");
    await_warm(1, "the process runs the background task");
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping the work in the background.", "/stop");
    is_int((int64_t)turn_scheduler_warm(talk.all), 0, "/stop ends the background task");
    talk_is(talk_say("/stop"), TC_COMMAND, "Nothing is running.", "/stop again");
    talk_end_quiet("stop");
}

static void test_wait(void)
{
    begin(reports);
    talk_say("one");
    talk_await_log("n(wait)", "without CONF_FOLLOW the first answer is narration");
    ok(!talk_is_logged("final"), "no final is cast while the background task runs");
    talk_say("/stop");
    talk_end_quiet("wait");
}

static void test_too_long(void)
{
    begin_follow(reports);
    talk.agent->background_timeout_ms = 1;
    talk_say("one");
    talk_await_log("final(wait)", "the agent answers, and its background task runs");
    talk_spin(is_cold, NULL);
    is_int((int64_t)turn_scheduler_warm(talk.all), 0,
           "a background task is ended after background_timeout_s");
    talk_end_quiet("background_timeout_s");
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
    talk_await_log("request", "a question between two turns is asked in a separate turn");
    talk_say("/stop");
    talk_end_quiet("a question between two turns");
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
    test_memory();
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
    stage_fini();
    return 0;
}
