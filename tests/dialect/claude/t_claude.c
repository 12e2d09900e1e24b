/* SPDX-License-Identifier: MIT
 * Tests of the claude dialect: text, what is told once, what is taken back, the end. */
#include "dialect/claude_lines.h"
#include "dialect/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

static void is_final(const char *lines, const char *text, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    char wanted[4096];
    snprintf(wanted, sizeof(wanted), "{\"text\":\"%s\"", text);
    const char *const final = reading_last(&r, "final");
    if (!ok(strncmp(final, wanted, strlen(wanted)) == 0 && r.counts[TC_FINAL] == 1, "%s", what))
        diag("final %s\nwanted %s", final, wanted);
    reading_fini(&r);
}

static void has_no_final(const char *lines, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    if (!is_int((long long)r.counts[TC_FINAL], 0, "%s", what))
        diag("final %s", reading_last(&r, "final"));
    reading_fini(&r);
}

static void is_text(const char *lines, const char *text, size_t retracted, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    if (!is_str(reading_text(&r), text, "%s", what) ||
        !is_int((long long)reading_count(&r, "\"code\":\"retracted\""), (long long)retracted,
                "%s: times it is taken back", what))
        diag("%s", r.told.p);
    reading_fini(&r);
}

static void ends(const char *lines, const char *kind, const char *payload, const char *what)
{
    struct reading r;
    reading_of(&r, "claude", lines);
    has_str(reading_last(&r, kind), payload, "%s", what);
    reading_fini(&r);
}

static void test_failure(void)
{
    ends(INIT RESULT("'subtype':'success','is_error':true,'result':'API Error: 500',"
                     "'api_error_type':'api_error'"),
         "error", "{\"message\":\"API Error: 500\",\"code\":\"api_error\"",
         "is_error with subtype success is an error");
    ends(INIT RESULT("'subtype':'error_during_execution','is_error':false"), "error",
         "\"code\":\"error_during_execution\"", "subtype error with is_error false is one too");
    ends(INIT RESULT("'subtype':'error_max_turns','is_error':false"), "done",
         "\"reason\":\"stopped\",\"code\":\"error_max_turns\"", "a limit is no error but a stop");
    ends(INIT SUCCESS("yes"), "done", "{\"reason\":\"completed\",\"turns\":1}", "a good end");
    ends(INIT RESULT("'subtype':'success','is_error':true,'result':'no','stop_reason':'refusal'"),
         "done", "\"reason\":\"refused\",\"code\":\"refusal\"", "a refusal");
    ends(INIT RESULT("'subtype':'error_during_execution','is_error':true,"
                     "'terminal_reason':'aborted_tools'"),
         "done", "\"reason\":\"cancelled\"", "an interrupt, as its result says");
    ends(INIT "{'type':'user','message':{'content':[{'type':'text',"
              "'text':'[Request interrupted by user]'}]}," TAIL RESULT(
                  "'subtype':'error_during_execution','is_error':false"),
         "done", "\"reason\":\"cancelled\"", "an interrupt, as the line before says");
    ends(RESULT("'subtype':'error_during_execution','is_error':true,"
                "'errors':['No conversation found with session ID: x']"),
         "error", "\"code\":\"agent_session\"", "a session that is not there");
    ends(RESULT("'subtype':'error_during_execution','is_error':true,'errors':['a','b']"), "error",
         "{\"message\":\"a\\nb\"", "errors are joined");
}

#define ATTEMPT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Fir") TEXT(0, "st")
#define ANSWER MESSAGE("m2") SAYS("m2", 0, "Seco", "nd") MESSAGE_DELTA("end_turn") MESSAGE_STOP

