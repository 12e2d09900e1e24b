/* SPDX-License-Identifier: MIT
 * A lease: an entry in a bucket that one host holds and renews, and that the servers remove when it
 * is not renewed. The name of a host is one, the leadership of an instance another.
 *
 * At most one host may act for a lease at a time. The holder may until a margin before the servers
 * remove the entry, counted from before the renewal was sent, on a clock that goes on while the
 * machine is suspended; then it stops by itself. An entry that is absent is taken, by a lease with
 * `is_patient`, only after this host has been connected for as long as a lease lasts: where the
 * servers have lost their data, an earlier holder still acts, and is back first. Loop thread only.
 */
#ifndef CORE_BUS_BUS_LEASE_H
#define CORE_BUS_BUS_LEASE_H

#include "core/bus/bus_link.h"

struct bus_lease;

struct bus_lease_spec {
    struct bus_link *link;
    enum bus_stream bucket; /* of leases */
    const char *key;        /* a token (bus_stream_is_token) */
    bool is_patient;
    /* Appends members to the JSON object that the entry is; or NULL. */
    void (*describe)(void *ctx, struct buf *out);
    /* It is held; told again after each bus_lease_resume. */
    void (*held)(void *ctx);
    /* It was held: another host has it, by its name and the id of its start; or both are "": it was
     * not renewed in time. It is still asked for. */
    void (*lost)(void *ctx, const char *host, const char *boot);
    /* Another host has it, and renews it. May be NULL. */
    void (*refused)(void *ctx, const char *host, const char *boot);
    void *ctx;
};

/* Copies spec; its texts are borrowed. */
struct bus_lease *bus_lease_new(const struct bus_lease_spec *spec);
/* Connected, and the bucket is there: asks for the lease, or renews it. */
void bus_lease_resume(struct bus_lease *l);
/* The connection has ended. The lease is held until it expires. */
void bus_lease_pause(struct bus_lease *l);
/* What `describe` appends has changed. */
void bus_lease_renew(struct bus_lease *l);
/* This host may act now. */
bool bus_lease_is_held(const struct bus_lease *l);
/* The host that has it, as far as it is known; or "". Borrowed until the loop goes on. */
const char *bus_lease_holder(const struct bus_lease *l);
/* True: gives the lease up, and only watches which host has it. False: asks for the lease again. */
void bus_lease_set_aside(struct bus_lease *l, bool is_aside);
/* Gives it up, so that a successor need not wait; bus_lease_free follows. */
void bus_lease_release(struct bus_lease *l);
void bus_lease_free(struct bus_lease *l); /* NULL is fine; an awaited answer is ignored */

#endif
