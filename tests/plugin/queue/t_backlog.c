/* SPDX-License-Identifier: MIT
 * Tests of plugin/queue/backlog.h: order, pace, and what gives way when it is too much. */
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

/* Takes everything that is due, in place of what was taken before. */
static size_t pop(int64_t now)
{
    drop_got();
    n_got = backlog_pop(&b, got, MAX, now);
    return n_got;
}

static const struct event *at(size_t i)
{
    return shared_event_get(got[i].shared);
}

static void is_narration(size_t i, uint64_t seq, const char *text, const char *what)
{
    if (!ok(i < n_got && at(i)->kind == TC_NARRATION, "%s: item %zu is narration", what, i))
        return;
    is_str(at(i)->u.narration.text, text, "%s: its text", what);
    is_int((long long)at(i)->meta.seq, (long long)seq, "%s: its seq", what);
}

static size_t count_of(enum tc_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < n_got; i++)
        n += at(i)->kind == kind;
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
    is_int((long long)pop(0), 100, "below the limits nothing is joined");
    bool same = true;
    for (size_t i = 0; i < 100; i++) {
        same = same && got[i].shared == shared_events[i] && strcmp(got[i].turn, "turn") == 0;
        shared_event_unref(shared_events[i]);
    }
    ok(same, "the very boxes, in order");
    is_int((long long)b.stats.bytes, 0, "nothing waits");
    end();
}

static void test_pace(void)
{
    begin(1000, 1 << 20, 100);
    push(narration(1, "a", "m"), 0);
    is_int((long long)pop(0), 1, "the first comes at once");
    push(narration(2, "b", "m"), 10);
    push(narration(3, "c", "m"), 20);
    is_int((long long)pop(99), 0, "then they are held back");
    is_int(backlog_next_due_ms(&b), 100, "until the pace opens");
    is_int((long long)pop(100), 1, "as one");
    is_narration(0, 3, "bc", "paced");
    is_int(backlog_next_due_ms(&b), INT64_MAX, "nothing is held any more");

    push(narration(4, "d", "m"), 150);
    push(tool_call(5, "{}"), 160);
    is_int((long long)pop(160), 2, "a tool call brings along what is held");
    is_narration(0, 4, "d", "flushed");
    push(narration(6, "e", "m"), 170);
    push(progress(7, "u1", "x"), 171);
    is_int((long long)pop(180), 0, "other kinds wait behind it, for the order");
    is_int((long long)pop(260), 2, "and come with it");
    push(progress(8, "u1", "x"), 261);
    is_int((long long)pop(261), 1, "with nothing held they come at once");
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
    is_int((long long)pop(2), 1, "another turn is not held back");
    is_str(got[0].turn, "other", "  it is the other");
    push(box_of(TC_DONE, 3), 3);
    is_int((long long)pop(3), 2, "done flushes");
    ok(b.turn_backlogs == other && !other->next, "and ends the lane");
    backlog_push(&b, other, narration(2, "y", "m"), 4);
    backlog_push(&b, other, box_of(TC_REQUEST, 3), 4);
    is_int((long long)pop(4), 2, "a request flushes");
    backlog_push(&b, other, narration(4, "y", "m"), 5);
    backlog_stop_pacing(&b);
    is_int((long long)pop(5), 1, "release lets everything go");
    end();
}

static void test_what_joins(void)
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
    is_int((long long)pop(0), 13, "only neighbours of the same message, place and extras join");
    is_str(at(3)->u.thinking.text, "cd", "thinking");
    is_str(at(4)->u.progress.output, "ef", "output of a tool");
    is_int((long long)at(4)->u.progress.output_len, 2, "  and its length");
    is_int((long long)at(4)->meta.seq, 7, "  seq of the newest");
    is_int((long long)b.stats.joined, 2, "counted");
    end();
}

static void test_join_at_limit(void)
{
    begin(16, 1 << 20, 0);
    push(box_of(TC_START, 1), 0);
    for (uint64_t seq = 2; seq <= 100; seq++)
        push(narration(seq, "x", "m"), 0);
    ok(pop(0) <= 16, "at the limit neighbours become one");
    ok(strlen(at(1)->u.narration.text) >= 16, "the oldest are joined");
    size_t len = 0;
    for (size_t i = 1; i < n_got; i++)
        len += at(i)->u.narration.text_len;
    is_int((long long)len, 99, "no letter is lost");
    is_int((long long)b.stats.dropped, 0, "nothing is dropped");
    end();
}

