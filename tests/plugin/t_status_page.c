/* SPDX-License-Identifier: MIT
 * Tests of plugin/status_page.h: counting callbacks, one by one and in a run. */
#include "plugin/status_page.h"

#include "base/sys/clock.h"
#include "tap/tap.h"

static struct status_page g;

static void run_callback(int64_t ms)
{
    status_page_enter_callback(&g, TC_NARRATION, "t1");
    clock_fake_advance(ms);
    status_page_leave_callback(&g);
    status_page_count_result(&g, false);
}

static void check_counts(uint64_t quick, uint64_t ten_ms, uint64_t second, const char *what)
{
    const struct callback_histogram times = status_page_histogram(&g);
    is_int((long long)times.counts[0], (long long)quick, "%s: callbacks below 1 ms", what);
    is_int((long long)times.counts[2], (long long)ten_ms, "%s: callbacks up to 10 ms", what);
    is_int((long long)times.counts[4], (long long)second, "%s: callbacks up to a second", what);
}

static void test_single(void)
{
    run_callback(0);
    run_callback(7);
    run_callback(500);
    check_counts(1, 1, 1, "single callbacks");
    is_int((long long)status_page_histogram(&g).sum_us, 507000, "the sum of the durations");
}

static void test_run(void)
{
    status_page_begin_series(&g);
    for (int i = 0; i < 200; i++)
        run_callback(0);
    run_callback(600);
    for (int i = 0; i < 30; i++)
        run_callback(0);
    run_callback(9);
    run_callback(8);
    run_callback(0);
    status_page_end_series(&g);
    check_counts(232, 3, 2, "a run");
    is_int((long long)status_page_histogram(&g).sum_us, 507000 + 617000,
           "the sum of the durations of a run");
    is_int((long long)status_page_get_delivered(&g), 3 + 234, "each callback of a run is counted");
    clock_fake_advance(5000);
    run_callback(0);
    check_counts(233, 3, 2, "the time between callbacks is not counted");
}

/* The duration of a running callback counts from its own beginning, not from that of the run. */
static void test_since(void)
{
    int64_t since;
    status_page_begin_series(&g);
    run_callback(0);
    run_callback(3000);
    run_callback(0);
    const int64_t now = clock_mono_ms();
    status_page_enter_callback(&g, TC_TOOL_CALL, "t2");
    clock_fake_advance(4000);
    is_str(status_page_running_callback(&g, &since), "on_tool_call", "the running callback");
    is_int(since, now, "the start of the running callback");
    status_page_leave_callback(&g);
    status_page_end_series(&g);
    ok(!status_page_running_callback(&g, &since), "no callback is running afterwards");
}

static void check_turn(const char *turn, const char *wanted, const char *what)
{
    char copy[80];
    status_page_enter_callback(&g, TC_NARRATION, turn);
    status_page_copy_turn(&g, copy);
    status_page_leave_callback(&g);
    is_str(copy, wanted, "%s", what);
}

/* After a crash the status page names the turn. */
static void test_turn(void)
{
    char name[] = "t1";
    check_turn(name, "t1", "the turn of a callback");
    name[1] = '2';
    check_turn(name, "t2", "the turn is copied for each single callback");
    status_page_begin_series(&g);
    check_turn(name, "t2", "the turn of a callback in a run");
    check_turn("t3", "t3", "another turn in a run");
    check_turn(name, "t2", "the previous turn in a run");
    status_page_clear_turn(&g);
    name[1] = '4';
    check_turn(name, "t4", "another turn at the same address");
    status_page_end_series(&g);
    name[1] = '5';
    check_turn(name, "t5", "a turn after the run");
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
