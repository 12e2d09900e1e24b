/* SPDX-License-Identifier: MIT
 * GET /metrics: host counters and gauges in Prometheus text format. Loop thread only. */
#ifndef API_METRICS_METRICS_H
#define API_METRICS_METRICS_H

struct api_context;
struct metrics;

/* Starts counting and registers the route. Borrows the api until metrics_free. */
struct metrics *metrics_new(struct api_context *a);
/* Call it before the server is freed. */
void metrics_free(struct metrics *m);

#endif
