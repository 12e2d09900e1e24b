/* SPDX-License-Identifier: MIT
 * agenticore's stream, its chunks to the byte, and chat completions in general. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/agenticore/json_pretty.h"
#include "dialect/reading.h"
#include "dialect/rewrite.h"
#include "tap/tap.h"

static double at_request(void)
{
    return 1784884500.75;
}

static const struct rewrite chunks = {
    .dialect = "claude",
    .writer = "agenticore-openai",
    .conf = {.framing = FRAMING_SSE, .model = "sonnet"},
    .turn = "req-7f31",
    .now = at_request,
};

/* The first turn of a recording: up to its result. */
static char *first_turn(const char *relative)
{
    size_t len;
    char *const stream = tap_slurp(tap_source(relative), &len);
    char *const result = strstr(stream, "\n{\"type\":\"result\"");
    if (!result)
        bail("%s has no result", relative);
    result[1 + strcspn(result + 1, "\n") + 1] = '\0';
    return stream;
}

static void test_chunks(void)
{
    size_t len;
    char *const wanted = tap_slurp(tap_source("dialects/openai/agenticore.sse"), &len);
    char *const stream = first_turn("dialects/claude/agenticore-stdout.jsonl");
    char *const got = rewrite(&chunks, stream, strlen(stream));
    is_text(got, wanted, "a claude turn as agenticore's chunks, byte for byte");
    has_str(got, "\\u25b6 tool_use: Bash", "row 0-12: tools are text in the reasoning");
    ok(!strstr(got, "tool_calls"), "bug 57: and no calls for a client to run");
    free(got);

    struct rewrite again = chunks;
    again.dialect = "openai";
    char *const back = rewrite(&again, wanted, len);
    is_text(back, wanted, "and read back from them");
    free(back);

    struct rewrite lines = chunks;
    lines.conf.framing = FRAMING_LINES;
    char *const plain = rewrite(&lines, stream, strlen(stream));
    ok(!strstr(plain, "data:") && !strstr(plain, "[DONE]"), "lines have no frames");
    free(plain);
    free(stream);
    free(wanted);
}

static void test_failure(void)
{
    struct rewrite r = chunks;
    r.dialect = "awaken";
    char *const got = rewrite_file(&r, "dialects/awaken/error.jsonl");
    const char *const finish =
        strstr(got, "\"finish_reason\": \"stop\", \"x_agenticore_event_type\": \"error\"}]");
    ok(finish && strstr(finish, "\"error\": {\"message\": \""),
       "bug 6: a failed run does not end well");
    has_str(got, "data: [DONE]\n\n", "bug 7: and the stream is ended");
    struct rewrite answer = r;
    answer.conf.is_answer = true;
    char *const answered = rewrite_file(&answer, "dialects/awaken/error.jsonl");
    is_text(strstr(answered, "\"finish_reason\": \"stop\""), finish ? finish : "",
            "a client of the API is told the same as a file");
    free(answered);
    free(got);
    struct rewrite unknown = r;
    unknown.conf.model = "acme/other";
    char *const other = rewrite_file(&unknown, "dialects/awaken/error.jsonl");
    has_str(other, "\"model\": \"agenticore-agent\"", "a model it does not know");
    free(other);
    unknown.conf.model = "acme/haiku";
    char *const known = rewrite_file(&unknown, "dialects/awaken/error.jsonl");
    has_str(known, "\"model\": \"haiku\"", "one it knows, behind its provider");
    free(known);
}

static unsigned occurrences(const char *text, const char *piece)
{
    unsigned n = 0;
    for (; (text = strstr(text, piece)); text += strlen(piece))
        n++;
    return n;
}

