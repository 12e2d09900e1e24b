/* SPDX-License-Identifier: MIT
 * Calls of instances on behalf of people: permission queries, messages, cancellations. Commands are
 * executed at once, whatever is queued or running, and never reach the agent. Loop thread only. */
#ifndef CORE_INBOUND_INBOUND_H
#define CORE_INBOUND_INBOUND_H

#include "core/conversation/turn_scheduler.h"
#include "core/request/request_registry.h"
#include "plugin/host_call.h"

struct bus;
struct inbound;

/* All borrowed. */
struct inbound_spec {
    const struct conf *conf;
    struct dispatch *dispatch;
    struct journal_async *journal;
    struct turn_scheduler *conversations;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct session_history *history;
    struct usage_log *usage;
    struct bindings *bindings;
    struct request_registry *requests;
    struct approvals *approvals;
    struct pairing *pairing;
};
struct inbound *inbound_new(const struct inbound_spec *spec);
/* Sets the configuration from now on. */
void inbound_set_conf(struct inbound *r, const struct conf *conf);
/* Turns of other hosts can be stopped here, and their requests answered. Once; before the first
 * turn. */
void inbound_set_bus(struct inbound *r, struct bus *bus, const struct turnlog *turnlog);
/* After the bus was freed. */
void inbound_free(struct inbound *r); /* NULL is allowed */
/* Answers the call, at once or when the message is on disk. */
void inbound_handle(struct inbound *r, struct host_call *a);

#endif
