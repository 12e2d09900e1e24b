/* SPDX-License-Identifier: MIT
 * Turns that are cancelled, tried again, resumed; and what an agent is given: arguments,
 * environment, message. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/stage.h"
#include "fake/children.h"
#include "tap/tap.h"

#define FINAL_HI "final(hi) done(completed)"

static char *path_of(const char *verb, const char *name)
{
    static char paths[8][4200];
    static unsigned next;
    char *const path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s=%s/%s", verb, tap_tmpdir(), name);
    return path;
}

static const char *file_of(const char *word)
{
    return strchr(word, '=') + 1;
}

/* --- cancel ------------------------------------------------------------------------------- */

static void test_cancel(void)
{
    struct stage s = {0};
    stage_set(&s, WORDS(SAY_INIT, SAY_HI, "await=interrupt", SAY_ERROR("aborted"), "eof"));
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 20000;
    stage_begin(&s);
    stage_wait(&s, "n(hi)");
    executor_cancel(s.executor);
    ok(!s.ended, "a cancel does not end the turn at once");
    stage_end(&s, "final(hi) done(cancelled)", "a cancelled agent that obeys the interrupt");
    ok(s.took_ms < 10000, "an agent that obeys the interrupt needs no grace period");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, "ignore=15", "children=10", SAY_HI, "sleep"));
    stage_begin(&s);
    stage_wait(&s, "n(hi)");
    executor_cancel(s.executor);
    stage_end(&s, "final(hi) done(cancelled)", "a cancelled agent that ignores the signals");
    ok(s.took_ms >= 200, "an agent that ignores both signals uses both grace periods");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, "ignore=15", "child=double", SAY_HI, "sleep"));
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 20000;
    stage_begin(&s);
    stage_wait(&s, "n(hi)");
    executor_cancel(s.executor);
    executor_cancel(s.executor);
    stage_end(&s, "final(hi) done(cancelled)", "an agent that is cancelled twice");
    ok(s.took_ms < 10000, "a second cancel kills the agent at once");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, SAY_HI, SAY_RESULT, "sleep"));
    s.agent.grace.exit_ms = 20000;
    stage_begin(&s);
    stage_wait(&s, "final");
    executor_cancel(s.executor);
    stage_end(&s, FINAL_HI, "a cancel after the result");
    ok(s.took_ms < 10000, "a cancel after the result ends the grace period");
}

/* ---- what done says ---- */

struct moment {
    const struct stage *stage;
    int left; /* processes of the agent when done was told; -1: it was not */
};

static void on_event(void *ctx, struct event *ev)
{
    struct moment *const m = ctx;
    if (ev->kind == TC_DONE)
        m->left = (int)children_marked(m->stage->mark);
}

/* Whoever reads "cancelled" reads that nothing runs any more. */
static void test_confirmed(const char *const *words, unsigned cancels, const char *wanted,
                           const char *what)
{
    struct stage s = {0};
    struct moment m = {&s, -1};
    stage_set(&s, words);
    s.log.watch = on_event;
    s.log.watch_ctx = &m;
    stage_begin(&s);
    ok(stage_wait(&s, "n(hi)") && children_marked(s.mark) > 1, "%s: the agent has children", what);
    for (unsigned i = 0; i < cancels; i++)
        executor_cancel(s.executor);
    stage_end(&s, wanted, what);
    is_int(m.left, 0, "%s: no process is left when done is cast", what);
}

