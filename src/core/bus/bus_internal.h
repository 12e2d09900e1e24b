/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the bus. Loop thread only. */
#ifndef CORE_BUS_BUS_INTERNAL_H
#define CORE_BUS_BUS_INTERNAL_H

#include <sys/queue.h>

#include "core/bus/bus.h"
#include "core/bus/bus_lead.h"
#include "core/bus/bus_lease.h"
#include "core/bus/bus_viewer.h"

struct bus {
    struct bus_spec spec;
    struct bus_link link;    /* names are owned */
    struct bus_lease *lease; /* lease of the host's name */
    LIST_HEAD(, bus_lead) leads;
    struct bus_publisher *publisher;
    struct bus_publisher *runs; /* publisher of turns run for other hosts; or NULL */
    void (*run_fenced)(void *ctx, const char *run);
    void *runs_ctx;
    struct bus_viewer *viewer;
    LIST_HEAD(, bus_watcher) watchers;
    int64_t replicas;
    char identity[20], server[200], why[300];
    enum bus_state state;
    int64_t since_ms;
    bool has_joined;
    bool has_missed;           /* dropped messages since the bus was last active */
    size_t stream;             /* index of the stream that is being created */
    unsigned generation, asks; /* number of the connection; number of the connection of the awaited
                                * reply */
    struct loop_timer *retry, *watch;
    void (*changed)(void *ctx, bool connected); /* or NULL */
    void *changed_ctx;
    /* Requests between hosts. */
    struct nats_client_subscription *requests;
    LIST_HEAD(, bus_service) services;
    LIST_HEAD(, bus_call) calls; /* incoming, waiting for their replies */
    /* shutdown */
    struct loop_timer *drain;
    int64_t drain_ms;
    void (*drained)(void *ctx);
    void *drained_ctx;
};

/* bus_lead.c: the bus has become active; or the connection was lost. */
void bus_lead_resume_all(struct bus *b);
void bus_lead_pause_all(struct bus *b);
/* Appends the member "leads" to an object: names of the instances that this host leads. */
void bus_lead_append_held(const struct bus *b, struct buf *out);

/* bus_call.c: starts and stops serving requests of other hosts. */
void bus_calls_begin(struct bus *b);
void bus_calls_end(struct bus *b);

#endif