static void test_provisional(void)
{
    is_text(INIT ATTEMPT ANSWER SUCCESS("Second"), "Second", 1,
            "a message that another one replaces without a word");
    is_final(INIT ATTEMPT ANSWER SUCCESS("Second"), "Second", "it is not in the final");
    is_text(INIT ATTEMPT STOP(0) ABANDONED("m1", 0) ANSWER SUCCESS("Second"), "Second", 1,
            "abandoned_blocks");
    is_text(INIT ATTEMPT
            "{'type':'system','subtype':'api_retry','attempt':1,'max_retries':3,"
            "'retry_delay_ms':500,'error_status':529,'error':'overloaded'," TAIL ANSWER SUCCESS(
                "Second"),
            "Second", 1, "api_retry while a block is open");
    is_text(INIT ATTEMPT "{'type':'system','subtype':'api_retry','attempt':1," TAIL, "", 1,
            "at once");
    is_text(INIT MESSAGE("m1") SAYS("m1", 0, "Ke", "pt") SAYS("m1", 1, "lo", "st")
                ABANDONED("m1", 1),
            "Kept", 1, "a committed block that is abandoned afterwards");
    is_text(INIT MESSAGE("m1") SAYS("m1", 0, "Ke", "pt") ABANDONED("m7", 0), "Kept", 0,
            "what another message abandons");
    is_text(INIT ATTEMPT SAID("m2", "Whole") SUCCESS("Whole"), "Whole", 1,
            "a whole message instead");
    is_text(INIT MESSAGE("m1") SAYS("m1", 0, "Ke", "pt") TEXT_BLOCK(1) TEXT(1, "lost")
                ABANDONED("m1", 1) ANSWER SUCCESS("Second"),
            "KeptSecond", 1, "what was committed before the first abandoned block stays");
    is_text(INIT ATTEMPT LINE("m1", "{'type':'text','text':'First'}", "'aborted':true,") STOP(0)
                ABANDONED("m1", 1) RESULT("'subtype':'error_during_execution','is_error':true,"
                                          "'terminal_reason':'aborted_streaming'"),
            "First", 0, "the text of a turn that was stopped stays");
    is_text(INIT MESSAGE("m0") SAYS("m0", 0, "o", "k") MESSAGE_DELTA("tool_use")
                MESSAGE_STOP ATTEMPT STOP(0) MESSAGE_STOP ANSWER SUCCESS("Second"),
            "okSecond", 1, "a block that stopped without a line, where lines come");
    is_text(INIT ATTEMPT RESULT("'subtype':'error_during_execution','is_error':false"), "", 1,
            "a result while a block is open");
    is_text(INIT ATTEMPT, "First", 0, "a stream that is cut keeps what it said");
    ends(INIT ATTEMPT ANSWER, "notice",
         "\"text\":\"5 characters retracted\",\"code\":\"retracted\",\"message_id\":\"m1#0\"",
         "the notice counts and names");
}

static void test_retracted_lines(void)
{
    const char *const fallback =
        "{'type':'system','subtype':'model_refusal_fallback','content':'other model',"
        "'retracted_message_uuids':['u1']," TAIL;
    char lines[8192];
    snprintf(lines, sizeof(lines), "%s%s%s%s%s%s", INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "No."),
             "{'type':'assistant','message':{'id':'m1','model':'opus','content':["
             "{'type':'text','text':'No.'}]},'uuid':'u1','session_id':'s'}\n" STOP(0),
             fallback, MESSAGE_DELTA("refusal") MESSAGE_STOP, ANSWER, SUCCESS("Second"));
    is_text(lines, "Second", 1, "retracted_message_uuids, message still open");
    snprintf(lines, sizeof(lines), "%s%s%s%s",
             INIT "{'type':'assistant','message':{'id':'m1','model':'opus','content':["
                  "{'type':'text','text':'No.'}]},'uuid':'u1','session_id':'s'}\n",
             SAID("m2", "Yes"), fallback, SUCCESS("Yes"));
    is_text(lines, "Yes", 1, "of a message that is over");
    snprintf(lines, sizeof(lines), "%s%s%s",
             INIT "{'type':'assistant','message':{'id':'m1','model':'opus','content':["
                  "{'type':'text','text':'No.'}]},'uuid':'u1','session_id':'s'}\n",
             "{'type':'assistant','supersedes':['u1'],'message':{'id':'m2','model':'opus',"
             "'content':[{'type':'text','text':'Yes'}]},'uuid':'u2','session_id':'s'}\n",
             SUCCESS("Yes"));
    is_text(lines, "Yes", 1, "supersedes");
    snprintf(lines, sizeof(lines), "%s%s%s",
             INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(
                 0, "No.") "{'type':'assistant','message':{'id':'m1','model':'opus','content':["
                           "{'type':'text','text':'No.'}]},'uuid':'u1','session_id':'s'}\n" STOP(0)
                               MESSAGE_DELTA("end_turn") MESSAGE_STOP,
             fallback, RESULT("'subtype':'success','is_error':false,'result':''"));
    has_no_final(lines, "what was taken back is no answer");
}

