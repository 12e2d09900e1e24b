/* SPDX-License-Identifier: MIT
 * Tests of the reasonix dialects and their writer, by the rows of the register (what the seed's
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

#define START "{'kind':'turn_started'}\n"
#define TEXT(text) "{'kind':'text','text':'" text "'}\n"
#define MESSAGE(text) "{'kind':'message','text':'" text "'}\n"
#define CALL(id, args)                                                                             \
    "{'kind':'tool_dispatch','tool':{'id':'" id "','name':'bash','args':'" args                    \
    "','readOnly':true,'parentId':'p'}}\n"
#define TOP_CALL(id)                                                                               \
    "{'kind':'tool_dispatch','tool':{'id':'" id "','name':'bash','readOnly':false}}\n"
#define DONE "{'kind':'turn_done'}\n"
#define COVENANT "{'kind':'turn_done','err':'covenant violation: p2'}\n"

static void test_refusal(void)
{
    read_all("reasonix", START COVENANT);
    is_int((long long)r.counts[TC_DONE], 1, "row 1-1: refused when the stream ends behind it");
    has_str(reading_last(&r, "done"), "{\"reason\":\"refused\",\"code\":\"p2\"",
            "row 1-2: the covenant comes from the text");
    is_int((long long)r.counts[TC_ERROR], 0, "row 1-1: a refusal is no error");

    read_all("reasonix", START COVENANT TEXT("Then so.") MESSAGE("Then so.") DONE);
    has_str(reading_last(&r, "done"), "{\"reason\":\"completed\"}",
            "row 1-1: a turn that goes on behind it is not refused");

    read_all("reasonix", START "{'kind':'turn_aborted','covenant':'p5','err':'no'}\n" DONE);
    has_str(reading_last(&r, "done"), "\"code\":\"p5\",\"detail\":\"no\"",
            "row 1-2: the explicit covenant counts");

    read_all("reasonix",
             START COVENANT "{'kind':'turn_done','err':'blocked by core covenant: p2'}\n");
    is_int((long long)r.counts[TC_DONE], 1, "row 1-3: two turn_done are one done");
    is_str(reading_last(&r, "done"),
           "{\"reason\":\"refused\",\"code\":\"p2\",\"detail\":\"covenant violation: p2\","
           "\"x\":{\"err\":\"blocked by core covenant: p2\"}}",
           "row 1-3: the second one ends the turn");

    reading_fini(&r);
    reading_init(&r, "reasonix");
    reading_feed(&r, START COVENANT);
    is_int((long long)r.counts[TC_DONE], 0, "row 1-3: not closed at the first turn_done");
    reading_feed(&r, START);
    is_int((long long)r.counts[TC_DONE], 1, "row 1-3: closed by the next start");
    reading_end(&r);
}

static void test_start(void)
{
    const char *const planner =
        "{'kind':'phase','text':'planning'}\n" TEXT("Plan.") START START TEXT("Do.") DONE;
    const char *const told = read_all("reasonix", planner);
    is_int((long long)r.counts[TC_START], 1, "row 1-4: one start, however often it is said");
    ok(strncmp(told, "start ", 6) == 0, "row 1-4: before what the planner said");
    is_str(reading_text(&r), "Plan.Do.", "bug 18: the start does not wipe the planner's text");
    has_str(reading_last(&r, "final"), "\"text\":\"Plan.Do.\"", "bug 18: nor the answer");
}

static void test_usage(void)
{
    read_all("reasonix",
             START "{'kind':'usage','usage':{'promptTokens':10,'completionTokens':2,'cost':0.5,"
                   "'currency':'¥','costUsd':0.5}}\n"
                   "{'kind':'usage','usage':{'promptTokens':5,'completionTokens':1,'cost':0.25,"
                   "'currency':'¥','costUsd':0.25}}\n" DONE);
    is_int((long long)reading_count(&r, "\"scope\":\"call\""), 2, "row 1-5: usage is per call");
    has_str(reading_last(&r, "usage"),
            "{\"scope\":\"turn\",\"input_tokens\":15,\"output_tokens\":3",
            "row 1-5: the turn's is their sum");
    has_str(reading_last(&r, "usage"), "\"cost\":0.75,\"currency\":\"¥\"",
            "row 1-6: costs are in the currency shown");
    is_int((long long)reading_count(&r, "cost_usd"), 0, "row 1-6: and not called US dollars");
    read_all("reasonix", START "{'kind':'usage','usage':{'costUsd':0.5}}\n" DONE);
    is_int((long long)reading_count(&r, "cost_usd"), 0, "row 1-6: nor without a currency");
    read_all("reasonix",
             START "{'kind':'usage','usage':{'cost':1,'currency':'USD','costUsd':1}}\n" DONE);
    has_str(reading_last(&r, "usage"), "\"cost_usd\":1,", "row 1-6: unless it says so");
    read_all("reasonix", START "{'kind':'message','text':'a','usage':{'promptTokens':0}}\n" DONE);
    has_str(r.told.p, "usage {\"scope\":\"call\",\"input_tokens\":0",
            "row 1-5: usage folded into the message");
}

static void test_tools(void)
{
    read_all("reasonix",
             START CALL("c", "{}") "{'kind':'tool_result','tool':{'id':'c','output':'o',"
                                   "'readOnly':false}}\n" DONE);
    const char *const result = reading_last(&r, "tool_result");
    has_str(result, "\"parent_id\":\"p\"", "row 1-7: the parent comes from the dispatch");
    has_str(result, "\"readOnly\":true", "row 1-7: and so does readOnly");
    has_str(result, "\"name\":\"bash\"", "row 1-7: and the name");

    read_all("reasonix", START MESSAGE("Looking.") TOP_CALL("c") DONE);
    is_int((long long)r.counts[TC_FINAL], 0, "a message that calls a tool is not the answer");
    read_all("reasonix", START MESSAGE("Looking.") TOP_CALL("c") MESSAGE("Found.") DONE);
    is_str(reading_last(&r, "final"), "{\"text\":\"Found.\"}", "only the last message is");
    read_all("reasonix", START MESSAGE("Found.") CALL("c", "{}") DONE);
    is_str(reading_last(&r, "final"), "{\"text\":\"Found.\"}",
           "bug 17: a sub-agent's call does not take it back");

    read_all("reasonix", START CALL("c", "{\\'a\\':") DONE);
    has_str(reading_last(&r, "tool_call"), "\"args\":{\"_raw\":\"{\\\"a\\\":\"}",
            "bug 19: malformed arguments are kept as text");
    read_all("reasonix", START TOP_CALL("c") DONE);
    has_str(reading_last(&r, "tool_call"), "\"args\":{}", "bug 20: absent arguments are {}");
}

static void test_kinds(void)
{
    read_all("reasonix", START "{'kind':'guardian_assessment','guardian':{'outcome':'deny'}}\n"
                               "{'kind':'retrying','retryAttempt':1}\n{'kind':'of_2031'}\n" DONE);
    has_str(r.told.p, "notice {\"level\":\"warn\"", "row 1-8: newer kinds are notices");
    has_str(r.told.p, "\"code\":\"retrying\",\"x\":{\"retryAttempt\":1}",
            "row 1-8: with all they said");
    has_str(r.told.p, "\"name\":\"of_2031\"", "row 1-8: unknown ones are raw");
    read_all("reasonix", START "{'kind':7}\n{'kind':'notice','text':null,'level':9}\n" DONE);
    has_str(reading_last(&r, "done"), "completed", "bug 24: nulls and odd types cost nothing");
}

static void test_attempts(void)
{
    read_all(
        "reasonix",
        START "{'kind':'stream_attempt','streamAttempt':{'id':'s1','action':'begin'}}\n" TEXT(
            "Hal") "{'kind':'tool_dispatch','tool':{'id':'c','name':'bash','partial':true}}\n"
                   "{'kind':'stream_attempt','streamAttempt':{'id':'s1','action':'discard',"
                   "'attempt':1}}\n"
                   "{'kind':'stream_attempt','streamAttempt':{'id':'s2','action':'begin'}}\n" TEXT(
                       "Whole.") DONE);
    is_str(reading_text(&r), "Whole.", "what a discarded attempt said is taken back");
    has_str(r.told.p, "\"code\":\"stream_discard\",\"x\":{\"id\":\"s1\"", "a notice says so");
    has_str(r.told.p, "\"tool_use_id\":\"c\",\"name\":\"bash\",\"phase\":\"cancelled\"",
            "and its calls are void");
    has_str(reading_last(&r, "final"), "\"text\":\"Whole.\"", "the answer is the second's");

    read_all("reasonix", START "{'kind':'error','text':'lost'}\n" TEXT("Fine.") DONE);
    is_int((long long)r.counts[TC_ERROR], 0, "bug 5: an error the turn survived is none");
    read_all("reasonix", START "{'kind':'error','text':'lost'}\n" DONE);
    is_str(reading_last(&r, "error"), "{\"message\":\"lost\"}", "bug 6: one it did not is");
    read_all("reasonix", START TEXT("a") "{'kind':'turn_done','err':'402'}\n");
    has_str(reading_last(&r, "done"), "{\"reason\":\"error\"}", "bug 6: and so is err");
}

static void test_ends(void)
{
    reading_fini(&r);
    reading_init(&r, "reasonix");
    reading_feed(&r, START TEXT("So far"));
    r.end.how = STREAM_CANCELLED;
    reading_end(&r);
    has_str(reading_last(&r, "final"), "So far", "what a cancelled turn said is its final");
    has_str(reading_last(&r, "done"), "cancelled", "bug 9: and it is cancelled, not failed");
    read_all("reasonix", START TEXT("So far"));
    is_int((long long)r.counts[TC_DONE] + (long long)r.counts[TC_FINAL], 0,
           "bug 1: a stream that breaks off leaves its end to the guard");
    read_all("reasonix", START DONE DONE);
    is_int((long long)r.counts[TC_DONE], 1, "bug 2: no second end");
}

static void test_log(void)
{
    read_all("reasonix-log",
             "{'type':'tool.intent','body':{'callId':'c','name':'rm','args':'{}'}}\n"
             "{'type':'turn.aborted','body':{'covenant':'p2','reason':'no'}}\n"
             "{'type':'tool.denied','body':{'callId':'c','name':'rm','reason':"
             "'blocked by core covenant: p2'}}\n{'type':'turn.done','body':{}}\n");
    has_str(reading_last(&r, "done"), "\"reason\":\"refused\",\"code\":\"p2\"",
            "row 1-2: the log names the covenant");
    has_str(reading_last(&r, "tool_result"), "\"outcome\":\"denied\"", "its denial is one");
    read_all("reasonix-log",
             "{'type':'tool.denied','body':{'callId':'c','name':'rm','reason':'exit 1'}}\n");
    has_str(reading_last(&r, "tool_result"), "\"outcome\":\"failed\"",
            "a failure that ok calls a denial is a failure");
}

/* What the writer makes of events that no Reasonix said. */
static void test_writer(void)
{
    struct writer_stream w;
    struct writer_conf conf = {.framing = FRAMING_SSE};
    struct buf out = {0};
    struct event ev;
    writer_stream_init(&w, writer_find("reasonix"), &conf);
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "call";
    ev.u.usage.input_tokens = 10;
    ev.u.usage.cache_read_tokens = 90;
    ev.u.usage.cache_counted = 0;
    ev.u.usage.output_tokens = 5;
    ev.u.usage.cost_usd = 0.0000001;
    writer_stream_write(&w, &out, &ev);
    is_str(out.p,
           "data: {\"kind\":\"usage\",\"usage\":{\"promptTokens\":100,\"completionTokens\":5,"
           "\"totalTokens\":105,\"cacheHitTokens\":90,\"cacheMissTokens\":10,"
           "\"sessionCacheHitTokens\":0,\"sessionCacheMissTokens\":0,\"cost\":1e-7,"
           "\"currency\":\"$\",\"costUsd\":1e-7}}\n\n",
           "tokens counted the other way, as a frame");
    buf_reset(&out);
    event_init(&ev, TC_ERROR);
    ev.u.error.message = "a < b";
    writer_stream_write(&w, &out, &ev);
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "error";
    writer_stream_write(&w, &out, &ev);
    is_str(out.p, "data: {\"kind\":\"turn_done\",\"err\":\"a \\u003c b\"}\n\n",
           "an error is the err of turn_done");
    writer_stream_fini(&w);
    buf_fini(&out);
}

int main(void)
{
    plan_lazy();
    test_refusal();
    test_start();
    test_usage();
    test_tools();
    test_kinds();
    test_attempts();
    test_ends();
    test_log();
    test_writer();
    reading_fini(&r);
    return 0;
}