static void test_confirmations(void)
{
    test_confirmed(WORDS(SAY_INIT, "children=6", "child=double", SAY_HI, "await=interrupt",
                         SAY_ERROR("aborted"), "eof"),
                   1, "final(hi) done(cancelled)", "an agent that obeys and leaves children");
    test_confirmed(WORDS(SAY_INIT, "ignore=2", "ignore=15", "child=setsid", "child=orphan",
                         "child=double", SAY_HI, "sleep"),
                   1, "final(hi) done(cancelled)", "an agent that ignores SIGINT and SIGTERM");
    test_confirmed(WORDS(SAY_INIT, "ignore=2", "ignore=15", "child=setsid", SAY_HI, "sleep"), 2,
                   "final(hi) done(cancelled)", "the same agent, cancelled twice");
    test_confirmed(WORDS(SAY_INIT, "hoppers=4", SAY_HI, "child=loud", "sleep"), 1,
                   "final(hi) done(cancelled)", "an agent whose children fork and exit");
}

/* ---- a cancel while the agent waits for a person ---- */

#define ASKS                                                                                       \
    "text={\"type\":\"control_request\",\"request_id\":\"q-1\",\"request\":{\"subtype\":"          \
    "\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"make\"}}}"

static void test_cancel_asking(void)
{
    struct stage s = {0};
    stage_set(&s, WORDS(SAY_INIT, ASKS, "await=interrupt", SAY_ERROR("aborted"), "eof"));
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 20000;
    stage_begin(&s);
    stage_wait(&s, "request");
    executor_cancel(s.executor);
    stage_end(&s, "final() done(cancelled)", "a cancel while a request is open");
    ok(s.took_ms < 10000, "the agent needs no grace period");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, ASKS, "ignore=2", "ignore=15", "child=setsid", "sleep"));
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 20000;
    stage_begin(&s);
    stage_wait(&s, "request");
    executor_cancel(s.executor);
    executor_cancel(s.executor);
    stage_end(&s, "final() done(cancelled)", "two cancels of an agent that ignores signals");
    ok(s.took_ms < 10000, "the second cancel kills the agent at once");
}

/* An acp agent goes on only when what it asked has its answer, "cancelled". */
static void test_cancel_asking_acp(void)
{
    static const char initialized[] = "text={\"jsonrpc\":\"2.0\",\"id\":\"turncast-initialize\","
                                      "\"result\":{\"protocolVersion\":1}}";
    static const char opened[] = "text={\"jsonrpc\":\"2.0\",\"id\":\"turncast-new\","
                                 "\"result\":{\"sessionId\":\"s-1\"}}";
    static const char asks[] =
        "text={\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\","
        "\"params\":{\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"c-1\",\"title\":"
        "\"make\",\"kind\":\"execute\"},\"options\":[{\"optionId\":\"yes\",\"name\":\"Yes\","
        "\"kind\":\"allow_once\"}]}}";
    static const char over[] = "text={\"jsonrpc\":\"2.0\",\"id\":\"turncast-prompt\","
                               "\"result\":{\"stopReason\":\"cancelled\"}}";
    struct stage s = {.dialect = dialect_find("acp")};
    stage_set(&s, WORDS("await=initialize", initialized, "await=session/new", opened,
                        "await=session/prompt", asks, "await=session/cancel",
                        "await=\"outcome\":\"cancelled\"", over, "eof"));
    s.agent.grace.exit_ms = s.agent.grace.term_ms = 20000;
    stage_begin(&s);
    stage_wait(&s, "request");
    executor_cancel(s.executor);
    stage_end(&s, "final() done(cancelled)", "a cancel while a request of an acp agent is open");
    ok(s.took_ms < 10000, "the agent needs no grace period");
}

/* ---- silence while a person thinks ---- */

static void pass(int64_t ms)
{
    const int64_t until = clock_mono_ms() + ms;
    while (clock_mono_ms() < until)
        loop_run_once(stage_loop(), 50);
}

static void decide(struct stage *s)
{
    const struct dialect_answer yes = {.request_id = "q-1", .decision = DIALECT_ALLOW};
    is_int(executor_answer(s->executor, &yes), 0, "the agent still waits for its answer");
    turn_resolve_request(s->turn, &(struct tc_request){.request_id = "q-1", .decision = "allow"});
}

