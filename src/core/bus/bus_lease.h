/* SPDX-License-Identifier: MIT
 * A lease: an entry in a bucket that one host holds and renews, and that the servers remove when it
 * is not renewed. Examples: the name of a host, the leadership of an instance.
 *
 * At most one host may act for a lease at a time. The holder may act until a margin before the
 * servers remove the entry, measured from before the renewal was sent, with a clock that includes
 * suspend; then it stops by itself. With `is_patient`, an absent entry is created only after this
 * host has been connected for the duration of a lease: if the servers have lost their data, an
 * earlier holder still acts, and must be able to renew first. Loop thread only. ⏎ */
#ifndef CORE_BUS_BUS_LEASE_H
#define CORE_BUS_BUS_LEASE_H

#include "core/bus/bus_link.h"

struct bus_lease;

struct bus_lease_spec {
    struct bus_link *link;
    enum bus_stream bucket; /* bucket of leases */
    const char *key;        /* a token (bus_stream_is_token) */
    bool is_patient;
    /* Appends members to the JSON object of the entry; or NULL. */
    void (*describe)(void *ctx, struct buf *out);
    /* The lease is held; called again after each bus_lease_resume. */
    void (*held)(void *ctx);
    /* The lease was lost: to another host, with its name and the id of its start; or it was not
     * renewed in time (both ""). The lease is still applied for. */
    void (*lost)(void *ctx, const char *host, const char *boot);
    /* Another host holds and renews the lease. May be NULL. */
    void (*refused)(void *ctx, const char *host, const char *boot);
    void *ctx;
};

/* Copies spec; its texts are borrowed. */
struct bus_lease *bus_lease_new(const struct bus_lease_spec *spec);
/* The connection and the bucket exist: acquires or renews the lease. */
void bus_lease_resume(struct bus_lease *l);
/* The connection was lost. The lease is held until it expires. */
void bus_lease_pause(struct bus_lease *l);
/* The members that `describe` appends have changed. */
void bus_lease_renew(struct bus_lease *l);
/* Whether this host may act now. */
bool bus_lease_is_held(const struct bus_lease *l);
/* The holder, as far as known; or "". Borrowed until control returns to the loop. */
const char *bus_lease_holder(const struct bus_lease *l);
/* Releases the lease and then only observes its holder; or applies for it again. */
void bus_lease_set_aside(struct bus_lease *l, bool is_aside);
/* Releases the lease, so that a successor need not wait; bus_lease_free must follow. */
void bus_lease_release(struct bus_lease *l);
void bus_lease_free(struct bus_lease *l); /* NULL is allowed; a pending reply is ignored */

#endif
