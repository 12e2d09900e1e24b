/* SPDX-License-Identifier: MIT
 * Dates of the wall clock. */
#include "core/budget/budget_day.h"

#include <time.h>

#include "base/sys/clock.h"

static struct tm budget_day_now(bool utc, time_t *now)
{
    struct tm t;
    *now = (time_t)clock_wall_s();
    utc ? gmtime_r(now, &t) : localtime_r(now, &t);
    return t;
}

int64_t budget_day_today(bool utc)
{
    time_t now;
    const struct tm t = budget_day_now(utc, &now);
    return (t.tm_year + 1900) * INT64_C(10000) + (t.tm_mon + 1) * 100 + t.tm_mday;
}

int64_t budget_day_remaining_s(bool utc)
{
    time_t now;
    struct tm t = budget_day_now(utc, &now);
    t.tm_mday++;
    t.tm_hour = t.tm_min = t.tm_sec = 0;
    t.tm_isdst = -1;
    const time_t midnight = utc ? timegm(&t) : mktime(&t);
    return midnight > now ? midnight - now : 1;
}
