/* SPDX-License-Identifier: MIT
 * Which host runs an instance that only one of them may run: the one that holds the lease with the
 * name of the instance. Loop thread only. */
#ifndef CORE_BUS_BUS_LEAD_H
#define CORE_BUS_BUS_LEAD_H

#include <stdbool.h>

struct bus;
struct bus_lead;

struct bus_lead_spec {
    const char *instance; /* a token (bus_stream_is_token) */
    /* This host leads the instance from now on, or does so no more. */
    void (*gained)(void *ctx);
    void (*lost)(void *ctx);
    void *ctx;
};

/* Asks for the lease whenever this host is active on the bus. Copies spec and the name. */
struct bus_lead *bus_lead_join(struct bus *b, const struct bus_lead_spec *spec);
/* This host may act for the instance now: looks at the clock, so that a host that was stopped or
 * suspended knows before its timers do. */
bool bus_lead_is_held(const struct bus_lead *l);
/* The host that leads it, as far as it is known; or "". Borrowed until the loop goes on. */
const char *bus_lead_holder(const struct bus_lead *l);
/* True: calls `lost`, gives the lease up, and only watches which host has it. False: asks for the
 * lease again. */
void bus_lead_set_aside(struct bus_lead *l, bool is_aside);
/* Gives the lease up; nothing is told any more. Before bus_free. NULL is fine. */
void bus_lead_leave(struct bus_lead *l);

#endif
