/* SPDX-License-Identifier: MIT
 * Tests of what is written to an acp agent: the way to the prompt, its requests, the interrupt; and
 * of what the translator says where a step of ours fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/reading.h"
#include "dialect/talking.h"
#include "tap/tap.h"

#define HEAD "{'jsonrpc':'2.0',"
#define ANSWER(step, result) HEAD "'id':'turncast-" step "','result':" result "}"
#define FAILURE(step, text)                                                                        \
    HEAD "'id':'turncast-" step "','error':{'code':-32000,'message':'" text "'}}"
#define HELLO(can)                                                                                 \
    ANSWER("initialize",                                                                           \
           "{'protocolVersion':1,'agentInfo':{'name':'x'},'agentCapabilities':" can "}")
#define NEW HEAD "'id':'turncast-new','method':'session/new','params':{'cwd':'/w','mcpServers':[]}}"
#define PROMPT                                                                                     \
    HEAD "'id':'turncast-prompt','method':'session/prompt','params':{'sessionId':'s1','prompt':"   \
         "[{'type':'text','text':'hello'}]}}"
#define CANCEL HEAD "'method':'session/cancel','params':{'sessionId':'s1'}}"
#define SELECTED(id, option)                                                                       \
    HEAD "'id':" id ",'result':{'outcome':{'outcome':'selected','optionId':'" option "'}}}"
#define CANCELLED(id) HEAD "'id':" id ",'result':{'outcome':{'outcome':'cancelled'}}}"
#define ASK(id, options)                                                                           \
    HEAD "'id':" id ",'method':'session/request_permission','params':{'sessionId':'s1',"           \
         "'toolCall':{'toolCallId':'t','rawInput':{'command':'ls'}},'options':" options "}}"
#define OPTION(id, kind) "{'optionId':'" id "','kind':'" kind "','name':'n'}"
#define USUAL                                                                                      \
    "[" OPTION("always", "allow_always") "," OPTION("once", "allow_once") "," OPTION(              \
        "no", "reject_once") "]"
#define SAYS(text)                                                                                 \
    HEAD "'method':'session/update','params':{'sessionId':'s1','update':{'sessionUpdate':"         \
         "'agent_message_chunk','content':{'type':'text','text':'" text "'}}}}\n"

static struct talking t;

static const char *begin_with(const char *session_id, const char *mode)
{
    const struct dialect_prompt prompt = {
        .text = "hello", .len = 5, .session_id = session_id, .cwd = "/w", .mode = mode};
    return talking_begin(&t, "acp", &prompt);
}

/* As far as the prompt. */
static void begin_turn(void)
{
    begin_with(NULL, NULL);
    talking_hear(&t, HELLO("{}"));
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}")), PROMPT, "the turn has begun");
}

static const char *decide(const char *id, int decision, bool remember, bool interrupt)
{
    const struct dialect_answer answer = {
        .request_id = id, .remember = remember, .interrupt = interrupt};
    struct dialect_answer with = answer;
    with.decision = decision == 0 ? DIALECT_ALLOW : decision == 1 ? DIALECT_DENY : DIALECT_ANSWERED;
    return talking_answer(&t, &with);
}

#define allow(id) decide(id, 0, false, false)
#define deny(id) decide(id, 1, false, false)

static void test_new(void)
{
    has_str(begin_with(NULL, NULL),
            "{'jsonrpc':'2.0','id':'turncast-initialize','method':'initialize','params':{"
            "'protocolVersion':1,'clientCapabilities':{'fs':{'readTextFile':false,"
            "'writeTextFile':false},'terminal':false},'clientInfo':{'name':'turncast',",
            "it offers nothing and asks for version 1");
    is_str(talking_hear(&t, "Welcome!"), "", "what is no JSON is nothing");
    is_str(talking_hear(&t, HELLO("{'loadSession':true}")), NEW, "then a new session");
    is_str(talking_hear(&t, ANSWER("prompt", "{'stopReason':'end_turn'}")), "",
           "an answer to what was not asked yet is none");
    is_str(talking_hear(&t, HEAD "'id':2,'result':{'sessionId':'s2'}}"), "",
           "nor is one with an id that is not ours");
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1','modes':{'currentModeId':'a'}}")),
           PROMPT, "then the prompt");
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}")), "", "once");
    ok(agent_input_keeps_stdin(&t.dialog) && agent_input_waits_for_eof(&t.dialog),
       "its stdin stays open, behind an interrupt, too");
}

