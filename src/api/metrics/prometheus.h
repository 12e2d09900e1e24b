/* SPDX-License-Identifier: MIT
 * Writer for the Prometheus text format 0.0.4. Pure. */
#ifndef API_METRICS_PROMETHEUS_H
#define API_METRICS_PROMETHEUS_H

#include "base/bytes/buf.h"
#include "base/histogram.h"

#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct prometheus_family {
    const char *name, *type, *help;
};

/* Appends the header of a family; its samples must follow directly. */
void prometheus_append_header(struct buf *out, const struct prometheus_family *f);
/* suffix: "" or a suffix of the type ("_bucket"); labels: names and values in turn, ending with
 * NULL. Writes nothing if the value is negative, i.e. unknown. */
void prometheus_append_sample(struct buf *out, const struct prometheus_family *f,
                              const char *suffix, const char *const *labels, double value);
/* The samples of a histogram: buckets, sum and count. labels: as above, at most two. */
void prometheus_append_histogram(struct buf *out, const struct prometheus_family *f,
                                 const char *const *labels, const struct histogram *h);
/* A family of one sample without labels. */
void prometheus_append_single(struct buf *out, const struct prometheus_family *f, double value);

#endif
