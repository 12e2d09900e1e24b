/* SPDX-License-Identifier: MIT
 * Reads histograms. */
#include "bench/percentile.h"

#include <stdio.h>

#include "bench/meter.h"

double percentile_us(const uint64_t *times, double share)
{
    uint64_t all = 0, seen = 0;
    unsigned i = 0;
    for (unsigned k = 0; k < METER_BUCKETS; k++)
        all += times[k];
    while (i + 1 < METER_BUCKETS && (seen += times[i]) < all &&
           seen <= (uint64_t)((double)all * share))
        i++;
    return (double)meter_time(i) / 1e3;
}

void percentile_print(const char *name, const uint64_t *times)
{
    printf("%-20s %12.1f %12.1f %12.1f %12.1f us (p50, p99, p99.9, longest)\n", name,
           percentile_us(times, 0.5), percentile_us(times, 0.99), percentile_us(times, 0.999),
           percentile_us(times, 1));
}