static void test_words(void)
{
    const struct dialect_prompt prompt = {.text = "a\xff\"\n/x", .len = 6, .cwd = "/\"w"};
    talking_begin(&t, "acp", &prompt);
    is_str(talking_hear(&t, HELLO("{}")),
           HEAD "'id':'turncast-new','method':'session/new','params':{'cwd':'/\\'w',"
                "'mcpServers':[]}}",
           "the folder is escaped");
    has_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s\\u0031\\\\'}")),
            "'sessionId':'s\\u0031\\\\','prompt':[{'type':'text','text':'a\xef\xbf\xbd\\'\\n/x'}]",
            "the message is mended and escaped, the session named as it was written");
}

static void test_resume(void)
{
    begin_with("old", NULL);
    is_str(talking_hear(&t, HELLO("{'loadSession':true,'sessionCapabilities':{'resume':{}}}")),
           HEAD "'id':'turncast-resume','method':'session/resume','params':{'sessionId':'old',"
                "'cwd':'/w','mcpServers':[]}}",
           "a session is resumed where that can be");
    has_str(talking_hear(&t, ANSWER("resume", "{'modes':{'currentModeId':'a'}}")),
            "'session/prompt','params':{'sessionId':'old'", "without asking for its mode");
    begin_with("old", NULL);
    is_str(talking_hear(&t, HELLO("{'loadSession':true,'sessionCapabilities':{'list':{}}}")),
           HEAD "'id':'turncast-load','method':'session/load','params':{'sessionId':'old',"
                "'cwd':'/w','mcpServers':[]}}",
           "else it is loaded");
    has_str(talking_hear(&t, HEAD "'id':'turncast-load','result':null}"),
            "'session/prompt','params':{'sessionId':'old'", "an answer may be null");
    begin_with("old", NULL);
    talking_hear(&t, HELLO("{'loadSession':true}"));
    is_str(talking_hear(&t, ANSWER("load", "{'modes':{'currentModeId':'auto'}}")),
           HEAD "'id':'turncast-mode','method':'session/set_mode','params':{'sessionId':'old',"
                "'modeId':'auto'}}",
           "the mode it has is set, to know when the past has been told");
    has_str(talking_hear(&t, ANSWER("mode", "{}")), "'session/prompt'", "then comes the prompt");
    begin_with("old", NULL);
    is_str(talking_hear(&t, HELLO("{'loadSession':false}")), NEW,
           "where nothing can be resumed it begins anew");
}

static void test_mode(void)
{
    begin_with(NULL, "work");
    talking_hear(&t, HELLO("{}"));
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1','modes':{'currentModeId':'a'},"
                                          "'configOptions':[{'id':'m','category':'mode'}]}")),
           HEAD "'id':'turncast-mode','method':'session/set_mode','params':{'sessionId':'s1',"
                "'modeId':'work'}}",
           "the mode is set before the prompt");
    is_str(talking_hear(&t, ANSWER("mode", "{}")), PROMPT, "which follows");
    begin_with(NULL, "work");
    talking_hear(&t, HELLO("{}"));
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1','configOptions':[{'id':'x',"
                                          "'category':'model'},{'id':'m','category':'mode'}]}")),
           HEAD "'id':'turncast-mode','method':'session/set_config_option','params':{"
                "'sessionId':'s1','configId':'m','value':'work'}}",
           "as an option where it is one");
    begin_with(NULL, "work");
    talking_hear(&t, HELLO("{}"));
    talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}"));
    is_str(talking_hear(&t, FAILURE("mode", "no such mode")), "",
           "an agent that cannot set it gets no prompt");
}

static void test_broken_steps(void)
{
    begin_with(NULL, NULL);
    is_str(talking_hear(&t, FAILURE("initialize", "no")), "", "an error is the end of it");
    is_str(talking_hear(&t, HELLO("{}")), "", "whatever follows");
    begin_with(NULL, NULL);
    is_str(talking_hear(&t, ANSWER("initialize", "{'protocolVersion':2}")), "",
           "another version is not spoken");
    begin_with(NULL, NULL);
    talking_hear(&t, HELLO("{}"));
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':7}")), "", "a session has a name");
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}")), "", "at once");
}

