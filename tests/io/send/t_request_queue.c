/* SPDX-License-Identifier: MIT
 * The order within one conversation. */
#include "io/send/request_queue.h"

#include <string.h>

#include "tap/tap.h"

static struct request_queue lane;

static struct queued_request item_of(enum send_priority priority, const char *key,
                                     int64_t deadline_ms)
{
    return (struct queued_request){.priority = priority, .key = key, .deadline_ms = deadline_ms};
}

static void test_priorities(void)
{
    struct queued_request notice = item_of(PRIORITY_NOTICE, NULL, 0),
                          edit = item_of(PRIORITY_LIVE, "m", 0);
    struct queued_request final1 = item_of(PRIORITY_FINAL, NULL, 0),
                          final2 = item_of(PRIORITY_FINAL, NULL, 0);
    struct queued_request request = item_of(PRIORITY_REQUEST, NULL, 0),
                          late = item_of(PRIORITY_LIVE, "m", 0);
    request_queue_init(&lane);
    ok(request_queue_is_idle(&lane) && !request_queue_start(&lane), "an empty lane");
    request_queue_push(&lane, &notice);
    request_queue_push(&lane, &edit);
    request_queue_push(&lane, &request);
    ok(request_queue_push(&lane, &final1) == &edit && !edit.next,
       "a final drops the waiting edits");
    ok(!request_queue_push(&lane, &final2), "once");
    ok(!request_queue_push(&lane, &late), "an edit after the final may wait");
    struct queued_request *const wanted[] = {&final1, &final2, &request, &notice, &late};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ok(request_queue_start(&lane) == wanted[i], "place %zu", i);
        ok(!request_queue_peek(&lane) && !request_queue_is_idle(&lane),
           "while one request is in flight no other is started");
        request_queue_finish(&lane);
    }
    ok(request_queue_is_idle(&lane), "the queue is idle again");
}

static void test_edits(void)
{
    struct queued_request a1 = item_of(PRIORITY_LIVE, "a", 0), a2 = item_of(PRIORITY_LIVE, "a", 0);
    struct queued_request b = item_of(PRIORITY_LIVE, "b", 0), a3 = item_of(PRIORITY_LIVE, "a", 0);
    struct queued_request free1 = item_of(PRIORITY_LIVE, NULL, 0),
                          free2 = item_of(PRIORITY_LIVE, NULL, 0);
    request_queue_init(&lane);
    request_queue_push(&lane, &a1);
    request_queue_push(&lane, &b);
    a1.not_before_ms = 77;
    a1.attempts = 3;
    ok(request_queue_push(&lane, &a2) == &a1, "a newer edit of a message replaces the older one");
    ok(a2.not_before_ms == 77 && a2.attempts == 3,
       "the newer edit keeps the time limit and the attempts");
    ok(!request_queue_push(&lane, &free1) && !request_queue_push(&lane, &free2),
       "edits without a key are not replaced");
    ok(request_queue_start(&lane) == &a2, "the newer edit has the place of the older one");
    ok(request_queue_requeue(&lane) && request_queue_peek(&lane) == &a2,
       "a failed edit returns to its place");
    request_queue_start(&lane);
    ok(!request_queue_push(&lane, &a3), "an edit in flight is not replaced");
    ok(!request_queue_requeue(&lane), "a failed edit is dropped when a newer one waits");
    ok(request_queue_start(&lane) == &b, "the next edit is started");
    struct queued_request last = item_of(PRIORITY_FINAL, NULL, 0);
    const struct queued_request *const dropped = request_queue_push(&lane, &last);
    ok(dropped == &free1 && free1.next == &free2 && free2.next == &a3, "a final drops all edits");
    ok(!request_queue_requeue(&lane), "a failed edit is dropped when a final waits");
    ok(request_queue_start(&lane) == &last, "the final is started");
    ok(request_queue_requeue(&lane) && request_queue_peek(&lane) == &last,
       "a failed final is started again");
}

