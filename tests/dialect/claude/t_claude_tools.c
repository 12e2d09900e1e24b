/* SPDX-License-Identifier: MIT
 * Tests of the claude dialect: tools, sub-agents, questions, and what surrounds the messages. */
#include "dialect/claude_lines.h"
#include "dialect/reading.h"

#include <stdio.h>
#include <string.h>

#include "tap/tap.h"

static void ends(const char *lines, const char *kind, const char *payload, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    has_str(reading_last(&r, kind), payload, "%s", what);
    reading_fini(&r);
}

static void tells(const char *lines, const char *event, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    has_str(r.told.p, event, "%s", what);
    reading_fini(&r);
}

static void counts(const char *lines, enum tc_kind kind, size_t count, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    if (!is_int((long long)r.counts[kind], (long long)count, "%s", what))
        diag("%s", r.told.p);
    reading_fini(&r);
}

#define CALL_WITH(args)                                                                            \
    INIT MESSAGE("m1") TOOL_BLOCK(0, "t1") args STOP(0) MESSAGE_DELTA("tool_use") MESSAGE_STOP

static void test_call(void)
{
    struct reading r;
    reading_of(&r, "claude",
               INIT MESSAGE("m1") TOOL_BLOCK(0, "t1") ARGS(0, "{\\\"a\\\"") ARGS(0, "")
                   ARGS(0, ":1}") CALLED("m1", "t1", "{'a':1,'b':false}") STOP(0)
                       MESSAGE_DELTA("tool_use") MESSAGE_STOP);
    is_int((long long)r.counts[TC_TOOL_CALL], 1, "one call");
    is_str(reading_last(&r, "tool_call"),
           "{\"name\":\"Bash\",\"args\":{\"a\":1,\"b\":false},\"tool_use_id\":\"t1\","
           "\"message_id\":\"m1\",\"id\":\"u0\"}",
           "with the arguments of the line");
    is_int((long long)r.counts[TC_PROGRESS], 3, "progress: preparing, and a piece for each delta");
    has_str(r.told.p, "\"phase\":\"args\",\"args_delta\":\"{\\\"a\\\"\"", "the pieces are text");
    reading_fini(&r);
    ends(CALL_WITH(ARGS(0, "{\\\"a\\\":") ARGS(0, "[2]}")), "tool_call", "\"args\":{\"a\":[2]}",
         "no line: the streamed arguments");
    ends(CALL_WITH(""), "tool_call", "\"args\":{},", "no arguments at all");
    ends(CALL_WITH(ARGS(0, "")), "tool_call", "\"args\":{},", "an empty delta");
    ends(INIT BLOCK(0, "{'type':'tool_use','id':'t1','name':'X','input':{ 'given': 1 }}") STOP(0),
         "tool_call", "\"name\":\"X\",\"args\":{\"given\":1}", "arguments given at block start");
    ends(CALL_WITH(ARGS(0, "{\\\"a\\\":")), "tool_call",
         "\"args\":{\"_raw\":\"{\\\"a\\\":\"},\"tool_use_id\":\"t1\",\"args_raw\":\"{\\\"a\\\":\"",
         "broken JSON is kept as text");
    ends(CALL_WITH(ARGS(0, "[1]")), "tool_call", "\"args\":{\"_raw\":\"[1]\"}", "so is no object");
    ends(INIT CALLED("m1", "t1", "{'__unparsedToolInput':{'raw':'{\\\"x','len':3}}"), "tool_call",
         "\"args\":{\"_raw\":\"{\\\"x\"},\"tool_use_id\":\"t1\",\"args_raw\":\"{\\\"x\"",
         "and what the CLI could not parse");
    counts(INIT MESSAGE("m1") TOOL_BLOCK(0, "t1") ARGS(0, "{}") RETURNED("t1", "'ok'"),
           TC_TOOL_CALL, 1, "a result settles a call that was only streamed");
    counts(INIT MESSAGE("m1") TOOL_BLOCK(0, "t1") ARGS(0, "{") ABANDONED("m1", 0), TC_TOOL_CALL, 0,
           "an abandoned call is none");
    ends(INIT MESSAGE("m1") TOOL_BLOCK(0, "t1") ARGS(0, "{") ABANDONED("m1", 0), "progress",
         "{\"tool_use_id\":\"t1\",\"name\":\"Bash\",\"phase\":\"cancelled\"}", "but told off");
    ends(INIT MESSAGE("m1") BLOCK(0, "{'type':'server_tool_use','id':'s1','name':'web_search',"
                                     "'input':{}}") ARGS(0, "{\\\"query\\\":\\\"x\\\"}") STOP(0)
             MESSAGE_DELTA("end_turn"),
         "tool_call", "{\"name\":\"web_search\",\"args\":{\"query\":\"x\"}", "a server's tool");
}

