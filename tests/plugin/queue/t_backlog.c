/* SPDX-License-Identifier: MIT
 * Tests of plugin/queue/backlog.h: order, pacing, and the overflow policy. */
#include "plugin/queue/backlog.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/bytes/utf8.h"
#include "base/sys/clock.h"
#include "plugin/events.h"
#include "plugin/queue/event_truncate.h"
#include "tap/tap.h"

#define MAX 4096

static struct backlog b;
static struct turn_backlog *turn_backlog;
static struct backlog_item got[MAX];
static size_t n_got;
static char turn_tag[] = "turn", other_tag[] = "other";

static void begin(size_t events, size_t bytes, uint32_t pace_ms)
{
    backlog_init(&b, &(struct backlog_limits){events, bytes, pace_ms});
    turn_backlog = backlog_open_turn(&b, turn_tag);
    n_got = 0;
}

static void drop_got(void)
{
    while (n_got > 0)
        shared_event_unref(got[--n_got].shared);
}

static void end(void)
{
    drop_got();
    backlog_fini(&b);
}

static void push(struct shared_event *shared, int64_t now)
{
    backlog_push(&b, turn_backlog, shared, now);
}

/* Takes all due items; those that were taken before are freed. */
static size_t pop(int64_t now)
{
    drop_got();
    n_got = backlog_pop(&b, got, MAX, now);
    return n_got;
}

static const struct event *get_event(size_t i)
{
    return shared_event_get(got[i].shared);
}

static void check_narration(size_t i, uint64_t seq, const char *text, const char *what)
{
    if (!ok(i < n_got && get_event(i)->kind == TC_NARRATION, "%s: item %zu is narration", what, i))
        return;
    is_str(get_event(i)->u.narration.text, text, "%s: the text", what);
    is_int((long long)get_event(i)->meta.seq, (long long)seq, "%s: the sequence number", what);
}

static size_t count_of(enum tc_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < n_got; i++)
        n += get_event(i)->kind == kind;
    return n;
}

static void test_untouched(void)
{
    begin(1000, 1 << 20, 0);
    struct shared_event *shared_events[100];
    for (size_t i = 0; i < 100; i++) {
        shared_events[i] = shared_event_ref(narration(i + 1, "x", "m"));
        push(shared_events[i], 0);
    }
    is_int((long long)pop(0), 100, "below the limits no events are joined");
    bool same = true;
    for (size_t i = 0; i < 100; i++) {
        same = same && got[i].shared == shared_events[i] && strcmp(got[i].turn, "turn") == 0;
        shared_event_unref(shared_events[i]);
    }
    ok(same, "the events are unchanged and in order");
    is_int((long long)b.stats.bytes, 0, "no event is waiting");
    end();
}

static void test_pace(void)
{
    begin(1000, 1 << 20, 100);
    push(narration(1, "a", "m"), 0);
    is_int((long long)pop(0), 1, "the first event is due at once");
    push(narration(2, "b", "m"), 10);
    push(narration(3, "c", "m"), 20);
    is_int((long long)pop(99), 0, "later events wait for the pace");
    is_int(backlog_next_due_ms(&b), 100, "the next event is due at the end of the interval");
    is_int((long long)pop(100), 1, "the waiting events are joined");
    check_narration(0, 3, "bc", "paced");
    is_int(backlog_next_due_ms(&b), INT64_MAX, "no event is waiting");

    push(narration(4, "d", "m"), 150);
    push(tool_call(5, "{}"), 160);
    is_int((long long)pop(160), 2, "a tool call makes the waiting events due");
    check_narration(0, 4, "d", "flushed");
    push(narration(6, "e", "m"), 170);
    push(progress(7, "u1", "x"), 171);
    is_int((long long)pop(180), 0,
           "other kinds of events wait behind narration, to keep the order");
    is_int((long long)pop(260), 2, "the waiting events are due together");
    push(progress(8, "u1", "x"), 261);
    is_int((long long)pop(261), 1, "without waiting events they are due at once");
    end();
}

