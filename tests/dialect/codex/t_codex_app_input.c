/* SPDX-License-Identifier: MIT
 * Tests of what is written to a codex app-server: the way to the turn, answers, the interrupt; and
 * of what the translator says of its requests and where a step of ours fails. */
#include <stdlib.h>
#include <string.h>

#include "dialect/reading.h"
#include "dialect/talking.h"
#include "tap/tap.h"

#define ANSWER(step, result) "{'id':'turncast-" step "','result':" result "}"
#define FAILURE(step, text)                                                                        \
    "{'error':{'code':-32600,'message':'" text "'},'id':'turncast-" step "'}"
#define HELLO ANSWER("initialize", "{'userAgent':'x','codexHome':'/h'}")
#define THREAD ANSWER("thread", "{'thread':{'id':'th1'}}")
#define TURN ANSWER("turn", "{'turn':{'id':'tu1','status':'inProgress'}}")
#define START                                                                                      \
    "{'id':'turncast-turn','method':'turn/start','params':{'threadId':'th1','input':[{'type':"     \
    "'text','text':'hello'}]}}"
#define INTERRUPT                                                                                  \
    "{'id':'turncast-interrupt','method':'turn/interrupt','params':{'threadId':'th1','turnId':"    \
    "'tu1'}}"
#define ASK(method, id, more)                                                                      \
    "{'method':'" method "','id':" id ",'params':{'threadId':'th1','turnId':'tu1','itemId':'i1'"   \
    "" more "}}"
#define COMMAND(id)                                                                                \
    ASK("item/commandExecution/requestApproval", id, ",'command':'ls','cwd':'/w','reason':'why'")
#define CHANGE(id) ASK("item/fileChange/requestApproval", id, ",'reason':null,'grantRoot':null")
#define PERMISSIONS(id)                                                                            \
    ASK("item/permissions/requestApproval", id,                                                    \
        ",'cwd':'/w','permissions':{'network':{'enabled':true}}")
#define TOOL(id)                                                                                   \
    ASK("mcpServer/elicitation/request", id,                                                       \
        ",'serverName':'lab','mode':'form','_meta':{'codex_approval_kind':'mcp_tool_call',"        \
        "'tool_name':'echo','tool_params':{'text':'hi'}},'message':'Allow?','requestedSchema':{"   \
        "'type':'object','properties':{}}")
#define FORM(id)                                                                                   \
    ASK("mcpServer/elicitation/request", id,                                                       \
        ",'serverName':'lab','mode':'form','message':'Who?','requestedSchema':{'type':'object',"   \
        "'properties':{'na\\u006de':{'type':'string','title':'Name'},'age':{'type':'integer',"     \
        "'description':'In years'},'old':{'type':'boolean'},'likes':{'type':'array','items':{"     \
        "'enum':['tea','cake']}}}}")
#define QUESTIONS(id, secret)                                                                      \
    ASK("item/tool/requestUserInput", id,                                                          \
        ",'questions':[{'id':'q1','header':'H','question':'Which?','isSecret':" secret ",'"        \
        "options':[{'label':'A','description':'first'},{'label':'B','description':''}]},{'id':"    \
        "'q2','header':'','question':'Why?','isOther':true,'options':null}]")
#define REPLY(id, result) "{'id':" id ",'result':{" result "}}"

static struct talking t;

static const char *begin_with(const char *session_id, const char *mode)
{
    const struct dialect_prompt prompt = {
        .text = "hello", .len = 5, .session_id = session_id, .cwd = "/w", .mode = mode};
    return talking_begin(&t, "codex-app", &prompt);
}

static void begin_turn(void)
{
    begin_with(NULL, NULL);
    talking_hear(&t, HELLO);
    talking_hear(&t, THREAD);
    talking_hear(&t, TURN);
}

enum { REMEMBER = 1, STOP = 2 };

static const char *decide(const char *id, bool allow, unsigned how)
{
    const struct dialect_answer answer = {.request_id = id,
                                          .decision = allow ? DIALECT_ALLOW : DIALECT_DENY,
                                          .remember = how & REMEMBER,
                                          .interrupt = how & STOP};
    return talking_answer(&t, &answer);
}

