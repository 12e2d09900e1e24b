/* SPDX-License-Identifier: MIT
 * Which lines of agents that do not mark their steps begin and end one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "dialect/claude_lines.h"
#include "dialect/reading.h"
#include "tap/tap.h"

/* A step as "[N" or "]N" with its index; what the model says and calls, results and the outcome by
 * name; other events are left out. */
static void note(struct buf *out, const char *told)
{
    static const char *const named[] = {"narration", "tool_call", "tool_result",
                                        "message",   "final",     "error"};
    const size_t len = strcspn(told, " ");
    json_t *const payload = json_loadb(told + len, strcspn(told + len, "\n"), 0, NULL);
    const bool child = json_object_get(payload, "parent_id");
    if (strncmp(told, "step ", 5) == 0)
        buf_printf(out, "%s%c%d", out->len ? " " : "",
                   strcmp(json_string_value(json_object_get(payload, "state")), "start") == 0 ? '['
                                                                                              : ']',
                   (int)json_integer_value(json_object_get(payload, "index")));
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strlen(named[i]) == len && strncmp(told, named[i], len) == 0)
            buf_printf(out, "%s%s%s", out->len ? " " : "", child ? "sub-" : "", named[i]);
    json_decref(payload);
}

static void told_is(const struct reading *r, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf got = {0};
    for (const char *p = r->told.p; *p; p = strchr(p, '\n') + 1)
        note(&got, p);
    is_str(got.p, wanted, "%s", what);
}

static void steps_are(const char *dialect, const char *lines, const char *wanted, const char *what)
{
    struct reading r;
    char name[128];
    snprintf(name, sizeof name, "%s: %s", dialect, what);
    reading_of(&r, dialect, lines);
    told_is(&r, wanted, name);
    reading_fini(&r);
}

#define SUB_SAID                                                                                   \
    "{'type':'assistant','parent_tool_use_id':'t1','session_id':'s','message':{'id':'s1',"         \
    "'model':'o','content':[{'type':'text','text':'x'}]}}\n"
#define SYNTHETIC                                                                                  \
    "{'type':'assistant','message':{'id':'y1','model':'<synthetic>','content':[{'type':'text',"    \
    "'text':'no'}]},'error':'unknown'," TAIL
#define TASKS(tasks)                                                                               \
    "{'type':'system','subtype':'background_tasks_changed','tasks':[" tasks "]," TAIL

static void test_claude(void)
{
    steps_are("claude", INIT SUCCESS("x"), "final", "no model call, no step");
    steps_are("claude", INIT SYNTHETIC SUCCESS("x"), "final", "nor for a line of the CLI itself");
    steps_are("claude",
              INIT SAID("m1", "a") CALLED("m1", "t1", "{}") CALLED("m1", "t2", "{}")
                  RETURNED("t1", "'r'") RETURNED("t2", "'r'") SAID("m2", "b") SUCCESS("b"),
              "[0 narration tool_call tool_call tool_result tool_result message ]0 "
              "[1 narration message ]1 final",
              "one message on several lines, with its tools");
    steps_are("claude",
              INIT CALLED("m1", "t1", "{}") RETURNED("t1", "'r'") CALLED("m1", "t2", "{}")
                  RETURNED("t2", "'r'") SUCCESS("b"),
              "[0 tool_call tool_result tool_call tool_result message ]0 final",
              "a result between two lines of a message ends nothing");
    steps_are("claude",
              INIT MESSAGE("m1") SAYS("m1", 0, "a", "b") MESSAGE_DELTA("end_turn")
                  MESSAGE_STOP SUCCESS("ab"),
              "[0 narration narration message ]0 final", "a message that streams");
    steps_are("claude", INIT MESSAGE("m1") MESSAGE("m2") SAYS("m2", 0, "a", "b") MESSAGE_STOP,
              "[0 ]0 [1 narration narration message ]1",
              "an attempt that was given up, and the end");
    steps_are("claude", INIT CALLED("m1", "t1", "{}") SUB_SAID RETURNED("t1", "'r'") SUCCESS("x"),
              "[0 tool_call sub-narration tool_result sub-message message ]0 final",
              "a sub-agent's messages are no steps");
    steps_are("claude", INIT SUCCESS("x") SAID("m1", "late") SUCCESS("y"),
              "final narration message", "what comes behind the outcome is none");
    steps_are("claude",
              INIT TASKS("{'task_id':'a'}") SAID("m1", "a") SUCCESS("a") TASKS("") SAID("m2", "b")
                  SUCCESS("b"),
              "[0 narration message ]0 [1 narration message ]1 final",
              "a step ends with its result, though the outcome is held");
}

static void test_settled(void)
{
    struct reading r;
    reading_init(&r, "claude");
    reading_feed(&r, INIT TASKS("{'task_id':'a'}") SAID("m1", "a") SUCCESS("a") SAID("m2", "b"));
    translator_settle(&r.t);
    reading_end(&r);
    told_is(&r, "[0 narration message ]0 [1 narration ]1 final message",
            "claude: an outcome that is held no longer ends the step that is open");
    reading_fini(&r);
}

#define QWEN_SUB                                                                                   \
    "{'type':'stream_event','parent_tool_use_id':'t1','session_id':'s','event':{'type':"           \
    "'message_start','message':{'id':'s1','model':'o','content':[]}}}\n"                           \
    "{'type':'user','parent_tool_use_id':'t1','session_id':'s','message':{'content':'x'}}\n"
