/* SPDX-License-Identifier: MIT
 * Tests of the AG-UI writer: valid output for every source, and its exact bytes. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dialect/ag_ui_rules.h"
#include "dialect/rewrite.h"
#include "tap/tap.h"

/* Readers of 0.x, of 1.0, and a reader of 1.0 that started the run. */
static const struct writer_conf readers[] = {
    {.protocol = NULL},
    {.protocol = "1.0"},
    {.protocol = "1.0", .thread = "its thread", .run = "its run", .parent_run = "one before"},
};
#define READERS (sizeof(readers) / sizeof(readers[0]))

/* Checks a recorded stream, whole and cut after several of its lines. */
static size_t check_stream(const char *dialect, const char *stream, size_t len, size_t *broken)
{
    size_t checks = 0, line = 0;
    for (size_t cut = 1; cut <= len; cut++) {
        if (stream[cut - 1] != '\n' || (cut < len && ++line % 7))
            continue;
        for (size_t i = 0; i < READERS; i++, checks++) {
            const struct rewrite r = {.dialect = dialect, .writer = "ag-ui", .conf = readers[i]};
            char *const got = rewrite(&r, stream, cut);
            const char *const why = ag_ui_rules(got, readers[i].protocol != NULL);
            if (why) {
                diag("%s at %zu: %s", dialect, cut, why);
                ++*broken;
            }
            free(got);
        }
    }
    return checks;
}

static int is_stream(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".sse") == 0);
}

static void test_recordings(const char *dialect)
{
    char folder[4096], relative[256];
    struct dirent **entries;
    size_t checks = 0, broken = 0;
    snprintf(relative, sizeof(relative), "dialects/%s", dialect);
    snprintf(folder, sizeof(folder), "%s", tap_source(relative));
    const int n = scandir(folder, &entries, is_stream, alphasort);
    for (int i = 0; i < n; i++) {
        char path[8192];
        size_t len;
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        char *const stream = tap_slurp(path, &len);
        checks += check_stream(dialect, stream, len, &broken);
        free(stream);
        free(entries[i]);
    }
    if (n < 0)
        return;
    free(entries);
    ok(broken == 0 && checks > 0, "%s: the output is valid, whole and cut", dialect);
    diag("%zu checks", checks);
}

/* A pseudo-random number, the same in every run. */
static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Lines of all AG-UI streams in random order, with ids from different streams. */
static void test_shuffled(void)
{
    static const char *const names[] = {"0.x",    "1.0-cancelled", "1.0-subagents", "cancelled",
                                        "chunks", "error",         "interrupt",     "plain"};
    struct buf all = {0};
    const char *lines[256];
    size_t n = 0, broken = 0;
    uint32_t seed = 7;
    const char *const wants_long = getenv("TURNCAST_LONG");
    const int rounds = wants_long && strcmp(wants_long, "1") == 0 ? 5000 : 300;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char relative[64];
        size_t len;
        snprintf(relative, sizeof(relative), "dialects/ag-ui/%s.jsonl", names[i]);
        char *const stream = tap_slurp(tap_source(relative), &len);
        buf_add(&all, stream, len);
        free(stream);
    }
    for (const char *p = all.p; *p && n < 256; p += strcspn(p, "\n") + 1)
        if (strncmp(p, "{\"type\":\"RUN_", 13) != 0)
            lines[n++] = p;
    for (int round = 0; round < rounds; round++) {
        struct buf mixed = {0};
        for (uint32_t count = 5 + draw(&seed) % 60; count > 0; count--) {
            const char *const line = lines[draw(&seed) % n];
            buf_add(&mixed, line, strcspn(line, "\n") + 1);
        }
        buf_add_str(&mixed, "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n");
        check_stream("ag-ui", mixed.p, mixed.len, &broken);
        buf_fini(&mixed);
    }
    ok(broken == 0 && n > 80, "lines of all streams in random order: the output is valid");
    buf_fini(&all);
}