static void test_options(void)
{
    begin_turn();
    is_str(talking_hear(&t, ASK("0", USUAL)), "", "a request is left to people");
    is_str(allow("0"), SELECTED("0", "once"), "allow: once");
    is_str(allow("0"), "refused", "only one answer");
    talking_hear(&t, ASK("1", USUAL));
    is_str(decide("1", 0, true, false), SELECTED("1", "always"), "allow and remember: always");
    talking_hear(&t, ASK("2", USUAL));
    is_str(deny("2"), SELECTED("2", "no"), "deny: once");
    talking_hear(
        &t,
        ASK("3",
            "[" OPTION("a1", "allow_always") "," OPTION("a2", "allow_always") "," OPTION(
                "o1", "allow_once") "," OPTION("o2",
                                               "allow_once") "," OPTION("n", "reject_always") "]"));
    is_str(deny("3"), SELECTED("3", "n"), "deny: always, where there is nothing else");
    talking_hear(
        &t,
        ASK("4",
            "[" OPTION("r", "reject_always") "," OPTION("r1", "reject_once") "," OPTION(
                "r2", "reject_once") "," OPTION("o1", "allow_once") "," OPTION("o2",
                                                                               "allow_once") "]"));
    is_str(deny("4"), SELECTED("4", "r1"), "of two of a kind the first, in whatever order");
    talking_hear(&t, ASK("5", "[" OPTION("o1", "allow_once") "," OPTION("o2", "allow_once") "]"));
    is_str(decide("5", 0, true, false), SELECTED("5", "o1"),
           "allow and remember: once, where it cannot remember");
    talking_hear(&t, ASK("6", "[" OPTION("o1", "allow_once") "]"));
    is_str(deny("6"), CANCELLED("6"), "deny without such an option");
    talking_hear(&t, ASK("7", "[" OPTION("a1", "allow_always") "]"));
    is_str(allow("7"), CANCELLED("7"), "nothing allows more than was allowed");
    talking_hear(&t, ASK("8", "[]"));
    is_str(allow("8"), CANCELLED("8"), "no options");
    talking_hear(&t, ASK("9", "{'allow_once':'x'}"));
    is_str(deny("9"), CANCELLED("9"), "options of another form");
    talking_hear(&t, ASK("10", "[{'optionId':7,'kind':'allow_once'},{'kind':'allow_once'},7,"
                               "{'optionId':'y','kind':'later'}," OPTION("z", "allow_once") "]"));
    is_str(allow("10"), SELECTED("10", "z"), "options without a name or a kind");
}

static void test_ids(void)
{
    begin_turn();
    talking_hear(&t, ASK("'5f0c-uuid'", USUAL));
    is_str(allow("5f0c-uuid"), SELECTED("'5f0c-uuid'", "once"), "a string is answered as a string");
    talking_hear(&t, ASK("1.50", USUAL));
    is_str(allow("1.50"), SELECTED("1.50", "once"), "a number as it was written");
    talking_hear(&t, ASK("'a\\u0062\\n'", USUAL));
    is_str(allow("ab\n"), SELECTED("'a\\u0062\\n'", "once"), "a string with escapes, too");
    talking_hear(&t, ASK("3", USUAL));
    is_str(talking_hear(&t, ASK("3", "[" OPTION("bad", "allow_once") "]")), "",
           "the same id again changes nothing");
    has_str(talking_hear(&t, ASK("'3'", USUAL)), "'id':'3','error':{'code':-32600",
            "another one that looks alike is refused");
    is_str(allow("3"), SELECTED("3", "once"), "and the first is answered");
    is_str(talking_hear(&t, ASK("null", USUAL)), "", "no id, no answer");
    is_str(allow("null"), "refused", "for nobody waits for it");
    talking_hear(&t, ASK("4", USUAL));
    talking_hear(&t, HEAD "'method':'$/cancel_request','params':{'requestId':4}}");
    is_str(allow("4"), "refused", "what the agent takes back is not answered");
    is_str(talking_hear(&t, HEAD "'id':9,'method':'craft/drainMidTurnQueue','params':{}}"),
           HEAD "'id':9,'error':{'code':-32601,'message':'Method not found'}}",
           "methods we do not have are refused at once");
    has_str(talking_hear(&t, HEAD "'id':'turncast-prompt','method':'fs/write_text_file'}"),
            "'id':'turncast-prompt','error':{'code':-32601", "whatever their id");
    is_str(talking_hear(&t, HEAD "'id':5,'method':'session/request_permission','params':{'t':"
                                 "'\x01\xff','options':[" OPTION("once", "allow_once") "]}}"),
           "", "a line is mended before it is read");
    is_str(allow("5"), SELECTED("5", "once"), "so that it can be answered");
    for (int i = 0; i < 64; i++) {
        char line[512];
        snprintf(line, sizeof(line), ASK("1%02d", USUAL), i);
        talking_hear(&t, line);
    }
    has_str(talking_hear(&t, ASK("200", USUAL)), "'id':200,'error'", "too many are refused");
    is_str(allow("100"), SELECTED("100", "once"), "and the oldest are kept");
}