/* The stream of a client of the API. */
static void test_answer(void)
{
    struct rewrite r = chunks;
    r.conf.is_answer = true;
    r.conf.model = "main/any";
    char *const stream = first_turn("dialects/claude/agenticore-stdout.jsonl");
    char *const got = rewrite(&r, stream, strlen(stream));
    is_int(occurrences(got, "/srv is at 89 %."), 1, "bug 29: the answer is told once");
    has_str(got, "\"delta\": {}, \"finish_reason\": null, \"x_agenticore_event_type\": \"final\"",
            "that it was one is told behind it");
    has_str(got, "{\"content\": \"\\n\\n/srv is", "two messages are two paragraphs");
    has_str(got, "\"model\": \"main/any\"", "the model is what was asked for");
    is_int(occurrences(got, "\"usage\""), 1, "usage is in one chunk");
    free(got);
    r.conf.repeats_final = true;
    char *const repeated = rewrite(&r, stream, strlen(stream));
    is_int(occurrences(repeated, "/srv is at 89 %."), 2, "or it is repeated");
    has_str(repeated,
            "{\"content\": \"/srv is at 89 %.\"}, \"finish_reason\": null, "
            "\"x_agenticore_event_type\": \"final\"",
            "in the chunk of the final, word for word");
    free(repeated);
    r.conf.repeats_final = false;
    r.conf.usage_apart = true;
    char *const apart = rewrite(&r, stream, strlen(stream));
    has_str(apart, "\"finish_reason\": \"stop\"}]}\n\n", "or behind the last choice");
    has_str(apart, "\"choices\": [], \"usage\": {\"prompt_tokens\": 812,", "in one of its own");
    free(apart);
    free(stream);

    r.dialect = "awaken";
    char *const failed = rewrite_file(&r, "dialects/awaken/error.jsonl");
    has_str(failed,
            "\"finish_reason\": \"stop\", \"x_agenticore_event_type\": \"error\"}], \"error\": {",
            "bug 6: a failure is told where strict clients look");
    is_int(occurrences(failed, "[DONE]"), 1, "and ends once");
    free(failed);

    struct rewrite status = chunks;
    status.dialect = "openai";
    status.turn = "r";
    size_t len;
    char *const wanted = tap_slurp(tap_source("dialects/openai/stream-config.sse"), &len);
    char *const again = rewrite(&status, wanted, len);
    is_text(again, wanted, "the switches, read and written");
    free(again);
    free(wanted);
}

static void lays_out(const char *json, const char *wanted)
{
    CLEANUP_BUF struct buf b = {0};
    json_pretty_append(&b, json, strlen(json));
    is_str(b.p, wanted, "%s laid out", json);
}

static void test_pretty(void)
{
    lays_out("{}", "{}");
    lays_out("[ ]", "[]");
    lays_out("{\"a\":[1,2.0,1e22,{\"b\":[]}],\"c\":{}}",
             "{\n  \"a\": [\n    1,\n    2.0,\n    1e+22,\n    {\n      \"b\": []\n    }\n  ],\n"
             "  \"c\": {}\n}");
    lays_out("\"\\u00fc\\u0007<\\\"\"", "\"\xc3\xbc\\u0007<\\\"\"");
    CLEANUP_BUF struct buf b = {0};
    json_pretty_append_line(&b, "{\"a\":[1,\"\xc3\xbc\"],\"b\":null}", 23);
    is_str(b.p, "{\"a\": [1, \"\xc3\xbc\"], \"b\": null}", "on one line");
}

#define ENTRY(type, content)                                                                       \
    "{'id':'1-0','event_type':'" type "','content':'" content                                      \
    "','ts':'2026-07-24T09:15:02.114201+00:00','session_id':'s','correlation_id':'c'}\n"

