/* SPDX-License-Identifier: MIT
 * Tests of the dialects tirea and awaken: the canonical events, and an exact round trip of awaken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/reading.h"
#include "dialect/rewrite.h"
#include "tap/tap.h"

static void test_round_trip(void)
{
    static const char *const cases[] = {
        "suspended",    "resumed",        "error",        "results", "ends-behavior-requested",
        "ends-blocked", "ends-cancelled", "ends-stopped",
    };
    const struct rewrite r = {.dialect = "awaken", .writer = "awaken"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "dialects/awaken/%s.jsonl", cases[i]);
        rewrite_is_same(&r, path);
    }
}

/* Reads a stream, and checks one of its canonical events. */
static void check_events(const char *dialect, const char *stream, const char *wanted,
                         const char *name)
{
    struct reading r;
    has_str(reading_of(&r, dialect, stream), wanted, "%s", name);
    reading_fini(&r);
}

static void test_register(void)
{
    check_events("awaken",
                 "{'event_type':'activity_snapshot','message_id':'c','activity_type':"
                 "'tool-call-progress','content':{'call_id':'c','progress':0.42,'total':100}}\n",
                 "\"percent\":42,\"total\":100",
                 "row 3-3: progress is a ratio, total a counter of its own");
    check_events("tirea",
                 "{'type':'activity_snapshot','data':{'message_id':'tool_call:c','activity_type':"
                 "'progress','content':{'progress':1}}}\n",
                 "\"tool_use_id\":\"c\"", "row 3-4: the id of a tool's node");
    check_events("awaken",
                 "{'event_type':'activity_snapshot','message_id':'c','activity_type':"
                 "'tool-call-progress','content':{'call_id':'c','progress':1}}\n",
                 "\"tool_use_id\":\"c\"", "row 3-4: the id without its prefix");
    check_events("awaken",
                 "{'event_type':'error','message':'m','code':'C'}\n"
                 "{'event_type':'run_finish','termination':{'type':'natural_end'}}\n",
                 "notice {\"level\":\"error\",\"text\":\"m\",\"code\":\"C\"",
                 "row 3-5: an error is a notice");
    check_events("tirea",
                 "{'type':'tool_call_done','data':{'id':'c','message_id':'m','outcome':'succeeded',"
                 "'patch':{'patch':{'ops':[]}},'result':{'data':1,'tool_name':'t'}}}\n",
                 "\"patch\":{\"patch\":{\"ops\":[]}}", "row 3-6: a patch is kept");
    check_events("awaken",
                 "{'event_type':'tool_call_done','id':'c','message_id':'m',"
                 "'result':{'tool_name':'t','data':1},'outcome':'succeeded'}\n",
                 "\"structured\":1,\"message_id\":\"m\"", "row 3-6: a patch may be absent");
    check_events("awaken",
                 "{'event_type':'tool_call_done','id':'c','message_id':'m',"
                 "'result':{'tool_name':'t'},'outcome':'postponed'}\n",
                 "\"outcome\":\"failed\"", "row 3-7: an unknown outcome is a failure");
    check_events("awaken", "{'event_type':'tool_call_done','id':'c','outcome':'postponed'}\n",
                 "\"code\":\"unknown_outcome\"", "row 3-7: an unknown outcome is a notice");
}

#define PIECE(fields)                                                                              \
    "{'type':'activity_snapshot','data':{'message_id':'tool_call:c','activity_type':"              \
    "'tool-call-progress','content':{'call_id':'c'" fields "}}}\n"
#define WHOLE ",'node_id':'n','progress':0.5,'schema':'s','status':'running','type':'t'"

static void test_pieces_of_progress(void)
{
    struct reading r;
    reading_of(&r, "tirea",
               PIECE("") PIECE(",'message':'a'") PIECE(WHOLE) PIECE(WHOLE ",'updated_at_ms':1")
                   PIECE(WHOLE ",'updated_at_ms':1") PIECE(WHOLE ",'updated_at_ms':2"));
    is_int(r.counts[TC_PROGRESS], 2, "row 3-2: the pieces of a progress report are one report");
    is_int(r.counts[TC_STATE], 2, "row 3-2: the pieces of a state are one state");
    reading_fini(&r);

    reading_of(&r, "tirea",
               PIECE(",'message':'cut off'") "{'type':'tool_call_done','data':{'id':'c','result':{"
                                             "'data':'x','tool_name':'t'}}}\n");
    has_str(r.told.p, "\"message\":\"cut off\"",
            "an incomplete report is written before the result");
    reading_fini(&r);
}

static void test_ends(void)
{
    static const struct {
        const char *termination, *told;
    } ends[] = {
        {"{'type':'natural_end'}", "done {\"reason\":\"completed\"}"},
        {"{'type':'plugin_requested'}",
         "done {\"reason\":\"completed\",\"code\":\"behavior_requested\"}"},
        {"{'type':'stopped','value':{'code':'timeout','detail':'d'}}",
         "done {\"reason\":\"stopped\",\"code\":\"timeout\",\"detail\":\"d\"}"},
        {"{'type':'cancelled'}", "done {\"reason\":\"cancelled\"}"},
        {"{'type':'blocked','value':'policy'}",
         "done {\"reason\":\"refused\",\"detail\":\"policy\"}"},
        {"{'type':'error','value':'boom'}", "error {\"message\":\"boom\"}"},
        {"'stopped:max_rounds'", "done {\"reason\":\"stopped\",\"code\":\"max_rounds\"}"},
        {"'blocked:no'", "done {\"reason\":\"refused\",\"detail\":\"no\"}"},
        {"{'type':'vanished'}", "done {\"reason\":\"stopped\",\"code\":\"vanished\"}"},
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char stream[256];
        snprintf(stream, sizeof(stream), "{'event_type':'run_finish','termination':%s}\n",
                 ends[i].termination);
        check_events("awaken", stream, ends[i].told, ends[i].termination);
    }
}