static void test_thinking(void)
{
    struct stage s = {0};
    stage_set(&s, WORDS(SAY_INIT, ASKS, "await=allow", SAY_RESULT, "eof"));
    s.agent.idle_timeout_ms = 2000;
    stage_begin(&s);
    stage_wait(&s, "request");
    pass(2500);
    decide(&s);
    stage_end(&s, FINAL_HI, "a request may be open for longer than idle_timeout_s");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, ASKS, "await=allow", "sleep"));
    s.agent.idle_timeout_ms = 2000;
    stage_begin(&s);
    stage_wait(&s, "request");
    pass(1500);
    const int64_t answered_ms = clock_mono_ms();
    decide(&s);
    stage_end(&s, "error(agent_timeout: *", "an agent that is silent after the answer");
    ok(clock_mono_ms() - answered_ms >= 2000, "the silence is measured from the answer");

    struct dialect deaf = *dialect_find("claude");
    deaf.input = NULL;
    s = (struct stage){.dialect = &deaf};
    stage_set(&s, WORDS(SAY_INIT, ASKS, "sleep"));
    s.agent.idle_timeout_ms = 200;
    stage_run(&s, "error(agent_timeout: *", "a request that nobody can answer stops no clock");
}

static void test_cancel_early(void)
{
    struct stage s = {0};
    stage_set(&s, WORDS("sleep"));
    stage_begin(&s);
    executor_cancel(s.executor);
    stage_end(&s, "final() done(cancelled)", "a cancel before the first output");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, "child=double", SAY_HI, "sleep"));
    stage_begin(&s);
    stage_wait(&s, "n(hi)");
    executor_cancel_for_exit(s.executor);
    stage_end(
        &s,
        "error(host_shutdown: The turn was stopped because turncast is shutting down.) done(error)",
        "a turn stopped because the host exits");

    s = (struct stage){0};
    stage_set(&s, WORDS(SAY_INIT, "child=setsid", SAY_HI, "sleep"));
    stage_begin(&s);
    stage_wait(&s, "n(hi)");
    executor_free(s.executor);
    s.executor = NULL;
    turn_free(s.turn);
    s.turn = NULL;
    s.ended = true;
    stage_end(&s, "error(host_shutdown: *", "an executor freed during its turn");
}

/* A text agent is interrupted by SIGINT; what it still answers after a timeout does not count. */
static void test_interrupt_signal(void)
{
    struct dialect plain = *dialect_find("claude");
    plain.input = NULL;
    struct stage s = {.dialect = &plain};
    stage_set(&s, WORDS("print_on=2", SAY_INIT, "sleep"));
    s.agent.grace.exit_ms = 20000;
    s.agent.idle_timeout_ms = 200;
    stage_run(&s, "error(agent_timeout: *", "an answer printed after a timeout");
    ok(s.took_ms < 10000, "the agent exits after SIGINT, without a grace period");
    s = (struct stage){.dialect = &plain};
    stage_set(&s, WORDS("print_on=2", SAY_INIT, SAY_HI, "sleep"));
    stage_begin(&s);
    stage_wait(&s, "n(hi)");
    executor_cancel(s.executor);
    stage_end(&s, "final(stopped politely) *", "an answer printed after a cancel is kept");
}

/* How often the agent with the word `count` (path_of) was started. */
static long long runs_of(const char *count)
{
    struct stat st;
    return stat(file_of(count), &st) < 0 ? 0 : (long long)st.st_size;
}

/* --- another attempt ------------------------------------------------------------------------ */