static void test_pace_of_turns(void)
{
    begin(1000, 1 << 20, 100);
    push(narration(1, "a", "m"), 0);
    pop(0);
    push(narration(2, "b", "m"), 1);
    struct turn_backlog *const other = backlog_open_turn(&b, other_tag);
    backlog_push(&b, other, narration(1, "z", "m"), 2);
    is_int((long long)pop(2), 1, "the pace of a turn does not delay another turn");
    is_str(got[0].turn, "other", "the due event is that of the other turn");
    push(box_of(TC_DONE, 3), 3);
    is_int((long long)pop(3), 2, "done makes waiting events due");
    ok(b.turn_backlogs == other && !other->next, "done closes the backlog of the turn");
    backlog_push(&b, other, narration(2, "y", "m"), 4);
    backlog_push(&b, other, box_of(TC_REQUEST, 3), 4);
    is_int((long long)pop(4), 2, "a request makes waiting events due");
    backlog_push(&b, other, narration(4, "y", "m"), 5);
    backlog_stop_pacing(&b);
    is_int((long long)pop(5), 1, "release makes all events due");
    end();
}

static void test_join(void)
{
    begin(1000, 1 << 20, 100);
    push(box_of(TC_START, 1), 0);
    push(narration(2, "a", "m"), 0);
    push(narration(3, "b", "n"), 0);
    push(thinking(4, "c"), 0);
    push(thinking(5, "d"), 0);
    push(output(6, "u1", "e"), 0);
    push(output(7, "u1", "f"), 0);
    push(output(8, "u2", "g"), 0);
    struct event ev = draft(TC_NARRATION, 9);
    ev.u.narration.text = "h";
    ev.u.narration.text_len = 1;
    ev.u.narration.message_id = "m";
    push(shared_event_new(&ev), 0);
    ev.meta.seq = 10;
    ev.meta.parent_id = "u1";
    push(shared_event_new(&ev), 0);
    ev.meta.seq = 11;
    ev.meta.x = "{\"k\":1}";
    push(shared_event_new(&ev), 0);
    ev.meta.seq = 12;
    ev.meta.audience = "internal";
    push(shared_event_new(&ev), 0);
    ev.meta.seq = 13;
    ev.meta.hidden = true;
    push(shared_event_new(&ev), 0);
    struct event opaque = draft(TC_THINKING, 14);
    opaque.u.thinking.encrypted = "x";
    push(shared_event_new(&opaque), 0);
    opaque.meta.seq = 15;
    push(shared_event_new(&opaque), 0);
    is_int((long long)pop(0), 13,
           "only adjacent events of the same message, place and extras are joined");
    is_str(get_event(3)->u.thinking.text, "cd", "thinking is joined");
    is_str(get_event(4)->u.progress.output, "ef", "the output of a tool is joined");
    is_int((long long)get_event(4)->u.progress.output_len, 2, "the joined output has its length");
    is_int((long long)get_event(4)->meta.seq, 7,
           "the joined output has the newest sequence number");
    is_int((long long)b.stats.joined, 2, "joined events are counted");
    end();
}

static void test_join_at_limit(void)
{
    begin(16, 1 << 20, 0);
    push(box_of(TC_START, 1), 0);
    for (uint64_t seq = 2; seq <= 100; seq++)
        push(narration(seq, "x", "m"), 0);
    ok(pop(0) <= 16, "at the limit adjacent events are joined");
    ok(strlen(get_event(1)->u.narration.text) >= 16, "the oldest events are joined");
    size_t len = 0;
    for (size_t i = 1; i < n_got; i++)
        len += get_event(i)->u.narration.text_len;
    is_int((long long)len, 99, "no text is lost");
    is_int((long long)b.stats.dropped, 0, "no event is dropped");
    end();
}

static void test_replace(void)
{
    begin(8, 1 << 20, 0);
    push(box_of(TC_START, 1), 0);
    for (uint64_t seq = 2; seq <= 8; seq++)
        push(progress(seq, seq % 2 ? "odd" : "even", seq < 7 ? "old" : "new"), 0);
    push(narration(9, "x", "m"), 0);
    is_int((long long)pop(0), 4, "only the newest progress of each tool is kept");
    is_str(get_event(1)->u.progress.message, "new", "the kept progress is the newest");
    is_int((long long)get_event(1)->meta.seq, 7, "the kept progress is in the place of the newest");
    is_int((long long)b.stats.replaced, 5, "replaced events are counted");
    is_int((long long)b.stats.dropped, 0, "replaced events are not counted as dropped");
    end();

    begin(4, 1 << 20, 0);
    struct turn_backlog *const other = backlog_open_turn(&b, other_tag);
    backlog_push(&b, other, progress(1, "u1", "theirs"), 0);
    push(progress(1, "u1", "ours"), 0);
    push(box_of(TC_USAGE, 2), 0);
    push(box_of(TC_USAGE, 3), 0);
    push(box_of(TC_USAGE, 4), 0);
    is_int((long long)b.stats.replaced, 0, "progress of another turn is not replaced");
    end();
}