static const char *reply(const char *id, const char *answers)
{
    const struct dialect_answer answer = {
        .request_id = id, .decision = DIALECT_ANSWERED, .answers = answers};
    return talking_answer(&t, &answer);
}

static void test_steps(void)
{
    has_str(begin_with(NULL, NULL),
            "{'id':'turncast-initialize','method':'initialize','params':{'clientInfo':{'name':"
            "'turncast','title':'turncast','version':'",
            "it says who it is");
    is_str(talking_hear(&t, "{'method':'configWarning','params':{}}"), "", "a notice is nothing");
    is_str(talking_hear(&t, HELLO),
           "{'method':'initialized','params':{}}\n{'id':'turncast-thread','method':'thread/start',"
           "'params':{'cwd':'/w','approvalPolicy':'on-request'}}",
           "then a thread, which asks");
    is_str(talking_hear(&t, "{'id':2,'result':{'thread':{'id':'x'}}}"), "",
           "an answer to somebody else is none");
    is_str(talking_hear(&t, THREAD), START, "then the turn");
    is_str(talking_hear(&t, THREAD), "", "once");
    begin_with("old", "never");
    has_str(talking_hear(&t, HELLO),
            "'method':'thread/resume','params':{'threadId':'old','cwd':'/w','approvalPolicy':"
            "'never'}}",
            "a thread is resumed, with the policy that is wanted");
    is_str(talking_hear(&t, ANSWER("thread", "{'thread':{}}")), "", "a thread has a name");
    begin_with(NULL, NULL);
    is_str(talking_hear(&t, FAILURE("initialize", "no")), "", "an error is the end of it");
    is_str(talking_hear(&t, HELLO), "", "whatever follows");
}

static void test_decisions(void)
{
    begin_turn();
    is_str(talking_hear(&t, COMMAND("0")), "", "a request is left to people");
    is_str(decide("0", true, 0), REPLY("0", "'decision':'accept'"), "allow");
    is_str(decide("0", true, 0), "refused", "once");
    talking_hear(&t, COMMAND("1"));
    talking_hear(&t, CHANGE("2"));
    is_str(decide("2", true, REMEMBER), REPLY("2", "'decision':'acceptForSession'"),
           "allow and remember, out of order");
    is_str(decide("1", false, 0), REPLY("1", "'decision':'decline'"), "deny");
    talking_hear(&t, CHANGE("3"));
    is_str(decide("3", false, STOP), REPLY("3", "'decision':'cancel'"), "deny and stop");
    talking_hear(&t, COMMAND("'u'"));
    is_str(decide("u", true, 0), REPLY("'u'", "'decision':'accept'"), "an id may be a string");
    talking_hear(&t, PERMISSIONS("4"));
    is_str(decide("4", true, 0),
           REPLY("4", "'permissions':{'network':{'enabled':true}},'scope':'turn'"),
           "permissions are granted as asked");
    talking_hear(&t, PERMISSIONS("5"));
    is_str(decide("5", true, REMEMBER),
           REPLY("5", "'permissions':{'network':{'enabled':true}},'scope':'session'"),
           "for the session");
    talking_hear(&t, PERMISSIONS("6"));
    is_str(decide("6", false, STOP), REPLY("6", "'permissions':{},'scope':'turn'") "\n" INTERRUPT,
           "or not at all");
    talking_hear(&t, TOOL("7"));
    is_str(decide("7", true, 0), REPLY("7", "'action':'accept','content':{}"), "a tool: allow");
    talking_hear(&t, TOOL("8"));
    is_str(decide("8", false, 0), REPLY("8", "'action':'decline'"), "deny");
    talking_hear(&t, TOOL("9"));
    is_str(decide("9", false, STOP), REPLY("9", "'action':'cancel'") "\n" INTERRUPT,
           "deny and stop");
    is_str(talking_hear(&t, ASK("item/tool/call", "10", "")),
           "{'id':10,'error':{'code':-32601,'message':'Method not found'}}",
           "methods we do not have are refused at once");
    talking_hear(&t, COMMAND("11"));
    talking_hear(&t, "{'method':'serverRequest/resolved','params':{'threadId':'th1',"
                     "'requestId':11}}");
    is_str(decide("11", true, 0), "refused", "what is resolved is over");
    talking_hear(&t, COMMAND("12"));
    const struct dialect_answer changed = {
        .request_id = "12", .decision = DIALECT_ALLOW, .args = "{\"command\":\"id\"}"};
    is_str(talking_answer(&t, &changed), "refused", "a command cannot be changed");
    is_str(reply("12", "{}"), "refused", "nor answered like a question");
}

