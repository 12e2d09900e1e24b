/* SPDX-License-Identifier: MIT
 * Tests of plugin/process/spawn/restart_backoff.h: the back-off between lives, and the breaker. The
 * clock is a number. */
#include "plugin/process/spawn/restart_backoff.h"

#include "tap/tap.h"

#define MINUTE ((int64_t)60000)

static void test_back_off(void)
{
    struct restart_backoff r = {0};
    int64_t now = 1000, wanted = REVIVAL_FIRST_MS;
    /* So far apart that it is never often, so short that it is never believed. */
    for (int i = 0; i < 12; i++) {
        const int64_t began = now - 1;
        is_int(restart_backoff_record_death(&r, began, now), wanted,
               "death %d: the delay doubles to its bound", i);
        ok(!r.open, "  and it is not broken");
        wanted = 2 * wanted < REVIVAL_MAX_MS ? 2 * wanted : REVIVAL_MAX_MS;
        now += REVIVAL_WINDOW_MS;
    }
}

static void test_breaker(void)
{
    struct restart_backoff r = {0};
    int64_t now = 5 * MINUTE;
    for (int i = 1; i < REVIVAL_DEATHS; i++, now += 10)
        ok(restart_backoff_record_death(&r, now - 1, now) < REVIVAL_MAX_MS && !r.open, "death %d",
           i);
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_MAX_MS,
           "the last of five in a short time");
    ok(r.open, "opens the breaker");
    now += REVIVAL_MAX_MS;
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_MAX_MS, "one try in a while");
    now += 2 * REVIVAL_WINDOW_MS;
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_MAX_MS,
           "a death long after is one more try");
    ok(r.open, "it stays open");
    ok(!restart_backoff_check_recovery(&r, now, now + REVIVAL_WINDOW_MS - 1), "until a life");
    ok(restart_backoff_check_recovery(&r, now, now + REVIVAL_WINDOW_MS),
       "that has lasted long enough: news");
    ok(!r.open && !restart_backoff_check_recovery(&r, now, now + REVIVAL_WINDOW_MS), "once");
    now += REVIVAL_WINDOW_MS;
    is_int(restart_backoff_record_death(&r, now - 1, now), REVIVAL_FIRST_MS, "and all begins anew");
}

/* The fifth death counts from the first of the last five, not from the first ever. */
static void test_window(void)
{
    struct restart_backoff r = {0};
    const int64_t apart = REVIVAL_WINDOW_MS / (REVIVAL_DEATHS - 1);
    int64_t now = 1;
    for (int i = 0; i < 30; i++, now += apart)
        restart_backoff_record_death(&r, now - 1, now);
    ok(!r.open, "as many deaths as may be, for ever");
    restart_backoff_record_death(&r, now - 1, now);
    now += apart - 1;
    restart_backoff_record_death(&r, now - 1, now);
    ok(r.open, "one a moment sooner is one too many");
}

static void test_long_life(void)
{
    struct restart_backoff r = {0};
    restart_backoff_record_death(&r, 0, 1);
    restart_backoff_record_death(&r, 1, 2);
    is_int(restart_backoff_record_death(&r, 2, 2 + REVIVAL_WINDOW_MS), REVIVAL_FIRST_MS,
           "after a long life a death is the first");
}

int main(void)
{
    plan_lazy();
    test_back_off();
    test_breaker();
    test_window();
    test_long_life();
}
