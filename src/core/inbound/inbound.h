/* SPDX-License-Identifier: MIT
 * What instances ask of the host on behalf of people: whether they may, a message, the end of a
 * turn. Commands are done at once, whatever waits or runs, and never get to the agent. Loop thread
 * only. */
#ifndef CORE_INBOUND_INBOUND_H
#define CORE_INBOUND_INBOUND_H

#include "core/conversation/turn_scheduler.h"
#include "core/request/request_registry.h"
#include "plugin/host_call.h"

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
/* The configuration from now on. */
void inbound_set_conf(struct inbound *r, const struct conf *conf);
void inbound_free(struct inbound *r); /* NULL is fine */
/* Answers it, at once or when the message is on disk. */
void inbound_handle(struct inbound *r, struct host_call *a);

#endif
