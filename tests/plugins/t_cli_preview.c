/* SPDX-License-Identifier: MIT
 * Tests of plugins/cli/view/call_preview.c: the one-line preview of a call. */
#include "plugins/cli/view/call_preview.h"

#include <string.h>

#include "tap/tap.h"

static void check_preview(const char *tool, const char *args, const char *wanted)
{
    char out[PREVIEW_SIZE];
    preview_args(out, tool, args, strlen(args));
    is_str(out, wanted, "%s %.60s", tool, args);
}

static void test_arguments(void)
{
    check_preview("Bash", "{\"command\":\"df -h\"}", "df -h");
    check_preview("Bash", "{\"timeout\":5,\"command\":\"df -h\"}", "df -h");
    check_preview("WebSearch", "{\"query\":\"q\"}", "q");
    check_preview("WebFetch", "{\"prompt\":\"p\",\"url\":\"http://x/\"}", "http://x/");
    check_preview("Read", "{\"offset\":1,\"file_path\":\"/a\"}", "/a");
    check_preview("Write", "{\"content\":\"long\",\"file_path\":\"/a\"}", "/a");
    check_preview("Edit", "{\"file_path\":\"/a\"}", "/a");
    check_preview("Grep", "{\"path\":\"x\",\"pattern\":\"a.*b\"}", "a.*b");
    check_preview("Glob", "{\"pattern\":\"**\"}", "**");
    check_preview("Task", "{\"prompt\":\"long\",\"description\":\"short\"}", "short");
    check_preview("Other", "{\"a\":\"\",\"b\":null,\"c\":{\"d\":\"e\"},\"f\":[1],\"g\":7}", "7");
    check_preview("Other", "{\"a\":false,\"b\":1}", "false");
    check_preview("Bash", "{\"command\":\"\",\"x\":\"y\"}", "y");
    check_preview("Bash", "{\"command\":[\"ls\",\"}\"],\"x\":\"y\"}", "ls }");
    check_preview("Bash", "{\"command\":[],\"x\":\"y\"}", "y");
    check_preview("apply_patch",
                  "{\"changes\":[{\"path\":\"/a\"},{\"kind\":{}},{\"path\":\"/b\"}]}", "/a, /b");
    check_preview("apply_patch", "{\"changes\":{\"/a\":{\"type\":\"add\"},\"/b\":1}}", "/a, /b");
    check_preview("Other", "{\"a\":{\"b\":[\"}\",{}]}}", "{\"a\":{\"b\":[\"}\",{}]}}");
    check_preview("Other", "{}", "");
    check_preview("Other", "{ \"a\" : \"b c\" }", "b c");
    check_preview("Other", "{\"_raw\":\"{broken\"}", "{broken");
}

/* A shell that only runs one command is omitted. */
static void test_shells(void)
{
    check_preview("shell", "{\"command\":\"/bin/bash -lc 'cat hello.txt'\"}", "cat hello.txt");
    check_preview("shell", "{\"command\":\"bash -c \\\"echo \\\\\\\"a\\\\\\\" $b\\\"\"}",
                  "echo \"a\" $b");
    check_preview("shell", "{\"command\":\"sh -c 'a '\\\"'\\\"' b'\"}", "a ' b");
    check_preview("shell", "{\"command\":\"sh -c 'a '\\\\'' b'\"}", "a ' b");
    check_preview("shell", "{\"command\":[\"/usr/bin/zsh\",\"-lc\",\"make && ls\"]}", "make && ls");
    check_preview("shell", "{\"command\":[\"bash\",\"-x\",\"a\"]}", "bash -x a");
    check_preview("shell", "{\"command\":[\"echo\",\"-c\",\"a\"]}", "echo -c a");
    check_preview("shell", "{\"command\":\"bash -lc 'a' && rm b\"}", "bash -lc 'a' && rm b");
    check_preview("shell", "{\"command\":\"bash -lc 'a'b\"}", "bash -lc 'a'b");
    check_preview("shell", "{\"command\":\"bash -lc 'a\"}", "bash -lc 'a");
    check_preview("shell", "{\"command\":\"bash -x 'a'\"}", "bash -x 'a'");
    check_preview("shell", "{\"command\":\"bashful -c 'a'\"}", "bashful -c 'a'");
    check_preview("shell", "{\"command\":\"bash\"}", "bash");
}

static void test_text(void)
{
    check_preview("Bash", "{\"command\":\"a\\nb\\tc \\\"d\\\" \\\\ \\u00e9 \\ud83d\\ude00\"}",
                  "a b\tc \"d\" \\ é 😀");
    check_preview("Bash", "{\"command\":\"x\\ud83d\\u0000y\"}", "x\xef\xbf\xbd\xef\xbf\xbdy");
    check_preview("Bash", "{\"command\":\"\\u001b[31m\"}", "\033[31m");
    char args[512] = "{\"command\":\"", wanted[512] = "";
    for (int i = 0; i < 80; i++) {
        strcat(args, "é");
        strcat(wanted, "é");
    }
    char *end = args + strlen(args);
    strcpy(end, "\"}");
    check_preview("Bash", args, wanted);
    strcpy(end, "x\"}");
    strcat(wanted, "…");
    check_preview("Bash", args, wanted);
}

/* Arguments that are cut at each position cause no crash and no overrun, which a sanitizer would
 * report. */
static void test_damaged(void)
{
    static const char whole[] =
        "{\"a\":{\"b\":[1,\"\\ud83d\\ude00\"]},\"command\":\"x\\\\\\u00e9\"}";
    char out[PREVIEW_SIZE];
    unsigned overlong = 0;
    for (size_t n = 0; n < sizeof whole; n++) {
        preview_args(out, "Bash", whole, n);
        overlong += strlen(out) >= sizeof out;
    }
    is_int(overlong, 0, "truncated arguments have a short preview");
}

static void check_elapsed(double ms, const char *wanted)
{
    char out[32];
    preview_elapsed(out, ms);
    is_str(out, wanted, "%g ms", ms);
}

int main(void)
{
    plan_lazy();
    test_arguments();
    test_shells();
    test_text();
    test_damaged();
    is_str(preview_name("mcp__disk__usage"), "usage", "the name of a tool of an MCP server");
    is_str(preview_name("Bash"), "Bash", "the name of a plain tool");
    is_str(preview_name("mcp__x__"), "mcp__x__", "a name without the part of the tool");
    is_str(preview_name("my__tool"), "my__tool", "a name with other underscores");
    check_elapsed(0, "0ms");
    check_elapsed(850, "850ms");
    check_elapsed(1200, "1.2s");
    check_elapsed(59900, "59.9s");
    check_elapsed(125400, "2m05s");
    check_elapsed(-1, "?");
    return 0;
}
