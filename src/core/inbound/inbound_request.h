/* SPDX-License-Identifier: MIT
 * Handles an instance's calls about requests (issue a ticket, answer) after an access check. Loop
 * thread only. */
#ifndef CORE_INBOUND_INBOUND_REQUEST_H
#define CORE_INBOUND_INBOUND_REQUEST_H

#include "core/inbound/access_control.h"
#include "core/inbound/inbound_remote.h"
#include "core/request/request_registry.h"
#include "plugin/host_call.h"

/* HOST_CALL_TICKET and HOST_CALL_ANSWER of a running instance; completes the call at once, or when
 * the host of the turn has answered. remote: NULL without other hosts. */
void inbound_request_handle(struct request_registry *r, const struct inbound_remote *remote,
                            struct access_control *p, const struct conf_instance *inst,
                            struct host_call *a);

#endif