static void test_answers(void)
{
    begin_turn();
    talking_hear(&t, QUESTIONS("0", "false"));
    is_str(decide("0", true, 0), "refused", "a question cannot be allowed");
    is_str(reply("0", "{\"q1\":\"A\",\"q2\":[\"x\",\"y\"]}"),
           REPLY("0", "'answers':{'q1':{'answers':['A']},'q2':{'answers':['x','y']}}"),
           "answers to questions");
    talking_hear(&t, QUESTIONS("1", "false"));
    is_str(decide("1", false, 0), REPLY("1", "'answers':{}"), "none");
    talking_hear(&t, QUESTIONS("2", "false"));
    is_str(decide("2", false, STOP), REPLY("2", "'answers':{}") "\n" INTERRUPT, "none, and stop");
    talking_hear(&t, FORM("3"));
    is_str(reply("3", "{\"name\":\"Ann\",\"age\":\"41\",\"old\":\"true\",\"likes\":[\"tea\"],"
                      "\"other\":\"x\"}"),
           REPLY("3", "'action':'accept','content':{'na\\u006de':'Ann','age':41,'old':true,"
                      "'likes':['tea']}"),
           "a form gets what fits it");
    talking_hear(&t, FORM("4"));
    is_str(reply("4", "{\"age\":\"many\",\"old\":\"perhaps\",\"likes\":\"tea\"}"),
           REPLY("4", "'action':'accept','content':{'age':'many','old':'perhaps','likes':['tea']}"),
           "what fits badly is left to the server");
    talking_hear(&t, FORM("5"));
    is_str(decide("5", false, 0), REPLY("5", "'action':'decline'"), "a form may be declined");
}

static void test_interrupt(void)
{
    begin_with(NULL, NULL);
    talking_hear(&t, HELLO);
    talking_hear(&t, THREAD);
    is_str(talking_interrupt(&t), "", "before the turn has a name a signal has to do");
    talking_hear(&t, "{'method':'turn/started','params':{'threadId':'th2','turn':{'id':'tu2'}}}");
    is_str(talking_interrupt(&t), "", "the turn of another thread is not it");
    talking_hear(&t, "{'method':'turn/started','params':{'threadId':'th1','turn':{'id':'tu1'}}}");
    is_str(talking_interrupt(&t), INTERRUPT, "an interrupt names the turn");
    talking_hear(&t, "{'method':'turn/completed','params':{'threadId':'th2','turn':{}}}");
    talking_hear(&t, COMMAND("0"));
    is_str(decide("0", false, 0), REPLY("0", "'decision':'decline'"), "it goes on until its end");
    talking_hear(&t, COMMAND("1"));
    talking_hear(&t, "{'method':'turn/completed','params':{'threadId':'th1','turn':{}}}");
    is_str(talking_interrupt(&t), "", "behind which there is nothing to interrupt");
    is_str(decide("1", false, 0), "refused", "or to answer");
    ok(agent_input_keeps_stdin(&t.dialog) && agent_input_waits_for_eof(&t.dialog),
       "its stdin stays open, behind an interrupt, too");
}

/* ---- what the translator says of it ---- */

static struct reading r;

static const char *told(const char *lines)
{
    reading_fini(&r);
    return reading_of(&r, "codex-app", lines);
}

#define ENDED(text)                                                                                \
    "error {\"message\":\"" text "\",\"code\":\"request_refused\"}\ndone {\"reason\":\"error\"}\n"

static void test_told_errors(void)
{
    has_str(told(FAILURE("initialize", "bad") "\n"), ENDED("bad"), "a failed step ends the turn");
    has_str(told(HELLO "\n" FAILURE("thread", "no rollout found") "\n"), ENDED("no rollout found"),
            "a lost thread does");
    has_str(told(HELLO "\n" THREAD "\n" FAILURE("turn", "busy") "\n"), ENDED("busy"),
            "a turn that cannot begin");
    has_str(told(HELLO "\n" ANSWER("thread", "{}") "\n"),
            ENDED("The Codex server did not return a thread ID."), "a thread without a name");
    told(HELLO "\n" THREAD "\n" TURN "\n" FAILURE("interrupt", "too late") "\n");
    ok(r.counts[TC_DONE] == 0, "an interrupt that is refused ends nothing");
}

