/* SPDX-License-Identifier: MIT
 * Formats metric families and samples. */
#include "api/metrics/prometheus.h"

#include <stdio.h>

#include "base/invariant.h"
#include "event/json/json_writer.h"

#define HISTOGRAM_LABELS 2

void prometheus_append_header(struct buf *out, const struct prometheus_family *f)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
}

static void add_value_of_label(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            buf_add_str(out, "\\n");
            continue;
        }
        if (*text == '"' || *text == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
}

static void add_labels(struct buf *out, const char *const *labels)
{
    for (size_t i = 0; labels[i]; i += 2) {
        buf_printf(out, "%s%s=\"", i ? "," : "{", labels[i]);
        add_value_of_label(out, labels[i + 1]);
        buf_add_char(out, '"');
    }
    if (labels[0])
        buf_add_char(out, '}');
}

void prometheus_append_sample(struct buf *out, const struct prometheus_family *f,
                              const char *suffix, const char *const *labels, double value)
{
    if (value < 0)
        return;
    buf_printf(out, "%s%s", f->name, suffix);
    add_labels(out, labels);
    buf_add_char(out, ' ');
    jsonw_real(out, value);
    buf_add_char(out, '\n');
}

void prometheus_append_histogram(struct buf *out, const struct prometheus_family *f,
                                 const char *const *labels, const struct histogram *h)
{
    const char *with_bound[2 * HISTOGRAM_LABELS + 3] = {NULL};
    char bound[32];
    uint64_t n = 0;
    size_t at = 0;
    for (; labels[at]; at++) {
        ASSERT(at < 2 * HISTOGRAM_LABELS);
        with_bound[at] = labels[at];
    }
    with_bound[at] = "le";
    with_bound[at + 1] = bound;
    for (size_t i = 0; i <= h->n_bounds; i++) {
        n += h->counts[i];
        if (i < h->n_bounds)
            snprintf(bound, sizeof bound, "%g", h->bounds[i]);
        else
            snprintf(bound, sizeof bound, "+Inf");
        prometheus_append_sample(out, f, "_bucket", with_bound, (double)n);
    }
    prometheus_append_sample(out, f, "_sum", labels, h->sum);
    prometheus_append_sample(out, f, "_count", labels, (double)n);
}

void prometheus_append_single(struct buf *out, const struct prometheus_family *f, double value)
{
    static const char *const none[] = {NULL};
    prometheus_append_header(out, f);
    prometheus_append_sample(out, f, "", none, value);
}
