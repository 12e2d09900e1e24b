/* SPDX-License-Identifier: MIT
 * The host's entry among the hosts on the bus, renewed while it lives: shows who is there, and
 * refuses a second host of the same name. Loop thread only. */
#ifndef CORE_BUS_BUS_LEASE_H
#define CORE_BUS_BUS_LEASE_H

#include "core/bus/bus_link.h"

struct bus_lease;

struct bus_lease_spec {
    struct bus_link *link;
    int64_t ttl_ms;       /* an entry that is not renewed for so long is gone */
    const char *identity; /* the same for every life of this host, and of no other host */
    /* It holds the lease, again after each bus_lease_resume. */
    void (*held)(void *ctx);
    /* It has lost the lease to the host with that boot id. */
    void (*lost)(void *ctx, const char *boot);
    /* Another host has the name, and lives. */
    void (*refused)(void *ctx, const char *boot);
    void *ctx;
};

/* Copies spec; its texts are borrowed. */
struct bus_lease *bus_lease_new(const struct bus_lease_spec *spec);
/* Connected: asks for the lease, or renews it. */
void bus_lease_resume(struct bus_lease *l);
/* Gives it up, so that a successor need not wait. Nothing when it is not held. */
void bus_lease_release(struct bus_lease *l);
void bus_lease_free(struct bus_lease *l); /* NULL is fine; an awaited answer is ignored */

#endif