static const char *request_of(const char *line)
{
    CLEANUP_BUF struct buf lines = {0};
    buf_printf(&lines, "%s\n%s\n%s\n%s\n", HELLO, THREAD, TURN, line);
    told(lines.p);
    return reading_last(&r, "request");
}

static void test_told_requests(void)
{
    has_str(request_of(COMMAND("0")),
            "\"tool\":\"shell\",\"subject\":\"ls\",\"args\":{\"command\":\"ls\",\"cwd\":\"/w\"},"
            "\"reason\":\"why\"",
            "a command is shown");
    has_str(request_of("{'method':'item/started','params':{'threadId':'th1','turnId':'tu1','item':"
                       "{'type':'fileChange','id':'i1','changes':[{'path':'/a','kind':'add',"
                       "'diff':'+1'}]}}}\n" CHANGE("0")),
            "\"tool\":\"apply_patch\",\"subject\":\"/a\",\"args\":{\"changes\":[{\"path\":\"/a\","
            "\"kind\":\"add\",\"diff\":\"+1\"}]}",
            "so is a change, told before");
    has_str(request_of(PERMISSIONS("0")),
            "\"args\":{\"cwd\":\"/w\",\"permissions\":{\"network\":{\"enabled\":true}}}",
            "so are permissions");
    has_str(request_of(TOOL("0")), "\"kind\":\"approval\"", "a tool is asked leave for");
    has_str(request_of(TOOL("0")), "\"tool\":\"mcp__lab__echo\",\"args\":{\"text\":\"hi\"}",
            "by its name");
    has_str(
        request_of(FORM("0")),
        "\"questions\":[{\"id\":\"name\",\"header\":\"Name\",\"prompt\":\"Name\",\"options\":[],"
        "\"multi\":false},{\"id\":\"age\",\"prompt\":\"In years\",\"options\":[],\"multi\":false}"
        ",{\"id\":\"old\",\"prompt\":\"old\",\"options\":[{\"label\":\"true\"},{\"label\":"
        "\"false\"}],\"multi\":false},{\"id\":\"likes\",\"prompt\":\"likes\",\"options\":["
        "{\"label\":\"tea\"},{\"label\":\"cake\"}],\"multi\":true}]",
        "a form is questions");
    has_str(request_of(QUESTIONS("0", "false")),
            "\"questions\":[{\"id\":\"q1\",\"header\":\"H\",\"prompt\":\"Which?\",\"options\":["
            "{\"label\":\"A\",\"description\":\"first\"},{\"label\":\"B\",\"description\":\"\"}],"
            "\"multi\":false},{\"id\":\"q2\",\"header\":\"\",\"prompt\":\"Why?\",\"options\":[],"
            "\"multi\":false}]",
            "questions are questions");
    has_str(request_of(QUESTIONS("0", "false")), "\"kind\":\"ask\"", "of that kind");
    has_str(request_of(QUESTIONS("0", "true")), "\"kind\":\"credential\"",
            "and a secret is a credential");
}

static void test_hostile(void)
{
    static const char *const lines[] = {
        HELLO,
        THREAD,
        TURN,
        COMMAND("0"),
        CHANGE("'uuid'"),
        PERMISSIONS("1"),
        TOOL("0"),
        FORM("1"),
        QUESTIONS("'uuid'", "true"),
        ASK("item/tool/call", "[1]", ""),
        "{'method':'turn/completed','params':{'threadId':'th1','turn':{}}}",
        NULL,
    };
    is_int(talking_spoil("codex-app", lines, 60000), 0, "spoiled lines: all it says is JSON");
}

int main(void)
{
    plan_lazy();
    test_steps();
    test_decisions();
    test_answers();
    test_interrupt();
    talking_fini(&t);
    test_told_errors();
    test_told_requests();
    reading_fini(&r);
    test_hostile();
    return 0;
}
