/* SPDX-License-Identifier: MIT
 * Histogram for metrics. Any thread, one at a time. */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 11

struct histogram {
    const double *bounds; /* HISTOGRAM_BOUNDS upper bounds of buckets, ascending; borrowed */
    uint64_t counts[HISTOGRAM_BOUNDS + 1]; /* count of each bucket; the last one has no bound */
    double sum;
};

/* Counts a value; one that equals a bound belongs to that bucket. */
static inline void histogram_add(struct histogram *h, double value)
{
    size_t i = 0;
    while (i < HISTOGRAM_BOUNDS && value > h->bounds[i])
        i++;
    h->counts[i]++;
    h->sum += value;
}

#endif
