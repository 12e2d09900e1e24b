/* SPDX-License-Identifier: MIT
 * How often an agent is run after an error, by what it printed: the error's text as the published
 * CLIs word it, and whether a tool had been called. Texts: recordings of Claude Code 2.1.330, Codex
 * 0.169.0, Gemini CLI 0.61.0, OpenCode 1.18.33, Qwen Code 0.15.10 and Copilot 1.0.102. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/stage.h"
#include "tap/tap.h"

/* Lines of one CLI. The text of a case stands at the @ of `error`. */
struct cli {
    const char *dialect, *init, *tool, *error;
};

static const struct cli claude = {
    "claude", SAY_INIT, SAY_TOOL("Bash"),
    "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"@\","
    "\"session_id\":\"s-1\",\"num_turns\":1}"};

static const struct cli codex = {
    "codex", "text={\"type\":\"thread.started\",\"thread_id\":\"s-1\"}",
    "text={\"type\":\"item.started\",\"item\":{\"id\":\"item_0\",\"type\":\"command_execution\","
    "\"command\":\"deploy\",\"aggregated_output\":\"\",\"exit_code\":null,\"status\":"
    "\"in_progress\"}}",
    "text={\"type\":\"turn.failed\",\"error\":{\"message\":\"@\"}}"};

static const struct cli gemini = {
    "gemini",
    "text={\"type\":\"init\",\"timestamp\":\"2026-11-22T21:52:24.042Z\",\"session_id\":\"s-1\","
    "\"model\":\"gemini-2.5-pro\"}",
    "text={\"type\":\"tool_use\",\"timestamp\":\"2026-11-22T21:52:24.042Z\",\"tool_name\":"
    "\"run_shell_command\",\"tool_id\":\"t-1\",\"parameters\":{\"command\":\"deploy\"}}",
    "text={\"type\":\"result\",\"timestamp\":\"2026-11-22T21:52:24.042Z\",\"status\":\"error\","
    "\"error\":{\"type\":\"unknown\",\"message\":\"@\"}}"};

static const struct cli opencode = {
    "opencode",
    "text={\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{}}",
    "text={\"type\":\"tool_use\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{\"tool\":"
    "\"bash\",\"callID\":\"c-1\",\"state\":{\"status\":\"completed\",\"input\":{\"command\":"
    "\"deploy\"},\"output\":\"\"}}}",
    "text={\"type\":\"error\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"error\":{\"name\":"
    "\"APIError\",\"data\":{@}}}"};

static const struct cli qwen = {
    "qwen",
    "text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\","
    "\"qwen_code_version\":\"0.15.10\"}",
    SAY_TOOL("run_shell_command"),
    "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"@\","
    "\"session_id\":\"s-1\",\"num_turns\":1}"};

static const struct cli copilot = {
    "copilot",
    "text={\"type\":\"assistant.turn_start\",\"data\":{\"turnId\":\"0\"},\"id\":\"i-1\"}",
    "text={\"type\":\"tool.execution_start\",\"data\":{\"toolCallId\":\"t-1\",\"toolName\":"
    "\"bash\",\"arguments\":{\"command\":\"deploy\"}},\"id\":\"i-2\"}",
    "text={\"type\":\"session.error\",\"data\":{@},\"id\":\"i-3\"}\n"
    "{\"type\":\"result\",\"sessionId\":\"s-1\",\"exitCode\":1}"};