static void test_refusals(void)
{
    begin_turn();
    talking_hear(&t, ASK("0", USUAL));
    is_str(decide("0", 2, false, false), "refused", "a permission is no question");
    const struct dialect_answer changed = {
        .request_id = "0", .decision = DIALECT_ALLOW, .args = "{\"command\":\"id\"}"};
    is_str(talking_answer(&t, &changed), "refused", "what it does cannot be changed");
    is_str(decide("0", 1, false, true), SELECTED("0", "no") "\n" CANCEL, "deny and stop");
    is_str(talking_hear(&t, ASK("1", USUAL)), CANCELLED("1"), "nothing is asked after that");
    is_str(allow("1"), "refused", "or answered");
}

static void test_interrupt(void)
{
    begin_turn();
    is_str(talking_interrupt(&t), CANCEL, "an interrupt cancels the turn");
    begin_turn();
    talking_hear(&t, ASK("0", USUAL));
    talking_hear(&t, ASK("'u'", USUAL));
    is_str(talking_interrupt(&t), CANCEL "\n" CANCELLED("0") "\n" CANCELLED("'u'"),
           "and what is open, which some agents wait for");
    is_str(allow("0"), "refused", "which is then over");
    talking_hear(&t, ANSWER("prompt", "{'stopReason':'cancelled'}"));
    is_str(talking_interrupt(&t), "", "behind the end there is nothing to interrupt");
    begin_with(NULL, "work");
    is_str(talking_interrupt(&t), "", "nor before the turn: a signal has to do");
    talking_hear(&t, HELLO("{}"));
    talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}"));
    is_str(talking_hear(&t, ANSWER("mode", "{}")), "", "which then does not begin");
}

/* ---- what the translator says of it ---- */

static struct reading r;

static const char *told(const char *lines)
{
    reading_fini(&r);
    return reading_of(&r, "acp", lines);
}

#define ERROR(text, code) "error {\"message\":\"" text "\",\"code\":\"" code "\"}\n"
#define DONE(reason) "done {\"reason\":\"" reason "\"}\n"

static void test_told_errors(void)
{
    has_str(told(FAILURE("initialize", "bad key") "\n"), ERROR("bad key", "-32000") DONE("error"),
            "an error in the first step ends the turn");
    has_str(told(HELLO("{}") "\n" FAILURE("new", "log in") "\n"),
            ERROR("log in", "-32000") DONE("error"), "in the second");
    has_str(told(HELLO("{}") "\n" FAILURE("load", "session not found") "\n"),
            ERROR("session not found", "-32000") DONE("error"), "where a session is lost");
    has_str(told(HELLO("{}") "\n" ANSWER("new", "{'sessionId':'s1'}") "\n" FAILURE("mode",
                                                                                   "what?") "\n"),
            ERROR("what?", "-32000") DONE("error"), "where the mode cannot be set");
    has_str(told(ANSWER("initialize", "{'protocolVersion':2}") "\n"),
            ERROR("The agent does not support version 1 of the Agent Client Protocol.", "protocol")
                DONE("error"),
            "another version ends it, too");
    has_str(told(ANSWER("initialize", "{}") "\n"), DONE("error"), "and none");
    has_str(told(HELLO("{}") "\n" ANSWER("new", "{'sessionId':null}") "\n"),
            ERROR("The agent did not return a session ID.", "protocol") DONE("error"),
            "so does a session without a name");
}

static void test_told_past(void)
{
    told(HELLO("{}") "\n" SAYS("Old. ")
             ANSWER("load", "{'modes':{'currentModeId':'a'}}") "\n" SAYS("Older. ")
                 ANSWER("mode", "{}") "\n" SAYS("New.")
                     ANSWER("prompt", "{'stopReason':'end_turn'}") "\n");
    is_str(reading_text(&r), "New.", "the past is not told as the turn");
    is_str(reading_last(&r, "final"), "{\"text\":\"New.\"}", "nor is it the answer");
    told(HELLO("{}") "\n" SAYS("Old. ") ANSWER("load", "null") "\n" SAYS("New.")
             ANSWER("prompt", "{'stopReason':'end_turn'}") "\n");
    is_str(reading_text(&r), "New.", "the answer to loading may be null");
    told(HELLO("{}") "\n" ANSWER("resume", "{}") "\n" SAYS("New.")
             ANSWER("prompt", "{'stopReason':'end_turn'}") "\n");
    is_str(reading_last(&r, "final"), "{\"text\":\"New.\"}", "a resumed session has no past");
    told(HELLO("{}") "\n" ANSWER("resume", "{}") "\n" ANSWER("prompt",
                                                             "{'stopReason':'end_turn'}") "\n");
    has_str(r.told.p, DONE("completed"), "nor need it say anything");
}