static void test_deadlines(void)
{
    struct queued_request a = item_of(PRIORITY_NOTICE, NULL, 100),
                          b = item_of(PRIORITY_NOTICE, NULL, 50);
    struct queued_request c = item_of(PRIORITY_FINAL, NULL, 0),
                          d = item_of(PRIORITY_LIVE, NULL, 100);
    request_queue_init(&lane);
    request_queue_push(&lane, &a);
    request_queue_push(&lane, &b);
    request_queue_push(&lane, &c);
    request_queue_push(&lane, &d);
    ok(!request_queue_expire(&lane, 49), "no item expires before its deadline");
    ok(request_queue_expire(&lane, 50) == &b && !b.next,
       "an item in the middle of the queue expires");
    is_int(lane.next_deadline_ms, 100, "the next deadline");
    ok(request_queue_expire(&lane, 100) == &a && a.next == &d && !d.next,
       "two items expire at once");
    ok(!request_queue_expire(&lane, INT64_MAX) && request_queue_peek(&lane) == &c,
       "an item without a deadline does not expire");
    struct queued_request e = item_of(PRIORITY_NOTICE, NULL, 200);
    request_queue_push(&lane, &e);
    ok(request_queue_clear(&lane) == &c && c.next == &e && !e.next && request_queue_is_idle(&lane),
       "cleared");
}

static void test_ahead(void)
{
    struct queued_request now = item_of(PRIORITY_FINAL, NULL, 0),
                          next = item_of(PRIORITY_FINAL, NULL, 0);
    struct queued_request first = item_of(PRIORITY_FINAL, NULL, 0),
                          second = item_of(PRIORITY_FINAL, NULL, 0);
    struct queued_request other = item_of(PRIORITY_NOTICE, NULL, 0);
    first.is_ahead = second.is_ahead = other.is_ahead = true;
    request_queue_init(&lane);
    request_queue_push(&lane, &now);
    request_queue_push(&lane, &next);
    request_queue_start(&lane);
    request_queue_push(&lane, &second);
    request_queue_push(&lane, &first);
    request_queue_push(&lane, &other);
    request_queue_finish(&lane);
    struct queued_request *const wanted[] = {&first, &second, &next, &other};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ok(request_queue_start(&lane) == wanted[i],
           "an item that is put ahead is started first: %zu", i);
        request_queue_finish(&lane);
    }
    request_queue_push(&lane, &other);
    ok(request_queue_start(&lane) == &other && request_queue_is_idle(&lane) == false,
       "an item is put ahead of an empty queue");
}

static void test_spared(void)
{
    struct queued_request word = item_of(PRIORITY_FINAL, NULL, 0),
                          edit = item_of(PRIORITY_LIVE, "m", 0);
    struct queued_request outcome = item_of(PRIORITY_FINAL, NULL, 0);
    word.spares_live = true;
    request_queue_init(&lane);
    request_queue_push(&lane, &edit);
    ok(!request_queue_push(&lane, &word), "a final that is not an outcome keeps waiting edits");
    ok(request_queue_start(&lane) == &word, "such a final is started before the edits");
    request_queue_finish(&lane);
    ok(request_queue_start(&lane) == &edit, "the edits follow");
    request_queue_push(&lane, &word);
    ok(request_queue_requeue(&lane), "a failed edit is kept when such a final waits");
    ok(request_queue_start(&lane) == &word, "the final is started before the edit");
    request_queue_finish(&lane);
    request_queue_start(&lane);
    request_queue_push(&lane, &word);
    request_queue_push(&lane, &outcome);
    ok(!request_queue_requeue(&lane), "a failed edit is dropped when an outcome waits, too");
}

int main(void)
{
    plan_lazy();
    test_priorities();
    test_edits();
    test_deadlines();
    test_ahead();
    test_spared();
    return 0;
}
