/* SPDX-License-Identifier: MIT
 * What was learned the hard way about agent CLIs, rule by rule and corner by corner: recorded
 * streams, and streams made for what is too long to keep. The rules about processes (2 to 5, 14)
 * are in tests/cli/agents.t. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/cast.h"
#include "tap/tap.h"

struct trial {
    const char *name;
    const char *file;   /* below tests/dialects: its folder names the dialect */
    const char *has[7]; /* in this order */
    const char *lacks[3];
};

#define FINAL(text) "\"type\":\"final\",\"payload\":{\"text\":\"" text "\""
#define DONE(reason) "\"type\":\"done\",\"payload\":{\"reason\":\"" reason "\""
#define RETRY "\"code\":\"retry\""
#define LOST DONE("lost")
#define CANCELLED "\"outcome\":\"cancelled\""

static const struct trial trials[] = {
    {"rule 1: no terminal event is an error, whatever the status",
     "gemini/sigterm-tool-group",
     {"\"code\":\"agent_no_result\"", LOST},
     {"\"type\":\"final\""}},
    {"rule 1: a stream without terminal events ends at its end",
     "opencode/narration-tool-final",
     {FINAL("hello.txt holds two lines and 6 words."), DONE("completed")},
     {"\"type\":\"error\""}},
    {"rule 1: a terminal event may say error with status 0",
     "gemini/sse-error",
     {"\"type\":\"error\"", DONE("error")},
     {"\"type\":\"final\""}},
    {"rule 8: codex announces its retry",
     "codex/drop-recover",
     {"First half", RETRY, FINAL("Second attempt complete.")},
     {NULL}},
    {"rule 8: opencode says that a step broke",
     "opencode/drop-recover",
     {"First half", RETRY, FINAL("Second attempt complete.")},
     {NULL}},
    {"rule 8: qwen takes back what it repeats",
     "qwen/drop-midtext",
     {"cut in the middle", "\"retracted\"", RETRY, "cut in the middle"},
     {NULL}},
    {"rule 8: copilot takes back what it repeats",
     "copilot/drop-recover",
     {"First half", "\"retracted\"", RETRY, FINAL("Second attempt complete.")},
     {NULL}},
    {"rule 8: gemini says nothing",
     "gemini/drop-recover",
     {FINAL("First halfSecond attempt complete.")},
     {RETRY}},
    {"rule 9: exit status 1 is a failure in codex",
     "codex/tool-fail",
     {"\"is_error\":true", "\"outcome\":\"failed\"", "\"exit_code\":1"},
     {NULL}},
    {"rule 9: and in qwen", "qwen/tool-fail", {"Exit Code: 1", "\"is_error\":true"}, {NULL}},
    {"rule 9: not in opencode, which has it beside",
     "opencode/tool-fail",
     {"cat: missing.txt", "\"is_error\":false", "\"exit\":1"},
     {NULL}},
    {"rule 9: nor in copilot",
     "copilot/tool-fail",
     {"completed with exit code 1", "\"is_error\":false", "\"exitCode\":1"},
     {NULL}},
    {"rule 10: a command that is never completed is closed",
     "codex/background-unfinished",
     {"\"type\":\"tool_call\"", CANCELLED, FINAL("I left a job running.")},
     {NULL}},
    {"rule 10: a tool told at its end has a call",
     "opencode/parallel-tools",
     {"\"type\":\"tool_call\"", "\"type\":\"tool_result\""},
     {NULL}},
    {"rule 11: control characters are data",
     "codex/unicode",
     {"\\u0007bell", "\\u001b[31mred", "\xef\xbf\xbdnul\x7f"},
     {NULL}},
    {"rule 12: of a key that comes twice the first names the item",
     "codex/web-search",
     {"\"tool_use_id\":\"item_0\"", "\"tool_use_id\":\"item_0\"", "\"id\":\"raw_0002\""},
     {CANCELLED}},
    {"rule 13: codex, an unknown type",
     "codex/kinds",
     {"\"type\":\"raw\"", "hologram", DONE("completed")},
     {NULL}},
    {"rule 13: codex-app, an unknown type",
     "codex-app/kinds",
     {"\"type\":\"raw\"", "hologram", DONE("completed")},
     {NULL}},
    {"rule 13: copilot, an unknown type",
     "copilot/kinds",
     {"\"type\":\"raw\"", "hologram", DONE("completed")},
     {NULL}},
    {"rule 13: acp, an unknown type",
     "acp/kinds",
     {"\"type\":\"raw\"", "hologram", DONE("stopped")},
     {NULL}},

    {"corner codex/sse_failed: text twice, then the failure",
     "codex/failed-in-stream",
     {"Partial text", RETRY, "Partial text", "\"type\":\"error\"", DONE("error")},
     {"\"type\":\"final\""}},
    {"corner codex/web_search: one call, one result",
     "codex/web-search",
     {"\"type\":\"tool_call\"", "\"type\":\"tool_result\"", FINAL("Searched the web.")},
     {CANCELLED}},
    {"corner codex/background: a result behind the next message",
     "codex/background",
     {"Waiting for it.", "tick 3", FINAL("The job ended.")},
     {CANCELLED}},
    {"corner codex/background_unfinished: closed before the answer",
     "codex/background-unfinished",
     {CANCELLED, "\"type\":\"final\"", DONE("completed")},
     {NULL}},
    {"corner codex/sigint_tool: closed, and an error",
     "codex/sigint-tool",
     {CANCELLED, "\"agent_no_result\"", LOST},
     {NULL}},
    {"corner gemini/drop_recover: both attempts are the text",
     "gemini/drop-recover",
     {"First half", "Second attempt complete.", DONE("completed")},
     {NULL}},
    {"corner gemini/sse_error: the message comes from the line before",
     "gemini/sse-error",
     {"\"type\":\"error\",\"payload\":{\"message\":\"Model stream ended without a finish "
      "reason.\""},
     {NULL}},
    {"corner gemini/sigterm_tool_group: closed, and an error",
     "gemini/sigterm-tool-group",
     {CANCELLED, LOST},
     {NULL}},
    {"corner gemini/unicode: whole to the end", "gemini/unicode", {DONE("completed")}, {NULL}},
    {"corner opencode/permission_ask: refused, and over",
     "opencode/permission-ask",
     {"\"outcome\":\"denied\"", "\"synthesized\":true", DONE("stopped")},
     {"\"type\":\"error\""}},
    {"corner opencode/context_overflow: the host's words are not the model's",
     "opencode/context-overflow",
     {"Lab session title", DONE("error")},
     {"provider's size limit"}},
    {"corner qwen/sse_error: the API's words are not the model's",
     "qwen/sse-error",
     {"\"text\":\"Partial text\"", "\"type\":\"error\"", "lab stream failure", DONE("error")},
     {"\"text\":\"Partial text[API", "\"type\":\"final\""}},
    {"corner copilot/sigint_stream: no result, yet cancelled",
     "copilot/sigterm-tool-group",
     {CANCELLED, DONE("cancelled")},
     {"\"type\":\"error\""}},
    {"corner codex-app/approval_parallel: two open at once",
     "codex-app/approval-parallel",
     {"\"request_id\":\"0\"", "\"state\":\"open\"", "\"request_id\":\"1\"", "\"state\":\"open\"",
      "\"state\":\"resolved\"", "\"state\":\"resolved\"", FINAL("Both.")},
     {"\"by\":\"host\""}},
    {"corner codex-app/cancel_command: refused and interrupted",
     "codex-app/cancel-command",
     {"\"outcome\":\"denied\"", DONE("cancelled")},
     {NULL}},
    {"corner gemini-acp/permission_reject: no word of the tool",
     "acp/gemini-permission-reject",
     {"\"type\":\"tool_call\"", "\"state\":\"open\"", CANCELLED, "\"state\":\"resolved\"",
      FINAL("Rejected.")},
     {NULL}},
    {"corner gemini-acp/permission_hang_cancel: the question stays open",
     "acp/gemini-permission-hang-cancel",
     {"\"state\":\"open\"", CANCELLED, "\"state\":\"resolved\"", LOST},
     {NULL}},
    {"corner copilot-acp/http_401: a failure told as text",
     "acp/copilot-http-401",
     {"\"type\":\"error\"", "HTTP 401", DONE("error")},
     {"\"type\":\"final\"", "\"type\":\"narration\""}},
};

