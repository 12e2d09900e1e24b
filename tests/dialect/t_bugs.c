/* SPDX-License-Identifier: MIT
 * Bugs that other translators had and no dialect of ours may have, where they are not of one
 * dialect alone. */
#include <stdlib.h>

#include "dialect/reading.h"
#include "tap/tap.h"

static void test_failed_run(void)
{
    struct reading r;
    const char *const told =
        reading_of(&r, "ag-ui",
                   "{'type':'RUN_STARTED','threadId':'t','runId':'1'}\n"
                   "{'type':'RUN_ERROR','message':'no'}\n"
                   "{'type':'RUN_STARTED','threadId':'t','runId':'2'}\n"
                   "{'type':'TEXT_MESSAGE_START','messageId':'m','role':'assistant'}\n"
                   "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'second run'}\n");
    has_str(told, "\"text\":\"second run\"", "bug 8: a failed run does not hide the next one");
    reading_fini(&r);
}

static void test_history(void)
{
    struct reading r;
    reading_of(&r, "ag-ui",
               "{'type':'RUN_STARTED','threadId':'t','runId':'1'}\n"
               "{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'h','role':'assistant','toolCalls':"
               "[{'id':'old','type':'function','function':{'name':'f','arguments':'{}'}}]}]}\n"
               "{'type':'TOOL_CALL_START','toolCallId':'new','toolCallName':'f'}\n"
               "{'type':'TOOL_CALL_END','toolCallId':'new'}\n");
    has_str(reading_last(&r, "tool_call"), "\"tool_use_id\":\"new\"",
            "bug 13: an older call in the history hides no new one");
    reading_fini(&r);
}

static void test_at_once(void)
{
    struct reading r;
    reading_init(&r, "codex");
    reading_feed(&r, "{'type':'thread.started','thread_id':'t'}\n"
                     "{'type':'item.started','item':{'id':'a','type':'command_execution',"
                     "'command':'x','status':'in_progress'}}\n"
                     "{'type':'item.started','item':{'id':'b','type':'command_execution',"
                     "'command':'y','status':'in_progress'}}\n");
    is_int((long long)r.counts[TC_TOOL_CALL], 2, "bug 15: calls are told when they begin");
    reading_feed(&r, "{'type':'item.completed','item':{'id':'b','type':'command_execution',"
                     "'command':'y','aggregated_output':'','status':'completed'}}\n");
    has_str(reading_last(&r, "tool_result"), "\"tool_use_id\":\"b\"",
            "bug 15: a result does not wait for the others of its batch");
    reading_end(&r);
    reading_fini(&r);
}

#define DELTA(index, kind, key)                                                                    \
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":" index      \
    ",\"delta\":{\"type\":\"" kind "\",\"" key "\":\""

static void test_long_line(void)
{
    const size_t long_text = (size_t)3 << 20;
    struct reading r;
    struct buf line = {0};
    buf_add_str(&line, DELTA("0", "text_delta", "text"));
    memset(buf_reserve(&line, long_text), 'x', long_text);
    line.len += long_text;
    buf_add_str(&line, "\"}}}\n");
    reading_init(&r, "claude");
    reading_feed(&r, "{'type':'system','subtype':'init','session_id':'s'}\n"
                     "{'type':'stream_event','event':{'type':'content_block_start','index':0,"
                     "'content_block':{'type':'text','text':''}}}\n");
    const size_t before = r.told.len;
    reading_feed_raw(&r, line.p, line.len);
    ok(r.counts[TC_NARRATION] == 1 && r.told.len - before > long_text,
       "bug 22: a line of 3 MiB is a line");
    reading_end(&r);
    reading_fini(&r);
    buf_fini(&line);
}

