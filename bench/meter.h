/* SPDX-License-Identifier: MIT
 * What the measuring connector tells the benchmark: counters in a file that both have mapped. */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include <stdint.h>

#define METER_STEPS 32 /* of each power of two: a time is known to 3 % */
#define METER_BUCKETS (64 * METER_STEPS)

/* Written by the connector's thread alone; whoever reads it meanwhile sees a little less. */
struct meter {
    _Atomic uint64_t lines;
    _Atomic uint64_t misplaced; /* lines that did not follow the one before */
    _Atomic uint64_t running, peak;
    _Atomic uint64_t complete;             /* turns that are done, final, with every line */
    _Atomic uint64_t failed;               /* and the others that are done */
    _Atomic uint64_t times[METER_BUCKETS]; /* from an agent's write to the callback */
};

static inline unsigned meter_bucket(uint64_t ns)
{
    if (ns < METER_STEPS)
        return (unsigned)ns;
    const unsigned power = 63 - (unsigned)__builtin_clzll(ns), shift = power - 5;
    return (power - 4) * METER_STEPS + (unsigned)(ns >> shift) - METER_STEPS;
}

/* The least time of a bucket. */
static inline uint64_t meter_time(unsigned bucket)
{
    if (bucket < METER_STEPS)
        return bucket;
    const unsigned power = bucket / METER_STEPS + 4;
    return (uint64_t)(bucket % METER_STEPS + METER_STEPS) << (power - 5);
}

#endif
