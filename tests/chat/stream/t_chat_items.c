/* SPDX-License-Identifier: MIT
 * Tests of the pure parts of native streams: the narration that may become the answer, the lines,
 * and the batches with their sizes. */
#include <stdio.h>
#include <string.h>

#include "chat/stream/chat_batch.h"
#include "chat/stream/chat_said.h"
#include "tap/tap.h"

/* ---- narration ---- */

static void say(struct chat_said *s, const char *text)
{
    chat_said_add(s, text, strlen(text));
}

static void test_said(void)
{
    struct chat_said s = {0};
    is_str(chat_said_rest_of_answer(&s, " A."), "A.",
           "without shown text the complete answer is the rest");
    say(&s, "\nA.\n\nB");
    is_int((long long)chat_said_read_new(&s, false).len, 5, "settled text is shown");
    is_int((long long)chat_said_read_new(&s, false).len, 0, "once");
    is_str(chat_said_rest_of_answer(&s, "A.\n\nB."), "B.",
           "the rest of the answer follows the shown text");
    is_str(chat_said_rest_of_answer(&s, "A."), "", "an answer may lack the white space at the end");
    ok(!chat_said_rest_of_answer(&s, "A"),
       "an answer shorter than the shown text is another answer");
    ok(!chat_said_rest_of_answer(&s, "B.\n\nA."), "another answer has no rest");
    s.gone = true;
    ok(!chat_said_rest_of_answer(&s, "A.\n\nB."),
       "after a part of the shown text was removed there is no rest");
    s.gone = false;
    is_int((long long)chat_said_read_new(&s, true).len, 1,
           "a completely shown answer has an empty rest");
    s.over = true;
    is_str(chat_said_rest_of_answer(&s, "A.\n\nB."), "A.\n\nB.",
           "after other items the complete answer is the rest");
    chat_said_begin(&s, "m1");
    ok(s.told == 0 && !s.over && !s.gone && s.text.len == 0, "another text begins");
    ok(chat_said_continues(&s, "m1") && chat_said_continues(&s, NULL) &&
           !chat_said_continues(&s, "m2"),
       "a text continues in its message");
    ok(chat_said_is_of_message(&s, "m1") && !chat_said_is_of_message(&s, NULL),
       "a message is found by its id");
    static char much[(512u << 10) + 1];
    memset(much, 'x', sizeof much - 1);
    ok(chat_said_add(&s, much, sizeof much - 1) && !chat_said_add(&s, "y", 1),
       "a text has at most 512 KiB");
    chat_said_fini(&s);
}

/* ---- lines ---- */

static const struct tc_meta meta;

static struct chat_line *call(struct chat_lines *l, const char *id)
{
    return chat_lines_begin_call(
        l, &(struct tc_tool_call){.meta = &meta, .name = "T", .args = "{}", .tool_use_id = id}, 5);
}

static struct chat_line *finish(struct chat_lines *l, const char *id)
{
    return chat_lines_finish(
        l,
        &(struct tc_tool_result){
            .meta = &meta, .tool_use_id = id, .content = "no", .is_error = true, .duration_ms = -1},
        12);
}

static void test_lines(void)
{
    struct chat_lines l = {0};
    struct arena arena = {0};
    ok(!chat_lines_has_running(&l) && !chat_lines_next_shown(&l, NULL), "no line is running");
    char id[16];
    for (int i = 0; i < CHAT_LINES_MAX; i++) {
        snprintf(id, sizeof id, "c%d", i);
        call(&l, id);
    }
    ok(!call(&l, "more"), "at most 64 lines are running");
    ok(!finish(&l, "other"), "the result of an unknown call is ignored");
    struct chat_line *line = finish(&l, "c7");
    is_int(line->is.took_ms, 7, "a call without a duration is measured from its begin");
    ok(!finish(&l, "c7"), "a call has one result");
    line->held = 1;
    ok(!call(&l, "more"), "a waiting line keeps its place");
    line->held = 0;
    ok(call(&l, "more") == line, "an ended line frees its place");
    struct chat_line *last = NULL;
    for (struct chat_line *one = NULL; (one = chat_lines_next_shown(&l, one));)
        last = one;
    ok(last == line, "lines are numbered in the order of their begin");
    is_str(chat_lines_next_shown(&l, NULL)->is.id, "c0", "the first line has the first number");
    line = chat_lines_next_shown(&l, NULL);
    ok(chat_line_export(line, 1, CHAT_LINE_RUNS, 25, &arena).took_ms == 20,
       "a running line has the elapsed time");
    is_int(chat_line_export(line, 1, CHAT_LINE_ENDS, 25, &arena).state, TC_LINE_OK,
           "in a stream that ends the line is not running");
    finish(&l, "c0");
    line->shown_in = 1;
    line->told = 1;
    is_str(chat_line_export(line, 1, CHAT_LINE_RUNS, 25, &arena).detail, "o",
           "the stream gets the missing part of a detail");
    is_str(chat_line_export(line, 2, CHAT_LINE_RUNS, 25, &arena).detail, "no",
           "another stream gets the complete detail");
    is_int(chat_line_export(line, 2, CHAT_LINE_CONTINUES, 25, &arena).state, TC_LINE_FAILED,
           "an ended line does not change");
    chat_lines_fini(&l);
    arena_fini(&arena);
}

