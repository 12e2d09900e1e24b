/* SPDX-License-Identifier: MIT
 * GET /healthz, GET /readyz and GET /livez: whether the host takes work, for load balancers,
 * whether its connectors do, too, and whether it runs at all. Loop thread only. */
#ifndef API_HEALTH_H
#define API_HEALTH_H

struct api_context;
struct health;

/* Registers the routes. Borrows the api until health_free. */
struct health *health_new(struct api_context *a);
/* Before the server is freed. NULL is fine. */
void health_free(struct health *h);

#endif
