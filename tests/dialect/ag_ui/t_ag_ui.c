/* SPDX-License-Identifier: MIT
 * Tests of the AG-UI reader: the canonical events of each AG-UI event. */
#include <stdlib.h>
#include <string.h>

#include "dialect/reading.h"
#include "tap/tap.h"

#define RUN "{'type':'RUN_STARTED','threadId':'t','runId':'r'}\n"
#define FINISHED "{'type':'RUN_FINISHED','threadId':'t','runId':'r'}\n"
#define TEXT(id, text)                                                                             \
    "{'type':'TEXT_MESSAGE_START','messageId':'" id "','role':'assistant'}\n"                      \
    "{'type':'TEXT_MESSAGE_CONTENT','messageId':'" id "','delta':'" text "'}\n"                    \
    "{'type':'TEXT_MESSAGE_END','messageId':'" id "'}\n"

static void check_events(const char *stream, const char *wanted, const char *name)
{
    struct reading r;
    has_str(reading_of(&r, "ag-ui", stream), wanted, "%s", name);
    reading_fini(&r);
}

static void check_count(const char *stream, enum tc_kind kind, size_t wanted, const char *name)
{
    struct reading r;
    reading_of(&r, "ag-ui", stream);
    is_int(r.counts[kind], wanted, "%s", name);
    reading_fini(&r);
}

static void test_ends(void)
{
    check_events(FINISHED, "done {\"reason\":\"completed\"", "a missing outcome is success");
    check_events("{'type':'RUN_FINISHED','outcome':null}\n", "done {\"reason\":\"completed\"",
                 "bug 24: null outcome");
    check_events("{'type':'RUN_FINISHED','outcome':{'type':'tired'}}\n",
                 "done {\"reason\":\"completed\"", "bug 24: unknown outcome");
    check_events("{'type':'RUN_FINISHED','outcome':{'type':'cancelled'}}\n",
                 "done {\"reason\":\"cancelled\"", "bug 9: cancelled in the form of 1.0");
    check_events("{'type':'RUN_ERROR','message':'stop','code':'cancelled'}\n",
                 "done {\"reason\":\"cancelled\",\"code\":\"cancelled\",\"detail\":\"stop\"}",
                 "bug 9: cancelled in the form of 0.x");
    check_count("{'type':'RUN_ERROR','message':'stop','code':'CANCELLED'}\n", TC_ERROR, 0,
                "bug 9: a cancelled run is not an error");
    check_events("{'type':'RUN_ERROR','message':'m','code':'c'}\n",
                 "error {\"message\":\"m\",\"code\":\"c\"}\ndone {\"reason\":\"error\"",
                 "a failed run");
    check_count(RUN TEXT("m", "cut off"), TC_DONE, 0,
                "bug 1: a missing end is added by the guard only");
    check_events("{'type':'RUN_FINISHED','outcome':{'type':'interrupt','interrupts':[{'id':'i',"
                 "'reason':'tool_approval','toolCallId':'c'}]}}\n",
                 "request {\"request_id\":\"i\",\"kind\":\"approval\",\"state\":\"open\","
                 "\"tool_use_id\":\"c\",\"reason\":\"tool_approval\",\"blocking\":true}\n"
                 "done {\"reason\":\"suspended\"}",
                 "an interrupt suspends the turn");
}

static void test_answers(void)
{
    check_events(TEXT("a", "one") TEXT("b", "two") FINISHED, "final {\"text\":\"two\"",
                 "the answer is the last text");
    check_count(
        TEXT("a",
             "one") "{'type':'TOOL_CALL_CHUNK','toolCallId':'c','toolCallName':'n'}\n" FINISHED,
        TC_FINAL, 0, "text before a tool call is not the answer");
    check_events(TEXT("a", "one") "{'type':'RUN_FINISHED','result':{'response':'two'}}\n",
                 "final {\"text\":\"two\"}", "the result of the run is the answer");
    check_count("{'type':'TEXT_MESSAGE_START','messageId':'m','subagentRunId':'s'}\n"
                "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'child'}\n" FINISHED,
                TC_FINAL, 0, "bug 17: a sub-agent's text is not the answer");
    check_events("{'type':'TEXT_MESSAGE_START','messageId':'m','subagentRunId':'s'}\n"
                 "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'child'}\n",
                 "\"message_id\":\"m\",\"agent\":\"s\"",
                 "bug 17: a sub-agent's text has the name of the agent");
    check_count("{'type':'TEXT_MESSAGE_START','messageId':'m','role':'user'}\n"
                "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'mine'}\n"
                "{'type':'TEXT_MESSAGE_END','messageId':'m'}\n" FINISHED,
                TC_NARRATION, 0, "the text of the user is not narration");
}

