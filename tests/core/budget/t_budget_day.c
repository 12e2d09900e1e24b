/* SPDX-License-Identifier: MIT
 * Days begin at midnight, of the local time zone or of UTC, also when the clocks change. */
#include "core/budget/budget_day.h"

#include <stdlib.h>
#include <time.h>

#include "base/sys/clock.h"
#include "tap/tap.h"

static void at(double wall, bool utc, int64_t day, int64_t left, const char *what)
{
    clock_fake(0, wall);
    is_int(budget_day_today(utc), day, "%s: the date", what);
    is_int(budget_day_remaining_s(utc), left, "%s: the seconds until the end of the day", what);
}

int main(void)
{
    plan_lazy();
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    at(1795735800, true, 20261126, 1800, "half an hour before midnight in UTC");
    at(1795735800, false, 20261127, 23 * 3600 + 1800,
       "the same time in a zone where it is after midnight");
    at(1795737599, true, 20261126, 1, "the last second of a day");
    at(1795737600, true, 20261127, 86400, "the first second of a day");
    at(1774738800, false, 20260329, 23 * 3600, "a day of 23 hours");
    at(1792879200, false, 20261025, 25 * 3600, "a day of 25 hours");
    at(1798757999, false, 20261231, 1, "the last second of a year");
    clock_fake_end();
    return 0;
}
