/* SPDX-License-Identifier: MIT
 * What instances ask of the host on behalf of people: whether they may, a message, the end of a
 * turn. Commands are done at once, whatever waits or runs, and never get to the agent. Loop thread
 * only. */
#ifndef CORE_INBOUND_INBOUND_H
#define CORE_INBOUND_INBOUND_H

#include "core/conversation/turn_scheduler.h"
#include "core/request/request_registry.h"
#include "plugin/host_call.h"

struct reception;

/* Borrows all. */
struct reception *reception_new(const struct conf *conf, struct conversations *conversations,
                                struct switches *switches, struct sessions *sessions,
                                struct requests *requests, struct approvals *approvals);
/* The configuration from now on. */
void reception_reconfigure(struct reception *r, const struct conf *conf);
void reception_free(struct reception *r); /* NULL is fine */
/* Answers it, at once or when the message is on disk. */
void reception_ask(struct reception *r, struct ask *a);

#endif
