/* SPDX-License-Identifier: MIT
 * Runs that other programs ask for through the bus, by the protocol of tirea's NATS gateway:
 * requests at agentos.ag-ui.runs and agentos.ai-sdk.runs, events at the reply subject. Of the hosts
 * that serve a subject one takes each request (queue group "turncast"); SUBJECT.HOST is that host
 * alone. A run goes through the route of the HTTP API, on behalf of the key that bus.runs.key
 * names. Loop thread only. */
#ifndef API_BUS_RUNS_BUS_RUNS_H
#define API_BUS_RUNS_BUS_RUNS_H

struct api_context;
struct bus_runs;

/* NULL: this host has no bus. Takes runs if the configuration says so. */
struct bus_runs *bus_runs_new(struct api_context *a);
/* Subscribes to the subjects of the current configuration. NULL is fine. */
void bus_runs_subscribe(struct bus_runs *r);
/* The clients are told nothing more. Before the bus is freed; NULL is fine. */
void bus_runs_free(struct bus_runs *r);

#endif
