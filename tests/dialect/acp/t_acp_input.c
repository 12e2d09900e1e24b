/* SPDX-License-Identifier: MIT
 * Tests of the input of an acp agent (the steps to the prompt, answers to requests, the interrupt),
 * and of the events of the translator when a step fails. */
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

/* Performs the steps to the prompt. */
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
            "initialize offers no capabilities and asks for version 1");
    is_str(talking_hear(&t, "Welcome!"), "", "a line that is not JSON is ignored");
    is_str(talking_hear(&t, HELLO("{'loadSession':true}")), NEW,
           "initialize is followed by a new session");
    is_str(talking_hear(&t, ANSWER("prompt", "{'stopReason':'end_turn'}")), "",
           "an early answer is ignored");
    is_str(talking_hear(&t, HEAD "'id':2,'result':{'sessionId':'s2'}}"), "",
           "an answer with an unknown id is ignored");
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1','modes':{'currentModeId':'a'}}")),
           PROMPT, "a new session is followed by the prompt");
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}")), "",
           "a second answer causes no second prompt");
    ok(agent_input_keeps_stdin(&t.dialog) && agent_input_waits_for_eof(&t.dialog),
       "stdin stays open, also after an interrupt");
}

static void test_words(void)
{
    const struct dialect_prompt prompt = {.text = "a\xff\"\n/x", .len = 6, .cwd = "/\"w"};
    talking_begin(&t, "acp", &prompt);
    is_str(talking_hear(&t, HELLO("{}")),
           HEAD "'id':'turncast-new','method':'session/new','params':{'cwd':'/\\'w',"
                "'mcpServers':[]}}",
           "the path of the folder is escaped");
    has_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s\\u0031\\\\'}")),
            "'sessionId':'s\\u0031\\\\','prompt':[{'type':'text','text':'a\xef\xbf\xbd\\'\\n/x'}]",
            "the message is repaired and escaped, the session ID is sent as received");
}

static void test_resume(void)
{
    begin_with("old", NULL);
    is_str(talking_hear(&t, HELLO("{'loadSession':true,'sessionCapabilities':{'resume':{}}}")),
           HEAD "'id':'turncast-resume','method':'session/resume','params':{'sessionId':'old',"
                "'cwd':'/w','mcpServers':[]}}",
           "a session is resumed if the agent can resume");
    has_str(talking_hear(&t, ANSWER("resume", "{'modes':{'currentModeId':'a'}}")),
            "'session/prompt','params':{'sessionId':'old'",
            "a resumed session is prompted without setting the mode");
    begin_with("old", NULL);
    is_str(talking_hear(&t, HELLO("{'loadSession':true,'sessionCapabilities':{'list':{}}}")),
           HEAD "'id':'turncast-load','method':'session/load','params':{'sessionId':'old',"
                "'cwd':'/w','mcpServers':[]}}",
           "without resume the session is loaded");
    has_str(talking_hear(&t, HEAD "'id':'turncast-load','result':null}"),
            "'session/prompt','params':{'sessionId':'old'", "a null answer is accepted");
    begin_with("old", NULL);
    talking_hear(&t, HELLO("{'loadSession':true}"));
    is_str(talking_hear(&t, ANSWER("load", "{'modes':{'currentModeId':'auto'}}")),
           HEAD "'id':'turncast-mode','method':'session/set_mode','params':{'sessionId':'old',"
                "'modeId':'auto'}}",
           "the current mode is set again, to detect the end of the history");
    has_str(talking_hear(&t, ANSWER("mode", "{}")), "'session/prompt'",
            "the answer about the mode is followed by the prompt");
    begin_with("old", NULL);
    is_str(talking_hear(&t, HELLO("{'loadSession':false}")), NEW,
           "without resume and load a new session begins");
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
    is_str(talking_hear(&t, ANSWER("mode", "{}")), PROMPT, "the prompt follows the mode");
    begin_with(NULL, "work");
    talking_hear(&t, HELLO("{}"));
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1','configOptions':[{'id':'x',"
                                          "'category':'model'},{'id':'m','category':'mode'}]}")),
           HEAD "'id':'turncast-mode','method':'session/set_config_option','params':{"
                "'sessionId':'s1','configId':'m','value':'work'}}",
           "a mode that is a config option is set as an option");
    begin_with(NULL, "work");
    talking_hear(&t, HELLO("{}"));
    talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}"));
    is_str(talking_hear(&t, FAILURE("mode", "no such mode")), "",
           "an agent that cannot set the mode gets no prompt");
}

