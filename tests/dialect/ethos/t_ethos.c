/* SPDX-License-Identifier: MIT
 * Tests of the ethos dialects and their writer, by the rows of the register (what the seed's
 * text says against what the code does) and of the list of bugs they must not have. */
#include <stdlib.h>
#include <string.h>

#include "dialect/reading.h"
#include "dialect/writer/writer.h"
#include "tap/tap.h"

static struct reading r;

static const char *read_all(const char *dialect, const char *lines)
{
    reading_fini(&r);
    return reading_of(&r, dialect, lines);
}

#define RUN "{'type':'run_start','provider':'p','model':'m','source':'global'}\n"
#define TEXT(text) "{'type':'text_delta','text':'" text "'}\n"
#define ERROR(code) "{'type':'error','error':'why','code':'" code "'}\n"
#define DONE(text) "{'type':'done','text':'" text "','turnCount':2}\n"
#define BEGIN(id, name)                                                                            \
    "{'type':'tool_start','toolCallId':'" id "','toolName':'" name "','args':{}}\n"
#define PROGRESS(name, more)                                                                       \
    "{'type':'tool_progress','toolName':'" name "','message':'m'" more "}\n"
#define END(id, name)                                                                              \
    "{'type':'tool_end','toolCallId':'" id "','toolName':'" name                                   \
    "','ok':false,'durationMs':0,'result':'no'}\n"

static void test_terminals(void)
{
    read_all("ethos", RUN ERROR("BUDGET_EXCEEDED") DONE(""));
    is_int((long long)r.counts[TC_ERROR], 1, "row 2-1: error then done is an error");
    is_int((long long)r.counts[TC_FINAL], 0, "row 2-1: and no final");
    is_str(reading_last(&r, "done"),
           "{\"reason\":\"error\",\"code\":\"BUDGET_EXCEEDED\",\"turns\":2,"
           "\"x\":{\"text\":\"\"}}",
           "row 2-1: the done is folded into its done");
    read_all("ethos", RUN ERROR("a") ERROR("b"));
    is_int((long long)r.counts[TC_ERROR], 1, "bug 2: of two errors the first one counts");
    has_str(r.told.p, "\"code\":\"b\"", "bug 2: and the second is told");
    read_all("ethos", RUN DONE("x") "{'type':'dry_run_summary','plan':[],'capped':0}\n");
    has_str(r.told.p, "\"code\":\"dry_run_summary\",\"x\":{\"plan\":[],\"capped\":0}",
            "row 2-1: a summary behind done is told");
    read_all("ethos", RUN DONE("x") DONE("y"));
    is_int((long long)r.counts[TC_DONE], 1, "bug 2: one done");
    read_all("ethos", RUN TEXT("a"));
    is_int((long long)(r.counts[TC_DONE] + r.counts[TC_FINAL] + r.counts[TC_ERROR]), 0,
           "row 2-1: silence leaves the end to the guard");
}

static void test_codes(void)
{
    read_all("ethos", RUN TEXT("So far") ERROR("aborted"));
    has_str(reading_last(&r, "done"), "\"cancelled\"", "row 2-2: aborted is a cancel");
    is_int((long long)r.counts[TC_ERROR], 0, "bug 9: and no failure");
    has_str(reading_last(&r, "final"), "So far", "bug 53: what was said is kept");
    read_all("ethos", RUN ERROR("abort"));
    has_str(reading_last(&r, "done"), "\"cancelled\"", "row 2-2: and so is abort");
    read_all("ethos", RUN ERROR("llm_timeout"));
    has_str(reading_last(&r, "error"), "\"code\":\"streaming_timeout\",\"x\":{\"code\":",
            "row 2-2: llm_timeout is streaming_timeout");
    read_all("ethos", RUN ERROR("watcher_loop"));
    has_str(reading_last(&r, "error"), "\"code\":\"watcher_loop\"", "row 2-2: any code passes");
    read_all("ethos",
             RUN "{'type':'halt','kind':'budget','rule':'cost-cap','message':'m'}\n" DONE("x"));
    has_str(reading_last(&r, "done"), "\"stopped\",\"code\":\"cost-cap\"",
            "bug 58: a halt is known by its rule");
    read_all("ethos", RUN TEXT("stopped: tool repeated 3 times") DONE("x"));
    has_str(reading_last(&r, "done"), "completed", "bug 58: and not by prose");
}

static void test_tools(void)
{
    read_all("ethos", RUN END("t", "rm") DONE("x"));
    has_str(reading_last(&r, "tool_result"), "\"outcome\":\"denied\"",
            "row 2-3: a rejected call has an end without a start");
    read_all("ethos", RUN BEGIN("t", "rm") END("t", "rm") DONE("x"));
    has_str(reading_last(&r, "tool_result"), "\"outcome\":\"failed\"", "one that began failed");
    read_all("ethos", RUN BEGIN("a", "f") BEGIN("b", "f") PROGRESS("f", ""));
    has_str(reading_last(&r, "progress"), "\"tool_use_id\":\"a\"",
            "row 2-6: progress is the oldest open call's of that name");
    read_all("ethos", RUN BEGIN("a", "f") BEGIN("b", "f") END("a", "f") PROGRESS("f", ""));
    has_str(reading_last(&r, "progress"), "\"tool_use_id\":\"b\"", "row 2-6: or the only one's");
    read_all("ethos", RUN BEGIN("a", "f") PROGRESS("_budget", ""));
    is_int((long long)reading_count(&r, "\"tool_use_id\":\"a\""), 1,
           "row 2-6: with none open it is the turn's");
    read_all("ethos", RUN BEGIN("a#0", "f"));
    has_str(reading_last(&r, "tool_call"), "\"parent_id\":\"a\"", "bug 17: # gives the parent");
    read_all("ethos", RUN "{'type':'tool_end','toolCallId':'t','toolName':'f','ok':true,"
                          "'durationMs':1840,'result':'r'}\n");
    has_str(reading_last(&r, "tool_result"), "\"duration_ms\":1840",
            "row 2-10: the duration is the source's, not the arrival's");
}

