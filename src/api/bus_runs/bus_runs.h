/* SPDX-License-Identifier: MIT
 * Runs that other programs request over NATS with the protocol of tirea's gateway: requests at
 * agentos.ag-ui.runs and agentos.ai-sdk.runs, events at the reply subject. Of the hosts that serve
 * a subject, one receives each request (queue group "turncast"); SUBJECT.HOST addresses one host. A
 * run uses the route of the HTTP API, on behalf of the key in bus.runs.key. Loop thread only. */
#ifndef API_BUS_RUNS_BUS_RUNS_H
#define API_BUS_RUNS_BUS_RUNS_H

struct api_context;
struct bus_runs;

/* NULL: this host has no bus. Accepts runs if the configuration enables them. */
struct bus_runs *bus_runs_new(struct api_context *a);
/* Subscribes to the subjects of the current configuration. NULL is fine. */
void bus_runs_subscribe(struct bus_runs *r);
/* Stops serving; clients receive nothing more. Call it before the bus is freed; NULL is allowed. */
void bus_runs_free(struct bus_runs *r);

#endif
