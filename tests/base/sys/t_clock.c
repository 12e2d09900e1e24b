/* SPDX-License-Identifier: MIT
 * Tests of base/sys/clock.h. */
#include "base/sys/clock.h"

#include <math.h>
#include <string.h>

#include "tap/tap.h"

static void test_format(void)
{
    static const struct {
        double wall;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1795246200.123, "2026-11-21T07:30:00.123Z"},
        {951782400.999, "2000-02-29T00:00:00.999Z"},
        {0.9999, "1970-01-01T00:00:00.999Z"},
        {-0.001, "1969-12-31T23:59:59.999Z"},
        {1e300, "9999-12-31T23:59:59.999Z"},
        {-INFINITY, "1000-01-01T00:00:00.000Z"},
        {NAN, "1000-01-01T00:00:00.000Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        clock_format_rfc3339(rows[i].wall, text);
        is_str(text, rows[i].text, "%.3f", rows[i].wall);
    }
    bool exact = true;
    for (int ms = 0; ms < 1000; ms++) {
        char text[32], wanted[32] = "2026-11-21T07:30:00.000Z";
        for (int digit = 22, rest = ms; digit >= 20; digit--, rest /= 10)
            wanted[digit] = (char)('0' + rest % 10);
        clock_format_rfc3339(1795246200 + ms / 1000.0, text);
        exact = exact && memcmp(text, wanted, 25) == 0;
    }
    ok(exact, "every millisecond is printed exactly");
}

static void test_real(void)
{
    const int64_t before = clock_mono_ms();
    ok(clock_mono_ms() >= before, "monotonic time never goes back");
    const int64_t coarse = clock_mono_coarse_ms(), now = clock_mono_ms();
    ok(coarse <= now && coarse >= before - 1000, "the coarse clock is a little behind");
    ok(clock_wall_s() > 1600000000, "wall time is plausible");
}

static void test_fake(void)
{
    clock_fake(1000, 1795246200.5);
    is_int(clock_mono_ms(), 1000, "fake monotonic time does not advance");
    is_real(clock_wall_s(), 1795246200.5, "fake wall time does not advance");
    clock_fake_advance(2500);
    is_int(clock_mono_ms(), 3500, "advance moves monotonic time");
    is_real(clock_wall_s(), 1795246203.0, "advance moves wall time");
    ok(clock_is_fake(), "a fake clock is reported as fake");
    clock_fake_end();
    ok(!clock_is_fake(), "a real clock is not reported as fake");
    ok(clock_wall_s() != 1795246203.0, "unfake restores real time");
}

int main(void)
{
    plan_lazy();
    test_format();
    test_real();
    test_fake();
}