static void test_once(void)
{
    is_text(INIT ANSWER SUCCESS("Second"), "Second", 0, "deltas and the line that repeats them");
    is_text(INIT SAID("m1", "Only a line") SUCCESS("Only a line"), "Only a line", 0,
            "a line alone");
    is_text(INIT "{'type':'assistant','message':{'id':'m1','model':'opus','content':'Plain'}}\n",
            "Plain", 0, "a message that is a plain string");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Only") TEXT(0, " deltas") STOP(0)
                MESSAGE_DELTA("end_turn") MESSAGE_STOP SUCCESS("Only deltas"),
            "Only deltas", 0, "deltas alone, in a message with a start");
    is_final(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Only") TEXT(0, " deltas") STOP(0)
                 MESSAGE_DELTA("end_turn") MESSAGE_STOP SUCCESS("Only deltas"),
             "Only deltas", "they are the final");
    is_final(INIT TEXT_BLOCK(0) TEXT(0, "Bare") STOP(0) SUCCESS("Bare"), "Bare",
             "deltas alone, without any message_start");
    is_text(INIT TEXT_BLOCK(0) TEXT(0, "Bare") SAID("m1", "Bare") STOP(0) SUCCESS("Bare"), "Bare",
            0, "a line that repeats deltas of a message without a start");
    is_text(INIT TEXT_BLOCK(0) TEXT(0, "Bare") STOP(0) SAID("m1", "Bare") SUCCESS("Bare"), "Bare",
            0, "the same, when the line comes late");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Beg") SAID("m1", "Beginning") STOP(0),
            "Beginning", 0, "a line that has more than the deltas: the rest is told");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Wrong") SAID("m1", "Right") STOP(0)
                MESSAGE_DELTA("end_turn") MESSAGE_STOP SUCCESS("Right"),
            "Right", 1, "a line that contradicts the deltas");
    ends(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "Wrong") SAID("m1", "Right"), "narration",
         "{\"text\":\"Right\",\"message_id\":\"m1#0~1\"}", "what replaces it has its own id");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "") TEXT(0, "a") TEXT(0, "") SAID("m1", "a"),
            "a", 0, "empty deltas");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "\\n\\n") STOP(0) MESSAGE_DELTA("end_turn")
                MESSAGE_STOP,
            "", 0, "a blank block is never told");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "\\n") TEXT(0, " \\n") TEXT(0, "x")
                SAID("m1", "\\n \\nx"),
            "\n \nx", 0, "blanks at the front come with the first letter");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) SAID("m1", "(no content)") STOP(0)
                SUCCESS("(no content)"),
            "", 0, "the placeholder is not narrated");
    has_no_final(INIT MESSAGE("m1") TEXT_BLOCK(0) SAID("m1", "(no content)") STOP(0)
                     MESSAGE_DELTA("end_turn") MESSAGE_STOP SUCCESS("(no content)"),
                 "nor is it an answer");
}