/* The output for canonical events (without envelope, quotes as '); the caller frees it. */
static char *written(const char *events, const char *protocol)
{
    struct buf lines = {0};
    unsigned seq = 0;
    for (const char *p = events; *p; p += strcspn(p, "\n") + 1) {
        const size_t kind = strcspn(p, " ");
        buf_printf(&lines,
                   "{\"type\":\"%.*s\",\"payload\":%.*s,\"ts\":1,\"correlation_id\":\"t\","
                   "\"session_id\":\"s\",\"seq\":%u,\"src\":\"claude\"}\n",
                   (int)kind, p, (int)(strcspn(p, "\n") - kind - 1), p + kind + 1, ++seq);
    }
    for (size_t i = 0; i < lines.len; i++)
        if (lines.p[i] == '\'')
            lines.p[i] = '"';
    const struct rewrite r = {
        .dialect = "turncast", .writer = "ag-ui", .turn = "turn", .conf.protocol = protocol};
    char *const got = rewrite(&r, lines.p, lines.len);
    buf_fini(&lines);
    return got;
}

static void check_output(const char *events, const char *protocol, const char *wanted,
                         const char *name)
{
    char *const got = written(events, protocol), *const want = xstrdup(wanted);
    for (char *p = want; *p; p++)
        if (*p == '\'')
            *p = '"';
    is_text(got, want, name);
    const char *const why = ag_ui_rules(got, protocol != NULL);
    ok(!why, "%s: the output is valid", name);
    if (why)
        diag("%s", why);
    free(got);
    free(want);
}

#define BEGIN "{'type':'RUN_STARTED','threadId':'s','runId':'turn'}\n"
#define BEGIN_1 "{'type':'RUN_STARTED','threadId':'s','runId':'turn','protocolVersion':'1.0'}\n"
#define SUCCESS                                                                                    \
    "{'type':'RUN_FINISHED','threadId':'s','runId':'turn','outcome':{'type':'success'}}\n"
#define START "start {}\n"
#define END "final {'text':'','synthesized':true}\ndone {'reason':'completed'}\n"

static void test_text(void)
{
    check_output(START "narration {'text':'a','message_id':'m'}\n"
                       "tool_call {'name':'t','args':{},'tool_use_id':'c'}\n"
                       "tool_result {'tool_use_id':'c','content':'r','is_error':false}\n"
                       "narration {'text':'b','message_id':'m'}\n"
                       "final {'text':'b'}\ndone {'reason':'completed'}\n",
                 NULL,
                 BEGIN "{'type':'TEXT_MESSAGE_START','messageId':'m','role':'assistant'}\n"
                       "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'a'}\n"
                       "{'type':'TEXT_MESSAGE_END','messageId':'m'}\n"
                       "{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'t'}\n"
                       "{'type':'TOOL_CALL_ARGS','toolCallId':'c','delta':'{}'}\n"
                       "{'type':'TOOL_CALL_END','toolCallId':'c'}\n"
                       "{'type':'TOOL_CALL_RESULT','messageId':'c-result','toolCallId':'c',"
                       "'content':'r','role':'tool'}\n"
                       "{'type':'TEXT_MESSAGE_START','messageId':'m-2','role':'assistant'}\n"
                       "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m-2','delta':'b'}\n"
                       "{'type':'TEXT_MESSAGE_END','messageId':'m-2'}\n" SUCCESS,
                 "bug 11, bug 29: text around a call is not repeated by the final");
    check_output(
        START "thinking {'text':'h','message_id':'m'}\nnarration {'text':'a','message_id':'m'}\n"
              "final {'text':'other'}\ndone {'reason':'completed'}\n",
        NULL,
        BEGIN "{'type':'REASONING_START','messageId':'m-reasoning'}\n"
              "{'type':'REASONING_MESSAGE_START','messageId':'m-reasoning','role':'reasoning'}\n"
              "{'type':'REASONING_MESSAGE_CONTENT','messageId':'m-reasoning','delta':'h'}\n"
              "{'type':'REASONING_MESSAGE_END','messageId':'m-reasoning'}\n"
              "{'type':'REASONING_END','messageId':'m-reasoning'}\n"
              "{'type':'TEXT_MESSAGE_START','messageId':'m','role':'assistant'}\n"
              "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'a'}\n"
              "{'type':'TEXT_MESSAGE_END','messageId':'m'}\n"
              "{'type':'TEXT_MESSAGE_START','messageId':'msg_1','role':'assistant'}\n"
              "{'type':'TEXT_MESSAGE_CONTENT','messageId':'msg_1','delta':'other'}\n"
              "{'type':'TEXT_MESSAGE_END','messageId':'msg_1'}\n" SUCCESS,
        "bug 11: reasoning and text of one id, and a different final");
}

