/* SPDX-License-Identifier: MIT
 * What a histogram of bench/meter.h says. */
#ifndef BENCH_PERCENTILE_H
#define BENCH_PERCENTILE_H

#include <stdint.h>

/* Microseconds within which that share of the times lies; share 1 is the longest. */
double percentile_us(const uint64_t *times, double share);
/* A line: NAME, and p50, p99, p99.9 and the longest in microseconds. */
void percentile_print(const char *name, const uint64_t *times);

#endif