static void test_interleaved(void)
{
    struct reading r;
    reading_of(&r, "claude",
               INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT_BLOCK(1) TEXT(0, "a") TEXT(1, "x") TEXT(0, "b")
                   TEXT(1, "y") SAID("m1", "ab") STOP(0) SAID("m1", "xy") STOP(1)
                       MESSAGE_DELTA("end_turn") MESSAGE_STOP SUCCESS("xy"));
    is_int((long long)r.counts[TC_NARRATION], 4, "interleaved blocks are told as they come");
    has_str(r.told.p, "{\"text\":\"b\",\"message_id\":\"m1#0\"}", "each under its own id");
    has_str(reading_last(&r, "message"), "\"text\":\"abxy\"", "the message has them in order");
    has_str(reading_last(&r, "final"), "{\"text\":\"abxy\",\"message_id\":\"m1\"}",
            "the final is the whole message, not the result's last block");
    is_int((long long)reading_count(&r, "retracted"), 0, "nothing is taken back");
    reading_fini(&r);
}

#define TOOL_TURN                                                                                  \
    MESSAGE("m1")                                                                                  \
    SAYS("m1", 0, "I lo", "ok.")                                                                   \
    TOOL_BLOCK(1, "t1")                                                                            \
    CALLED("m1", "t1", "{'a':1}")                                                                  \
    STOP(1) MESSAGE_DELTA("tool_use") MESSAGE_STOP RETURNED("t1", "'ok'")

static void test_final(void)
{
    is_final(INIT TOOL_TURN ANSWER SUCCESS("Second"), "Second", "text after a tool");
    has_no_final(INIT TOOL_TURN RESULT("'subtype':'success','is_error':false,'result':''"),
                 "no text after the tool: old narration is not reused");
    has_no_final(INIT TOOL_TURN MESSAGE("m3") MESSAGE_DELTA("end_turn")
                     MESSAGE_STOP SUCCESS("\\n\\n"),
                 "nor when an empty message follows");
    is_final(INIT MESSAGE("m1") SAYS("m1", 0, "A. ", "") SAYS("m1", 1, "B.", "")
                 MESSAGE_DELTA("end_turn") MESSAGE_STOP SUCCESS("B."),
             "A. B.", "two blocks; the result has the last one only");
    is_final(INIT ANSWER RESULT("'subtype':'success','is_error':false"), "Second",
             "a result without text");
    is_final(INIT ANSWER SUCCESS(""), "Second", "a result with an empty one");
    is_final(INIT TOOL_TURN RESULT("'subtype':'success','is_error':false,'result':'{}',"
                                   "'structured_output':{'x':[1]}"),
             "{}", "structured output");
    ends(INIT RESULT("'subtype':'success','is_error':false,'result':'{}',"
                     "'structured_output':{ 'x': [1] }"),
         "done", "\"result\":{\"x\":[1]}", "done carries it");
    is_final(INIT SUCCESS("Cost: 0"), "Cost: 0", "a local command: the final alone");
    is_text(INIT "{'type':'assistant','message':{'id':'x','model':'<synthetic>','content':["
                 "{'type':'text','text':'Cost: 0'}]}," TAIL SUCCESS("Cost: 0"),
            "", 0, "its line is no narration");
    is_final(INIT TOOL_TURN RESULT("'subtype':'error_max_turns','is_error':true"), "I look.",
             "stopped: the newest text");
    ends(INIT TOOL_TURN RESULT("'subtype':'error_max_turns','is_error':true"), "final",
         "\"synthesized\":true", "which the agent did not mean as its answer");
    is_final(INIT MESSAGE("m1") SAYS("m1", 0, "Cut", " he") MESSAGE_DELTA("max_tokens")
                 MESSAGE_STOP MESSAGE("m2") SAYS("m2", 0, "re", ".") MESSAGE_DELTA("end_turn")
                     MESSAGE_STOP SUCCESS("re."),
             "Cut here.", "an answer that goes on after the output limit");
    is_final(INIT SAID(
                 "m1",
                 "Cut he") "{'type':'user','isSynthetic':true,'message':{'content':[{'type':'text',"
                           "'text':'Output token limit hit. Resume.'}]}," TAIL SAID("m2", "re.")
                               SUCCESS("re."),
             "Cut here.", "the same without partial messages");
    has_no_final(INIT ATTEMPT RESULT("'subtype':'error_during_execution','is_error':true,"
                                     "'terminal_reason':'aborted_streaming'"),
                 "an interrupt has no final of its own");
}