static void test_redis(void)
{
    struct reading r;
    reading_of(&r, "agenticore-redis", ENTRY("assistant_text", "Answer.") ENTRY("done", ""));
    ok(strstr(r.told.p, "final ") && strstr(r.told.p, "done ") > strstr(r.told.p, "final "),
       "row 0-5: final, then done");
    has_str(r.told.p, "message {\"role\":\"assistant\",\"text\":\"Answer.\"",
            "the text is a message");
    reading_fini(&r);

    reading_init(&r, "agenticore-redis");
    reading_feed(&r, ENTRY("assistant_text", "Answer.") ENTRY("done", ""));
    r.end.how = STREAM_EXIT;
    reading_end(&r);
    is_int(r.counts[TC_FINAL] + r.counts[TC_DONE], 0,
           "bug 6: the entry ends the stream, the process says how the turn went");
    reading_fini(&r);

    reading_of(&r, "agenticore-redis",
               ENTRY("tool_use", "{}") ENTRY("tool_result", "{}") ENTRY("done", ""));
    is_int(r.counts[TC_FINAL], 0,
           "row 0-2: a turn that ends behind a tool has no final of its own");
    reading_fini(&r);

    reading_of(&r, "agenticore-redis",
               ENTRY("tool_use", "{\\'id\\':\\'a\\',\\'name\\':\\'n\\'}")
                   ENTRY("tool_result", "{\\'tool_use_id\\':\\'a\\',\\'output\\':[1,2]}")
                       ENTRY("assistant_text", "After."));
    ok(strstr(r.told.p, "narration") > strstr(r.told.p, "tool_result"),
       "row 0-13: here tools come when they have run, before the text");
    has_str(r.told.p, "\"content\":\"[1, 2]\"", "output that is no text is shown as JSON");
    reading_fini(&r);

    reading_of(&r, "agenticore-redis", ENTRY("tool_use", "oops"));
    has_str(r.told.p, "\"args_raw\":\"oops\"",
            "bug 19: a call that cannot read the configuration keeps its text");
    reading_fini(&r);
}

#define CHUNK(delta) "data: {'choices':[{'index':0,'delta':{" delta "},'finish_reason':null}]}\n\n"
#define FINISH(why) "data: {'choices':[{'index':0,'delta':{},'finish_reason':'" why "'}]}\n\n"

static void test_openai(void)
{
    struct reading r;
    reading_of(&r, "openai", CHUNK("'content':'Let'"));
    is_int(r.counts[TC_DONE], 0, "bug 6: a stream that breaks off has not ended");
    reading_fini(&r);

    reading_of(&r, "openai",
               CHUNK("'content':'A'") "data: {'error':{'message':'m','type':'t'}}\n\n");
    has_str(r.told.p, "error {\"message\":\"m\",\"code\":\"t\"}", "bug 6: an error in a frame");
    reading_fini(&r);

    reading_of(&r, "openai", FINISH("stop") "data: {'choices':[],'usage':{'prompt_tokens':5}}\n\n");
    has_str(r.told.p, "\"input_tokens\":5", "bug 26: a last chunk with usage alone counts");
    reading_fini(&r);

    reading_of(
        &r, "openai",
        CHUNK(
            "'tool_calls':[{'index':0,'id':'a','function':{'name':'x','arguments':'{\\\"p\\\"'}}]")
            CHUNK("'tool_calls':[{'index':1,'id':'b','function':{'name':'y','arguments':'{}'}}]")
                CHUNK("'tool_calls':[{'index':0,'function':{'arguments':':1}'}}]")
                    FINISH("tool_calls"));
    has_str(r.told.p, "{\"name\":\"x\",\"args\":{\"p\":1},\"tool_use_id\":\"a\"",
            "bug 21: calls side by side keep their arguments apart");
    has_str(r.told.p, "{\"name\":\"y\",\"args\":{},\"tool_use_id\":\"b\"", "bug 21: both of them");
    is_int(r.counts[TC_FINAL], 0, "a turn that wants tools has no answer");
    reading_fini(&r);

    reading_of(&r, "openai",
               CHUNK("'tool_calls':[{'id':'a','function':{'name':'x','arguments':null}}]")
                   CHUNK("'tool_calls':[{'id':'b','function':{'name':'y','arguments':{'k':1}}}]")
                       FINISH("stop"));
    has_str(r.told.p, "tool_call {\"name\":\"x\",\"args\":{},", "bug 20: null arguments");
    has_str(r.told.p, "tool_call {\"name\":\"y\",\"args\":{\"k\":1},", "calls without an index");
    has_str(r.told.p, "done {\"reason\":\"stopped\",\"code\":\"tool_calls\"}",
            "calls count, whatever the finish says");
    reading_fini(&r);
}

int main(void)
{
    plan_lazy();
    test_chunks();
    test_failure();
    test_answer();
    test_pretty();
    test_redis();
    test_openai();
    return 0;
}