static void test_calls(void)
{
    check_output(
        START "progress {'tool_use_id':'c','name':'t','phase':'preparing'}\n"
              "progress {'tool_use_id':'c','phase':'args','args_delta':'{\\'a\\':'}\n"
              "tool_call {'name':'t','args':{'a':1},'tool_use_id':'c','args_raw':'{\\'a\\': 1}',"
              "'message_id':'unheard'}\n"
              "progress {'tool_use_id':'c','phase':'running','percent':50}\n"
              "tool_result {'tool_use_id':'c','content':'no','is_error':true,"
              "'outcome':'denied'}\n" END,
        NULL,
        BEGIN "{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'t'}\n"
              "{'type':'TOOL_CALL_ARGS','toolCallId':'c','delta':'{\\'a\\':'}\n"
              "{'type':'TOOL_CALL_ARGS','toolCallId':'c','delta':' 1}'}\n"
              "{'type':'TOOL_CALL_END','toolCallId':'c'}\n"
              "{'type':'ACTIVITY_SNAPSHOT','messageId':'tool_call:c','activityType':"
              "'tool-call-progress','content':{'call_id':'c','status':'running','progress':0.5},"
              "'replace':true}\n"
              "{'type':'TOOL_CALL_RESULT','messageId':'c-result','toolCallId':'c','content':'no'"
              ",'role':'tool','metadata':{'isError':true,'outcome':'denied'}}\n" SUCCESS,
        "bug 16, bug 20: an unknown parent is left out, arguments are written once");
}

static void test_steps(void)
{
    static const char steps[] = START "step {'state':'start','name':'s','step_id':'1'}\n"
                                      "step {'state':'start','name':'s','step_id':'2'}\n"
                                      "step {'state':'end','name':'s','step_id':'1'}\n"
                                      "step {'state':'mark','name':'half'}\n" END;
    check_output(steps, NULL,
                 BEGIN "{'type':'STEP_STARTED','stepName':'s'}\n"
                       "{'type':'STEP_STARTED','stepName':'s (2)'}\n"
                       "{'type':'STEP_FINISHED','stepName':'s'}\n"
                       "{'type':'STEP_STARTED','stepName':'half'}\n"
                       "{'type':'STEP_FINISHED','stepName':'half'}\n"
                       "{'type':'STEP_FINISHED','stepName':'s (2)'}\n" SUCCESS,
                 "bug 10: steps of one name; the open step is ended");
    static const char agents[] =
        START "step {'state':'start','kind':'agent','name':'n','agent':'a','parent_id':'c'}\n"
              "narration {'text':'child','message_id':'m','parent_id':'c'}\n"
              "step {'state':'end','kind':'agent','agent':'a','outcome':'success'}\n" END;
    check_output(agents, "1.0",
                 BEGIN_1
                 "{'type':'SUBAGENT_STARTED','subagentRunId':'a','name':'n','parentToolCallId':"
                 "'c'}\n"
                 "{'type':'TEXT_MESSAGE_START','subagentRunId':'a','messageId':'m','role':"
                 "'assistant'}\n"
                 "{'type':'TEXT_MESSAGE_CONTENT','subagentRunId':'a','messageId':'m','delta':"
                 "'child'}\n"
                 "{'type':'TEXT_MESSAGE_END','subagentRunId':'a','messageId':'m'}\n"
                 "{'type':'SUBAGENT_FINISHED','subagentRunId':'a','outcome':{'type':"
                 "'success'}}\n" SUCCESS,
                 "a sub-agent in the form of 1.0");
    check_output(agents, NULL,
                 BEGIN "{'type':'STEP_STARTED','stepName':'n'}\n"
                       "{'type':'STEP_FINISHED','stepName':'n'}\n" SUCCESS,
                 "bug 17: the text of a sub-agent is left out for readers of 0.x");
}

static struct event draft(enum tc_kind kind)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta.src = "claude";
    ev.meta.correlation_id = ev.meta.session_id = "t";
    return ev;
}

