/* SPDX-License-Identifier: MIT
 * The input half of the claude dialect: what it writes, to what, and how often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "dialect/claude/input/claude_control.h"
#include "tap/tap.h"
#include "turn/agent_input.h"

static struct agent_input dialog;
static struct buf out;

/* In the texts ' stands for ". */
static char *quoted(const char *text)
{
    char *const copy = xstrdup(text);
    for (char *p = copy; (p = strchr(p, '\'')); p++)
        *p = '"';
    return copy;
}

static void begin(void)
{
    agent_input_begin(&dialog, dialect_find("claude"),
                      &(struct dialect_prompt){.text = "x", .len = 1}, &out);
    buf_reset(&out);
}

static void is_out(const char *wanted, const char *what)
{
    CLEANUP_FREE char *text = quoted(wanted);
    is_str(out.p ? out.p : "", text, "%s", what);
    buf_reset(&out);
    if (out.p)
        *out.p = '\0';
}

static void line(const char *text)
{
    CLEANUP_FREE char *copy = quoted(text);
    agent_input_handle_line(&dialog, &out, copy, strlen(copy));
}

#define ASK(id, tool, more)                                                                        \
    "{'type':'control_request','request_id':'" id                                                  \
    "','request':{'subtype':'can_use_tool','tool_name':'" tool "'," more "}}"
#define HOST_CALL_BASH(id) ASK(id, "Bash", "'input':{ 'command':'ls \\u00e9',  'n':1e2 }")
#define REPLY(id, response)                                                                        \
    "{'type':'control_response','response':{'subtype':'success','request_id':'" id                 \
    "','response':" response "}}\n"
#define REFUSAL(id, why)                                                                           \
    "{'type':'control_response','response':{'subtype':'error','request_id':'" id                   \
    "','error':'turncast does not answer this: " why "'}}\n"

static int answer(struct dialect_answer a)
{
    CLEANUP_FREE char *args = a.args ? quoted(a.args) : NULL;
    CLEANUP_FREE char *answers = a.answers ? quoted(a.answers) : NULL;
    a.args = args;
    a.answers = answers;
    return agent_input_answer(&dialog, &out, &a);
}
#define ANSWER(...) answer((struct dialect_answer){__VA_ARGS__})

static void test_begin(void)
{
    const struct dialect *const claude = dialect_find("claude");
    struct dialect_prompt prompt = {.text = "/x \"q\"\n\xff", .len = 8};
    agent_input_begin(&dialog, claude, &prompt, &out);
    is_out("{'type':'user','message':{'role':'user','content':'/x \\'q\\'\\n\xef\xbf\xbd'},"
           "'parent_tool_use_id':null,'session_id':'','client_composed':true}\n",
           "the message is one line, verbatim, and no command");
    ok(agent_input_keeps_stdin(&dialog), "stdin stays open");
    prompt = (struct dialect_prompt){.text = "x", .len = 1, .mode = "plan"};
    agent_input_begin(&dialog, claude, &prompt, &out);
    is_out("{'type':'control_request','request_id':'turncast-mode','request':{'subtype':"
           "'set_permission_mode','mode':'plan'}}\n"
           "{'type':'user','message':{'role':'user','content':'x'},"
           "'parent_tool_use_id':null,'session_id':'','client_composed':true}\n",
           "a mode goes before the message");
    agent_input_finish(&dialog, &out);
    is_out("", "it leaves by the end of its input");
    ok(agent_input_can_answer(claude), "its requests can be answered");
}

static void test_allow(void)
{
    begin();
    line(HOST_CALL_BASH("r1"));
    is_out("", "a question is left to who answers");
    is_int(ANSWER(.request_id = "r1", .decision = DIALECT_ALLOW), 0, "it is open");
    is_out(REPLY("r1", "{'behavior':'allow','updatedInput':{ 'command':'ls \\u00e9',  'n':1e2 }}"),
           "leave, with the input byte for byte");
    is_int(ANSWER(.request_id = "r1", .decision = DIALECT_DENY), -1, "answered once");
    is_int(ANSWER(.request_id = "r2", .decision = DIALECT_ALLOW), -1, "never asked");
    is_out("", "and nothing is written");
    line(HOST_CALL_BASH("r\\u0031\\n"));
    is_int(ANSWER(.request_id = "r1\n", .decision = DIALECT_ALLOW, .args = "{'a':\n [1 , 2]\n}"), 0,
           "an id with escapes");
    is_out(REPLY("r\\u0031\\n", "{'behavior':'allow','updatedInput':{'a':[1,2]}}"),
           "leave for something else, on one line");
    line(HOST_CALL_BASH("r3"));
    is_int(ANSWER(.request_id = "r3", .decision = DIALECT_ALLOW, .args = "[1]"), -1, "no object");
    is_int(ANSWER(.request_id = "r3", .decision = DIALECT_ALLOW, .args = "{'a'"), -1, "no JSON");
    is_int(ANSWER(.request_id = "r3", .decision = DIALECT_ALLOW, .remember = true), 0,
           "still open");
    is_out(REPLY("r3", "{'behavior':'allow','updatedInput':{ 'command':'ls \\u00e9',  'n':1e2 }}"),
           "nothing to remember by");
    line(ASK("r4", "Bash", "'input':{},'permission_suggestions':[ {'type':'addRules'}]"));
    is_int(ANSWER(.request_id = "r4", .decision = DIALECT_ALLOW, .remember = true), 0, "remember");
    is_out(REPLY("r4", "{'behavior':'allow','updatedInput':{},"
                       "'updatedPermissions':[ {'type':'addRules'}]}"),
           "its suggestions as it made them");
}