#define SEEN(agent, call)                                                                          \
    ANSWER("initialize", "{'protocolVersion':1,'agentInfo':{'name':'" agent "'}}")                 \
    "\n" ANSWER("new", "{'sessionId':'s1'}") "\n" call                                             \
        HEAD "'id':0,'method':'session/request_permission','params':{'sessionId':'s1',"            \
                                             "'options':[],'toolCall':{'toolCallId':'t',"
#define CALL(input)                                                                                \
    HEAD "'method':'session/update','params':{'sessionId':'s1','update':{'sessionUpdate':"         \
         "'tool_call','toolCallId':'t','kind':'execute','title':'x','rawInput':" input "}}}\n"

/* A title may be anything. */
static void test_told_subject(void)
{
    told(SEEN("x", "") "'kind':'execute','title':'ls','rawInput':{'command':'rm -r /'}}}}\n");
    has_str(reading_last(&r, "request"),
            "\"subject\":\"rm -r /\",\"args\":{\"command\":\"rm -r /\"}",
            "what is asked is the command");
    told(SEEN("x", CALL("{'command':'id'}")) "'title':'ls'}}}\n");
    has_str(reading_last(&r, "request"), "\"subject\":\"id\",\"args\":{\"command\":\"id\"}",
            "that of the call, when the request does not repeat it");
    told(SEEN("x", CALL("{'command':'id'}")) "'rawInput':{'command':['a','b c']}}}}\n");
    has_str(reading_last(&r, "request"), "\"subject\":\"[\\\"a\\\",\\\"b c\\\"]\"",
            "that of the request, when it says another; a list of words as such");
    told(SEEN("x", "") "'kind':'execute','title':'ls'}}}\n");
    ok(!strstr(reading_last(&r, "request"), "subject"), "never the title alone");
    has_str(reading_last(&r, "request"), "\"message\":\"ls\"", "that is a message");
    told(SEEN("x", "") "'kind':'other','title':'Bash','rawInput':{'command':'ls'}}}}\n");
    has_str(reading_last(&r, "request"), "\"tool\":\"other\"", "nor is it the tool, for rules");
    told(SEEN("gemini-cli", "") "'kind':'execute','title':'ls'}}}\n");
    has_str(reading_last(&r, "request"), "\"subject\":\"ls\",\"args\":{\"command\":\"ls\"}",
            "but where the program makes it of the command");
    told(SEEN("x", "") "'kind':'edit','title':'t','content':[{'type':'diff','path':'/a',"
                       "'oldText':'1','newText':'2'}]}}}\n");
    has_str(reading_last(&r, "request"),
            "\"subject\":\"/a\",\"args\":{\"path\":\"/a\",\"oldText\":\"1\",\"newText\":\"2\"}",
            "a change of a file is shown");
    told(SEEN("x", "") "'content':[{'type':'diff','path':'/a','newText':'2'},{'type':'diff',"
                       "'path':'/b','newText':'3'}]}}}\n");
    has_str(reading_last(&r, "request"),
            "\"subject\":\"/a and 1 "
            "more\",\"args\":{\"changes\":[{\"path\":\"/a\",\"newText\":\"2\"},{\"path\":\"/b\","
            "\"newText\":\"3\"}]}",
            "and so are all of several");
    told(SEEN("x", "") "'title':'t'}}}\n" ASK("null", USUAL) "\n");
    is_int((long long)r.counts[TC_REQUEST], 1, "a request without an id is none");
}

static void test_hostile(void)
{
    static const char *const lines[] = {
        HELLO("{'loadSession':true}"),
        ANSWER("load", "{'modes':{'currentModeId':'a'}}"),
        ANSWER("mode", "{}"),
        ASK("0", USUAL),
        ASK("'uuid'", USUAL),
        ASK("1", "[]"),
        HEAD "'method':'$/cancel_request','params':{'requestId':0}}",
        HEAD "'id':[1,{'a':2}],'method':'x'}",
        ANSWER("prompt", "{'stopReason':'end_turn'}"),
        NULL,
    };
    is_int(talking_spoil("acp", lines, 60000), 0, "spoiled lines: all it says is JSON");
}

int main(void)
{
    plan_lazy();
    test_new();
    test_words();
    test_resume();
    test_mode();
    test_broken_steps();
    test_options();
    test_ids();
    test_refusals();
    test_interrupt();
    talking_fini(&t);
    test_told_errors();
    test_told_past();
    test_told_subject();
    reading_fini(&r);
    test_hostile();
    return 0;
}