#define QWEN_INIT "{'type':'system','subtype':'init','session_id':'s','qwen_code_version':'1'}\n"
#define RETRY "{'type':'system','subtype':'retry','data':{}," TAIL

static void test_qwen(void)
{
    steps_are("qwen",
              QWEN_INIT SAID("m1", "a") CALLED("m2", "t1", "{}") RETURNED("t1", "'r'")
                  SAID("m3", "b") SUCCESS("b"),
              "[0 narration message tool_call tool_result message ]0 [1 narration message ]1 final",
              "each block has an id of its own: what is between results is one call");
    steps_are(
        "qwen", QWEN_INIT CALLED("m1", "t1", "{}") QWEN_SUB CALLED("m2", "t2", "{}") SUCCESS("b"),
        "[0 tool_call message tool_call message ]0 final", "what a sub-agent is asked begins none");
    steps_are("qwen", QWEN_INIT SAID("m1", "a") RETRY SAID("m2", "b") SUCCESS("b"),
              "[0 narration ]0 [1 narration message ]1 final", "a retry is another one");
    steps_are("qwen",
              QWEN_INIT MESSAGE("m1") SAYS("m1", 0, "a", "b") MESSAGE_STOP MESSAGE("m2")
                  SAYS("m2", 0, "c", "d") MESSAGE_STOP SUCCESS("cd"),
              "[0 narration narration message ]0 [1 narration narration message ]1 final",
              "a message that streams is one");
}

#define G_INIT "{'type':'init','timestamp':'2026-01-01T00:00:00Z','session_id':'s','model':'g'}\n"
#define G_TEXT(role, text) "{'type':'message','role':'" role "','content':'" text "'}\n"
#define G_SAID(text) G_TEXT("assistant", text)
#define G_CALLED(id) "{'type':'tool_use','tool_name':'t','tool_id':'" id "','parameters':{}}\n"
#define G_RETURNED(id) "{'type':'tool_result','tool_id':'" id "','status':'success'}\n"
#define G_RESULT "{'type':'result','status':'success','stats':{}}\n"
#define G_FAILED "{'type':'result','status':'error','error':{'message':'no'}}\n"

static void test_gemini(void)
{
    steps_are("gemini", G_INIT G_TEXT("user", "q") G_FAILED, "message error",
              "nothing of the model, no step");
    steps_are("gemini",
              G_INIT G_TEXT("user", "q") G_SAID("a") G_SAID("b") G_CALLED("1") G_CALLED("2")
                  G_RETURNED("1") G_RETURNED("2") G_SAID("c") G_RESULT,
              "message [0 narration narration message tool_call tool_call tool_result tool_result "
              "]0 [1 narration message ]1 final",
              "what follows the results of tools is another step");
    steps_are("gemini", G_INIT G_CALLED("1") G_RETURNED("1") G_CALLED("2") G_RETURNED("2"),
              "[0 tool_call tool_result ]0 [1 tool_call tool_result ]1",
              "a tool alone begins one, and the end of the stream ends it");
    steps_are("gemini", G_INIT G_SAID("a") G_RETURNED("1") G_SAID("b") G_RESULT,
              "[0 narration tool_result message ]0 [1 narration message ]1 final",
              "a step ends with a whole message");
    steps_are("gemini", G_INIT G_SAID("a") G_TEXT("user", "q") G_SAID("b") G_RESULT,
              "[0 narration message message ]0 [1 narration message ]1 final",
              "a message of the user asks the model again");
    steps_are("gemini", G_INIT G_SAID("a") G_FAILED, "[0 narration message ]0 error",
              "an error ends it, too");
}

#define O_STARTS "{'type':'step_start','sessionID':'s','part':{'messageID':'m'}}\n"
#define O_SAID "{'type':'text','sessionID':'s','part':{'messageID':'m','id':'p','text':'a'}}\n"
#define O_ENDS(reason)                                                                             \
    "{'type':'step_finish','sessionID':'s','part':{'messageID':'m','reason':'" reason "'}}\n"

static void test_opencode(void)
{
    steps_are("opencode", O_STARTS O_SAID O_ENDS("tool-calls") O_STARTS O_SAID O_ENDS("stop"),
              "[0 narration message ]0 [1 narration message ]1 final", "its steps are numbered");
    steps_are("opencode", O_STARTS O_STARTS O_SAID O_ENDS("stop"),
              "[0 ]0 [1 narration message ]1 final", "one without a finish ends with the next");
    steps_are("opencode", O_SAID O_ENDS("stop"), "narration message final",
              "an end without a start is none");
}

static void test_counts(void)
{
    struct reading r;
    reading_of(&r, "gemini", G_INIT G_CALLED("1") G_RETURNED("1") G_SAID("b") G_RESULT);
    has_str(reading_last(&r, "done"), "\"turns\":2", "gemini: done has the number of its calls");
    reading_fini(&r);
    reading_of(&r, "gemini", G_INIT G_FAILED);
    ok(!strstr(reading_last(&r, "done"), "turns"), "gemini: none that is known");
    reading_fini(&r);
    reading_of(&r, "claude", INIT SAID("m1", "a"));
    has_str(r.told.p, "step {\"state\":\"start\",\"index\":0,\"message_id\":\"m1\"}",
            "claude: a step has the id of its message");
    reading_fini(&r);
}

int main(void)
{
    plan_lazy();
    test_claude();
    test_settled();
    test_qwen();
    test_gemini();
    test_opencode();
    test_counts();
    return 0;
}
