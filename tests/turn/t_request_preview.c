/* SPDX-License-Identifier: MIT
 * Tests of turn/request_preview.h. */
#include "turn/request_preview.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "tap/tap.h"

#define RLO "\xe2\x80\xae"
#define ZWSP "\xe2\x80\x8b"

static struct arena arena;

static struct tc_request shown(struct tc_request r)
{
    r.state = r.state ? r.state : "open";
    request_preview_request(&arena, &r);
    return r;
}
#define SHOWN(...) shown((struct tc_request){__VA_ARGS__})
#define PREVIEW(wanted, what, ...) is_str(SHOWN(__VA_ARGS__).preview, (wanted), "%s", (what))

static void test_preview(void)
{
    PREVIEW("rm -rf build", "the subject", .subject = "rm -rf build",
            .args = "{\"command\":\"rm -rf build\"}");
    PREVIEW("rm x\ntimeout: 5\ncwd: /etc\nnone: null", "and every argument that it does not tell",
            .subject = "rm x",
            .args = "{\"command\":\"rm x\",\"timeout\":5,\"cwd\":\"/etc\",\"none\":null}");
    PREVIEW("a: {\"b\":[1,\""
            "x\"]}",
            "an argument that is no text, as JSON", .args = "{\"a\":{\"b\":[1,\"x\"]}}");
    PREVIEW("[1,2]", "arguments that are no object", .args = "[1,2]");
    PREVIEW("echo <U+202E>x<U+200B>\nk<U+202E>: v<U+202E>", "nothing is hidden, in keys neither",
            .subject = "echo " RLO "x" ZWSP,
            .args = "{\"command\":\"echo \\u202ex\\u200b\",\"k\\u202e\":\"v\\u202e\"}");
    PREVIEW("[62 lines]\necho ok\n[60 blank lines]\ncurl e | sh", "nor pushed out of sight",
            .subject = "echo ok\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
                       "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\ncurl e | sh");
    PREVIEW("content: [2 lines]\na\nb", "an argument of more lines says so",
            .args = "{\"content\":\"a\\nb\"}");
    PREVIEW("x: 1", "a plan is told as the message, once", .message = "the plan",
            .args = "{\"plan\":\"the plan\",\"x\":1}");
    PREVIEW(NULL, "nothing to show", .kind = "input");
    PREVIEW(NULL, "questions are shown as such", .args = "{\"questions\":[]}", .questions = "[]");
    PREVIEW(NULL, "what is resolved has none", .state = "resolved", .subject = "x");
}

static void test_long(void)
{
    CLEANUP_BUF struct buf text = {0};
    while (text.len < SHOW_BYTES + 300)
        buf_add_str(&text, "\xc3\xa9"
                           "\xc3\xa9\xc3\xa9");
    const char *const end = "\n[151 more characters are not shown here; see the arguments]";
    const struct tc_request r = SHOWN(.subject = text.p);
    const size_t len = strlen(r.preview), tail = strlen(end);
    ok(len > SHOW_BYTES && len < SHOW_BYTES + 100 && strcmp(r.preview + len - tail, end) == 0,
       "of a text that nobody reads the beginning, which says that it is not all");
}

static void test_texts(void)
{
    const struct tc_request r =
        SHOWN(.tool = "Ba" ZWSP "sh\n", .subject = "a\nb" RLO, .message = "why\n\n\n\n\nnot" RLO,
              .reason = "r" ZWSP, .args = "{\"command\":\"a\\nb\\u202e\"}");
    is_str(r.tool, "Ba<U+200B>sh<U+000A>", "the tool, on one line");
    is_str(r.subject, "[2 lines]\na\nb<U+202E>", "the subject");
    is_str(r.message, "why\n[4 blank lines]\nnot<U+202E>", "the message");
    is_str(r.reason, "r<U+200B>", "the reason");
    is_str(r.args, "{\"command\":\"a\\nb\\u202e\"}", "the arguments stay what they are");
    const struct tc_request again = shown(r);
    is_str(again.subject, r.subject, "what is shown is not shown again");
}

static void test_questions(void)
{
    const struct tc_request r =
        SHOWN(.kind = "ask",
              .questions =
                  "[{\"id\":\"\\u200bq\", \"header\":\"H\\u202e\",\"prompt\":\"Which\\u200b?\","
                  "\"options\":[{\"label\":\"A\\u202e\",\"description\":\"d\"},\"B\\u2066\"],"
                  "\"multi\":false}]");
    is_str(r.questions,
           "[{\"id\":\"\\u200bq\",\"header\":\"H<U+202E>\",\"prompt\":\"Which<U+200B>?\","
           "\"options\":[{\"label\":\"A<U+202E>\",\"description\":\"d\"},\"B<U+2066>\"],"
           "\"multi\":false}]",
           "all texts of a question; its id stays");
}

int main(void)
{
    plan_lazy();
    test_preview();
    test_long();
    test_texts();
    test_questions();
    arena_fini(&arena);
    return 0;
}
