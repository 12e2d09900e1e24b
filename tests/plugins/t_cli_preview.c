/* SPDX-License-Identifier: MIT
 * Tests of plugins/cli/view/call_preview.c: what a chip says about a call. */
#include "plugins/cli/view/call_preview.h"

#include <string.h>

#include "tap/tap.h"

static void preview_is(const char *tool, const char *args, const char *wanted)
{
    char out[PREVIEW_SIZE];
    preview_args(out, tool, args, strlen(args));
    is_str(out, wanted, "%s %.60s", tool, args);
}

static void test_arguments(void)
{
    preview_is("Bash", "{\"command\":\"df -h\"}", "df -h");
    preview_is("Bash", "{\"timeout\":5,\"command\":\"df -h\"}", "df -h");
    preview_is("WebSearch", "{\"query\":\"q\"}", "q");
    preview_is("WebFetch", "{\"prompt\":\"p\",\"url\":\"http://x/\"}", "http://x/");
    preview_is("Read", "{\"offset\":1,\"file_path\":\"/a\"}", "/a");
    preview_is("Write", "{\"content\":\"long\",\"file_path\":\"/a\"}", "/a");
    preview_is("Edit", "{\"file_path\":\"/a\"}", "/a");
    preview_is("Grep", "{\"path\":\"x\",\"pattern\":\"a.*b\"}", "a.*b");
    preview_is("Glob", "{\"pattern\":\"**\"}", "**");
    preview_is("Task", "{\"prompt\":\"long\",\"description\":\"short\"}", "short");
    preview_is("Other", "{\"a\":\"\",\"b\":null,\"c\":{\"d\":\"e\"},\"f\":[1],\"g\":7}", "7");
    preview_is("Other", "{\"a\":false,\"b\":1}", "false");
    preview_is("Bash", "{\"command\":\"\",\"x\":\"y\"}", "y");
    preview_is("Bash", "{\"command\":[\"ls\",\"}\"],\"x\":\"y\"}", "ls }");
    preview_is("Bash", "{\"command\":[],\"x\":\"y\"}", "y");
    preview_is("apply_patch", "{\"changes\":[{\"path\":\"/a\"},{\"kind\":{}},{\"path\":\"/b\"}]}",
               "/a, /b");
    preview_is("apply_patch", "{\"changes\":{\"/a\":{\"type\":\"add\"},\"/b\":1}}", "/a, /b");
    preview_is("Other", "{\"a\":{\"b\":[\"}\",{}]}}", "{\"a\":{\"b\":[\"}\",{}]}}");
    preview_is("Other", "{}", "");
    preview_is("Other", "{ \"a\" : \"b c\" }", "b c");
    preview_is("Other", "{\"_raw\":\"{broken\"}", "{broken");
}

/* A shell that only runs one command is not shown. */
static void test_shells(void)
{
    preview_is("shell", "{\"command\":\"/bin/bash -lc 'cat hello.txt'\"}", "cat hello.txt");
    preview_is("shell", "{\"command\":\"bash -c \\\"echo \\\\\\\"a\\\\\\\" $b\\\"\"}",
               "echo \"a\" $b");
    preview_is("shell", "{\"command\":\"sh -c 'a '\\\"'\\\"' b'\"}", "a ' b");
    preview_is("shell", "{\"command\":\"sh -c 'a '\\\\'' b'\"}", "a ' b");
    preview_is("shell", "{\"command\":[\"/usr/bin/zsh\",\"-lc\",\"make && ls\"]}", "make && ls");
    preview_is("shell", "{\"command\":[\"bash\",\"-x\",\"a\"]}", "bash -x a");
    preview_is("shell", "{\"command\":[\"echo\",\"-c\",\"a\"]}", "echo -c a");
    preview_is("shell", "{\"command\":\"bash -lc 'a' && rm b\"}", "bash -lc 'a' && rm b");
    preview_is("shell", "{\"command\":\"bash -lc 'a'b\"}", "bash -lc 'a'b");
    preview_is("shell", "{\"command\":\"bash -lc 'a\"}", "bash -lc 'a");
    preview_is("shell", "{\"command\":\"bash -x 'a'\"}", "bash -x 'a'");
    preview_is("shell", "{\"command\":\"bashful -c 'a'\"}", "bashful -c 'a'");
    preview_is("shell", "{\"command\":\"bash\"}", "bash");
}

static void test_text(void)
{
    preview_is("Bash", "{\"command\":\"a\\nb\\tc \\\"d\\\" \\\\ \\u00e9 \\ud83d\\ude00\"}",
               "a b\tc \"d\" \\ é 😀");
    preview_is("Bash", "{\"command\":\"x\\ud83d\\u0000y\"}", "x\xef\xbf\xbd\xef\xbf\xbdy");
    preview_is("Bash", "{\"command\":\"\\u001b[31m\"}", "\033[31m");
    char args[512] = "{\"command\":\"", wanted[512] = "";
    for (int i = 0; i < 80; i++) {
        strcat(args, "é");
        strcat(wanted, "é");
    }
    char *end = args + strlen(args);
    strcpy(end, "\"}");
    preview_is("Bash", args, wanted);
    strcpy(end, "x\"}");
    strcat(wanted, "…");
    preview_is("Bash", args, wanted);
}

/* Whatever is cut off: no crash, no overrun (a sanitizer looks on), always an end. */
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
    is_int(overlong, 0, "arguments cut anywhere");
}

static void elapsed_is(double ms, const char *wanted)
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
    is_str(preview_name("mcp__disk__usage"), "usage", "a tool of a server");
    is_str(preview_name("Bash"), "Bash", "a plain tool");
    is_str(preview_name("mcp__x__"), "mcp__x__", "a name without an end");
    is_str(preview_name("my__tool"), "my__tool", "underscores of somebody else");
    elapsed_is(0, "0ms");
    elapsed_is(850, "850ms");
    elapsed_is(1200, "1.2s");
    elapsed_is(59900, "59.9s");
    elapsed_is(125400, "2m05s");
    elapsed_is(-1, "?");
    return 0;
}