static void test_deny(void)
{
    begin();
    line(HOST_CALL_BASH("a"));
    line(HOST_CALL_BASH("b"));
    line(HOST_CALL_BASH("c"));
    is_int(ANSWER(.request_id = "b", .decision = DIALECT_DENY, .reason = "no \"x\"\n\xff"), 0, "b");
    is_out(REPLY("b", "{'behavior':'deny','message':'no \\'x\\'\\n\xef\xbf\xbd'}"), "its reason");
    is_int(ANSWER(.request_id = "c", .decision = DIALECT_DENY, .reason = "", .interrupt = true), 0,
           "in any order");
    is_out(
        REPLY("c", "{'behavior':'deny','message':'This tool call was denied.','interrupt':true}"),
        "and the turn ends");
    is_int(ANSWER(.request_id = "a", .decision = DIALECT_ANSWERED, .answers = "{}"), -1,
           "leave is not answered like a question");
    is_int(ANSWER(.request_id = "a", .decision = DIALECT_DENY), 0, "it stayed open");
    buf_reset(&out);
}

#define COLOURS "{'question':'Which \\'colour\\'?','options':[{'label':'Red'}]}"
#define SIZES "{'question':'Sizes','multiSelect':true}"

static void test_questions(void)
{
    begin();
    line(ASK("q", "AskUserQuestion", "'input':{'questions':[" COLOURS "," SIZES "],'x':1}"));
    is_int(ANSWER(.request_id = "q", .decision = DIALECT_ANSWERED), -1, "without answers");
    is_int(ANSWER(.request_id = "q", .decision = DIALECT_ANSWERED, .answers = "[]"), -1, "a list");
    is_int(ANSWER(.request_id = "q", .decision = DIALECT_ANSWERED,
                  .answers = "{'0':'Red','1':['S','\\u00e9, or','L'],'7':'x'}"),
           0, "answers");
    is_out(REPLY("q",
                 "{'behavior':'allow','updatedInput':{'questions':[" COLOURS "," SIZES "],"
                 "'x':1,'answers':{'Which \\'colour\\'?':'Red','Sizes':'S, \\u00e9, or, L'}}}"),
           "by the texts of the questions; several are joined");
    line(ASK("q", "AskUserQuestion", "'input':{'answers':{'a':'b'},'questions':[7," SIZES "]}"));
    is_int(ANSWER(.request_id = "q", .decision = DIALECT_ANSWERED,
                  .answers = "{'0':'x', '1':'what I like'}"),
           0, "free text");
    is_out(REPLY("q", "{'behavior':'allow','updatedInput':{'questions':[7," SIZES
                      "],'answers':{'Sizes':'what I like'}}}"),
           "instead of answers that were there; what is no question has none");
    line(ASK("q", "AskUserQuestion", "'input':{}"));
    is_int(ANSWER(.request_id = "q", .decision = DIALECT_ANSWERED, .answers = "{'0':[1,{}]}"), 0,
           "no questions");
    is_out(REPLY("q", "{'behavior':'allow','updatedInput':{'answers':{}}}"), "no answers");
    line(ASK("q", "AskUserQuestion", "'input':{'questions':[" SIZES "]}"));
    is_int(ANSWER(.request_id = "q", .decision = DIALECT_DENY, .reason = "later"), 0, "denied");
    is_out(REPLY("q", "{'behavior':'deny','message':'later'}"), "a question need not be answered");
}

