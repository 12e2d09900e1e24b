/* SPDX-License-Identifier: MIT
 * Instances that one of several hosts runs: asks for the lease of each on the bus, reports which of
 * them this host leads, and ends at once one whose lease it has lost. Loop thread only. */
#ifndef CORE_HOST_INSTANCE_LEADERS_H
#define CORE_HOST_INSTANCE_LEADERS_H

#include "core/bus/bus.h"
#include "core/dispatch/dispatch.h"
#include "core/host/instance_changes.h"

struct instance_leaders;
struct turn_scheduler;
struct turnlog;
struct work;
struct work_hosts;

/* What the parts of a host that lead instances (host_leading.h) use of it; borrowed. */
struct leading_parts {
    struct loop *loop;
    struct bus *bus;
    struct work *work; /* or NULL: no turns of people begin on this host */
    struct journal_async *journal;
    struct dispatch *dispatch;
    struct turn_scheduler *conversations;
    const struct work_hosts *hosts;
    struct turnlog *turnlog;
    struct changes *changes;
    const char *host; /* the name of this one; copied */
};

/* Borrowed. */
struct instance_leaders_spec {
    struct bus *bus;
    struct dispatch *dispatch;
    struct changes *changes;
    /* This host leads the instance now, which is to be started: instance_changes_lead. */
    void (*gained)(void *ctx, const char *instance);
    /* This host leads the instance no more, or, if it still holds the lease, is about to give it
     * away; the instance still exists. */
    void (*losing)(void *ctx, const char *instance);
    void *ctx;
};

struct instance_leaders *instance_leaders_new(const struct instance_leaders_spec *spec);
/* The instances may be others than before. */
void instance_leaders_update(struct instance_leaders *l);
/* This host may act for the instance now. */
bool instance_leaders_leads(const struct instance_leaders *l, const char *instance);
/* The host that leads it, as far as it is known; or "". Borrowed until the loop goes on. */
const char *instance_leaders_holder(const struct instance_leaders *l, const char *instance);
/* The host is about to end: it asks for no lease that it does not hold. */
void instance_leaders_retire(struct instance_leaders *l);
/* Ends the instances that it leads, gives their leases up and asks for none; or asks again. */
void instance_leaders_set_aside(struct instance_leaders *l, bool is_aside);
/* Gives all leases up. Before bus_free, when instances do nothing more. NULL is fine. */
void instance_leaders_free(struct instance_leaders *l);

#endif