static void test_more_results(void)
{
    struct reading r;
    reading_of(&r, "claude", INIT ANSWER SUCCESS("Second") INIT SAID("m9", "More") SUCCESS("More"));
    is_int((long long)r.counts[TC_FINAL], 1, "the first result decides");
    is_int((long long)r.counts[TC_DONE], 1, "and says done");
    is_int((long long)reading_count(&r, "duplicate_result"), 1, "a later one is a notice");
    is_int((long long)r.counts[TC_START], 1, "the same session does not start again");
    reading_fini(&r);
    reading_of(&r, "claude",
               INIT RESULT("'subtype':'error_during_execution','is_error':true,"
                           "'terminal_reason':'aborted_tools'") ANSWER SUCCESS("Second"));
    is_int((long long)(r.counts[TC_NARRATION] + r.counts[TC_FINAL]), 0,
           "a turn that ended without an answer does not take the next one's");
    reading_fini(&r);
    const char *const task = RESULT("'subtype':'success','is_error':false,'result':'task',"
                                    "'origin':{'kind':'task-notification'}");
    char lines[8192];
    snprintf(lines, sizeof(lines), "%s%s%s", INIT, task, ANSWER SUCCESS("Second"));
    is_final(lines, "Second", "a result that answers a task does not decide");
    snprintf(lines, sizeof(lines), "%s%s", INIT, task);
    is_final(lines, "task", "unless no other one comes");
    reading_of(&r, "claude",
               INIT SUCCESS("a") "{'type':'result','subtype':'success','result_index':3," TAIL);
    is_int((long long)reading_count(&r, "result_lost"), 1, "a gap in the results is told");
    reading_fini(&r);
    reading_of(&r, "claude", INIT ANSWER);
    is_int((long long)(r.counts[TC_DONE] + r.counts[TC_FINAL] + r.counts[TC_ERROR]), 0,
           "no result: the dialect gives no outcome");
    reading_fini(&r);
}

static void test_cost(void)
{
    struct reading r;
    reading_of(&r, "claude", INIT RESULT("'subtype':'success','is_error':false,'result':'x'"));
    has_str(reading_last(&r, "usage"),
            "{\"scope\":\"turn\",\"input_tokens\":7,\"output_tokens\":5,\"cache_counted\":false,"
            "\"cost_usd\":0.5,\"duration_ms\":9,\"model\":\"opus\",\"is_error\":false}",
            "usage of the turn");
    reading_fini(&r);
    const char *const task =
        "{'type':'result','subtype':'success','result':'t','origin':{'kind':'x'},"
        "'total_cost_usd':0.125," TAIL;
    char lines[4096];
    snprintf(lines, sizeof(lines), "%s%s%s", INIT, task, SUCCESS("x"));
    ends(lines, "usage", "\"cost_usd\":0.375", "what earlier results cost is not counted again");
    snprintf(lines, sizeof(lines), "%s%s", INIT, task);
    ends(lines, "usage", "\"cost_usd\":0.125", "a held result has its own cost");
    ends(INIT "{'type':'result','subtype':'success','cost_usd':0.25," TAIL, "usage",
         "\"cost_usd\":0.25", "the old name of the cost");
    reading_of(&r, "claude",
               INIT MESSAGE("m1") SAYS("m1", 0, "a", "b") MESSAGE_DELTA("end_turn")
                   MESSAGE_DELTA("end_turn") MESSAGE_STOP);
    is_int((long long)r.counts[TC_USAGE], 1, "a call's usage is told once");
    has_str(reading_last(&r, "usage"),
            "{\"scope\":\"call\",\"input_tokens\":7,\"output_tokens\":5,\"cache_read_tokens\":3",
            "with what message_start said before");
    reading_fini(&r);
    reading_of(&r, "claude",
               INIT MESSAGE("m1") SAYS("m1", 0, "a", "b")
                   EVENT("{'type':'message_delta','delta':{'stop_reason':null},"
                         "'usage':{'output_tokens':9}}") MESSAGE_STOP);
    is_int((long long)r.counts[TC_USAGE], 0, "a made-up closing is not counted");
    reading_fini(&r);
    const char *const whole = "{'type':'assistant','message':{'id':'m1','model':'opus','content':["
                              "{'type':'text','text':'a'}],'stop_reason':'end_turn','usage':"
                              "{'input_tokens':1,'output_tokens':2}}," TAIL;
    snprintf(lines, sizeof(lines), "%s%s%s", INIT, whole, whole);
    reading_of(&r, "claude", lines);
    is_int((long long)r.counts[TC_USAGE], 1, "whole lines that say why they end count, once");
    reading_fini(&r);
}