static void test_broken_steps(void)
{
    begin_with(NULL, NULL);
    is_str(talking_hear(&t, FAILURE("initialize", "no")), "",
           "after an error of a step nothing is sent");
    is_str(talking_hear(&t, HELLO("{}")), "", "a late answer after an error is ignored");
    begin_with(NULL, NULL);
    is_str(talking_hear(&t, ANSWER("initialize", "{'protocolVersion':2}")), "",
           "another protocol version ends the dialog");
    begin_with(NULL, NULL);
    talking_hear(&t, HELLO("{}"));
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':7}")), "",
           "a session ID that is not a string ends the dialog");
    is_str(talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}")), "",
           "a late answer after an invalid session ID is ignored");
}

static void test_options(void)
{
    begin_turn();
    is_str(talking_hear(&t, ASK("0", USUAL)), "", "a request is not answered automatically");
    is_str(allow("0"), SELECTED("0", "once"), "allow selects allow_once");
    is_str(allow("0"), "refused", "a second answer is refused");
    talking_hear(&t, ASK("1", USUAL));
    is_str(decide("1", 0, true, false), SELECTED("1", "always"),
           "allow and remember selects allow_always");
    talking_hear(&t, ASK("2", USUAL));
    is_str(deny("2"), SELECTED("2", "no"), "deny selects reject_once");
    talking_hear(
        &t,
        ASK("3",
            "[" OPTION("a1", "allow_always") "," OPTION("a2", "allow_always") "," OPTION(
                "o1", "allow_once") "," OPTION("o2",
                                               "allow_once") "," OPTION("n", "reject_always") "]"));
    is_str(deny("3"), SELECTED("3", "n"), "deny selects reject_always if there is no reject_once");
    talking_hear(
        &t,
        ASK("4",
            "[" OPTION("r", "reject_always") "," OPTION("r1", "reject_once") "," OPTION(
                "r2", "reject_once") "," OPTION("o1", "allow_once") "," OPTION("o2",
                                                                               "allow_once") "]"));
    is_str(deny("4"), SELECTED("4", "r1"), "the first of two options of a kind is selected");
    talking_hear(&t, ASK("5", "[" OPTION("o1", "allow_once") "," OPTION("o2", "allow_once") "]"));
    is_str(decide("5", 0, true, false), SELECTED("5", "o1"),
           "allow and remember selects allow_once if there is no allow_always");
    talking_hear(&t, ASK("6", "[" OPTION("o1", "allow_once") "]"));
    is_str(deny("6"), CANCELLED("6"), "deny without a reject option cancels");
    talking_hear(&t, ASK("7", "[" OPTION("a1", "allow_always") "]"));
    is_str(allow("7"), CANCELLED("7"), "allow once never selects allow_always");
    talking_hear(&t, ASK("8", "[]"));
    is_str(allow("8"), CANCELLED("8"), "a request without options is cancelled");
    talking_hear(&t, ASK("9", "{'allow_once':'x'}"));
    is_str(deny("9"), CANCELLED("9"), "options of an unknown form cancel the request");
    talking_hear(&t, ASK("10", "[{'optionId':7,'kind':'allow_once'},{'kind':'allow_once'},7,"
                               "{'optionId':'y','kind':'later'}," OPTION("z", "allow_once") "]"));
    is_str(allow("10"), SELECTED("10", "z"), "an option without a name is accepted");
}

static void test_ids(void)
{
    begin_turn();
    talking_hear(&t, ASK("'5f0c-uuid'", USUAL));
    is_str(allow("5f0c-uuid"), SELECTED("'5f0c-uuid'", "once"), "a string is answered as a string");
    talking_hear(&t, ASK("1.50", USUAL));
    is_str(allow("1.50"), SELECTED("1.50", "once"), "a number is answered as it was written");
    talking_hear(&t, ASK("'a\\u0062\\n'", USUAL));
    is_str(allow("ab\n"), SELECTED("'a\\u0062\\n'", "once"),
           "a string with escapes is answered as it was written");
    talking_hear(&t, ASK("3", USUAL));
    is_str(talking_hear(&t, ASK("3", "[" OPTION("bad", "allow_once") "]")), "",
           "the same id again changes nothing");
    has_str(talking_hear(&t, ASK("'3'", USUAL)), "'id':'3','error':{'code':-32600",
            "a different id with the same text is refused");
    is_str(allow("3"), SELECTED("3", "once"), "the first request is answered");
    is_str(talking_hear(&t, ASK("null", USUAL)), "", "a request with a null id is ignored");
    is_str(allow("null"), "refused", "a request with a null id cannot be answered");
    talking_hear(&t, ASK("4", USUAL));
    talking_hear(&t, HEAD "'method':'$/cancel_request','params':{'requestId':4}}");
    is_str(allow("4"), "refused", "a withdrawn request is not answered");
    is_str(talking_hear(&t, HEAD "'id':9,'method':'craft/drainMidTurnQueue','params':{}}"),
           HEAD "'id':9,'error':{'code':-32601,'message':'Method not found'}}",
           "unknown methods are refused at once");
    has_str(talking_hear(&t, HEAD "'id':'turncast-prompt','method':'fs/write_text_file'}"),
            "'id':'turncast-prompt','error':{'code':-32601",
            "an unknown method with an id of the host is refused, too");
    is_str(talking_hear(&t, HEAD "'id':5,'method':'session/request_permission','params':{'t':"
                                 "'\x01\xff','options':[" OPTION("once", "allow_once") "]}}"),
           "", "an invalid line is repaired before it is parsed");
    is_str(allow("5"), SELECTED("5", "once"), "the request of a repaired line is answered");
    for (int i = 0; i < 64; i++) {
        char line[512];
        snprintf(line, sizeof(line), ASK("1%02d", USUAL), i);
        talking_hear(&t, line);
    }
    has_str(talking_hear(&t, ASK("200", USUAL)), "'id':200,'error'",
            "requests above the limit are refused");
    is_str(allow("100"), SELECTED("100", "once"), "the oldest requests are kept");
}