static void test_replace(void)
{
    begin(8, 1 << 20, 0);
    push(box_of(TC_START, 1), 0);
    for (uint64_t seq = 2; seq <= 8; seq++)
        push(progress(seq, seq % 2 ? "odd" : "even", seq < 7 ? "old" : "new"), 0);
    push(narration(9, "x", "m"), 0);
    is_int((long long)pop(0), 4, "of each tool the newest progress stays");
    is_str(at(1)->u.progress.message, "new", "  it is the newest");
    is_int((long long)at(1)->meta.seq, 7, "  in its place");
    is_int((long long)b.stats.replaced, 5, "  counted as replaced");
    is_int((long long)b.stats.dropped, 0, "  not as dropped");
    end();

    begin(4, 1 << 20, 0);
    struct turn_backlog *const other = backlog_open_turn(&b, other_tag);
    backlog_push(&b, other, progress(1, "u1", "theirs"), 0);
    push(progress(1, "u1", "ours"), 0);
    push(box_of(TC_USAGE, 2), 0);
    push(box_of(TC_USAGE, 3), 0);
    push(box_of(TC_USAGE, 4), 0);
    is_int((long long)b.stats.replaced, 0, "a tool of another turn is another tool");
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
    is_int((long long)pop(0), 3, "calls and results stay");

    const struct tc_tool_call *const call = &at(0)->u.tool_call;
    ok(call->args_len < TRIM_TOOL, "arguments are cut");
    json_t *const doc = json_loads(call->args, 0, NULL);
    ok(doc && json_is_object(doc), "  and still a JSON object");
    is_int(json_integer_value(json_object_get(doc, "_bytes")), (long long)strlen(args),
           "  that says how long they were");
    ok(strncmp(json_string_value(json_object_get(doc, "_truncated")), args, 1000) == 0,
       "  with their head");
    json_decref(doc);

    const struct tc_tool_result *const result = &at(1)->u.tool_result;
    ok(result->truncated, "the result says it is truncated");
    ok(result->content_len < TRIM_TOOL + 64 && result->content_len > TRIM_TOOL - 64, "  is short");
    ok(utf8_is_valid(result->content, result->content_len), "  is valid UTF-8");
    has_str(result->content, "bytes left out", "  shows the gap");
    is_mem(result->content, 100, content, 100, "  has the head");
    is_mem(result->content + result->content_len - 100, 100, content + strlen(content) - 100, 100,
           "  and the tail");
    ok(!result->structured, "long JSON beside it is left out");
    is_str(result->patch, "[1]", "  short JSON is not");
    ok(strlen(result->diff) < TRIM_TOOL + 64, "  a long diff is cut");
    ok(!at(2)->u.tool_result.truncated, "a short one stays as it is");
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
    is_int((long long)count_of(TC_THINKING), 0, "thinking gives way");
    is_int((long long)count_of(TC_USAGE), 20, "what is reserved stays");
    is_int((long long)count_of(TC_NOTICE), 1, "one notice tells");
    is_int((long long)b.stats.dropped, 19, "what was dropped is counted");
    size_t i = 0;
    while (at(i)->kind != TC_NOTICE)
        i++;
    is_str(at(i)->u.notice.code, "dropped", "its code");
    is_str(at(i)->u.notice.level, "warn", "its level");
    is_str(at(i)->meta.x, "{\"count\":19,\"thinking\":19}", "the counts by kind");
    is_str(at(i)->u.notice.text,
           "19 events were dropped: the connector is too slow (queue_events, queue_bytes)",
           "its text");
    ok(at(i)->meta.seq == 39 && at(i + 1)->meta.seq == 40, "it stands where they would have been");
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
    is_int((long long)pop(0), 11, "a quarter is dropped, no more");
    is_int((long long)count_of(TC_NOTICE), 5, "notices stay while thinking can go");
    is_int((long long)count_of(TC_PROGRESS), 4, "progress stays while thinking can go");
    is_int((long long)count_of(TC_THINKING), 1, "the oldest thinking goes first");
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
    ok(b.stats.bytes < 5 * (64 << 10), "bytes are bounded: %zu", b.stats.bytes);
    ok(b.stats.events < 5 * 1000, "events are bounded: %zu", b.stats.events);
    pop(0);
    ok(at(0)->kind == TC_START && at(n_got - 1)->kind == TC_DONE && at(n_got - 2)->kind == TC_FINAL,
       "the turn is still whole");
    is_int((long long)count_of(TC_TOOL_CALL), (long long)count_of(TC_TOOL_RESULT),
           "no result without its call");
    size_t i = 0;
    while (i < n_got && at(i)->kind != TC_NARRATION)
        i++;
    ok(i < n_got && at(i)->u.narration.text_len < TRIM_NARRATION + 64, "narration is cut");
    has_str(at(i)->u.narration.text, "bytes left out", "  and says so");
    ok(b.stats.shrunk > 0, "  and is counted");
    ok(count_of(TC_NOTICE) >= 1, "the drops are told");
    free(long_text);
    end();
}