static void test_retry(void)
{
    struct stage s = {0};
    char *const count = path_of("count", "c1"), *const dump = path_of("dump", "d1");
    stage_set(&s, WORDS(count, "on=1", SAY_INIT, SAY_ERROR("API Error: 429 slow down"), "exit=1",
                        "on=2", dump, SAY_INIT, SAY_HI, SAY_RESULT));
    s.agent.resume = (char *[]){(char[]){"--resume"}, (char[]){"{session_id}"}, NULL};
    stage_begin(&s);
    stage_wait(&s, "notice(retry)");
    has_str(s.log.notices.p, "rate limit; retrying (attempt 2 of 3 in 1 s)", "the reason is shown");
    stage_end(&s, FINAL_HI, "an attempt after a temporary error");
    ok(s.took_ms >= 1000, "the attempt begins after a pause");
    char *const seen = tap_slurp(file_of(dump), NULL);
    has_str(seen, "\"--resume\",\"s-1\"]", "the next attempt resumes the session");
    free(seen);

    s = (struct stage){0};
    stage_set(&s, WORDS(path_of("count", "c2"), SAY_INIT, SAY_ERROR("connection reset"), "exit=1"));
    s.agent.attempts = 2;
    stage_begin(&s);
    stage_wait(&s, "error(");
    ok(strstr(cast_log_text(&s.log), "notice(retry)"), "a notice reports the retry");
    stage_end(&s, "error(*", "a lasting error");

    s = (struct stage){0};
    char *const stderr_count = path_of("count", "c3");
    stage_set(&s, WORDS(stderr_count, "on=1", "errtext=Overloaded", "exit=1", "on=2", SAY_INIT,
                        SAY_HI, SAY_RESULT));
    stage_run(&s, FINAL_HI, "an error on stderr only is retried");
}

static void test_no_retry(void)
{
    struct stage s = {0};
    char *const count = path_of("count", "c4");
    stage_set(&s, WORDS(count, SAY_INIT, SAY_ERROR("no such model"), "exit=1"));
    stage_run(&s, "error(*", "a permanent error");
    size_t runs = 0;
    free(tap_slurp(file_of(count), &runs));
    is_int((long long)runs, 1, "the attempt is not repeated");

    s = (struct stage){0};
    char *const after = path_of("count", "c5");
    stage_set(&s, WORDS(after, SAY_INIT, SAY_HI, SAY_RESULT, "errtext=429", "exit=1"));
    stage_run(&s, FINAL_HI, "an exit status after a final");
    free(tap_slurp(file_of(after), &runs));
    is_int((long long)runs, 1, "the attempt is not repeated");

    s = (struct stage){0};
    char *const idle = path_of("count", "c6");
    stage_set(&s, WORDS(idle, SAY_INIT, "errtext=429", "sleep"));
    s.agent.idle_timeout_ms = 200;
    stage_run(&s, "error(agent_timeout: *", "a timeout is not retried");
    ok(runs_of(idle) <= 1, "the attempt is not repeated");
}

/* What has been done is not done again: an attempt that called a tool is not repeated. */
static void test_retry_acted(void)
{
    struct stage s = {0};
    char *const count = path_of("count", "c10"), *const heard = path_of("tee", "h1");
    stage_set(&s, WORDS(count, SAY_INIT, SAY_TOOL("Bash"), SAY_ERROR("API Error: 503"), "exit=1"));
    stage_begin(&s);
    stage_wait(&s, "done(");
    has_str(s.log.outcome.p,
            "API Error: 503 (server error; not tried again, because the agent had already called "
            "Bash)",
            "the error says why the attempt was not repeated");
    stage_end(&s, "error(*", "a temporary error after a tool call");
    is_int(runs_of(count), 1, "an attempt with a tool call is not repeated");

    s = (struct stage){0};
    char *const again = path_of("count", "c11");
    stage_set(&s, WORDS(again, "on=1", SAY_INIT, SAY_TOOL("Bash"), SAY_ERROR("API Error: 503"),
                        "exit=1", "on=2", heard, "await=user", SAY_INIT, SAY_HI, SAY_RESULT));
    s.agent.resume = (char *[]){(char[]){"--resume"}, (char[]){"{session_id}"}, NULL};
    stage_begin(&s);
    stage_wait(&s, "done(");
    has_str(s.log.notices.p,
            "server error; retrying (attempt 2 of 3 in 1 s), continuing the session",
            "the notice says that the session is continued");
    stage_end(&s, FINAL_HI, "a resumable turn is continued after a tool call");
    is_int(runs_of(again), 2, "the turn has two attempts");
    CLEANUP_FREE char *said = tap_slurp(file_of(heard), NULL);
    ok(strstr(said, "Do not repeat") && !strstr(said, "do it"), "the message is not repeated");
}