/* A slow connector loses steps and progress: the end of a step and pieces of arguments may be
 * missing. */
static void test_gaps(void)
{
    struct writer_stream w;
    struct buf out = {0};
    struct event step = draft(TC_STEP), piece = draft(TC_PROGRESS), call = draft(TC_TOOL_CALL),
                 done = draft(TC_DONE);
    step.u.step.state = "start";
    step.u.step.name = "s";
    piece.u.progress.tool_use_id = call.u.tool_call.tool_use_id = "c";
    piece.u.progress.phase = "args";
    piece.u.progress.args_delta = "1}";
    piece.u.progress.args_delta_len = 2;
    call.u.tool_call.name = "t";
    call.u.tool_call.args = call.u.tool_call.args_raw = "{\"a\":1}";
    call.u.tool_call.args_len = call.u.tool_call.args_raw_len = 7;
    done.u.done.reason = "completed";
    writer_stream_init(&w, writer_find("ag-ui"), &(struct writer_conf){.framing = FRAMING_LINES});
    struct event *const all[] = {&step, &piece, &call, &piece, &done};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        writer_stream_write(&w, &out, all[i]);
    const char *const why = ag_ui_rules(out.p, false);
    ok(!why, "bug 10: a step whose end was lost, arguments with a gap");
    if (why)
        diag("%s", why);
    ok(strstr(out.p, "STEP_FINISHED") && !strstr(out.p, "a\\\":1"),
       "arguments after a gap are left out");
    const char *const first = strstr(out.p, "TOOL_CALL_START");
    ok(first && !strstr(first + 1, "TOOL_CALL_START"),
       "bug 12: a late piece does not start a call again");
    writer_stream_fini(&w);
    buf_fini(&out);
}

/* A reader that started the run gets its own thread and run IDs, and no id of another run. */
static void test_names(void)
{
    struct writer_stream w;
    struct buf out = {0};
    struct event start = draft(TC_START), said = draft(TC_NARRATION), call = draft(TC_TOOL_CALL),
                 result = draft(TC_TOOL_RESULT), done = draft(TC_DONE);
    start.u.start.thread_id = "theirs";
    start.u.start.run_id = "theirs";
    said.u.narration.text = "hi";
    said.u.narration.text_len = 2;
    said.u.narration.message_id = "m";
    call.u.tool_call.tool_use_id = result.u.tool_result.tool_use_id = "c";
    call.u.tool_call.name = "t";
    done.u.done.reason = "completed";
    writer_stream_init(&w, writer_find("ag-ui"),
                       &(struct writer_conf){.thread = "T", .run = "R", .parent_run = "P"});
    struct event *const all[] = {&start, &said, &call, &result, &done};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        writer_stream_write(&w, &out, all[i]);
    has_str(out.p, "\"threadId\":\"T\",\"runId\":\"R\",\"parentRunId\":\"P\"}\n",
            "a run has the IDs of its reader");
    has_str(out.p, "\"RUN_FINISHED\",\"threadId\":\"T\",\"runId\":\"R\"",
            "the end of the run has the IDs of its reader");
    ok(!strstr(out.p, "theirs"), "no other IDs are written");
    has_str(out.p, "\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"R:m\"",
            "a message ID begins with the run ID");
    has_str(out.p, "\"TOOL_CALL_END\",\"toolCallId\":\"R:c\"", "a call ID begins with the run ID");
    has_str(out.p, "\"messageId\":\"R:c-result\",\"toolCallId\":\"R:c\"",
            "the ID of a result begins with the run ID");
    writer_stream_fini(&w);
    buf_fini(&out);
}