static char *repeat(const char *s, size_t times)
{
    const size_t n = strlen(s);
    char *const out = malloc(n * times + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(out + i * n, s, n);
    out[n * times] = '\0';
    return out;
}

static void test_shrink(void)
{
    char *const content = repeat("äöü€", 10000);
    char *const json = malloc(strlen(content) + 3);
    strcat(strcat(strcpy(json, "\""), content), "\"");
    char *const words = repeat("\\\"wörd ", 5000);
    char *const args = malloc(strlen(words) + 32);
    strcat(strcat(strcpy(args, "{\"cmd\":\""), words), "\"}");
    begin(100, 64 << 10, 0);
    push(tool_call(1, args), 0);
    struct event big = draft(TC_TOOL_RESULT, 2);
    big.u.tool_result.tool_use_id = "u1";
    big.u.tool_result.content = content;
    big.u.tool_result.content_len = strlen(content);
    big.u.tool_result.structured = json;
    big.u.tool_result.patch = "[1]";
    big.u.tool_result.diff = content;
    push(shared_event_new(&big), 0);
    push(tool_result(3, "short"), 0);
    is_int((long long)pop(0), 3, "calls and results are kept");

    const struct tc_tool_call *const call = &get_event(0)->u.tool_call;
    ok(call->args_len < TRIM_TOOL, "arguments of a call are truncated");
    json_t *const doc = json_loads(call->args, 0, NULL);
    ok(doc && json_is_object(doc), "truncated arguments are a JSON object");
    is_int(json_integer_value(json_object_get(doc, "_bytes")), (long long)strlen(args),
           "truncated arguments have the original length");
    ok(strncmp(json_string_value(json_object_get(doc, "_truncated")), args, 1000) == 0,
       "truncated arguments have their beginning");
    json_decref(doc);

    const struct tc_tool_result *const result = &get_event(1)->u.tool_result;
    ok(result->truncated, "a truncated result is marked");
    ok(result->content_len < TRIM_TOOL + 64 && result->content_len > TRIM_TOOL - 64,
       "a truncated result is short");
    ok(utf8_is_valid(result->content, result->content_len), "a truncated result is valid UTF-8");
    has_str(result->content, "bytes left out", "a truncated result shows the gap");
    is_mem(result->content, 100, content, 100, "a truncated result has its beginning");
    is_mem(result->content + result->content_len - 100, 100, content + strlen(content) - 100, 100,
           "a truncated result has its end");
    ok(!result->structured, "long structured JSON is removed");
    is_str(result->patch, "[1]", "short JSON is kept");
    ok(strlen(result->diff) < TRIM_TOOL + 64, "a long diff is truncated");
    ok(!get_event(2)->u.tool_result.truncated, "a short result is not truncated");
    free(content);
    free(words);
    free(json);
    free(args);
    end();
}

static void test_drop(void)
{
    begin(16, 1 << 20, 0);
    push(box_of(TC_START, 1), 0);
    for (uint64_t seq = 2; seq <= 40; seq++)
        push(seq % 2 ? thinking(seq, "hm") : box_of(TC_USAGE, seq), 0);
    push(box_of(TC_FINAL, 41), 0);
    push(box_of(TC_DONE, 42), 0);
    pop(0);
    is_int((long long)count_of(TC_THINKING), 0, "thinking is dropped");
    is_int((long long)count_of(TC_USAGE), 20, "reserved events are kept");
    is_int((long long)count_of(TC_NOTICE), 1, "one notice reports dropped events");
    is_int((long long)b.stats.dropped, 19, "dropped events are counted");
    size_t i = 0;
    while (get_event(i)->kind != TC_NOTICE)
        i++;
    is_str(get_event(i)->u.notice.code, "dropped", "the code of the notice");
    is_str(get_event(i)->u.notice.level, "warn", "the level of the notice");
    is_str(get_event(i)->meta.x, "{\"count\":19,\"thinking\":19}",
           "the notice has the counts by kind");
    is_str(get_event(i)->u.notice.text,
           "19 events were dropped: the connector is too slow (queue_events, queue_bytes)",
           "the text of the notice");
    ok(get_event(i)->meta.seq == 39 && get_event(i + 1)->meta.seq == 40,
       "the notice is in the place of the dropped events");
    end();
}

static void test_order_of_dropping(void)
{
    begin(12, 1 << 20, 0);
    for (uint64_t seq = 1; seq <= 4; seq++)
        push(box_of(TC_NOTICE, seq), 0);
    for (uint64_t seq = 5; seq <= 8; seq++)
        push(box_of(TC_PROGRESS, seq), 0);
    struct event ev = draft(TC_THINKING, 0);
    ev.u.thinking.encrypted = "opaque: cannot be joined";
    for (ev.meta.seq = 9; ev.meta.seq <= 12; ev.meta.seq++)
        push(shared_event_new(&ev), 0);
    push(box_of(TC_USAGE, 13), 0);
    is_int((long long)pop(0), 11, "only a quarter of the events is dropped");
    is_int((long long)count_of(TC_NOTICE), 5, "notices are kept while thinking can be dropped");
    is_int((long long)count_of(TC_PROGRESS), 4, "progress is kept while thinking can be dropped");
    is_int((long long)count_of(TC_THINKING), 1, "the oldest thinking is dropped first");
    end();
}

static void test_hard(void)
{
    char *const long_text = repeat("0123456789", 20000);
    begin(1000, 64 << 10, 0);
    push(box_of(TC_START, 1), 0);
    push(narration(2, long_text, "m"), 0);
    push(narration(3, long_text, "m"), 0);
    for (uint64_t seq = 4; seq < 4000; seq += 2) {
        push(tool_call(seq, "{}"), 0);
        push(tool_result(seq + 1, "x"), 0);
    }
    push(box_of(TC_FINAL, 4000), 0);
    push(box_of(TC_DONE, 4001), 0);
    ok(b.stats.bytes < 5 * (64 << 10), "the bytes are limited: %zu", b.stats.bytes);
    ok(b.stats.events < 5 * 1000, "the number of events is limited: %zu", b.stats.events);
    pop(0);
    ok(get_event(0)->kind == TC_START && get_event(n_got - 1)->kind == TC_DONE &&
           get_event(n_got - 2)->kind == TC_FINAL,
       "the turn has its start, final and done");
    is_int((long long)count_of(TC_TOOL_CALL), (long long)count_of(TC_TOOL_RESULT),
           "each result has its call");
    size_t i = 0;
    while (i < n_got && get_event(i)->kind != TC_NARRATION)
        i++;
    ok(i < n_got && get_event(i)->u.narration.text_len < TRIM_NARRATION + 64,
       "narration is truncated");
    has_str(get_event(i)->u.narration.text, "bytes left out", "truncated narration shows the gap");
    ok(b.stats.shrunk > 0, "truncated events are counted");
    ok(count_of(TC_NOTICE) >= 1, "dropped events are reported");
    free(long_text);
    end();
}

/* Tool calls and results are truncated only where that helps, and dropped only at the hard limit.
 * */
static void test_only_reserved_left(void)
{
    char *const content = repeat("x", 20000);
    begin(8, 4 << 20, 0);
    for (uint64_t seq = 1; seq <= 20; seq += 2) {
        push(tool_call(seq, "{}"), 0);
        push(tool_result(seq + 1, content), 0);
    }
    push(box_of(TC_STEP, 21), 0);
    is_int((long long)b.stats.dropped, 1, "an event that may be dropped is not added");
    is_int((long long)pop(0), 20, "reserved events are added");
    is_int((long long)b.stats.shrunk, 0, "no event is truncated while bytes are available");
    free(content);
    end();
}

static void test_one_big_event(void)
{
    char *const content = repeat("x", 1 << 20);
    begin(100, 64 << 10, 0);
    push(tool_result(1, content), 0);
    is_int((long long)pop(0), 1, "an event above the limit is due");
    is_int((long long)get_event(0)->u.tool_result.content_len, 1 << 20,
           "an event above the limit is added unchanged to an empty queue");
    free(content);
    end();
}

#define MANY 100000
#define LINEAR_MS 10000 /* copying all pieces for each new one would take minutes */

/* Adds pieces of one message, alternately for `lanes` turns, without taking them. */
static size_t push_pieces(size_t turn_backlogs)
{
    struct turn_backlog *of[2] = {turn_backlog, turn_backlogs > 1 ? backlog_open_turn(&b, other_tag)
                                                                  : turn_backlog};
    for (uint64_t seq = 1; seq <= MANY; seq++)
        backlog_push(&b, of[seq % 2], narration(seq, "0123456789", "m"), 0);
    size_t bytes = 0;
    backlog_stop_pacing(&b);
    while (pop(0) > 0)
        for (size_t i = 0; i < n_got; i++)
            bytes += get_event(i)->u.narration.text_len;
    return bytes;
}

static void test_many(void)
{
    const int64_t before = clock_mono_ms();
    begin(4096, 64 << 20, 1000);
    is_int((long long)push_pieces(1), 10 * MANY,
           "many pieces are joined while they wait for the pace");
    end();
    begin(16, 64 << 20, 0);
    is_int((long long)push_pieces(1), 10 * MANY, "many pieces are joined when the queue is full");
    is_int((long long)b.stats.dropped, 0, "no piece is lost");
    end();
    begin(16, 64 << 20, 0);
    is_int((long long)push_pieces(2), 10 * MANY, "many pieces of two turns are joined");
    end();
    begin(16, 64 << 20, 0);
    for (uint64_t seq = 1; seq <= MANY; seq++)
        push(box_of(TC_USAGE, seq), 0);
    is_int((long long)b.stats.events, MANY,
           "many events that can be neither joined nor dropped are kept");
    end();
    ok(clock_mono_ms() - before < LINEAR_MS, "the time is linear in their number");
}

static void test_pass(void)
{
    struct backlog_item item;
    begin(100, 1 << 20, 0);
    struct shared_event *const shared = shared_event_ref(narration(1, "a", "m"));
    ok(backlog_try_bypass(&b, turn_backlog, shared, &item) && item.shared == shared &&
           item.turn == turn_tag,
       "an event that need not wait bypasses the queue");
    shared_event_unref(shared);
    shared_event_unref(shared);
    push(narration(2, "b", "m"), 0);
    struct shared_event *const next = narration(3, "c", "m");
    ok(!backlog_try_bypass(&b, turn_backlog, next, &item),
       "an event does not bypass a waiting one");
    pop(0);
    turn_backlog->drop_seq = 2;
    ok(!backlog_try_bypass(&b, turn_backlog, next, &item), "an event does not bypass a due notice");
    turn_backlog->drop_seq = 0;
    turn_backlog->bare = true;
    ok(!backlog_try_bypass(&b, turn_backlog, next, &item),
       "an event does not bypass a turn beyond the hard limit");
    shared_event_unref(next);
    end();
    begin(100, 1 << 20, 10);
    struct shared_event *const done = box_of(TC_DONE, 1);
    ok(!backlog_try_bypass(&b, turn_backlog, done, &item), "an event does not bypass the pace");
    end();
    begin(100, 1 << 20, 0);
    ok(backlog_try_bypass(&b, turn_backlog, done, &item) && !b.turn_backlogs,
       "done that bypasses the queue closes the backlog");
    shared_event_unref(done);
    end();
}

static void test_trim(void)
{
    CLEANUP_BUF struct buf out = {0};
    event_truncate_text(&out, STR("short"), 8);
    is_str(out.p, "short", "a short text is not truncated");
    buf_reset(&out);
    event_truncate_text(&out, STR("0123456789abcdef"), 8);
    is_str(out.p, "0123\n[… 8 bytes left out …]\ncdef",
           "a truncated text has its beginning, the gap, and its end");
    buf_reset(&out);
    event_truncate_text(&out, STR("ääääääääää"), 7);
    is_str(out.p, "ä\n[… 16 bytes left out …]\nä", "a text is truncated between two characters");
}

int main(void)
{
    plan_lazy();
    test_untouched();
    test_pace();
    test_pace_of_turns();
    test_join();
    test_join_at_limit();
    test_replace();
    test_shrink();
    test_drop();
    test_order_of_dropping();
    test_hard();
    test_only_reserved_left();
    test_one_big_event();
    test_many();
    test_pass();
    test_trim();
}