static void test_broken_off(void)
{
    struct reading r;
    check_events("awaken",
                 "{'event_type':'run_start','thread_id':'t','run_id':'r'}\n"
                 "data: x\n{'code':'RELAY_ERROR','message':'gone','type':'error'}\n",
                 "error {\"message\":\"gone\",\"code\":\"RELAY_ERROR\"}",
                 "bug 6: a relay's error is the reason when nothing follows");
    reading_of(&r, "tirea",
               "{'code':'RELAY_ERROR','message':'gone','type':'error'}\n"
               "{'type':'run_finish','data':{'termination':{'type':'natural_end'}}}\n");
    is_int(r.counts[TC_ERROR], 0, "run_finish replaces an earlier error");
    reading_fini(&r);
}

static void test_children(void)
{
    struct reading r;
    reading_of(
        &r, "tirea",
        "{'type':'run_start','run_id':'a'}\n{'type':'run_start','run_id':'b','data':{"
        "'parent_run_id':'a'}}\n{'type':'text_delta','run_id':'b','data':{'delta':'child'}}\n"
        "{'type':'run_finish','run_id':'b','data':{'result':{'response':'child'}}}\n"
        "{'type':'run_finish','run_id':'a','data':{'termination':{'type':'natural_end'}}}\n");
    is_int(r.counts[TC_FINAL], 0, "bug 17: a child's text is not the run's answer");
    is_int(r.counts[TC_DONE], 1, "bug 17: the end of a child is not the end of the run");
    has_str(r.told.p, "step {\"state\":\"start\",\"kind\":\"agent\",\"agent\":\"b\"",
            "a run inside the run is an agent's step");
    reading_fini(&r);
}

static void test_oddities(void)
{
    struct reading r;
    check_events(
        "awaken", "{'event_type':'run_start','thread_id':'t','run_id':'r','parent_run_id':null}\n",
        "start {\"run_id\":\"r\",\"thread_id\":\"t\"}", "bug 24: a null member is left out");
    check_events("tirea",
                 "{'type':'tool_call_ready','data':{'id':'c','name':null,'arguments':null}}\n",
                 "tool_call {\"name\":\"tool\",\"args\":{},\"tool_use_id\":\"c\"",
                 "bug 20: null arguments are empty");
    check_events("tirea", "{'type':'never_heard_of','data':{'a':1}}\n",
                 "\"name\":\"never_heard_of\"", "bug 24: an unknown type is kept as it is");

    reading_of(&r, "tirea",
               "{'type':'activity_delta','data':{'activity_type':'tool-call-progress','message_id':"
               "'tool_call:c','patch':[7,{'op':'test'},{'op':'replace','path':'/nowhere/x'}]}}\n"
               "{'type':'state_delta','data':{'delta':'no patch'}}\n"
               "{'type':'text_delta','data':{'delta':'on'}}\n");
    is_int(r.counts[TC_STATE], 2, "bug 27: an invalid patch is forwarded");
    is_int(r.counts[TC_NARRATION], 1, "bug 27: events after an invalid patch are read");
    reading_fini(&r);

    reading_of(&r, "awaken",
               "{'event_type':'step_start','message_id':'a'}\n"
               "{'event_type':'step_start','message_id':'b'}\n"
               "{'event_type':'run_finish','termination':{'type':'natural_end'}}\n");
    is_int(r.counts[TC_STEP], 3, "an open step ends when the next step begins");
    reading_fini(&r);
}

/* Events of other dialects are written as awaken, too. */
static void test_foreign(void)
{
    const struct rewrite r = {.dialect = "codex", .writer = "awaken", .turn = "t-1"};
    static const char stream[] =
        "{\"type\":\"thread.started\",\"thread_id\":\"th\"}\n"
        "{\"type\":\"item.started\",\"item\":{\"id\":\"i\",\"type\":\"command_execution\","
        "\"command\":\"ls\"}}\n"
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"command_execution\","
        "\"command\":\"ls\",\"aggregated_output\":\"a\",\"status\":\"completed\"}}\n"
        "{\"type\":\"turn.failed\",\"error\":{\"message\":\"broke\"}}\n";
    char *const got = rewrite(&r, stream, strlen(stream));
    is_text(got,
            "{\"event_type\":\"run_start\",\"thread_id\":\"th\",\"run_id\":\"t-1\"}\n"
            "{\"event_type\":\"tool_call_start\",\"id\":\"i\",\"name\":\"shell\"}\n"
            "{\"event_type\":\"tool_call_ready\",\"id\":\"i\",\"name\":\"shell\","
            "\"arguments\":{\"command\":\"ls\"}}\n"
            "{\"event_type\":\"tool_call_done\",\"id\":\"i\",\"message_id\":\"msg_1\","
            "\"result\":{\"tool_name\":\"shell\",\"status\":\"success\",\"data\":\"a\","
            "\"message\":null},\"outcome\":\"succeeded\"}\n"
            "{\"event_type\":\"run_finish\",\"thread_id\":\"th\",\"run_id\":\"t-1\","
            "\"termination\":{\"type\":\"error\",\"value\":\"broke\"}}\n",
            "a codex turn as awaken");
    free(got);
}

int main(void)
{
    plan_lazy();
    test_register();
    test_pieces_of_progress();
    test_ends();
    test_broken_off();
    test_children();
    test_oddities();
    test_foreign();
    test_round_trip();
    return 0;
}
