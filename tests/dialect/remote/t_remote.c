/* SPDX-License-Identifier: MIT
 * Tests of dialect/remote/: control lines between lines of a service, and what is written to
 * turncast-remote. */
#include <string.h>

#include "dialect/reading.h"
#include "dialect/remote/remote_line.h"
#include "dialect/talking.h"
#include "tap/tap.h"

#define OPEN "{'remote':'open','dialect':'reasonix','session':'s-1'}\n"
#define REQUEST(id, more) "{'remote':'request','id':'" id "'" more "}"

static void test_service_lines(void)
{
    struct reading r;
    reading_of(&r, "remote",
               OPEN "{'kind':'turn_started'}\n{'kind':'text','text':'Hello.'}\n"
                    "{'kind':'message','text':'Hello.'}\n{'kind':'turn_done'}\n");
    is_str(reading_text(&r), "Hello.", "lines of the service are read in its dialect");
    ok(reading_count(&r, "done {\"reason\":\"completed\"") == 1, "and so is its end");
    reading_fini(&r);
    reading_of(&r, "remote", "{'kind':'text','text':'x'}\n" OPEN);
    ok(r.counts[TC_NARRATION] == 0, "before the line \"open\" none is");
    reading_fini(&r);
    reading_of(&r, "remote", "{'remote':'open','dialect':'remote'}\n{'kind':'text','text':'x'}\n");
    ok(r.counts[TC_NARRATION] == 0, "a dialect with an input side is none of a service");
    reading_fini(&r);
}

static void test_error(void)
{
    struct reading r;
    reading_of(&r, "remote",
               OPEN "{'kind':'text','text':'x'}\n"
                    "{'remote':'notice','level':'warn','code':'remote_gap','text':'gone'}\n"
                    "{'remote':'error','code':'remote_lost','message':'no more'}\n"
                    "{'kind':'text','text':'y'}\n");
    ok(strstr(reading_last(&r, "notice"), "gone") != NULL || r.counts[TC_NOTICE] > 0,
       "a notice is told");
    ok(strstr(reading_last(&r, "error"), "\"message\":\"no more\",\"code\":\"remote_lost\"") !=
           NULL,
       "an error is told: %s", reading_last(&r, "error"));
    ok(strstr(reading_last(&r, "done"), "\"reason\":\"error\"") != NULL, "and ends the turn");
    ok(r.counts[TC_NARRATION] == 1, "what follows is not read");
    reading_fini(&r);
}

#define RUN "'threadId':'t','runId':"
#define AG_UI_OPEN "{'remote':'open','dialect':'ag-ui','session':'t'}\n"
#define ASKS                                                                                       \
    "'outcome':{'type':'interrupt','interrupts':[{'id':'i','reason':'tool_call','metadata':"       \
    "{'kind':'approval','tool':'Bash','args':{'command':'ls'}}}]}"

/* Runs that are one turn. */
static void test_suspended(void)
{
    struct reading r;
    reading_of(&r, "remote",
               AG_UI_OPEN "{'type':'RUN_STARTED'," RUN "'1'}\n"
                          "{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'First.'}\n"
                          "{'remote':'request','id':'i','question':false,'edits':false}\n"
                          "{'remote':'suspended'}\n"
                          "{'type':'RUN_FINISHED'," RUN "'1'," ASKS
                          ",'usage':[{'inputTokens':1}]}\n"
                          "{'type':'RUN_STARTED'," RUN "'2'}\n"
                          "{'type':'TEXT_MESSAGE_CHUNK','messageId':'n','delta':'Second.'}\n"
                          "{'type':'RUN_FINISHED'," RUN "'2','usage':[{'inputTokens':2}]}\n"
                          "{'type':'RUN_STARTED'," RUN "'3'}\n");
    ok(strstr(reading_last(&r, "final"), "Second.") && r.counts[TC_FINAL] == 1,
       "runs that wait for answers are one turn, with one answer");
    ok(r.counts[TC_DONE] == 1 && strstr(reading_last(&r, "done"), "completed"), "and one end");
    ok(r.counts[TC_USAGE] == 1, "the usage of all runs is told as one event");
    ok(reading_count(&r, "request {\"request_id\":\"i\",\"kind\":\"approval\",\"state\":"
                         "\"open\",\"tool\":\"Bash\"") == 1,
       "what is asked is told with its tool");
    ok(r.counts[TC_START] == 2, "only a start behind such an end goes on with the turn");
    reading_fini(&r);
}

static void test_write(void)
{
    CLEANUP_BUF struct buf out = {0};
    remote_line_add_data(&out, "{\"remote\":\"error\"}", 18);
    remote_line_add_data(&out, "{\n\"a\":\r\n1}", 10);
    is_str(out.p, " {\"remote\":\"error\"}\n{ \"a\":  1}\n",
           "a line of a service is one line, and no control line");
    buf_reset(&out);
    remote_line_add_error(&out, "c", "a\xff\"b");
    is_str(out.p, "{\"remote\":\"error\",\"code\":\"c\",\"message\":\"a\xef\xbf\xbd\\\"b\"}\n",
           "texts are valid JSON");
}

static struct talking t;

static const char *decide(const char *id, int decision, const char *args)
{
    return talking_answer(
        &t,
        &(struct dialect_answer){.request_id = id,
                                 .decision = decision,
                                 .args = args,
                                 .answers = decision == DIALECT_ANSWERED ? "{\"q\":\"a\"}" : NULL});
}

static void test_input(void)
{
    const struct dialect_prompt prompt = {.text = "a\n\"b", .len = 4, .session_id = "s"};
    is_str(talking_begin(&t, "remote", &prompt),
           "{'type':'prompt','text':'a\\n\\'b','session':'s'}", "the message and the session");
    is_str(decide("r1", DIALECT_ALLOW, NULL), "refused", "nothing is asked");
    talking_hear(&t, REQUEST("r1", ""));
    ok(agent_input_waits(&t.dialog, "r1"), "an approval is");
    is_str(decide("r1", DIALECT_ANSWERED, NULL), "refused", "it is no question");
    ok(!agent_input_takes_args(&t.dialog, "r1"), "its arguments cannot be changed");
    is_str(decide("r1", DIALECT_ALLOW, "{}"), "refused", "which is refused");
    is_str(decide("r1", DIALECT_ALLOW, NULL),
           "{'type':'answer','id':'r1','question':false,'decision':'allow'}", "it is allowed");
    is_str(decide("r1", DIALECT_ALLOW, NULL), "refused", "once");
    talking_hear(&t, REQUEST("r2", ",'question':true,'edits':true"));
    is_str(decide("r2", DIALECT_ANSWERED, NULL),
           "{'type':'answer','id':'r2','question':true,'decision':'answered','answers':{'q':'a'}}",
           "a question is answered");
    talking_hear(&t, REQUEST("r3", ",'edits':true"));
    ok(agent_input_takes_args(&t.dialog, "r3"), "those of another one can");
    is_str(decide("r3", DIALECT_ALLOW, "{\n}"),
           "{'type':'answer','id':'r3','question':false,'decision':'allow','args':{ }}",
           "with other arguments");
    talking_hear(&t, REQUEST("r4", ""));
    talking_hear(&t, "{'remote':'settled','id':'r4'}");
    is_str(decide("r4", DIALECT_DENY, NULL), "refused", "one that is settled is not answered");
    is_str(talking_interrupt(&t), "{'type':'cancel'}", "it is interrupted");
    talking_fini(&t);
}

int main(void)
{
    plan_lazy();
    test_service_lines();
    test_error();
    test_suspended();
    test_write();
    test_input();
    return 0;
}