static void test_big(void)
{
    const size_t size = (size_t)2 << 20;
    CLEANUP_BUF struct buf lines = {0};
    buf_add_str(&lines, "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n"
                        "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"model\":\"o\","
                        "\"content\":[{\"type\":\"text\",\"text\":\"");
    for (size_t i = 0; i < size; i++)
        buf_add_char(&lines, (char)('a' + i % 26));
    buf_add_str(&lines, "\"}]}}\n");
    struct reading r;
    reading_init(&r, "claude");
    reading_feed_raw(&r, lines.p, lines.len);
    reading_end(&r);
    ok(r.told.len > 2 * size, "a text of two megabytes in one line is told whole");
    reading_fini(&r);
}

static void test_noise(void)
{
    struct reading r;
    reading_of(&r, "claude", "banner\n" INIT "{broken\n[1,2]\n\n   \n" SUCCESS("x"));
    has_str(r.told.p, "start {", "noise before the start");
    is_int((long long)reading_count(&r, "unparsable_line"), 3, "each noisy line is a notice");
    ok(strncmp(r.told.p, "start ", 6) == 0, "behind the start");
    is_int((long long)r.counts[TC_DONE], 1, "and the turn ends well");
    reading_fini(&r);
    reading_of(&r, "claude", INIT "{'type':'assistant','mess");
    ok(r.end.truncated && !reading_count(&r, "unparsable_line"),
       "a last line that was cut off is no noise but a truncated stream");
    reading_fini(&r);
}

static void test_escapes(void)
{
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "a\\ud83d") TEXT(0, "\\ude00b")
                SAID("m1", "a\\ud83d\\ude00b"),
            "a\xf0\x9f\x98\x80"
            "b",
            0, "a pair split over two deltas");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "a\\ud83d") TEXT(0, "b")
                SAID("m1", "a\\ud83db"),
            "a\xef\xbf\xbd"
            "b",
            0, "a lone surrogate");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "a\\ud83d") SAID("m1", "a\\ud83d") STOP(0),
            "a\xef\xbf\xbd", 0, "one at the very end");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "a\\u0000b") SAID("m1", "a\\u0000b"),
            "a\xef\xbf\xbd"
            "b",
            0, "a NUL");
    is_text(INIT MESSAGE("m1") TEXT_BLOCK(0) TEXT(0, "\xe2\x80\xa8") SAID("m1", "\xe2\x80\xa8"),
            "\xe2\x80\xa8", 0, "a line separator, raw");
}

int main(void)
{
    plan_lazy();
    test_failure();
    test_provisional();
    test_retracted_lines();
    test_once();
    test_interleaved();
    test_final();
    test_more_results();
    test_cost();
    test_big();
    test_noise();
    test_escapes();
    return 0;
}
