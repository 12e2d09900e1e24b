/* SPDX-License-Identifier: MIT
 * What instances ask about requests on behalf of people: a ticket, a decision. Loop thread only. */
#ifndef CORE_INBOUND_INBOUND_REQUEST_H
#define CORE_INBOUND_INBOUND_REQUEST_H

#include "core/inbound/access_control.h"
#include "core/request/request_registry.h"
#include "plugin/host_call.h"

/* ASK_TICKET and ASK_ANSWER, of a running instance; answers it at once. */
void requests_ask(struct requests *r, struct permit *p, const struct conf_instance *inst,
                  struct ask *a);

#endif