/* `runs` of two attempts; after a tool there is one run, whatever the error. */
static const struct {
    const struct cli *cli;
    const char *text;
    int runs;
} cases[] = {
    {&claude, "Invalid API key \u00b7 Fix external API key", 1},
    {&claude, "Failed to authenticate. API Error: 401 Invalid authentication credentials", 1},
    {&claude, "There's an issue with the selected model (nope-1). It may not exist", 1},
    {&claude, "API Error: Request rejected (429) \u00b7 This request would exceed your limit", 2},
    {&claude, "API Error: 500 Internal server error. This is a server-side issue", 2},
    {&claude, "API Error: 503 Service unavailable. This is a server-side issue", 2},
    {&claude, "API Error: Connection refused \u2014 a firewall may be blocking it (ECONNREFUSED)",
     2},
    {&claude, "API Error: Unable to connect to API: Self-signed certificate detected", 1},
    {&claude, "API Error: Connection lost mid-response. The response above may be incomplete.", 2},
    {&claude, "Prompt is too long \u00b7 the request is ~210000 tokens (limit 200000)", 1},
    {&codex, "unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1/v1", 1},
    {&codex, "exceeded retry limit, last status: 429 Too Many Requests", 2},
    {&codex, "We\u2019re currently experiencing high demand, which may cause temporary errors.", 2},
    {&codex, "unexpected status 503 Service Unavailable: Service unavailable", 2},
    {&codex, "stream disconnected before completion: stream closed before response.completed", 2},
    {&codex, "Codex ran out of room in the model's context window. Start a new thread", 1},
    {&codex, "see issue 14290", 1},
    {&gemini, "[API Error: {\\\"error\\\":{\\\"code\\\":401,\\\"message\\\":\\\"no\\\"}}]", 1},
    {&gemini, "[API Error: {\\\"error\\\":{\\\"code\\\":503,\\\"message\\\":\\\"no\\\"}}]", 2},
    {&gemini, "[API Error: model: nope-1]", 1},
    {&gemini, "Model stream ended without a finish reason.", 2},
    {&opencode, "\"message\":\"invalid x-api-key\",\"statusCode\":401,\"isRetryable\":false", 1},
    {&opencode, "\"message\":\"Slow down\",\"statusCode\":429,\"isRetryable\":true", 2},
    {&opencode, "\"message\":\"Something broke\",\"statusCode\":500,\"isRetryable\":true", 2},
    {&qwen, "[API Error: 404 model: nope-1]", 1},
    {&qwen, "[API Error: 503 Service unavailable]", 2},
    {&qwen, "[API Error: Connection error. (cause: fetch failed)]", 2},
    {&qwen, "[API Error: 400 This model's maximum context length is 200000 tokens.]", 1},
    {&copilot,
     "\"errorType\":\"authentication\",\"message\":\"Authentication failed with provider at "
     "http://127.0.0.1/v1 (HTTP 401).\"",
     1},
    {&copilot,
     "\"errorType\":\"rate_limit\",\"message\":\"Failed to get response from the AI model; retried "
     "5 times (total retry wait time: 5.60 seconds) Last error: 429 Rate limit reached\"",
     2},
    {&copilot,
     "\"errorType\":\"query\",\"message\":\"Could not connect to local model provider at "
     "http://127.0.0.1:18080/v1.\"",
     2},
};

/* Runs of the agent whose lines these are. */
static long long count_runs(const struct cli *cli, const char *text, bool acted)
{
    static unsigned number;
    char error[1000], count[1000];
    struct stat st;
    struct stage s = {0};
    const char *const at = strchr(cli->error, '@');
    snprintf(error, sizeof error, "%.*s%s%s", (int)(at - cli->error), cli->error, text, at + 1);
    snprintf(count, sizeof count, "count=%s/%u", tap_tmpdir(), number++);
    stage_set(&s, WORDS(count, cli->init, acted ? cli->tool : cli->init, error, "exit=1"));
    s.dialect = dialect_find(cli->dialect);
    s.agent.attempts = 2;
    stage_run(&s, "error(*", text);
    return stat(count + strlen("count="), &st) < 0 ? 0 : (long long)st.st_size;
}

/* What is on stderr does not make an attempt fail that has its answer, also where the dialect has
 * no line for the end. */
static void test_success(void)
{
    char count[1000];
    struct stat st;
    struct stage s = {0};
    snprintf(count, sizeof count, "count=%s/success", tap_tmpdir());
    stage_set(&s, WORDS(count, opencode.init,
                        "text={\"type\":\"text\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":"
                        "{\"id\":\"p-1\",\"text\":\"hi\"}}",
                        "text={\"type\":\"step_finish\",\"timestamp\":1,\"sessionID\":\"ses_1\","
                        "\"part\":{\"reason\":\"stop\"}}",
                        "errtext=HTTP 429"));
    s.dialect = dialect_find("opencode");
    s.agent.attempts = 2;
    stage_run(&s, "final(hi) done(completed)", "a successful turn with an error on stderr");
    ok(stat(count + strlen("count="), &st) == 0 && st.st_size == 1,
       "the agent of a successful turn runs once");
}

int main(void)
{
    plan_lazy();
    stage_init();
    test_success();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_int(count_runs(cases[i].cli, cases[i].text, false), cases[i].runs,
               "%s: number of attempts", cases[i].cli->dialect);
        is_int(count_runs(cases[i].cli, cases[i].text, true), 1,
               "%s: number of attempts after a tool call", cases[i].cli->dialect);
    }
    stage_fini();
    return 0;
}