static void test_parallel(void)
{
    struct reading r;
    reading_of(&r, "claude",
               INIT TOOL_BLOCK(0, "t1") TOOL_BLOCK(1, "t2") ARGS(0, "{\\\"a\\\"")
                   ARGS(1, "{\\\"b\\\"") ARGS(0, ":1}") ARGS(1, ":2}") STOP(1) STOP(0));
    is_int((long long)r.counts[TC_TOOL_CALL], 2, "two calls at once");
    has_str(r.told.p, "\"args\":{\"a\":1},\"tool_use_id\":\"t1\"", "the first has its arguments");
    has_str(r.told.p, "\"args\":{\"b\":2},\"tool_use_id\":\"t2\"", "and the second its own");
    reading_fini(&r);
}

#define CALLING INIT CALLED("m1", "t1", "{}")
#define RESULT_OF(block, more) CALLING "{'type':'user','message':{'content':[" block "]}," more TAIL
#define FAILED(text)                                                                               \
    "{'type':'tool_result','tool_use_id':'t1','is_error':true,'content':'" text "'}"

static void test_result(void)
{
    ends(CALLING RETURNED("t1", "'out'"), "tool_result",
         "{\"tool_use_id\":\"t1\",\"content\":\"out\",\"is_error\":false,"
         "\"outcome\":\"succeeded\"",
         "a text");
    ends(CALLING RETURNED("t1", "[{'type':'text','text':'a'},{'type':'text','text':'b'}]"),
         "tool_result", "\"content\":\"a\\nb\"", "a list is joined by newlines");
    ends(CALLING RETURNED("t1", "[{'type':'text','text':'a'},{'type':'image','source':"
                                "{'type':'base64','media_type':'image/png','data':'AAAAAAAA'}}]"),
         "tool_result", "\"content\":\"a\\n[image image/png, 6 bytes]\"",
         "an image has a placeholder");
    ends(CALLING RETURNED("t1", "[{'type':'tool_reference','tool_name':'X'}]"), "tool_result",
         "\"content\":\"[tool_reference X]\",\"is_error\":false,\"outcome\":\"succeeded\","
         "\"structured\":[{\"type\":\"tool_reference\",\"tool_name\":\"X\"}]",
         "so has anything else; all of it is structured");
    ends(RESULT_OF("{'type':'tool_result','tool_use_id':'t1','content':'x'}",
                   "'tool_use_result':{ 'stdout':'x' },"),
         "tool_result", "\"structured\":{\"stdout\":\"x\"}", "tool_use_result");
    ends(RESULT_OF(FAILED("no"), ""), "tool_result", "\"is_error\":true,\"outcome\":\"failed\"",
         "failed");
    ends(RESULT_OF(FAILED("no"),
                   "'tool_result_meta':[{'id':'t1','non_execution_kind':'user-rejected'}],"),
         "tool_result", "\"outcome\":\"denied\"", "denied, as the meta says");
    ends(RESULT_OF(FAILED("Claude requested permissions to write to x, but"), ""), "tool_result",
         "\"outcome\":\"denied\"", "denied, as older releases put it");
    ends(CALLING
         "{'type':'system','subtype':'permission_denied','tool_use_id':'t1','message':'no'," TAIL
         "{'type':'user','message':{'content':[" FAILED("x") "]}," TAIL,
         "tool_result", "\"outcome\":\"denied\"", "denied, as a line before said");
    ends(INIT RETURNED("t9", "'late'"), "tool_result",
         "\"tool_use_id\":\"t9\",\"content\":\"late\"", "a result without a call is told");
    counts(CALLING "{'type':'user','message':{'content':[{'type':'tool_result','tool_use_id':'t1',"
                   "'content':'a'},{'type':'tool_result','tool_use_id':'t2','content':'b'}]}," TAIL,
           TC_TOOL_RESULT, 2, "two results in one line");
    ends(
        CALLING LINE("m1", "{'type':'web_search_tool_result','tool_use_id':'t1','content':[]}", ""),
        "tool_result", "\"tool_use_id\":\"t1\"", "a server's result");
    counts(INIT "{'type':'user','message':{'content':'hello'},'isReplay':true," TAIL, TC_RAW, 0,
           "an echo of the prompt is nothing");
}

