/* SPDX-License-Identifier: MIT
 * The instances that a message names, to be told of its turn beside those that are told anyway.
 * Loop thread only. */
#ifndef CORE_INBOUND_INBOUND_INSTANCES_H
#define CORE_INBOUND_INBOUND_INSTANCES_H

#include "base/bytes/buf.h"
#include "core/dispatch/dispatch.h"
#include "plugin/host_call.h"

/* Whether each is configured and admits a turn of that agent in that conversation. If not, it is
 * logged, as a fault of the plugin. */
bool inbound_instances_check(const struct dispatch *d, const struct host_call *a, const char *agent,
                             const char *conversation);
/* Appends the names as conf_scope_turn.instances has them. */
void inbound_instances_join(const struct tc_inbound *in, struct buf *names);

#endif