/* ---- batches ---- */

static void add(struct chat_batch *b, const char *text)
{
    chat_batch_add_text(b, text, strlen(text), 10);
}

static void test_sizes(void)
{
    struct chat_lines l = {0};
    struct chat_batch b = {0};
    struct chat_line *const line = call(&l, "c0");
    const size_t size = chat_line_size(line);
    add(&b, "12345678");
    chat_batch_add_line(&b, &l, 0);
    chat_batch_add_line(&b, &l, 0);
    add(&b, "x");
    is_int((long long)b.count, 3, "a line waits once");
    const struct chat_room all = chat_batch_size(&b, &l, 1);
    ok(all.bytes == 9 + size && all.items == 3, "sizes are added");
    is_int((long long)chat_batch_count_fitting(&b, &l, (struct chat_room){9 + size, 3, 1}), 3,
           "all items fit");
    is_int((long long)chat_batch_count_fitting(&b, &l, (struct chat_room){8 + size, 3, 1}), 2,
           "the last item is too long");
    is_int((long long)chat_batch_count_fitting(&b, &l, (struct chat_room){SIZE_MAX, 1, 1}), 1,
           "there are too many items");
    line->shown_in = 1;
    line->counted = size;
    is_int((long long)chat_batch_count_fitting(&b, &l, (struct chat_room){9, 2, 1}), 3,
           "a line that the stream has needs no space");
    is_int((long long)chat_batch_count_fitting(&b, &l, (struct chat_room){9, 2, 2}), 1,
           "in another stream the line needs space");
    chat_batch_fini(&b, &l);
    is_int(line->held, 0, "no batch has the line");
    chat_lines_fini(&l);
}

static void test_batches(void)
{
    struct chat_lines l = {0};
    struct chat_batch a = {0}, b = {0};
    struct arena arena = {0};
    call(&l, "c0");
    add(&a, "12345");
    add(&a, "67890");
    add(&a, "!");
    is_int((long long)a.count, 2, "texts are joined up to the length of an item");
    chat_batch_add_line(&a, &l, 0);
    chat_batch_move(&b, &a, &l, 3, 10);
    ok(a.count == 0 && a.text.len == 0 && b.count == 3 && l.list[0].held == 1,
       "items are moved to a batch");
    add(&a, "next");
    chat_batch_add_line(&a, &l, 0);
    chat_batch_return_items(&a, &b, &l, 10);
    ok(a.count == 4 && b.count == 0 && l.list[0].held == 1, "items are returned to the front");
    const struct tc_stream_item *const items =
        chat_batch_export(&a, &l, 1, CHAT_LINE_RUNS, 5, &arena);
    ok(strcmp(items[0].text, "1234567890") == 0 && strcmp(items[1].text, "!") == 0 &&
           strcmp(items[2].line->id, "c0") == 0 && !items[2].text &&
           strcmp(items[3].text, "next") == 0,
       "items are in their order");
    chat_batch_drop(&a, &l, false);
    ok(a.count == 3 && l.list[0].held == 0 && chat_batch_has_text(&a), "lines are dropped");
    chat_batch_add_line(&a, &l, 0);
    chat_batch_drop(&a, &l, true);
    ok(a.count == 1 && !chat_batch_has_text(&a), "texts are dropped");
    chat_batch_fini(&a, &l);
    chat_batch_fini(&b, &l);
    chat_lines_fini(&l);
    arena_fini(&arena);
}

int main(void)
{
    plan_lazy();
    test_said();
    test_lines();
    test_sizes();
    test_batches();
    return 0;
}