static void check_runs(char *text)
{
    char *const second = strstr(text + 1, "{\"type\":\"RUN_STARTED\"");
    ok(second && !ag_ui_rules(second, true), "the second run of a turn is valid");
    if (second)
        *second = 0;
    ok(!ag_ui_rules(text, true), "the first run of a turn is valid");
    if (second)
        *second = '{';
    has_str(text,
            "{\"type\":\"RUN_FINISHED\",\"threadId\":\"T\",\"runId\":\"R2\",\"outcome\":"
            "{\"type\":\"interrupt\",\"interrupts\":[{\"id\":\"R1:q\",\"reason\":\"tool_call\","
            "\"message\":\"It writes.\",\"toolCallId\":\"R1:c\",\"responseSchema\":{\"type\":"
            "\"object\",\"properties\":{\"approved\":{\"type\":\"boolean\"},\"choice\":{\"type\":"
            "\"string\",\"enum\":[\"allow\",\"deny\"]},\"reason\":{\"type\":\"string\"},"
            "\"editedArgs\":{\"type\":\"object\"}},\"required\":[\"approved\"]},\"expiresAt\":"
            "\"2026-08-01T08:00:00Z\"",
            "the possible answers are a response schema");
    has_str(text, "}]}}]}}\n{\"type\":\"RUN_STARTED\"",
            "the usage of the run is written with its end");
    has_str(text, "\"subagentRunId\":\"x\",\"outcome\":{\"type\":\"suspended\"}}",
            "a sub-agent is suspended");
    has_str(text,
            "\"R1\"}\n{\"type\":\"STEP_STARTED\",\"stepName\":\"look\"}\n{\"type\":\"SUBAGENT_"
            "STARTED\","
            "\"subagentRunId\":\"x\",\"name\":\"explorer\",\"parentToolCallId\":\"R1:c\"}\n",
            "a sub-agent is resumed, as steps are");
    has_str(text, "\"TEXT_MESSAGE_START\",\"messageId\":\"R1:m-2\"",
            "a continued message has a new ID");
    has_str(text, "\"messageId\":\"R1:c-result\",\"toolCallId\":\"R1:c\"",
            "a result has the call ID of the previous run");
    has_str(text, "\"outcome\":{\"type\":\"success\"},\"usage\":[{\"inputTokens\":7",
            "the usage is that of the turn");
}

/* One turn in two runs with a request between: nothing is repeated, and the IDs match. */
static void test_runs(void)
{
    struct event start = draft(TC_START), said = draft(TC_NARRATION), call = draft(TC_TOOL_CALL),
                 usage = draft(TC_USAGE), asked = draft(TC_REQUEST), stop = draft(TC_DONE),
                 step = draft(TC_STEP), child = draft(TC_STEP), over = draft(TC_STEP),
                 resolved = draft(TC_REQUEST), result = draft(TC_TOOL_RESULT),
                 done = draft(TC_DONE);
    struct writer_stream w;
    CLEANUP_BUF struct buf out = {0};
    said.u.narration.text = "hi";
    said.u.narration.text_len = 2;
    said.u.narration.message_id = "m";
    call.u.tool_call.name = "Bash";
    call.u.tool_call.tool_use_id = "c";
    call.u.tool_call.args = "{}";
    call.u.tool_call.args_len = 2;
    usage.u.usage.scope = "call";
    usage.u.usage.input_tokens = 7;
    usage.u.usage.output_tokens = 1;
    asked.u.request = (struct tc_request){
        .meta = &asked.meta,
        .request_id = "q",
        .kind = "approval",
        .state = "open",
        .tool_use_id = "c",
        .tool = "Bash",
        .subject = "ls",
        .reason = "It writes.",
        .expires_ms = 1785571200000,
        .blocking = true,
        .choices = "[{\"id\":\"allow\",\"label\":\"Allow\"},{\"id\":\"deny\",\"label\":\"Deny\"}]",
    };
    stop.u.done.reason = "suspended";
    resolved.u.request.request_id = "q";
    resolved.u.request.kind = "approval";
    resolved.u.request.state = "resolved";
    result.u.tool_result.tool_use_id = "c";
    result.u.tool_result.content = "done";
    result.u.tool_result.content_len = 4;
    done.u.done.reason = "completed";
    writer_stream_init(
        &w, writer_find("ag-ui"),
        &(struct writer_conf){
            .protocol = "1.0", .thread = "T", .run = "R2", .scope = "R1", .parent_run = "R1"});
    step.u.step.state = child.u.step.state = "start";
    step.u.step.name = "look";
    child.u.step.name = "explorer";
    child.u.step.kind = "agent";
    child.meta.agent = "x";
    child.meta.parent_id = "c";
    over = child;
    over.u.step.state = "end";
    struct event *const all[] = {&start, &said,  &call,     &step, &child, &usage,  &asked,
                                 &stop,  &start, &resolved, &over, &said,  &result, &done};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        writer_stream_write(&w, &out, all[i]);
    check_runs(out.p);
    writer_stream_fini(&w);
}

