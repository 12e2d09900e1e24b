/* SPDX-License-Identifier: MIT
 * The way to the turn of an agent that speaks JSON-RPC: slow, failed, broken off, or talked over;
 * and what it asks in one attempt and asks again in the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/stage.h"
#include "tap/tap.h"

#define ANSWER(step, result)                                                                       \
    "text={\"jsonrpc\":\"2.0\",\"id\":\"turncast-" step "\",\"result\":" result "}"
#define FAILURE(step, text)                                                                        \
    "text={\"jsonrpc\":\"2.0\",\"id\":\"turncast-" step                                            \
    "\",\"error\":{\"code\":-32000,\"message\":\"" text "\"}}"
#define HELLO                                                                                      \
    "await=initialize",                                                                            \
        ANSWER("initialize",                                                                       \
               "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}")
#define OPEN "await=session/new", ANSWER("new", "{\"sessionId\":\"s-1\"}")
#define CHUNK(text)                                                                                \
    "text={\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\","   \
    "\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","        \
    "\"text\":\"" text "\"}}}}"
#define END ANSWER("prompt", "{\"stopReason\":\"end_turn\"}"), "eof"
#define TURN "await=session/prompt", CHUNK("hi"), END
#define ASK                                                                                        \
    "text={\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"session/request_permission\",\"params\":{"    \
    "\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"t\",\"rawInput\":{\"command\":\"ls\"}}," \
    "\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}}"
#define TOOL                                                                                       \
    "text={\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\","   \
    "\"update\":{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"deploy\","       \
    "\"kind\":\"execute\",\"status\":\"in_progress\"}}}"
#define FINAL_HI "final(hi) done(completed)"

/* It never has to be pushed: what follows is read at once, or it leaves by itself. */
static void set(struct stage *s, const char *const *words)
{
    *s = (struct stage){.dialect = dialect_find("acp")};
    stage_set(s, words);
    s->agent.grace.exit_ms = s->agent.grace.term_ms = 20000;
    s->agent.attempts = 1;
}

static void test_slow(void)
{
    struct stage s;
    set(&s, WORDS("await=initialize", "ms=100", ANSWER("initialize", "{\"protocolVersion\":1}"),
                  "await=session/new", "ms=100", ANSWER("new", "{\"sessionId\":\"s-1\"}"),
                  "await=session/prompt", "ms=100", CHUNK("hi"), "ms=100", END));
    stage_run(&s, FINAL_HI, "an agent that is slow at every step");
    set(&s, WORDS("await=initialize", "sleep"));
    s.agent.idle_timeout_ms = 200;
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 100;
    stage_run(&s, "error(agent_timeout: *", "an agent that does not answer initialize");
    set(&s, WORDS(HELLO, "await=session/new", "sleep"));
    s.agent.idle_timeout_ms = 200;
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 100;
    stage_run(&s, "error(agent_timeout: *", "an agent that does not answer session/new");
}

static void test_errors(void)
{
    struct stage s;
    set(&s, WORDS("await=initialize", FAILURE("initialize", "no key"), "eof"));
    stage_run(&s, "error(-32000: no key) done(error)", "an error response to initialize");
    set(&s, WORDS("await=initialize", ANSWER("initialize", "{\"protocolVersion\":2}"), "eof"));
    stage_run(&s, "error(protocol: *", "an unsupported protocol version");
    set(&s, WORDS(HELLO, "await=session/new", FAILURE("new", "log in first"), "eof"));
    stage_run(&s, "error(-32000: log in first) done(error)", "an error response to session/new");
    set(&s, WORDS(HELLO, "await=session/new", ANSWER("new", "{}"), "eof"));
    stage_run(&s, "error(protocol: *", "a session without an id");
    set(&s, WORDS(HELLO, OPEN, "await=session/set_mode", FAILURE("mode", "no such mode"), "eof"));
    s.agent.mode = (char[]){"freely"};
    stage_run(&s, "error(-32000: no such mode) done(error)", "a mode that the agent does not have");
    ok(s.took_ms < 10000, "a turn ends at once after an error response");
}