static void test_attempts_are_told(void)
{
    struct stage s = {0};
    char *const count = path_of("count", "c12");
    stage_set(&s, WORDS(count, SAY_INIT, SAY_ERROR("API Error: 503"), "exit=1"));
    s.agent.attempts = 2;
    stage_begin(&s);
    stage_wait(&s, "done(");
    has_str(s.log.outcome.p, "API Error: 503 (attempt 2 of 2)", "the error counts the attempts");
    stage_end(&s, "error(*", "a lasting error");
    is_int(runs_of(count), 2, "the turn has as many attempts as configured");
}

#define RECONNECTS(n)                                                                              \
    "text={\"type\":\"error\",\"message\":\"Reconnecting... " n "/5 (stream disconnected)\"}"

/* An agent that asks its model again until its time is over: the error says so. */
static void test_agents_own_retries(void)
{
    struct stage s = {.dialect = dialect_find("codex")};
    const char *const thread = "text={\"type\":\"thread.started\",\"thread_id\":\"s-1\"}";
    const char *const tool =
        "text={\"type\":\"item.started\",\"item\":{\"id\":\"i\",\"type\":\"command_execution\"}}";
    stage_set(&s, WORDS(thread, RECONNECTS("1"), RECONNECTS("2"), "sleep"));
    s.agent.idle_timeout_ms = 2000;
    stage_run(&s,
              "error(agent_timeout: The agent produced no output for 2 s (idle_timeout_s) and was "
              "stopped. The agent had retried a request to its model 2 times; its last notice: "
              "Reconnecting... 2/5 (stream disconnected)) *",
              "a silent agent that retried before");

    s = (struct stage){.dialect = dialect_find("codex")};
    stage_set(&s, WORDS(thread, RECONNECTS("1"), "sleep"));
    s.agent.turn_timeout_ms = 2000;
    stage_run(&s,
              "error(agent_timeout: The turn exceeded its limit of 2 s (turn_timeout_s) and was "
              "stopped. The agent had retried a request to its model 1 time; its last notice: "
              "Reconnecting... 1/5 (stream disconnected)) *",
              "the time limit during retries");

    s = (struct stage){.dialect = dialect_find("codex")};
    stage_set(&s, WORDS(thread, RECONNECTS("1"), tool, "sleep"));
    s.agent.idle_timeout_ms = 2000;
    stage_run(&s,
              "error(agent_timeout: The agent produced no output for 2 s (idle_timeout_s) and was "
              "stopped.) *",
              "retries that succeeded are not in the error");
}

static void test_cancel_in_pause(void)
{
    struct stage s = {0};
    char *const cancelled = path_of("count", "c8"), *const late = path_of("count", "c9");
    stage_set(&s, WORDS(cancelled, SAY_INIT, SAY_ERROR("429"), "exit=1"));
    stage_begin(&s);
    stage_wait(&s, "notice(retry)");
    executor_cancel(s.executor);
    stage_end(&s, "final() done(cancelled)", "a cancel between two attempts");
    is_int(runs_of(cancelled), 1, "a cancelled turn has no further attempt");

    s = (struct stage){0};
    stage_set(&s, WORDS(late, SAY_INIT, SAY_ERROR("429"), "exit=1"));
    s.agent.turn_timeout_ms = 300;
    stage_run(&s, "error(agent_timeout: *", "turn_timeout_s includes the pause between attempts");
    ok(s.took_ms >= 300, "the turn lasts until turn_timeout_s");
    ok(runs_of(late) <= 1, "the turn ends during the pause");
}