/* Arguments in many pieces: what is told grows with their length, not with its square. */
static void test_argument_pieces(void)
{
    enum { PIECES = 2000 };
    struct reading r;
    reading_init(&r, "claude");
    reading_feed(&r, "{'type':'system','subtype':'init','session_id':'s'}\n"
                     "{'type':'stream_event','event':{'type':'content_block_start','index':0,"
                     "'content_block':{'type':'tool_use','id':'t','name':'f','input':{}}}}\n");
    const size_t before = r.told.len;
    for (int i = 0; i < PIECES; i++)
        reading_feed(&r, "{'type':'stream_event','event':{'type':'content_block_delta','index':0,"
                         "'delta':{'type':'input_json_delta','partial_json':'0123456789'}}}\n");
    ok(r.counts[TC_PROGRESS] >= PIECES && r.told.len - before < (size_t)PIECES * 200,
       "bug 23: each piece of arguments is told once, by itself");
    reading_end(&r);
    reading_fini(&r);
}

static void test_raw_event(void)
{
    struct reading r;
    struct buf line = {0};
    buf_add_str(&line, "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"x\","
                       "\"rawEvent\":{\"blob\":\"");
    memset(buf_reserve(&line, 1 << 20), 'y', 1 << 20);
    line.len += 1 << 20;
    buf_add_str(&line, "\"}}\n");
    reading_init(&r, "ag-ui");
    reading_feed(&r, "{'type':'RUN_STARTED','threadId':'t','runId':'1'}\n"
                     "{'type':'TEXT_MESSAGE_START','messageId':'m','role':'assistant'}\n");
    const size_t before = r.told.len;
    reading_feed_raw(&r, line.p, line.len);
    ok(r.counts[TC_NARRATION] == 1 && r.told.len - before < (64 << 10),
       "bug 25: a megabyte of rawEvent does not travel with the text");
    reading_end(&r);
    reading_fini(&r);
    buf_fini(&line);
}

/* The first word of the call is the question, with a UUID for an id: a made-up dialog in the form
 * that the adapter is known to use. */
static void test_call_after_question(void)
{
    struct reading r;
    const char *const told = reading_of(
        &r, "acp",
        "{'jsonrpc':'2.0','method':'session/request_permission','params':{'sessionId':'s',"
        "'toolCall':{'toolCallId':'c','kind':'execute','rawInput':{'command':'ls'}},"
        "'options':[{'optionId':'y','kind':'allow_once','name':'Yes'}]},"
        "'id':'0c6e7a52-4c1b-4b52-9d8e-2b1f0e9b7a11'}\n"
        "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':"
        "{'sessionUpdate':'tool_call_update','toolCallId':'c','status':'completed',"
        "'rawOutput':{'stdout':'a'}}}}\n"
        "{'jsonrpc':'2.0','result':{'stopReason':'end_turn'},'id':3}\n");
    const char *const call = strstr(told, "tool_call {"), *const ask = strstr(told, "request {");
    ok(call && ask && call < ask,
       "corner codex-acp/permission_allow: the call is told before its question");
    has_str(told, "tool_result {\"tool_use_id\":\"c\"", "  and has its result");
    reading_fini(&r);
}

#define TOKENS(turn, input)                                                                        \
    "{'method':'thread/tokenUsage/updated','params':{'threadId':'th','turnId':'" turn "',"         \
    "'tokenUsage':{'total':{'inputTokens':700},'last':{'inputTokens':" input ",'outputTokens':20}" \
    "}}}\n"

/* Codex 0.169.0 repeats the usage of the last turn when a thread is resumed. */
static void test_usage_of_before(void)
{
    struct reading r;
    reading_init(&r, "codex-app");
    reading_feed(&r, "{'id':2,'result':{'thread':{'id':'th'},'model':'m'}}\n" TOKENS("old", "300"));
    is_int((long long)r.counts[TC_USAGE], 0, "the usage of the turn before is none of this one");
    reading_feed(
        &r, "{'method':'turn/started','params':{'threadId':'th','turn':{'id':'new'}}}\n" TOKENS(
                "new", "100") "{'method':'turn/completed','params':{'threadId':'th',"
                              "'turn':{'id':'new','status':'completed'}}}\n");
    has_str(reading_last(&r, "usage"), "\"input_tokens\":100", "and what this one uses is");
    reading_end(&r);
    reading_fini(&r);
}

int main(void)
{
    plan_lazy();
    test_failed_run();
    test_history();
    test_at_once();
    test_long_line();
    test_argument_pieces();
    test_raw_event();
    test_call_after_question();
    test_usage_of_before();
    return 0;
}