static void test_refusals(void)
{
    begin_turn();
    talking_hear(&t, ASK("0", USUAL));
    is_str(decide("0", 2, false, false), "refused",
           "a permission cannot be answered as a question");
    const struct dialect_answer changed = {
        .request_id = "0", .decision = DIALECT_ALLOW, .args = "{\"command\":\"id\"}"};
    is_str(talking_answer(&t, &changed), "refused",
           "the arguments of a permission cannot be changed");
    is_str(decide("0", 1, false, true), SELECTED("0", "no") "\n" CANCEL,
           "deny with an interrupt rejects and cancels");
    is_str(talking_hear(&t, ASK("1", USUAL)), CANCELLED("1"),
           "a request after the cancellation is cancelled");
    is_str(allow("1"), "refused", "a request after the cancellation cannot be answered");
}

static void test_interrupt(void)
{
    begin_turn();
    is_str(talking_interrupt(&t), CANCEL, "an interrupt cancels the turn");
    begin_turn();
    talking_hear(&t, ASK("0", USUAL));
    talking_hear(&t, ASK("'u'", USUAL));
    is_str(talking_interrupt(&t), CANCEL "\n" CANCELLED("0") "\n" CANCELLED("'u'"),
           "an interrupt also cancels open requests, since some agents wait for them");
    is_str(allow("0"), "refused", "a cancelled request cannot be answered");
    talking_hear(&t, ANSWER("prompt", "{'stopReason':'cancelled'}"));
    is_str(talking_interrupt(&t), "", "after the end an interrupt sends nothing");
    begin_with(NULL, "work");
    is_str(talking_interrupt(&t), "",
           "before the turn an interrupt sends nothing, and a signal is used");
    talking_hear(&t, HELLO("{}"));
    talking_hear(&t, ANSWER("new", "{'sessionId':'s1'}"));
    is_str(talking_hear(&t, ANSWER("mode", "{}")), "", "an interrupted turn does not begin");
}

/* ---- events of the translator ---- */

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
            ERROR("log in", "-32000") DONE("error"), "an error in the second step ends the turn");
    has_str(told(HELLO("{}") "\n" FAILURE("load", "session not found") "\n"),
            ERROR("session not found", "-32000") DONE("error"), "a lost session ends the turn");
    has_str(told(HELLO("{}") "\n" ANSWER("new", "{'sessionId':'s1'}") "\n" FAILURE("mode",
                                                                                   "what?") "\n"),
            ERROR("what?", "-32000") DONE("error"), "a mode that cannot be set ends the turn");
    has_str(told(ANSWER("initialize", "{'protocolVersion':2}") "\n"),
            ERROR("The agent does not support version 1 of the Agent Client Protocol.", "protocol")
                DONE("error"),
            "another protocol version ends the turn");
    has_str(told(ANSWER("initialize", "{}") "\n"), DONE("error"),
            "a missing protocol version ends the turn");
    has_str(told(HELLO("{}") "\n" ANSWER("new", "{'sessionId':null}") "\n"),
            ERROR("The agent did not return a session ID.", "protocol") DONE("error"),
            "a session without an ID ends the turn");
}

