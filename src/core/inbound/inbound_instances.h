/* SPDX-License-Identifier: MIT
 * Instances that a message names as additional receivers of its turn. Loop thread only. */
#ifndef CORE_INBOUND_INBOUND_INSTANCES_H
#define CORE_INBOUND_INBOUND_INSTANCES_H

#include "base/bytes/buf.h"
#include "core/dispatch/dispatch.h"
#include "plugin/host_call.h"

/* Whether each instance is configured and admits a turn of that agent in that conversation.
 * Otherwise logs it as an error of the plugin. */
bool inbound_instances_check(const struct dispatch *d, const struct host_call *a, const char *agent,
                             const char *conversation);
/* Appends the names in the form of conf_scope_turn.instances. */
void inbound_instances_join(const struct tc_inbound *in, struct buf *names);

#endif
