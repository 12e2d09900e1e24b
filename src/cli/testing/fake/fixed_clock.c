/* SPDX-License-Identifier: MIT
 * Replaces the C library's clocks for a connector under test by those of base/sys/clock.h, once
 * they are frozen. Linked into programs that export these symbols, which take precedence over the
 * library's; in no archive, so that no other program gets it. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <turncast/plugin.h>
#include <unistd.h>

#include "base/sys/clock.h"

static int fixed_clock_real(clockid_t id, struct timespec *out)
{
    return (int)syscall(SYS_clock_gettime, id, out);
}

TC_EXPORT int clock_gettime(clockid_t id, struct timespec *out)
{
    if (!clock_is_fake() || (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC &&
                             id != CLOCK_REALTIME_COARSE && id != CLOCK_MONOTONIC_COARSE))
        return fixed_clock_real(id, out);
    const bool wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    const int64_t us = wall ? (int64_t)(clock_wall_s() * 1e6 + 0.5) : clock_mono_us();
    *out = (struct timespec){us / 1000000, us % 1000000 * 1000};
    return 0;
}

TC_EXPORT time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