static void test_lost_session(void)
{
    struct stage s = {.session_id = "gone"};
    char *const dump = path_of("dump", "d2");
    stage_set(&s, WORDS(path_of("count", "c7"), "on=1",
                        "errtext=No conversation found with session ID: gone", "exit=1", "on=2",
                        dump, SAY_INIT, SAY_HI, SAY_RESULT));
    s.agent.resume = (char *[]){(char[]){"--resume"}, (char[]){"{session_id}"}, NULL};
    stage_begin(&s);
    stage_wait(&s, "done(");
    ok(strstr(s.log.notices.p, "in a new session") && !strstr(s.log.notices.p, " in 1 s"),
       "the next attempt begins at once");
    stage_end(&s, FINAL_HI, "a turn whose session is lost");
    char *const seen = tap_slurp(file_of(dump), NULL);
    ok(!strstr(seen, "--resume"), "the next attempt does not resume the session");
    free(seen);

    s = (struct stage){0};
    stage_set(&s, WORDS("errtext=No conversation found with session ID: x", "exit=1"));
    stage_run(&s, "error(agent_session: *", "a lost session that is fixed in the command");

    s = (struct stage){.session_id = "--settings={}"};
    stage_set(&s, WORDS("exit=0"));
    stage_run(&s, "error(agent_spawn: *", "a session id that looks like an option");
}

/* --- what it is given ----------------------------------------------------------------------- */

/* The message reaches the agent byte for byte by stdin, and nothing of it by any other way. */
static void test_message(const char *message, size_t len, const char *what)
{
    struct dialect plain = *dialect_find("claude");
    plain.input = NULL;
    struct stage s = {.dialect = &plain, .message = message, .message_len = len};
    char *const dump = path_of("dump", "d3"), *const save = path_of("save", "s3");
    stage_set(&s, WORDS(dump, save, SAY_INIT, SAY_HI, SAY_RESULT));
    stage_run(&s, FINAL_HI, what);
    size_t got_len = 0;
    char *got = tap_slurp(file_of(save), &got_len);
    is_mem(got, got_len, message, len, "%s: stdin has the unchanged message", what);
    free(got);
    json_t *const seen = json_load_file(file_of(dump), 0, NULL);
    is_int((long long)json_array_size(json_object_get(seen, "argv")), 7,
           "%s: the arguments are those of the config", what);
    json_decref(seen);

    s = (struct stage){.message = message, .message_len = len};
    stage_set(&s, WORDS(dump, SAY_INIT, SAY_HI, SAY_RESULT, save));
    stage_run(&s, FINAL_HI, what);
    json_t *const line = json_load_file(file_of(save), 0, NULL);
    const char *content = "";
    size_t content_len = 0;
    json_unpack(line, "{s:{s:s%}}", "message", "content", &content, &content_len);
    is_mem(content, content_len, message, len, "%s: the user line has the unchanged message", what);
    json_decref(line);
    got = tap_slurp(file_of(dump), NULL);
    ok(len > 40 || !strstr(got, message), "%s: the message is passed nowhere else", what);
    free(got);
}

static void test_messages(void)
{
    static const char *const nasty[] = {
        "-p --settings={\"hooks\":{}}",
        "--help",
        "--",
        "two\nlines\nand \"quotes\" \\ and /clear @file",
    };
    for (size_t i = 0; i < 4; i++)
        test_message(nasty[i], strlen(nasty[i]), nasty[i]);
    char *const big = malloc(1 << 20);
    for (size_t i = 0; i < 1 << 20; i++)
        big[i] = (char)('a' + i % 26);
    test_message(big, 1 << 20, "1 MiB");
    free(big);
}

