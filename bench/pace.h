/* SPDX-License-Identifier: MIT
 * The clock by which the benchmarks keep a pace. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include <stdint.h>
#include <time.h>

/* Times are in nanoseconds of the monotonic clock. */
#define PACE_SECOND ((int64_t)1000000000)

static inline int64_t pace_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * PACE_SECOND + ts.tv_nsec;
}

static inline void pace_sleep_until(int64_t ns)
{
    const struct timespec ts = {.tv_sec = ns / PACE_SECOND, .tv_nsec = ns % PACE_SECOND};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

#endif