#define SUB(line)                                                                                  \
    "{'type':'assistant','parent_tool_use_id':'t1','agent_id':'a7','session_id':'s'," line "}\n"
#define SUB_TEXT(id, text)                                                                         \
    SUB("'message':{'id':'" id "','model':'opus','content':[{'type':'text','text':'" text "'}]}")
#define SUB_EVENT(event) "{'type':'stream_event','parent_tool_use_id':'t1','event':" event "}\n"

static void test_sub_agent(void)
{
    struct reading r;
    reading_of(
        &r, "claude",
        CALLING SUB_TEXT("m5", "Sub.") SUB(
            "'message':{'id':'m5','content':[{'type':'tool_use',"
            "'id':'t5','name':'Bash','input':{}}]}") "{'type':'user','parent_tool_use_id':'t1','"
                                                     "message':{'content':[{'type':'tool_result',"
                                                     "'tool_use_id':'t5','content':'x'}]}}"
                                                     "\n" RETURNED("t1", "'report'") SUCCESS(""));
    has_str(r.told.p,
            "narration {\"text\":\"Sub.\",\"message_id\":\"m5#0\",\"agent\":\"a7\","
            "\"parent_id\":\"t1\"}",
            "its text has lineage");
    has_str(r.told.p,
            "\"tool_use_id\":\"t5\",\"message_id\":\"m5\",\"agent\":\"a7\",\"parent_id\":\"t1\"",
            "so have its calls");
    has_str(r.told.p,
            "\"content\":\"x\",\"is_error\":false,\"outcome\":\"succeeded\",\"agent\":\"a7\"",
            "and their results");
    is_int((long long)r.counts[TC_FINAL], 0, "it is never the final");
    reading_fini(&r);
    reading_of(
        &r, "claude",
        INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Ma") SUB_EVENT(
            "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':''}}")
            SUB_EVENT("{'type':'content_block_delta','index':0,'delta':{'type':'text_delta',"
                      "'text':'sub'}}") TEXT(0, "in") SAID("m1", "Main") STOP(0)
                SUB_EVENT("{'type':'content_block_stop','index':0}") MESSAGE_DELTA("end_turn")
                    MESSAGE_STOP SUCCESS("Main"));
    has_str(reading_last(&r, "final"), "{\"text\":\"Main\"", "streams of both do not mix");
    is_int((long long)reading_count(&r, "retracted"), 0, "and neither takes back the other's");
    reading_fini(&r);
    ends(CALLING "{'type':'tool_progress','tool_use_id':'t1-heartbeat-0','tool_name':'Bash',"
                 "'parent_tool_use_id':'t1','elapsed_time_seconds':30,'session_id':'s'}\n",
         "progress",
         "{\"tool_use_id\":\"t1\",\"name\":\"Bash\",\"phase\":\"running\",\"message\":\"Running "
         "for 30 s\",\"x\":{\"elapsed_time_seconds\":30}}",
         "a heartbeat belongs to the tool and is no sub-agent");
    tells(CALLING "{'type':'system','subtype':'task_started','task_id':'a7','tool_use_id':'t1',"
                  "'task_type':'local_agent','subagent_type':'general'," TAIL,
          "step {\"state\":\"start\",\"kind\":\"agent\",\"name\":\"general\",\"step_id\":\"a7\","
          "\"agent\":\"a7\",\"parent_id\":\"t1\"",
          "a sub-agent's invocation is a step");
    tells(CALLING
          "{'type':'system','subtype':'task_started','task_id':'a7','tool_use_id':'t1',"
          "'task_type':'local_agent'," TAIL
          "{'type':'system','subtype':'task_notification','task_id':'a7','tool_use_id':'t1',"
          "'status':'completed','summary':'s'," TAIL,
          "step {\"state\":\"end\",\"kind\":\"agent\",\"step_id\":\"a7\",\"outcome\":\"completed\"",
          "which ends");
}

static void test_many_lanes(void)
{
    struct reading r;
    reading_init(&r, "claude");
    reading_feed(&r, INIT);
    for (int i = 0; i < 200; i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "{'type':'assistant','parent_tool_use_id':'p%d','message':{'id':'m%d','model':'o',"
                 "'content':[{'type':'text','text':'x'}]}}\n",
                 i, i);
        reading_feed(&r, line);
    }
    reading_end(&r);
    is_int((long long)r.counts[TC_NARRATION], 200, "more sub-agents than are kept: all are told");
    is_int((long long)r.counts[TC_MESSAGE], 200, "and every message is completed");
    reading_fini(&r);
}

