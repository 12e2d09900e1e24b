/* SPDX-License-Identifier: MIT
 * Samples as text: names, labels that need escapes, numbers. */
#include "api/metrics/prometheus.h"

#include <stdio.h>
#include <string.h>

#include "tap/tap.h"

static const struct prometheus_family gauge = {"x_y", "gauge", "What it is."};

static const char *sample(const char *const *labels, double value)
{
    static char text[256];
    struct buf out = {0};
    prometheus_append_sample(&out, &gauge, "", labels, value);
    snprintf(text, sizeof text, "%s", out.p ? out.p : "");
    buf_fini(&out);
    return text;
}

/* Without the buckets between the first and the last one. */
static const char *histogram(void)
{
    static const double bounds[] = {1, 2, 3};
    static char text[512];
    struct histogram h = {.bounds = bounds, .n_bounds = 3};
    struct buf out = {0};
    histogram_add(&h, 1);
    histogram_add(&h, 1.5);
    histogram_add(&h, 12);
    prometheus_append_histogram(&out, &gauge, (const char *const[]){NULL}, &h);
    const char *const first_end = strchr(out.p, '\n') + 1;
    snprintf(text, sizeof text, "%.*s%s", (int)(first_end - out.p), out.p,
             strstr(out.p, "x_y_bucket{le=\"+Inf\"}"));
    buf_fini(&out);
    return text;
}

int main(void)
{
    plan(6);
    struct buf out = {0};
    prometheus_append_single(&out, &gauge, 0);
    is_str(out.p, "# HELP x_y What it is.\n# TYPE x_y gauge\nx_y 0\n", "a family of one");
    buf_fini(&out);
    is_str(sample((const char *const[]){"a", "1", "b", "2", NULL}, 1.5),
           "x_y{a=\"1\",b=\"2\"} 1.5\n", "labels");
    is_str(sample((const char *const[]){"a", "\\ \" \n }", NULL}, 1),
           "x_y{a=\"\\\\ \\\" \\n }\"} 1\n", "what would end a label is escaped");
    is_str(sample((const char *const[]){NULL}, 9007199254740992.0), "x_y 9007199254740992\n",
           "a large number");
    is_str(sample((const char *const[]){NULL}, -1), "", "what is not known is not told");
    is_str(histogram(),
           "x_y_bucket{le=\"1\"} 1\nx_y_bucket{le=\"+Inf\"} 3\nx_y_sum 14.5\nx_y_count 3\n",
           "a histogram: each bucket counts what is smaller, too");
    return 0;
}
