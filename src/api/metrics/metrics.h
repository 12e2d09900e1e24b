/* SPDX-License-Identifier: MIT
 * GET /metrics: host counters and gauges in Prometheus text format. Loop thread only. */
#ifndef API_METRICS_METRICS_H
#define API_METRICS_METRICS_H

struct api_context;
struct metrics;

/* Counts from now on, and registers its route. Borrows the api until metrics_free. */
struct metrics *metrics_new(struct api_context *a);
/* Before the server is freed. */
void metrics_free(struct metrics *m);

#endif