static void test_closed(void)
{
    begin();
    line(HOST_CALL_BASH("a"));
    line(HOST_CALL_BASH("b"));
    line("{'type':'control_cancel_request','request_id':'a'}");
    line("{'type':'control_cancel_request','request_id':'zz'}");
    line("{'type':'control_cancel_request','request_id':7}");
    is_int(ANSWER(.request_id = "a", .decision = DIALECT_ALLOW), -1, "withdrawn");
    line(ASK("b", "Bash", "'input':{'other':1}"));
    is_out("", "asked again while it is open");
    is_int(ANSWER(.request_id = "b", .decision = DIALECT_ALLOW), 0, "open");
    is_out(REPLY("b", "{'behavior':'allow','updatedInput':{ 'command':'ls \\u00e9',  'n':1e2 }}"),
           "the first one counts");
    line(HOST_CALL_BASH("c"));
    agent_input_interrupt(&dialog, &out);
    is_out("{'type':'control_request','request_id':'turncast-interrupt',"
           "'request':{'subtype':'interrupt'}}\n",
           "an interrupt is a control request");
    is_int(ANSWER(.request_id = "c", .decision = DIALECT_ALLOW), -1, "nothing is open behind it");
    line(HOST_CALL_BASH("d"));
    line("{'type':'control_request','request_id':'e','request':{'subtype':'hook_callback'}}");
    is_int(ANSWER(.request_id = "d", .decision = DIALECT_ALLOW), -1, "nor will be");
    is_out("", "and nothing is written behind it");
}

static void test_refused(void)
{
    begin();
    line("{'request':{'subtype':'hook_callback','callback_id':'h'},'request_id':'r','type':"
         "'control_request'}");
    is_out(REFUSAL("r", "hook_callback"), "a hook that nobody registered");
    line("{'type':'control_request','request_id':'r\\\\','request':{'subtype':'mcp_message'}}");
    is_out(REFUSAL("r\\\\", "mcp_message"), "a server that nobody has");
    line("{'type':'control_request','request_id':'r','request':{}}");
    line("{'type':'control_request','request_id':'r'}");
    is_out(REFUSAL("r", "an unknown request") REFUSAL("r", "an unknown request"), "nothing at all");
    line(ASK("r", "Bash", "'input':null"));
    line(ASK("r", "Bash", "'input':[1]"));
    is_out(REFUSAL("r", "tool request without input") REFUSAL("r", "tool request without input"),
           "no input");
    is_int(ANSWER(.request_id = "r", .decision = DIALECT_ALLOW), -1, "which leaves nothing open");
}

