/* SPDX-License-Identifier: MIT
 * Tests of plugin/status_page.h: how callbacks are counted, one by one and in a run. */
#include "plugin/status_page.h"

#include "base/sys/clock.h"
#include "tap/tap.h"

static struct status_page g;

static void call(int64_t ms)
{
    status_page_enter_callback(&g, TC_NARRATION, "t1");
    clock_fake_advance(ms);
    status_page_leave_callback(&g);
    status_page_count_result(&g, false);
}

static void counts_are(uint64_t quick, uint64_t ten_ms, uint64_t second, const char *what)
{
    const struct callback_histogram times = status_page_histogram(&g);
    is_int((long long)times.counts[0], (long long)quick, "%s: quick ones", what);
    is_int((long long)times.counts[2], (long long)ten_ms, "  up to 10 ms");
    is_int((long long)times.counts[4], (long long)second, "  up to a second");
}

static void test_single(void)
{
    call(0);
    call(7);
    call(500);
    counts_are(1, 1, 1, "each alone");
    is_int((long long)status_page_histogram(&g).sum_us, 507000, "  their sum");
}

static void test_run(void)
{
    status_page_begin_series(&g);
    for (int i = 0; i < 200; i++)
        call(0);
    call(600);
    for (int i = 0; i < 30; i++)
        call(0);
    call(9);
    call(8);
    call(0);
    status_page_end_series(&g);
    counts_are(232, 3, 2, "a run");
    is_int((long long)status_page_histogram(&g).sum_us, 507000 + 617000, "  their sum");
    is_int((long long)status_page_get_delivered(&g), 3 + 234, "  each is counted");
    clock_fake_advance(5000);
    call(0);
    counts_are(233, 3, 2, "what lies between is no callback's");
}

/* How long it has been in there counts from its own beginning, not from the run's. */
static void test_since(void)
{
    int64_t since;
    status_page_begin_series(&g);
    call(0);
    call(3000);
    call(0);
    const int64_t now = clock_mono_ms();
    status_page_enter_callback(&g, TC_TOOL_CALL, "t2");
    clock_fake_advance(4000);
    is_str(status_page_running_callback(&g, &since), "on_tool_call", "what runs");
    is_int(since, now, "  and since when");
    status_page_leave_callback(&g);
    status_page_end_series(&g);
    ok(!status_page_running_callback(&g, &since), "then nothing does");
}

static void turn_is(const char *turn, const char *wanted, const char *what)
{
    char copy[80];
    status_page_enter_callback(&g, TC_NARRATION, turn);
    status_page_copy_turn(&g, copy);
    status_page_leave_callback(&g);
    is_str(copy, wanted, "%s", what);
}

/* After a death it says what it died of. */
static void test_turn(void)
{
    char name[] = "t1";
    turn_is(name, "t1", "the turn of a callback");
    name[1] = '2';
    turn_is(name, "t2", "  alone it is copied each time");
    status_page_begin_series(&g);
    turn_is(name, "t2", "  in a run");
    turn_is("t3", "t3", "  another one");
    turn_is(name, "t2", "  and back");
    status_page_clear_turn(&g);
    name[1] = '4';
    turn_is(name, "t4", "  also where one stands in the place of another");
    status_page_end_series(&g);
    name[1] = '5';
    turn_is(name, "t5", "  and behind the run");
}

int main(void)
{
    plan_lazy();
    clock_fake(1000, 0);
    test_single();
    test_run();
    test_since();
    test_turn();
}