static void test_audience(void)
{
    read_all("ethos", RUN PROGRESS("f", ",'audience':'dashboard'"));
    has_str(reading_last(&r, "progress"), "\"audience\":\"dashboard\"", "row 2-7: three values");
    read_all("ethos", RUN PROGRESS("f", ""));
    has_str(reading_last(&r, "progress"), "\"audience\":\"internal\"",
            "row 2-7: absent is internal");
    read_all("ethos-web", RUN PROGRESS("f", ",'audience':'user'"));
    has_str(reading_last(&r, "progress"), "\"audience\":\"internal\",\"x\":{\"audience\":\"user\"}",
            "bug 56: what the web bridge says of it is not believed");
    read_all("ethos", RUN BEGIN("a", "f"));
    is_int((long long)reading_count(&r, "audience"), 0, "row 2-7: absent on a call is ordinary");
}

static void test_answer(void)
{
    read_all("ethos", RUN TEXT("Half.") DONE("Whole."));
    has_str(reading_last(&r, "final"), "\"text\":\"Whole.\"", "row 2-5: done.text is the answer");
    has_str(reading_last(&r, "done"), "\"turns\":2", "row 2-4: turnCount is passed on");
    read_all("ethos", RUN TEXT("Ha") TEXT("lf.") DONE(""));
    has_str(reading_last(&r, "final"), "\"text\":\"Half.\"", "row 2-5: unless it is empty");
    read_all("ethos", "{'type':'error','error':'locked','code':'personality_locked'}\n");
    is_int((long long)r.counts[TC_START], 0, "row 2-8: no start on an early refusal");
    read_all("ethos-web", "{'type':'stream_meta','requestId':'r'}\n" RUN);
    ok(strncmp(r.told.p, "start {\"provider\":\"p\"", 21) == 0,
       "row 2-8: what comes before the start waits for it");
    read_all("ethos-acp", "{'jsonrpc':'2.0','id':0,'result':{}}\n{'jsonrpc':'2.0','method':"
                          "'$/stream','params':{'requestId':1,'event':{'type':'text_delta',"
                          "'text':'a'}}}\n{'jsonrpc':'2.0','id':1,'result':{'text':'a',"
                          "'turnCount':1}}\n");
    has_str(reading_last(&r, "done"), "\"completed\",\"turns\":1", "the response is the done");
    read_all("ethos", RUN "{'type':'usage','inputTokens':5,'outputTokens':1,"
                          "'estimatedCostUsd':0.5}\n{'type':'usage','inputTokens':0,"
                          "'outputTokens':0,'estimatedCostUsd':0.25}\n" DONE("x"));
    has_str(reading_last(&r, "usage"),
            "{\"scope\":\"turn\",\"input_tokens\":5,\"output_tokens\":1,\"cost_usd\":0.75",
            "row 2-9: what tools cost is added");
    read_all("ethos", RUN "{'type':'of_2031'}\n{'type':null}\n" DONE("x"));
    has_str(r.told.p, "\"name\":\"of_2031\"", "bug 24: unknown types are raw");
}

/* What the writer makes of events that no Ethos said. */
static void test_writer(void)
{
    struct writer_stream w;
    struct writer_conf conf = {.model = "m"};
    struct buf out = {0};
    struct event ev;
    writer_stream_init(&w, writer_find("ethos"), &conf);
    event_init(&ev, TC_START);
    writer_stream_write(&w, &out, &ev);
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "turn";
    ev.u.usage.input_tokens = 10;
    ev.u.usage.cache_read_tokens = 4;
    ev.u.usage.cache_counted = 1;
    ev.u.usage.cost_usd = 1e21;
    writer_stream_write(&w, &out, &ev);
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "stopped";
    ev.u.done.code = "max_turns";
    writer_stream_write(&w, &out, &ev);
    is_str(out.p,
           "{\"type\":\"run_start\",\"provider\":\"\",\"model\":\"m\",\"source\":\"global\"}\n"
           "{\"type\":\"usage\",\"inputTokens\":6,\"outputTokens\":0,\"estimatedCostUsd\":1e+21,"
           "\"cacheReadTokens\":4}\n"
           "{\"type\":\"halt\",\"kind\":\"budget\",\"rule\":\"max_turns\","
           "\"message\":\"max_turns\"}\n"
           "{\"type\":\"done\",\"text\":\"\",\"turnCount\":1}\n",
           "a turn of somebody else's");
    buf_reset(&out);
    event_init(&ev, TC_ERROR);
    ev.u.error.message = "no";
    writer_stream_write(&w, &out, &ev);
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "error";
    ev.u.done.turns = 3;
    writer_stream_write(&w, &out, &ev);
    is_str(out.p, "{\"type\":\"error\",\"error\":\"no\",\"code\":\"llm_error\"}\n",
           "row 2-1: nothing follows an error");
    writer_stream_fini(&w);
    buf_fini(&out);
}

int main(void)
{
    plan_lazy();
    test_terminals();
    test_codes();
    test_tools();
    test_audience();
    test_answer();
    test_writer();
    reading_fini(&r);
    return 0;
}