static void test_deaths(void)
{
    struct stage s;
    set(&s, WORDS("exit=3"));
    stage_run(&s, "error(agent_exit: The agent exited with status 3.) done(lost)",
              "an agent that exits before initialize");
    set(&s, WORDS(HELLO, "await=session/new"));
    stage_run(&s, "error(agent_no_result: *", "an agent that exits before the session");
    set(&s, WORDS(HELLO, OPEN, "await=session/prompt", "kill=9"));
    stage_run(&s, "error(agent_signal: *", "an agent that is killed after the prompt");
}

static void test_early(void)
{
    struct stage s;
    set(&s, WORDS("text=Welcome!", "text={\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"fs/read\"}",
                  CHUNK("before"), "await=-32601", ANSWER("initialize", "{\"protocolVersion\":1}"),
                  CHUNK("between"), OPEN, TURN));
    stage_run(&s, FINAL_HI, "output before the first request of the host is ignored");
    set(&s, WORDS("sleep"));
    stage_begin(&s);
    executor_cancel(s.executor);
    stage_end(&s, "final() done(cancelled)", "a cancel before the session");
    ok(s.took_ms < 10000, "the agent is stopped by a signal");
}

static char *path_of(const char *verb, const char *name)
{
    static char paths[2][4200];
    static unsigned next;
    char *const path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s=%s/%s", verb, tap_tmpdir(), name);
    return path;
}

static void test_lost_session(void)
{
    struct stage s;
    set(&s, WORDS(path_of("count", "lost"), "on=1", HELLO, "await=session/load",
                  FAILURE("load", "Session not found"), "eof", "on=2", HELLO, OPEN, TURN));
    s.session_id = "old";
    stage_run(&s, FINAL_HI, "a lost session is replaced by a new one");
}

/* An agent that has acted gets the message once: where its session cannot be loaded any more, the
 * turn is over. */
static void test_lost_after_tool(void)
{
    struct stage s;
    char *const count = path_of("count", "gone"), *const heard = path_of("tee", "heard");
    set(&s, WORDS(count, "on=1", HELLO, OPEN, "await=session/prompt", TOOL,
                  FAILURE("prompt", "429 Too Many Requests"), "exit=1", "on=2", heard, HELLO,
                  "await=session/load", FAILURE("load", "Session not found"), "eof"));
    s.agent.attempts = 3;
    stage_run(&s, "error(*", "a session that is lost after a tool call");
    size_t runs = 0;
    free(tap_slurp(count + strlen("count="), &runs));
    is_int((long long)runs, 2, "the turn is not started again");
    CLEANUP_FREE char *said = tap_slurp(heard + strlen("tee="), NULL);
    ok(!strstr(said, "do it"), "the message is not sent again");
}

static enum tc_accepted answer(struct request_registry *registry, const struct stage *s,
                               const char *request)
{
    CLEANUP_BUF struct buf text = {0};
    const struct request_decision d = {
        .turn = turn_id(s->turn), .request = request, .choice = "allow", .by = "Ann"};
    return request_answer(registry, &d, &text);
}

/* Its ids begin anew, too. */
static void test_asked_again(void)
{
    struct stage s;
    struct request_registry *const registry =
        request_registry_new(&(struct request_registry_spec){.loop = stage_loop()});
    set(&s, WORDS(path_of("count", "asked"), HELLO, "on=1", OPEN, "on=2", "await=session/load",
                  ANSWER("load", "{}"), "on=0", "await=session/prompt", ASK, "on=1",
                  FAILURE("prompt", "429 Too Many Requests"), "exit=1", "on=2",
                  "await=\"optionId\":\"yes\"", CHUNK("hi"), END));
    s.agent.attempts = 2;
    s.requests = registry;
    stage_begin(&s);
    stage_wait(&s, "notice(restart) raw raw progress request");
    is_int(answer(registry, &s, "0"), TC_KNOWN, "a request of the first attempt is closed");
    is_int(answer(registry, &s, "0~2"), TC_COMMAND, "a request of the second attempt is open");
    stage_end(&s, FINAL_HI, "the second attempt receives the answer");
    request_registry_free(registry);
}

int main(void)
{
    plan_lazy();
    stage_init();
    test_slow();
    test_errors();
    test_deaths();
    test_early();
    test_lost_session();
    test_lost_after_tool();
    test_asked_again();
    stage_fini();
    return 0;
}