/* The canonical lines of a whole stream; NULL: a promise was broken. */
static char *told_of(const struct dialect *dialect, const char *p, size_t n)
{
    struct cast c;
    cast_init(&c, dialect, true);
    cast_feed(&c, p, n);
    char *const told = cast_end(&c) ? NULL : buf_steal(&c.told);
    cast_fini(&c);
    return told;
}

static const char *missing_of(const struct trial *t, const char *told)
{
    const char *p = told;
    for (size_t i = 0; i < sizeof(t->has) / sizeof(t->has[0]) && t->has[i]; i++) {
        p = strstr(p, t->has[i]);
        if (!p)
            return t->has[i];
        p += strlen(t->has[i]);
    }
    for (size_t i = 0; i < sizeof(t->lacks) / sizeof(t->lacks[0]) && t->lacks[i]; i++)
        if (strstr(told, t->lacks[i]))
            return t->lacks[i];
    return NULL;
}

static void test_trial(const struct trial *t)
{
    char name[64], path[256];
    size_t len;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(t->file, "/"), t->file);
    snprintf(path, sizeof(path), "dialects/%s.jsonl", t->file);
    char *const stream = tap_slurp(tap_source(path), &len);
    char *const told = told_of(dialect_find(name), stream, len);
    const char *const missing = told ? missing_of(t, told) : "a promise that holds";
    if (!ok(!missing, "%s", t->name))
        diag("%s", missing);
    free(told);
    free(stream);
}