#define ASKED                                                                                      \
    CALLING "{'type':'control_request','request_id':'r1','request':{'subtype':'can_use_tool',"     \
            "'tool_name':'Bash','input':{'command':'rm x'},'description':'Remove',"                \
            "'tool_use_id':'t1'}}\n"

static void test_request(void)
{
    ends(ASKED, "request",
         "{\"request_id\":\"r1\",\"kind\":\"approval\",\"state\":\"open\",\"tool_use_id\":\"t1\","
         "\"tool\":\"Bash\",\"subject\":\"rm x\",\"args\":{\"command\":\"rm x\"},"
         "\"message\":\"Remove\",\"blocking\":true}",
         "a question for permission");
    ends(ASKED "{'type':'control_cancel_request','request_id':'r1'}\n", "request",
         "\"state\":\"resolved\",\"tool_use_id\":\"t1\",\"blocking\":false,\"decision\":"
         "\"cancelled\"",
         "withdrawn");
    counts(INIT "{'type':'control_cancel_request','request_id':'r9'}\n", TC_REQUEST, 0,
           "withdrawing what was never asked is nothing");
    ends(ASKED RETURNED("t1", "'ok'"), "request", "\"decision\":\"allow\"",
         "its tool ran: allowed");
    ends(ASKED "{'type':'user','message':{'content':[" FAILED(
             "x") "]},'tool_result_meta':[{'id':'t1',"
                  "'non_execution_kind':'permission-rule'}]," TAIL,
         "request", "\"decision\":\"deny\"", "its tool did not: denied");
    ends(INIT
         "{'type':'control_request','request_id':'r1','request':{'subtype':'can_use_tool',"
         "'tool_name':'AskUserQuestion','tool_use_id':'t1','input':{'questions':[{'question':'Q?',"
         "'header':'H','options':[{'label':'A','description':'d'},{'label':'B'}],"
         "'multiSelect':true}]}}}\n",
         "request",
         "\"questions\":[{\"id\":\"0\",\"header\":\"H\",\"prompt\":\"Q?\",\"options\":["
         "{\"label\":\"A\",\"description\":\"d\"},{\"label\":\"B\"}],\"multi\":true}]",
         "a question to the user");
    ends(
        INIT CALLED(
            "m1", "t1",
            "{}") "{'type':'control_request','request_id':'r1','request':{'subtype':'can_use_tool',"
                  "'tool_name':'AskUserQuestion','tool_use_id':'t1','input':{}}}\n" RETURNED(
                      "t1", "'Red'"),
        "request",
        "{\"request_id\":\"r1\",\"kind\":\"ask\",\"state\":\"resolved\",\"tool_use_id\":\"t1\","
        "\"blocking\":false,\"decision\":\"answered\"}",
        "answered");
    ends(INIT "{'type':'control_request','request_id':'r1','request':{'subtype':'mcp_message'}}\n",
         "raw", "\"name\":\"control_request/mcp_message\"", "other control requests are raw");
}

#define PLANNED(input)                                                                             \
    INIT LINE("m1", "{'type':'tool_use','id':'t1','name':'ExitPlanMode','input':" input "}", "")
#define ASKED_FOR(id, tool, input)                                                                 \
    "{'type':'control_request','request_id':'" id "','request':{'subtype':'can_use_tool',"         \
    "'tool_name':'" tool "','tool_use_id':'t1','input':" input "}}\n"

static void test_plan(void)
{
    ends(PLANNED("{'plan':'1. Do\\n2. \\'That\\''}") ASKED_FOR("r1", "ExitPlanMode", "{}"),
         "request",
         "\"tool\":\"ExitPlanMode\",\"args\":{\"plan\":\"1. Do\\n2. \\\"That\\\"\"},"
         "\"message\":\"1. Do\\n2. \\\"That\\\"\"",
         "leave for a plan shows the plan, which only the call has");
    ends(INIT ASKED_FOR("r1", "ExitPlanMode", "{'plan':'Do'}"), "request",
         "\"args\":{\"plan\":\"Do\"},\"message\":\"Do\"", "or the request itself");
    ends(PLANNED("{'plan':'Do'}")
             LINE("m2", "{'type':'tool_use','id':'t2','name':'ExitPlanMode','input':{}}", "")
                 ASKED_FOR("r1", "ExitPlanMode", "{}"),
         "request", "\"args\":{},\"blocking\"", "not that of another call");
    ends(PLANNED("{'plan':'Do'}") ASKED_FOR("r1", "Bash", "{}"), "request",
         "\"args\":{},\"blocking\"", "nor is it of another tool");
}