static void test_calls(void)
{
    struct reading r;
    reading_of(&r, "ag-ui",
               "{'type':'TOOL_CALL_START','toolCallId':'a','toolCallName':'n',"
               "'parentMessageId':null}\n"
               "{'type':'TOOL_CALL_START','toolCallId':'b','toolCallName':'n'}\n"
               "{'type':'TOOL_CALL_ARGS','toolCallId':'a','delta':'{\\\"k\\\":'}\n"
               "{'type':'TOOL_CALL_ARGS','toolCallId':'b','delta':'{}'}\n"
               "{'type':'TOOL_CALL_START','toolCallId':'a','toolCallName':'n'}\n"
               "{'type':'TOOL_CALL_ARGS','toolCallId':'a','delta':'1}'}\n"
               "{'type':'TOOL_CALL_END','toolCallId':'b'}\n"
               "{'type':'TOOL_CALL_END','toolCallId':'a'}\n");
    has_str(r.told.p, "\"args\":{\"k\":1},\"tool_use_id\":\"a\"",
            "bug 21: parallel calls have separate arguments");
    is_int(reading_count(&r, "\"phase\":\"preparing\""), 2, "bug 12: a second start is ignored");
    is_int(r.counts[TC_TOOL_CALL], 2, "bug 24: a null parent is ignored");
    reading_fini(&r);
    check_events("{'type':'TOOL_CALL_CHUNK','toolCallId':'c','toolCallName':'n','delta':'{nope'}\n"
                 "{'type':'TOOL_CALL_CHUNK','toolCallId':'d','toolCallName':'n'}\n",
                 "\"args\":{\"_raw\":\"{nope\"},\"tool_use_id\":\"c\"",
                 "bug 19: invalid arguments are kept as text");
    check_events("{'type':'TOOL_CALL_RESULT','toolCallId':'c','messageId':'m','content':'x'}\n",
                 "tool_call {\"name\":\"tool\",\"args\":{},\"tool_use_id\":\"c\",\"x\":"
                 "{\"synthesized\":true}}\ntool_result",
                 "bug 14: a result without a call");
    check_events("{'type':'TOOL_CALL_RESULT','toolCallId':'c','content':'x','metadata':"
                 "{'isError':true}}\n",
                 "\"content\":\"x\",\"is_error\":true", "the metadata of a result has its failure");
}

static void test_chunks(void)
{
    static const char chunks[] = "{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'a'}\n"
                                 "{'type':'RAW','event':1}\n"
                                 "{'type':'TEXT_MESSAGE_CHUNK','delta':'b'}\n";
    struct reading r;
    reading_init(&r, "ag-ui");
    reading_feed(&r, chunks);
    is_int(r.counts[TC_MESSAGE], 0, "RAW does not end a message of chunks");
    reading_feed(&r, "{'type':'CUSTOM','name':'n','value':1}\n");
    has_str(r.told.p, "message {\"role\":\"assistant\",\"message_id\":\"m\",\"text\":\"ab\"}",
            "another event ends a message of chunks");
    reading_feed(&r, "{'type':'TEXT_MESSAGE_CHUNK','messageId':'n','delta':'c'}\n"
                     "{'type':'TEXT_MESSAGE_CHUNK','messageId':'o','delta':'d'}\n");
    is_int(r.counts[TC_MESSAGE], 2, "a chunk with a new id ends a message");
    reading_end(&r);
    is_int(r.counts[TC_MESSAGE], 2, "the end of the stream does not end a message");
    reading_fini(&r);
}

static void test_rest(void)
{
    check_events("{'type':'NEVER_HEARD_OF','value':1}\n",
                 "raw {\"dialect\":\"ag-ui\",\"event\":{\"type\":\"NEVER_HEARD_OF\",\"value\":1},"
                 "\"name\":\"NEVER_HEARD_OF\"}",
                 "bug 24: an unknown type is raw");
    check_events("{'type':'THINKING_TEXT_MESSAGE_CONTENT','delta':'old'}\n",
                 "thinking {\"text\":\"old\"}", "the old form of reasoning is thinking");
    check_events("{'type':'RUN_ERROR','message':'m','usage':[{'model':'a','inputTokens':1,"
                 "'outputTokens':2},{'model':'b','inputTokens':3}]}\n",
                 "\"input_tokens\":4,\"output_tokens\":2,\"cache_counted\":true",
                 "usage of several models is added up");
    check_events("{'type':'STATE_DELTA','delta':[{'op':'add','path':'/nowhere/x','value':1}]}\n",
                 "state {\"scope\":\"state\",\"op\":\"delta\",\"patch\":[",
                 "bug 27: a patch is forwarded, not applied");
    check_events("{'type':'ACTIVITY_SNAPSHOT','messageId':'tool_call:c','activityType':"
                 "'tool-call-progress','content':{'progress':0.25,'total':9}}\n",
                 "progress {\"tool_use_id\":\"c\",\"phase\":\"running\",\"percent\":25,\"total\":9",
                 "row 3-3: the progress of a tool as an activity");
}

int main(void)
{
    plan_lazy();
    test_ends();
    test_answers();
    test_calls();
    test_chunks();
    test_rest();
    return 0;
}
