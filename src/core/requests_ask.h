/* SPDX-License-Identifier: MIT
 * What instances ask about requests on behalf of people: a ticket, a decision. Loop thread only. */
#ifndef CORE_REQUESTS_ASK_H
#define CORE_REQUESTS_ASK_H

#include "core/permit.h"
#include "core/requests.h"
#include "plugin/ask.h"

/* ASK_TICKET and ASK_ANSWER, of a running instance; answers it at once. */
void requests_ask(struct requests *r, struct permit *p, const struct conf_instance *inst,
                  struct ask *a);

#endif