static void test_silent(void)
{
    begin();
    line("{'type':'control_response','response':{'subtype':'success','request_id':'x'}}");
    line("{'type':'user','x':{'type':'control_request','request_id':'r','request':{}}}");
    line("{'type':'assistant','text':'\\'control_request\\''}");
    line("{'type':'control_request','request_id':7,'request':{'subtype':'x'}}");
    line("{'type':'control_request','request_id':'','request':{'subtype':'x'}}");
    line("{'type':'control_request','request':{'subtype':'x'}}");
    line("['control_request']");
    line("'control_request");
    line("{'type':'control_request','request_id':'r','request':{'subtype':'x'}} {}");
    is_out("", "what needs no answer gets none");
    agent_input_handle_line(&dialog, &out, "", 0);
    line("{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":{\"subtype\":"
         "\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"x\":\"a\tb\"}}}");
    is_int(ANSWER(.request_id = "r", .decision = DIALECT_ALLOW), 0, "a line that is mended");
    is_out(REPLY("r", "{'behavior':'allow','updatedInput':{'x':'a\\tb'}}"), "as it was mended");
}

static void test_bounds(void)
{
    begin();
    char text[1024], id[512];
    for (int i = 0; i <= CLAUDE_ASKS; i++) {
        snprintf(text, sizeof text, HOST_CALL_BASH("r%d"), i);
        line(text);
    }
    snprintf(text, sizeof text, REFUSAL("r%d", "too many open requests"), CLAUDE_ASKS);
    is_out(text, "one more than can be open");
    is_int(ANSWER(.request_id = "r63", .decision = DIALECT_ALLOW), 0, "the others are");
    begin();
    memset(id, 'x', sizeof id);
    id[CLAUDE_CONTROL_ID + 1] = '\0';
    snprintf(text, sizeof text, "{'type':'control_request','request_id':'%s'}", id);
    line(text);
    snprintf(text, sizeof text,
             "{'type':'control_response','response':{'subtype':'error','request_id':'%s',"
             "'error':'turncast does not answer this: the request_id is too long'}}\n",
             id);
    is_out(text, "an id that nobody can be asked under is refused at once");
    ok(!agent_input_waits(&dialog, id), "and nobody is asked");
    char *const long_id = xcalloc(1, CLAUDE_CONTROL_ID_MAX + 200);
    memset(long_id, 'x', CLAUDE_CONTROL_ID_MAX + 100);
    memcpy(long_id, "{'type':'control_request','request_id':'", 40);
    memcpy(long_id + CLAUDE_CONTROL_ID_MAX + 97, "'}", 3);
    line(long_id);
    free(long_id);
    is_out("", "one that is still longer is not said again");
    const size_t size = CLAUDE_ASKS_BYTES / 2;
    char *const big = xcalloc(1, size + 200);
    for (int i = 0; i < 3; i++) {
        const int n = snprintf(text, sizeof text,
                               "{'type':'control_request','request_id':'b%d','request':{"
                               "'subtype':'can_use_tool','input':{'x':'",
                               i);
        memset(big, 'x', size);
        memcpy(big, text, (size_t)n);
        memcpy(big + size - 4, "'}}}", 5);
        line(big);
    }
    free(big);
    is_out(REFUSAL("b2", "too many open requests"), "more than is kept");
    is_int(ANSWER(.request_id = "b0", .decision = DIALECT_DENY), 0, "what was kept is open");
    buf_reset(&out);
    for (int i = 0; i < CLAUDE_REFUSALS + 9; i++)
        line("{'type':'control_request','request_id':'r','request':{'subtype':'x'}}");
    size_t lines = 0;
    for (const char *p = out.p; (p = strchr(p, '\n')); p++)
        lines++;
    is_int((long long)lines, CLAUDE_REFUSALS - 2, "errors come to an end");
    buf_reset(&out);
}

/* ---- messages for the turn that runs ---- */

#define UUID(n) "00000000-0000-4000-8000-00000000000" n
/* As Claude Code 2.1.330 writes it. */
#define LIFECYCLE(n, state)                                                                        \
    "{'type':'command_lifecycle','command_uuid':'" UUID(                                           \
        n) "','state':'" state "','uuid':'108d8094-454c-476a-97c1-9dfe9137ce33','session_id':"     \
           "'9057803a-dd35-47e9-9cd8-c65eff749e7f'}"
#define WITHDRAWAL(n)                                                                              \
    "{'type':'control_request','request_id':'turncast-withdraw','request':{'subtype':"             \
    "'cancel_async_message','message_uuid':'" UUID(n) "'}}\n"

static void is_settled(enum dialect_settled how, const char *id, const char *what)
{
    char found[DIALECT_STEER_ID] = "";
    is_int(agent_input_settled(&dialog, found), how, "%s", what);
    is_str(found, id, "%s: whose", what);
}

static void steer(const char *id)
{
    is_int(agent_input_steer(&dialog, &out, id, STR("y")), DIALECT_WRITTEN, "%s is written", id);
    buf_reset(&out);
}

static void test_withdraw(void)
{
    begin();
    ok(!agent_input_withdraw(&dialog, &out, UUID("1")), "what the agent does not have");
    steer(UUID("1"));
    steer(UUID("2"));
    line(LIFECYCLE("1", "queued"));
    line(LIFECYCLE("2", "queued"));
    is_settled(DIALECT_UNSETTLED, "", "queued is not settled");
    ok(agent_input_withdraw(&dialog, &out, UUID("2")), "the agent is asked to drop a message");
    is_out(WITHDRAWAL("2"), "by its uuid");
    line(LIFECYCLE("2", "cancelled"));
    line("{'type':'control_response','response':{'subtype':'success','request_id':"
         "'turncast-withdraw','response':{'cancelled':true,'message_uuid':'" UUID("2") "'}}}");
    is_out("", "its answer wants none");
    is_settled(DIALECT_NOT_TAKEN, UUID("2"), "it has dropped it");
    is_settled(DIALECT_UNSETTLED, "", "and the other one waits");
    line(LIFECYCLE("1", "started"));
    ok(!agent_input_withdraw(&dialog, &out, UUID("1")), "what it has taken cannot be dropped");
    is_out("", "and is not asked for");
    is_settled(DIALECT_TAKEN, UUID("1"), "that is told");
}

/* It would begin a turn with them when nobody reads it any more. */
static void test_withdraw_all(void)
{
    begin();
    steer(UUID("1"));
    steer(UUID("2"));
    steer(UUID("3"));
    line(LIFECYCLE("2", "started"));
    agent_input_finish(&dialog, &out);
    is_out(WITHDRAWAL("1") WITHDRAWAL("3"), "who takes leave withdraws what was not taken");
    agent_input_interrupt(&dialog, &out);
    is_out(WITHDRAWAL("1") WITHDRAWAL(
               "3") "{'type':'control_request','request_id':'turncast-interrupt','request':"
                    "{'subtype':'interrupt'}}\n",
           "who interrupts does so before");
    agent_input_finish(&dialog, &out);
    is_out("", "and not again");
}

int main(void)
{
    plan_lazy();
    test_withdraw();
    test_withdraw_all();
    test_begin();
    test_allow();
    test_deny();
    test_questions();
    test_closed();
    test_refused();
    test_silent();
    test_bounds();
    agent_input_end(&dialog);
    buf_fini(&out);
    return 0;
}