static void test_environment(void)
{
    static const char *const canaries[] = {
        "TURNCAST_CONFIG", "LD_AUDIT",         "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT",
        "ANTHROPIC_LOG",   "NODE_OPTIONS",     "DEBUG",      "SLACK_BOT_TOKEN",
        "SSH_AUTH_SOCK",   "ANTHROPIC_API_KEY"};
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++)
        setenv(canaries[i], "", 1);
    setenv("SLACK_BOT_TOKEN", "canary", 1);
    setenv("ANTHROPIC_API_KEY", "canary", 1);
    setenv("NAMED", "yes", 1);
    struct stage s = {0};
    char *const dump = path_of("dump", "d4");
    stage_set(&s, WORDS(dump, SAY_INIT, SAY_HI, SAY_RESULT));
    s.agent.env_pass = (char *[]){(char[]){"NAMED"}, NULL};
    s.agent.env_set = (char *[]){(char[]){"CLAUDE_CODE_MAX_RETRIES=1"}, NULL};
    char directory[4200];
    snprintf(directory, sizeof directory, "%s", tap_tmpdir());
    s.agent.cwd = directory;
    stage_run(&s, FINAL_HI, "an agent that prints its arguments and environment");
    char *const seen = tap_slurp(file_of(dump), NULL);
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++) {
        char text[64];
        snprintf(text, sizeof text, "\"%s=", canaries[i]);
        ok(!strstr(seen, text), "%s is not passed to the agent", canaries[i]);
        unsetenv(canaries[i]);
    }
    has_str(seen, "\"TERM=dumb\"", "TERM is dumb");
    has_str(seen, "\"PATH=", "PATH is passed to the agent");
    has_str(seen, "\"NAMED=yes\"", "a variable in env_pass is passed to the agent");
    has_str(seen, "\"CLAUDE_CODE_MAX_RETRIES=1\"", "a variable in env_set is passed to the agent");
    has_str(seen, "\"fds\":[0,1,2]", "the agent has three descriptors");
    has_str(seen, "\"SigIgn\":\"0000000000000000\"", "the agent ignores no signal");
    has_str(seen, directory, "the agent runs in the configured directory");
    free(seen);
}

/* The classic deadlock: both sides write and none reads. */
static void test_never_reads(void)
{
    struct dialect plain = *dialect_find("claude");
    plain.input = NULL;
    char *const big = calloc(1, 1 << 20);
    memset(big, 'm', 1 << 20);
    struct stage s = {.dialect = &plain, .message = big, .message_len = 1 << 20};
    stage_set(&s, WORDS(SAY_INIT, "noise=10000000", SAY_HI, SAY_RESULT));
    stage_run(&s, FINAL_HI, "an agent that prints 10 MB and never reads 1 MiB");
    free(big);
}

/* Turns side by side do not touch each other's processes. */
static void test_two_turns(void)
{
    struct stage a = {0}, b = {0};
    stage_set(&a, WORDS(SAY_INIT, "child=double", SAY_HI, "await=interrupt", SAY_RESULT));
    stage_begin(&a);
    stage_wait(&a, "n(hi)");
    stage_set(&b, WORDS(SAY_INIT, SAY_HI, SAY_RESULT, "child=plain"));
    stage_run(&b, FINAL_HI, "the second of two turns");
    ok(!a.ended && !strstr(cast_log_text(&a.log), "error"), "the first of two turns continues");
    executor_cancel(a.executor);
    stage_end(&a, "final(hi) *", "the first of two turns");
}

int main(void)
{
    plan_lazy();
    stage_init();
    log_setup(LOG_TEXT, LOG_ERR, -1);
    test_cancel();
    test_confirmations();
    test_cancel_asking();
    test_cancel_asking_acp();
    test_thinking();
    test_cancel_early();
    test_interrupt_signal();
    test_retry();
    test_no_retry();
    test_retry_acted();
    test_attempts_are_told();
    test_agents_own_retries();
    test_cancel_in_pause();
    test_lost_session();
    test_messages();
    test_environment();
    test_never_reads();
    test_two_turns();
    stage_fini();
    return 0;
}
