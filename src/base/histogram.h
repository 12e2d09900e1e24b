/* SPDX-License-Identifier: MIT
 * Histogram for metrics. Any thread, one at a time. */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS_MAX 15

struct histogram {
    const double *bounds;                      /* upper bounds of buckets, ascending; borrowed */
    size_t n_bounds;                           /* at most HISTOGRAM_BOUNDS_MAX */
    uint64_t counts[HISTOGRAM_BOUNDS_MAX + 1]; /* of each bucket; counts[n_bounds] has no bound */
    double sum;
};

/* Counts a value; one that equals a bound belongs to that bucket. */
static inline void histogram_add(struct histogram *h, double value)
{
    size_t i = 0;
    while (i < h->n_bounds && value > h->bounds[i])
        i++;
    h->counts[i]++;
    h->sum += value;
}

#endif