static void test_mode_refused(void)
{
    const char *const refused = "{'type':'control_response','response':{'subtype':'error',"
                                "'request_id':'turncast-mode','error':'not launched with it'}}\n";
    char lines[4096];
    snprintf(lines, sizeof(lines), "%s%s", refused, INIT);
    ends(lines, "notice",
         "{\"level\":\"warn\",\"text\":\"not launched with it\",\"code\":\"mode_refused\"}",
         "a mode that the CLI refuses");
    struct reading r;
    reading_of(&r, "claude",
               INIT "{'type':'control_response','response':{'subtype':'error','request_id':'x'}}\n"
                    "{'type':'control_response','response':{'subtype':'success','request_id':"
                    "'turncast-mode'}}\n{'type':'control_response'}\n");
    is_int((long long)r.counts[TC_NOTICE], 0, "other answers of the CLI are not told");
    reading_fini(&r);
}

static void test_thinking(void)
{
    struct reading r;
    reading_of(&r, "claude",
               INIT MESSAGE("m1") BLOCK(0, "{'type':'thinking','thinking':'','signature':''}")
                   DELTA(0, "{'type':'thinking_delta','thinking':'hm'}")
                       DELTA(0, "{'type':'signature_delta','signature':'c2ln'}")
                           LINE("m1", "{'type':'thinking','thinking':'hm','signature':'c2ln'}",
                                "") STOP(0) BLOCK(1, "{'type':'redacted_thinking','data':'eA=='}")
                               LINE("m1", "{'type':'redacted_thinking','data':'eA=='}", "") STOP(1)
                                   SAYS("m1", 2, "a", "b") MESSAGE_DELTA("end_turn") MESSAGE_STOP);
    is_int((long long)r.counts[TC_THINKING], 3, "thinking once, its signature once, redacted once");
    has_str(r.told.p, "thinking {\"text\":\"hm\",\"message_id\":\"m1#0\"}", "the text");
    has_str(r.told.p, "thinking {\"text\":\"\",\"message_id\":\"m1#0\",\"encrypted\":\"c2ln\"",
            "the signature is encrypted and no text");
    has_str(r.told.p, "\"encrypted\":\"eA==\"", "redacted thinking");
    has_str(reading_last(&r, "message"),
            "{\"role\":\"assistant\",\"message_id\":\"m1\",\"text\":\"ab\",\"reasoning\":\"hm\"}",
            "the message has both");
    reading_fini(&r);
    counts(INIT LINE("m1", "{'type':'thinking','thinking':'hm','signature':'c2ln'}", ""),
           TC_THINKING, 2, "the same from a line alone");
}

static void test_start(void)
{
    struct reading r;
    reading_of(&r, "claude",
               "{'type':'system','subtype':'hook_started','hook_name':'S:s','session_id':'s'}\n"
               "{'type':'control_response','response':{}}\n" INIT INIT);
    ok(strncmp(r.told.p, "start ", 6) == 0, "start comes first, also before what came earlier");
    has_str(reading_last(&r, "start"), "\"model\":\"opus\",\"source\":\"claude-code\"",
            "with the model");
    has_str(reading_last(&r, "start"), "\"x\":{\"tool_count\":2", "and the number of tools");
    has_str(reading_last(&r, "notice"), "\"text\":\"S:s\",\"code\":\"hook_started\"",
            "then the rest");
    is_int((long long)r.counts[TC_START], 1, "once");
    reading_fini(&r);
    ends(INIT "{'type':'system','subtype':'init','session_id':'s2','model':'opus'}\n", "notice",
         "{\"level\":\"info\",\"text\":\"The agent switched away from session "
         "s.\",\"code\":\"session_changed\"}",
         "a new session is told");
    counts(SAID("m1", "x") SUCCESS("x"), TC_START, 0, "no init: no start from the dialect");
    counts("{'type':'system','subtype':'notification','text':'x'}\n", TC_NOTICE, 1,
           "what came before a start that never came is told at the end");
}