/* Tool calls and results may be cut, and only where that helps; they go at the hard limit. */
static void test_only_reserved_left(void)
{
    char *const content = repeat("x", 20000);
    begin(8, 4 << 20, 0);
    for (uint64_t seq = 1; seq <= 20; seq += 2) {
        push(tool_call(seq, "{}"), 0);
        push(tool_result(seq + 1, content), 0);
    }
    push(box_of(TC_STEP, 21), 0);
    is_int((long long)b.stats.dropped, 1, "what may be dropped does not even enter");
    is_int((long long)pop(0), 20, "what is reserved does");
    is_int((long long)b.stats.shrunk, 0, "nothing is cut while there are bytes enough");
    free(content);
    end();
}

static void test_one_big_event(void)
{
    char *const content = repeat("x", 1 << 20);
    begin(100, 64 << 10, 0);
    push(tool_result(1, content), 0);
    is_int((long long)pop(0), 1, "an event larger than the limit");
    is_int((long long)at(0)->u.tool_result.content_len, 1 << 20, "  enters whole an empty queue");
    free(content);
    end();
}

#define MANY 100000
#define LINEAR_MS 10000 /* copying what is there each time would take minutes */

/* Pieces of one message, `lanes` of them in turn, that nobody takes. */
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
            bytes += at(i)->u.narration.text_len;
    return bytes;
}

static void test_many(void)
{
    const int64_t before = clock_mono_ms();
    begin(4096, 64 << 20, 1000);
    is_int((long long)push_pieces(1), 10 * MANY, "many pieces are joined while they are held back");
    end();
    begin(16, 64 << 20, 0);
    is_int((long long)push_pieces(1), 10 * MANY, "  and where there is no room");
    is_int((long long)b.stats.dropped, 0, "  nothing is lost");
    end();
    begin(16, 64 << 20, 0);
    is_int((long long)push_pieces(2), 10 * MANY, "  those of two turns as well");
    end();
    begin(16, 64 << 20, 0);
    for (uint64_t seq = 1; seq <= MANY; seq++)
        push(box_of(TC_USAGE, seq), 0);
    is_int((long long)b.stats.events, MANY, "many that can neither be joined nor dropped stay");
    end();
    ok(clock_mono_ms() - before < LINEAR_MS, "  in a time that goes with their number");
}

static void test_pass(void)
{
    struct backlog_item item;
    begin(100, 1 << 20, 0);
    struct shared_event *const shared = shared_event_ref(narration(1, "a", "m"));
    ok(backlog_try_bypass(&b, turn_backlog, shared, &item) && item.shared == shared &&
           item.turn == turn_tag,
       "an event that need not wait is handed through");
    shared_event_unref(shared);
    shared_event_unref(shared);
    push(narration(2, "b", "m"), 0);
    struct shared_event *const next = narration(3, "c", "m");
    ok(!backlog_try_bypass(&b, turn_backlog, next, &item), "not past one that waits");
    pop(0);
    turn_backlog->drop_seq = 2;
    ok(!backlog_try_bypass(&b, turn_backlog, next, &item), "not past a notice that is due");
    turn_backlog->drop_seq = 0;
    turn_backlog->bare = true;
    ok(!backlog_try_bypass(&b, turn_backlog, next, &item), "not past the rules of a bare lane");
    shared_event_unref(next);
    end();
    begin(100, 1 << 20, 10);
    struct shared_event *const done = box_of(TC_DONE, 1);
    ok(!backlog_try_bypass(&b, turn_backlog, done, &item), "not past a pace");
    end();
    begin(100, 1 << 20, 0);
    ok(backlog_try_bypass(&b, turn_backlog, done, &item) && !b.turn_backlogs, "done ends the lane");
    shared_event_unref(done);
    end();
}

static void test_trim(void)
{
    CLEANUP_BUF struct buf out = {0};
    event_truncate_text(&out, STR("short"), 8);
    is_str(out.p, "short", "short text is not cut");
    buf_reset(&out);
    event_truncate_text(&out, STR("0123456789abcdef"), 8);
    is_str(out.p, "0123\n[… 8 bytes left out …]\ncdef", "head, mark, tail");
    buf_reset(&out);
    event_truncate_text(&out, STR("ääääääääää"), 7);
    is_str(out.p, "ä\n[… 16 bytes left out …]\nä", "cut between characters");
}

int main(void)
{
    plan_lazy();
    test_untouched();
    test_pace();
    test_pace_of_turns();
    test_what_joins();
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