/* A stream whose middle is `fill` bytes long. */
static char *long_stream(const char *head, size_t fill, const char *tail, size_t *len)
{
    struct buf stream = {0};
    buf_add_str(&stream, head);
    for (size_t i = 0; i < fill; i++)
        buf_add_char(&stream, (char)('a' + i % 26));
    buf_add_str(&stream, tail);
    *len = stream.len;
    return buf_steal(&stream);
}

static void test_long(const char *name, const char *dialect, const char *head, size_t fill,
                      const char *tail, const char *wanted)
{
    size_t len;
    char *const stream = long_stream(head, fill, tail, &len);
    char *const told = told_of(dialect_find(dialect), stream, len);
    ok(told && strlen(told) > fill && strstr(told, wanted), "%s", name);
    free(told);
    free(stream);
}

#define CODEX_START "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n"
#define CODEX_ITEM(type)                                                                           \
    "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"" type "\","
#define CODEX_END "{\"type\":\"turn.completed\"}\n"

static void test_long_lines(void)
{
    test_long("rule 6: an answer of 78 kB in one line", "codex",
              CODEX_START CODEX_ITEM("agent_message") "\"text\":\"", 78000, "\"}}\n" CODEX_END,
              "\"type\":\"final\"");
    test_long("corner codex/output_one_line_200k: it is the result", "codex",
              CODEX_START CODEX_ITEM("command_execution") "\"status\":\"completed\","
                                                          "\"aggregated_output\":\"",
              200203, "\"}}\n" CODEX_END, "\"outcome\":\"succeeded\"");
    test_long("corner qwen-acp/plain: a line of 563 kB", "acp",
              "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\","
              "\"update\":{\"sessionUpdate\":\"available_commands_update\",\"text\":\"",
              563000,
              "\"}}}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n",
              DONE("completed"));
}

/* Qwen Code leaves before its output is drained: the result is cut, with status 0. */
static void test_cut_result(void)
{
    static const char cut[] =
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"qwen_code_version\":"
        "\"0\"}\n"
        "{\"type\":\"assistant\",\"uuid\":\"u\",\"session_id\":\"s\",\"parent_tool_use_id\":null,"
        "\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
        "\"text\":\"gr\xc3\xbc\xc3\x9f dich\"}],\"stop_reason\":null}}\n"
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"gr\xc3";
    const struct dialect *const qwen = dialect_find("qwen");
    char *told = told_of(qwen, cut, sizeof(cut) - 1);
    ok(told && strstr(told, FINAL("gr\xc3\xbc\xc3\x9f dich")),
       "rule 7: the answer of a cut result is the last message");
    ok(told && strstr(told, DONE("completed") ",\"code\":\"agent_truncated\""),
       "corner qwen/long_text: and the cut is told");
    free(told);
    told = told_of(qwen, cut, (size_t)(strstr(cut, "{\"type\":\"result\"") - cut));
    ok(told && strstr(told, LOST), "rule 7: an end without a result is none");
    free(told);
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
        test_trial(&trials[i]);
    test_long_lines();
    test_cut_result();
    return 0;
}
