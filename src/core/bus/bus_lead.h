/* SPDX-License-Identifier: MIT
 * Leadership of an instance that only one host may run: the host that holds the lease with the
 * instance's name leads. Loop thread only. */
#ifndef CORE_BUS_BUS_LEAD_H
#define CORE_BUS_BUS_LEAD_H

#include <stdbool.h>

struct bus;
struct bus_lead;

struct bus_lead_spec {
    const char *instance; /* a token (bus_stream_is_token) */
    /* This host has become the leader of the instance, or has lost that role. */
    void (*gained)(void *ctx);
    void (*lost)(void *ctx);
    void *ctx;
};

/* Applies for the lease whenever the bus is active. Copies spec and the name. */
struct bus_lead *bus_lead_join(struct bus *b, const struct bus_lead_spec *spec);
/* Whether this host may act for the instance now: checks the clock, so that a host that was stopped
 * or suspended notices an expired lease before its timers fire. */
bool bus_lead_is_held(const struct bus_lead *l);
/* The leader, as far as known; or "". Borrowed until control returns to the loop. */
const char *bus_lead_holder(const struct bus_lead *l);
/* Releases the lease, after `lost`, and then only observes its holder; or applies for it again. */
void bus_lead_set_aside(struct bus_lead *l, bool is_aside);
/* Releases the lease; no further callbacks. Call it before bus_free. NULL is allowed. */
void bus_lead_release(struct bus_lead *l);

#endif
