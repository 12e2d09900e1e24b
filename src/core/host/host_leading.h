/* SPDX-License-Identifier: MIT
 * The part of a host on the bus that serves instances which one of several hosts leads: requests
 * their leases, sends outcomes and requests to the hosts that lead them, shows turns of other hosts
 * in instances led here, adopts the turns of leaders that are gone, and continues with the texts
 * that those have stored. Loop thread only. Every function accepts NULL: a host without a bus leads
 * nothing. */
#ifndef CORE_HOST_HOST_LEADING_H
#define CORE_HOST_HOST_LEADING_H

#include "core/host/adoption.h"
#include "core/host/guest_turns.h"
#include "core/host/instance_changes.h"
#include "core/host/instance_leaders.h"
#include "core/host/instance_texts.h"
#include "core/host/outcome_forwarding.h"

struct host_leading;

struct host_leading *host_leading_new(const struct leading_parts *parts);
/* Call it when the configured instances have changed. */
void host_leading_update(struct host_leading *l);
bool host_leading_leads(const struct host_leading *l, const char *instance);
/* For `turncast status`; NULL without a bus. */
struct instance_leaders *host_leading_get_leaders(const struct host_leading *l);
const struct instance_texts *host_leading_get_texts(const struct host_leading *l);
/* As connector_services.kept, stored, remembered, tells and is_adopted. */
void host_leading_add_outcome(struct host_leading *l, const char *instance, const char *turn,
                              struct str line);
void host_leading_store(struct host_leading *l, const char *instance, const char *key,
                        const char *text);
void host_leading_remember(struct host_leading *l, const char *instance, const char *turn,
                           const char *text);
bool host_leading_begin_delivery(struct host_leading *l, const char *instance, const char *turn);
bool host_leading_is_adopted(const struct host_leading *l, const char *instance, const char *turn);
/* As instance_leaders_set_aside. */
void host_leading_set_aside(struct host_leading *l, bool is_aside);
/* The host shuts down: adopts no more turns, and requests no more leases. */
void host_leading_retire(struct host_leading *l);
/* Runs the loop until the servers have stored which turns are delivered, and the texts of its
 * instances; at most for `ms` each. */
void host_leading_drain(struct host_leading *l, int64_t ms);
/* Releases all leases. Before the bus is freed. */
void host_leading_stop(struct host_leading *l);
/* After the journal was closed. */
void host_leading_free(struct host_leading *l);

#endif
