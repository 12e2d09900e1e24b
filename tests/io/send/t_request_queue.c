/* SPDX-License-Identifier: MIT
 * The order within one conversation. */
#include "io/send/request_queue.h"

#include <string.h>

#include "base/bytes/buf.h"
#include "tap/tap.h"

static struct lane lane;

static struct lane_item item_of(enum lane_priority priority, const char *key, int64_t deadline_ms)
{
    return (struct lane_item){.priority = priority, .key = key, .deadline_ms = deadline_ms};
}

static void test_priorities(void)
{
    struct lane_item notice = item_of(LANE_NOTICE, NULL, 0), edit = item_of(LANE_LIVE, "m", 0);
    struct lane_item final1 = item_of(LANE_FINAL, NULL, 0), final2 = item_of(LANE_FINAL, NULL, 0);
    struct lane_item request = item_of(LANE_REQUEST, NULL, 0), late = item_of(LANE_LIVE, "m", 0);
    lane_init(&lane);
    ok(lane_is_idle(&lane) && !lane_take(&lane), "an empty lane");
    lane_push(&lane, &notice);
    lane_push(&lane, &edit);
    lane_push(&lane, &request);
    ok(lane_push(&lane, &final1) == &edit && !edit.next, "a final drops the live edits");
    ok(!lane_push(&lane, &final2), "once");
    ok(!lane_push(&lane, &late), "an edit behind the final may wait");
    struct lane_item *const wanted[] = {&final1, &final2, &request, &notice, &late};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ok(lane_take(&lane) == wanted[i], "place %zu", i);
        ok(!lane_head(&lane) && !lane_is_idle(&lane), "one in flight, nothing else goes");
        lane_land(&lane);
    }
    ok(lane_is_idle(&lane), "idle again");
}

static void test_edits(void)
{
    struct lane_item a1 = item_of(LANE_LIVE, "a", 0), a2 = item_of(LANE_LIVE, "a", 0);
    struct lane_item b = item_of(LANE_LIVE, "b", 0), a3 = item_of(LANE_LIVE, "a", 0);
    struct lane_item free1 = item_of(LANE_LIVE, NULL, 0), free2 = item_of(LANE_LIVE, NULL, 0);
    lane_init(&lane);
    lane_push(&lane, &a1);
    lane_push(&lane, &b);
    a1.not_before_ms = 77;
    a1.attempts = 3;
    ok(lane_push(&lane, &a2) == &a1, "the newer edit of a message replaces the older");
    ok(a2.not_before_ms == 77 && a2.attempts == 3, "and waits as long as that had to");
    ok(!lane_push(&lane, &free1) && !lane_push(&lane, &free2), "without a key nothing is replaced");
    ok(lane_take(&lane) == &a2, "it kept the place");
    ok(lane_return(&lane) && lane_head(&lane) == &a2, "back at its place");
    lane_take(&lane);
    ok(!lane_push(&lane, &a3), "what is in flight is not replaced");
    ok(!lane_return(&lane), "but when it fails, the newer one is enough");
    ok(lane_take(&lane) == &b, "the next");
    struct lane_item last = item_of(LANE_FINAL, NULL, 0);
    const struct lane_item *const dropped = lane_push(&lane, &last);
    ok(dropped == &free1 && free1.next == &free2 && free2.next == &a3, "all edits dropped");
    ok(!lane_return(&lane), "an edit that failed does not go again once a final waits");
    ok(lane_take(&lane) == &last, "the final goes");
    ok(lane_return(&lane) && lane_head(&lane) == &last, "and again when it fails");
}

static void test_deadlines(void)
{
    struct lane_item a = item_of(LANE_NOTICE, NULL, 100), b = item_of(LANE_NOTICE, NULL, 50);
    struct lane_item c = item_of(LANE_FINAL, NULL, 0), d = item_of(LANE_LIVE, NULL, 100);
    lane_init(&lane);
    lane_push(&lane, &a);
    lane_push(&lane, &b);
    lane_push(&lane, &c);
    lane_push(&lane, &d);
    ok(!lane_expire(&lane, 49), "not yet");
    ok(lane_expire(&lane, 50) == &b && !b.next, "the one that is due, from the middle");
    is_int(lane.next_deadline_ms, 100, "the next deadline");
    ok(lane_expire(&lane, 100) == &a && a.next == &d && !d.next, "two at once");
    ok(!lane_expire(&lane, INT64_MAX) && lane_head(&lane) == &c, "without a deadline: never");
    struct lane_item e = item_of(LANE_NOTICE, NULL, 200);
    lane_push(&lane, &e);
    ok(lane_clear(&lane) == &c && c.next == &e && !e.next && lane_is_idle(&lane), "cleared");
}

static void test_ahead(void)
{
    struct lane_item now = item_of(LANE_FINAL, NULL, 0), next = item_of(LANE_FINAL, NULL, 0);
    struct lane_item first = item_of(LANE_FINAL, NULL, 0), second = item_of(LANE_FINAL, NULL, 0);
    struct lane_item other = item_of(LANE_NOTICE, NULL, 0);
    first.is_ahead = second.is_ahead = other.is_ahead = true;
    lane_init(&lane);
    lane_push(&lane, &now);
    lane_push(&lane, &next);
    lane_take(&lane);
    lane_push(&lane, &second);
    lane_push(&lane, &first);
    lane_push(&lane, &other);
    lane_land(&lane);
    struct lane_item *const wanted[] = {&first, &second, &next, &other};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ok(lane_take(&lane) == wanted[i], "what takes a place, then what waited: %zu", i);
        lane_land(&lane);
    }
    lane_push(&lane, &other);
    ok(lane_take(&lane) == &other && lane_is_idle(&lane) == false, "ahead of nothing");
}

static void test_spared(void)
{
    struct lane_item word = item_of(LANE_FINAL, NULL, 0), edit = item_of(LANE_LIVE, "m", 0);
    struct lane_item outcome = item_of(LANE_FINAL, NULL, 0);
    word.spares_live = true;
    lane_init(&lane);
    lane_push(&lane, &edit);
    ok(!lane_push(&lane, &word), "a final that is no outcome leaves live edits");
    ok(lane_take(&lane) == &word, "and goes before them");
    lane_land(&lane);
    ok(lane_take(&lane) == &edit, "they go on behind it");
    lane_push(&lane, &word);
    ok(lane_return(&lane), "one that failed goes again though such a final waits");
    ok(lane_take(&lane) == &word, "behind it");
    lane_land(&lane);
    lane_take(&lane);
    lane_push(&lane, &word);
    lane_push(&lane, &outcome);
    ok(!lane_return(&lane), "but not when an outcome waits, too");
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