static void test_told_past(void)
{
    told(HELLO("{}") "\n" SAYS("Old. ")
             ANSWER("load", "{'modes':{'currentModeId':'a'}}") "\n" SAYS("Older. ")
                 ANSWER("mode", "{}") "\n" SAYS("New.")
                     ANSWER("prompt", "{'stopReason':'end_turn'}") "\n");
    is_str(reading_text(&r), "New.", "the history is not part of the turn");
    is_str(reading_last(&r, "final"), "{\"text\":\"New.\"}", "the history is not the answer");
    told(HELLO("{}") "\n" SAYS("Old. ") ANSWER("load", "null") "\n" SAYS("New.")
             ANSWER("prompt", "{'stopReason':'end_turn'}") "\n");
    is_str(reading_text(&r), "New.", "a null answer to session/load is accepted");
    told(HELLO("{}") "\n" ANSWER("resume", "{}") "\n" SAYS("New.")
             ANSWER("prompt", "{'stopReason':'end_turn'}") "\n");
    is_str(reading_last(&r, "final"), "{\"text\":\"New.\"}", "a resumed session has no past");
    told(HELLO("{}") "\n" ANSWER("resume", "{}") "\n" ANSWER("prompt",
                                                             "{'stopReason':'end_turn'}") "\n");
    has_str(r.told.p, DONE("completed"), "a resumed turn without text is completed");
}

#define SEEN(agent, call)                                                                          \
    ANSWER("initialize", "{'protocolVersion':1,'agentInfo':{'name':'" agent "'}}")                 \
    "\n" ANSWER("new", "{'sessionId':'s1'}") "\n" call                                             \
        HEAD "'id':0,'method':'session/request_permission','params':{'sessionId':'s1',"            \
                                             "'options':[],'toolCall':{'toolCallId':'t',"
#define CALL(input)                                                                                \
    HEAD "'method':'session/update','params':{'sessionId':'s1','update':{'sessionUpdate':"         \
         "'tool_call','toolCallId':'t','kind':'execute','title':'x','rawInput':" input "}}}\n"

/* A title is free text, so it is not used as the subject. */
static void test_told_subject(void)
{
    told(SEEN("x", "") "'kind':'execute','title':'ls','rawInput':{'command':'rm -r /'}}}}\n");
    has_str(reading_last(&r, "request"),
            "\"subject\":\"rm -r /\",\"args\":{\"command\":\"rm -r /\"}",
            "the subject of a request is the command");
    told(SEEN("x", CALL("{'command':'id'}")) "'title':'ls'}}}\n");
    has_str(reading_last(&r, "request"), "\"subject\":\"id\",\"args\":{\"command\":\"id\"}",
            "the subject is the command of the call if the request has none");
    told(SEEN("x", CALL("{'command':'id'}")) "'rawInput':{'command':['a','b c']}}}}\n");
    has_str(reading_last(&r, "request"), "\"subject\":\"[\\\"a\\\",\\\"b c\\\"]\"",
            "the command of the request has precedence; a list of words is joined");
    told(SEEN("x", "") "'kind':'execute','title':'ls'}}}\n");
    ok(!strstr(reading_last(&r, "request"), "subject"), "the title alone is not the subject");
    has_str(reading_last(&r, "request"), "\"message\":\"ls\"", "the title is the message");
    told(SEEN("x", "") "'kind':'other','title':'Bash','rawInput':{'command':'ls'}}}}\n");
    has_str(reading_last(&r, "request"), "\"tool\":\"other\"",
            "the title is not the tool name for rules");
    told(SEEN("gemini-cli", "") "'kind':'execute','title':'ls'}}}\n");
    has_str(reading_last(&r, "request"), "\"subject\":\"ls\",\"args\":{\"command\":\"ls\"}",
            "a title that a program makes from the command is the subject");
    told(SEEN("x", "") "'kind':'edit','title':'t','content':[{'type':'diff','path':'/a',"
                       "'oldText':'1','newText':'2'}]}}}\n");
    has_str(reading_last(&r, "request"),
            "\"subject\":\"/a\",\"args\":{\"path\":\"/a\",\"oldText\":\"1\",\"newText\":\"2\"}",
            "the subject has the changed file");
    told(SEEN("x", "") "'content':[{'type':'diff','path':'/a','newText':'2'},{'type':'diff',"
                       "'path':'/b','newText':'3'}]}}}\n");
    has_str(reading_last(&r, "request"),
            "\"subject\":\"/a and 1 "
            "more\",\"args\":{\"changes\":[{\"path\":\"/a\",\"newText\":\"2\"},{\"path\":\"/b\","
            "\"newText\":\"3\"}]}",
            "the subject has the number of further files");
    told(SEEN("x", "") "'title':'t'}}}\n" ASK("null", USUAL) "\n");
    is_int((long long)r.counts[TC_REQUEST], 1, "a request without an id is ignored");
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
    is_int(talking_spoil("acp", lines, 60000), 0, "the output for damaged lines is JSON");
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
