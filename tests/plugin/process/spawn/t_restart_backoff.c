/* SPDX-License-Identifier: MIT
 * Tests of plugin/process/spawn/restart_backoff.h: the delay between restarts, and the circuit
 * breaker. The clock is a number. */
#include "plugin/process/spawn/restart_backoff.h"

#include "tap/tap.h"

#define MINUTE ((int64_t)60000)

static void test_back_off(void)
{
    struct restart_backoff r = {0};
    int64_t now = 1000, wanted = REVIVAL_FIRST_MS;
    /* The crashes are too rare to open the breaker, and the processes too short-lived to reset the
     * delay. */
    for (int i = 0; i < 12; i++) {
        const int64_t began = now - 1;
        is_int(restart_backoff_record_death(&r, began, now), wanted,
               "crash %d: the delay doubles up to its maximum", i);
        ok(!r.open, "the breaker stays closed");
        wanted = 2 * wanted < REVIVAL_MAX_MS ? 2 * wanted : REVIVAL_MAX_MS;
        now += REVIVAL_WINDOW_MS;
    }
}

static void test_breaker(void)
{
    struct restart_backoff r = {0};
    int64_t now = 5 * MINUTE;
    for (int i = 1; i < REVIVAL_DEATHS; i++, now += 10)
        ok(restart_backoff_record_death(&r, now - 1, now) < REVIVAL_MAX_MS && !r.open, "crash %d",
           i);
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_MAX_MS,
           "the fifth crash within a short time has the maximum delay");
    ok(r.open, "the fifth crash opens the breaker");
    now += REVIVAL_MAX_MS;
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_MAX_MS,
           "with an open breaker a restart has the maximum delay");
    now += 2 * REVIVAL_WINDOW_MS;
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_MAX_MS,
           "a crash after a long time is one more attempt");
    ok(r.open, "the breaker stays open");
    ok(!restart_backoff_check_recovery(&r, now, now + REVIVAL_WINDOW_MS - 1),
       "a process that has not run long enough keeps the breaker open");
    ok(restart_backoff_check_recovery(&r, now, now + REVIVAL_WINDOW_MS),
       "a process that has run long enough closes the breaker");
    ok(!r.open && !restart_backoff_check_recovery(&r, now, now + REVIVAL_WINDOW_MS),
       "the breaker closes once");
    now += REVIVAL_WINDOW_MS;
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_FIRST_MS,
           "the delay begins again");
}

/* The window begins at the first of the last five crashes, not at the first crash ever. */
static void test_window(void)
{
    struct restart_backoff r = {0};
    const int64_t apart = REVIVAL_WINDOW_MS / (REVIVAL_DEATHS - 1);
    int64_t now = 1;
    for (int i = 0; i < 30; i++, now += apart)
        restart_backoff_record_death(&r, now - 1, now);
    ok(!r.open, "the maximum rate of crashes keeps the breaker closed");
    restart_backoff_record_death(&r, now - 1, now);
    now += apart - 1;
    restart_backoff_record_death(&r, now - 1, now);
    ok(r.open, "one crash that is earlier opens the breaker");
}

static void test_long_life(void)
{
    struct restart_backoff r = {0};
    restart_backoff_record_death(&r, 0, 1);
    restart_backoff_record_death(&r, 1, 2);
    is_int(restart_backoff_record_death(&r, 2, 2 + REVIVAL_WINDOW_MS), REVIVAL_FIRST_MS,
           "after a long time without a crash the delay is the first one");
}

int main(void)
{
    plan_lazy();
    test_back_off();
    test_breaker();
    test_window();
    test_long_life();
}