static void test_ends(void)
{
    static const char cancelled[] =
        START "final {'text':'','synthesized':true}\ndone {'reason':'cancelled'}\n";
    check_output(cancelled, "1.0",
                 BEGIN_1 "{'type':'RUN_FINISHED','threadId':'s','runId':'turn','outcome':{'type':"
                         "'cancelled'}}\n",
                 "bug 9: cancelled in the form of 1.0");
    check_output(cancelled, NULL,
                 BEGIN "{'type':'RUN_ERROR','message':'Run cancelled','code':'CANCELLED'}\n",
                 "bug 9: cancelled in the form of 0.x");
    check_output(START "error {'message':'m','code':'c'}\n"
                       "usage {'scope':'turn','input_tokens':10,'output_tokens':5,"
                       "'cache_read_tokens':100,'cache_write_tokens':20,'cache_counted':false}\n"
                       "done {'reason':'error'}\n",
                 NULL,
                 BEGIN "{'type':'RUN_ERROR','message':'m','code':'c','usage':[{'inputTokens':130,"
                       "'outputTokens':5,'totalTokens':135,'cachedInputTokens':100}]}\n",
                 "bug 2: one end; the usage is the total, with the cache");
    check_output(START
                 "tool_call {'name':'t','args':{},'tool_use_id':'c'}\n"
                 "request {'request_id':'q','kind':'approval','state':'open','tool_use_id':'c',"
                 "'message':'May I?','expires_ms':1785571200000,'blocking':true}\n"
                 "done {'reason':'suspended'}\nfinal {'text':'','synthesized':true}\n",
                 NULL,
                 BEGIN "{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'t'}\n"
                       "{'type':'TOOL_CALL_ARGS','toolCallId':'c','delta':'{}'}\n"
                       "{'type':'TOOL_CALL_END','toolCallId':'c'}\n"
                       "{'type':'RUN_FINISHED','threadId':'s','runId':'turn','outcome':{'type':"
                       "'interrupt','interrupts':[{'id':'q','reason':'approval','message':'May I?',"
                       "'toolCallId':'c','expiresAt':'2026-08-01T08:00:00Z','metadata':{'kind':"
                       "'approval'}}]}}\n",
                 "an open request is an interrupt, and its call has no result");
}

static void test_rest(void)
{
    check_output(START "notice {'level':'warn','text':'n','code':'k'}\n"
                       "state {'scope':'state','op':'delta','patch':[{'op':'add','path':'no/slash',"
                       "'value':1}]}\n"
                       "state {'scope':'messages','op':'snapshot','value':[{'id':1}]}\n"
                       "raw {'dialect':'claude','event':{'type':'odd'},'name':'odd'}\n" END,
                 NULL,
                 BEGIN "{'type':'CUSTOM','name':'notice','value':{'level':'warn','text':'n',"
                       "'code':'k'}}\n"
                       "{'type':'CUSTOM','name':'state','value':[{'op':'add','path':'no/slash',"
                       "'value':1}]}\n"
                       "{'type':'CUSTOM','name':'messages','value':[{'id':1}]}\n"
                       "{'type':'RAW','event':{'type':'odd'},'source':'claude'}\n" SUCCESS,
                 "bug 27: values that a reader cannot parse are written as CUSTOM");
    const struct rewrite r = {.dialect = "ag-ui", .writer = "ag-ui", .conf.framing = FRAMING_SSE};
    size_t len;
    char *const frames = tap_slurp(tap_source("dialects/ag-ui/resumed.jsonl"), &len);
    char *const got = rewrite(&r, frames, len);
    ok(strstr(got, "data: {\"type\":\"RUN_STARTED\"") == got && strstr(got, "}\n\ndata: "),
       "the output is server-sent events");
    free(got);
    free(frames);
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; dialect_get(i); i++)
        test_recordings(dialect_get(i)->name);
    test_shuffled();
    test_text();
    test_calls();
    test_steps();
    test_gaps();
    test_names();
    test_runs();
    test_ends();
    test_rest();
    return 0;
}