static void test_early_bound(void)
{
    struct reading r;
    reading_init(&r, "claude");
    for (int i = 0; i < 20000; i++)
        reading_feed(&r, "{'type':'system','subtype':'notification','text':'0123456789'}\n");
    reading_feed(&r, INIT);
    has_str(reading_last(&r, "notice"), "lines before the start left out",
            "what is kept is bounded");
    ok(r.counts[TC_NOTICE] > 1000 && r.counts[TC_NOTICE] < 10000, "%zu were kept",
       r.counts[TC_NOTICE]);
    reading_end(&r);
    reading_fini(&r);
}

static void test_notices(void)
{
    ends(INIT "{'type':'system','subtype':'api_retry','attempt':1,'max_retries':10,"
              "'retry_delay_ms':558.4,'error_status':529,'error':'overloaded'," TAIL,
         "notice",
         "{\"level\":\"warn\",\"text\":\"API error 529 (overloaded); retry 1 of 10 in 0.6 s\","
         "\"code\":\"api_retry\",\"x\":{\"attempt\":1,",
         "a retry");
    ends(INIT "{'type':'rate_limit_event','rate_limit_info':{'status':'allowed_warning',"
              "'rateLimitType':'five_hour','utilization':0.92}," TAIL,
         "notice",
         "{\"level\":\"warn\",\"text\":\"Rate limit five_hour: allowed_warning, 92 % "
         "used\",\"code\":\"rate_limit\",\"x\":{\"rate_limit_info\":{\"status\":\"allowed_"
         "warning\",\"rateLimitType\":\"five_hour\",\"utilization\":0.92}}}",
         "a rate limit");
    ends(INIT "{'type':'system','subtype':'status','status':'compacting'," TAIL, "notice",
         "\"code\":\"compacting\"", "compaction begins");
    ends(INIT
         "{'type':'system','subtype':'compact_boundary','compact_metadata':{'trigger':'manual',"
         "'pre_tokens':9,'post_tokens':2}," TAIL,
         "notice", "\"text\":\"conversation compacted (manual): 9 tokens to 2\"", "and is done");
    ends(INIT "{'type':'system','subtype':'status','status':null,'permissionMode':'plan'," TAIL,
         "notice", "\"code\":\"permission_mode\"", "a mode change");
    counts(INIT "{'type':'system','subtype':'status','status':'requesting'," TAIL
                "{'type':'keep_alive'}\n" EVENT("{'type':'ping'}"),
           TC_NOTICE, 0, "bookkeeping is not told");
    ends(
        INIT "{'type':'system','subtype':'new_thing','a':1," TAIL, "raw",
        "{\"dialect\":\"claude\",\"event\":{\"type\":\"system\",\"subtype\":\"new_thing\",\"a\":1,",
        "an unknown subtype is raw");
    ends(INIT "{'a':1}\n", "raw", "{\"dialect\":\"claude\",\"event\":{\"a\":1}}",
         "and no type at all");
    ends(INIT LINE("m1", "{'type':'future_block','payload':'p'}", ""), "raw",
         "\"event\":{\"type\":\"future_block\",\"payload\":\"p\"},\"name\":\"assistant/"
         "future_block\"",
         "an unknown block");
    const char *const error =
        "{'type':'assistant','message':{'id':'x','model':'<synthetic>','content':["
        "{'type':'text','text':'API Error: lost'}]},'error':'server_error'," TAIL;
    char lines[4096];
    snprintf(lines, sizeof(lines), "%s%s%s", INIT, error, SAID("m2", "On.") SUCCESS("On."));
    counts(lines, TC_ERROR, 0, "an error line is not the end");
    snprintf(lines, sizeof(lines), "%s%s%s", INIT, error, MESSAGE("m2"));
    ends(lines, "notice",
         "\"text\":\"API Error: lost\",\"code\":\"api_error\",\"detail\":\"server_error\"",
         "but a notice, when something comes after it");
    snprintf(lines, sizeof(lines), "%s%s%s", INIT, error,
             RESULT("'subtype':'success','is_error':true,'result':'API Error: lost'"));
    ends(lines, "error", "{\"message\":\"API Error: lost\",\"code\":\"server_error\"}",
         "at the end it is the error, and gives its code");
    counts(lines, TC_NOTICE, 0, "and is not told twice");
}

int main(void)
{
    plan_lazy();
    test_call();
    test_parallel();
    test_result();
    test_sub_agent();
    test_many_lanes();
    test_request();
    test_plan();
    test_mode_refused();
    test_thinking();
    test_start();
    test_early_bound();
    test_notices();
    return 0;
}
