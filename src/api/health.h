/* SPDX-License-Identifier: MIT
 * GET /healthz (the host accepts work), GET /readyz (its connectors work, too) and GET /livez (the
 * process runs), for load balancers. Loop thread only. */
#ifndef API_HEALTH_H
#define API_HEALTH_H

struct api_context;
struct health;

/* Registers the routes. Borrows the api until health_free. */
struct health *health_new(struct api_context *a);
/* Call it before the server is freed. NULL is allowed. */
void health_free(struct health *h);

#endif
