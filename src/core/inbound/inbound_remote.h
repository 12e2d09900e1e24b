/* SPDX-License-Identifier: MIT
 * Turns of other hosts in a chat that this host leads: sends the answers of people to requests of
 * such turns, and cancellations, to the host of the turn, which decides. Serves answers that other
 * hosts send; api/turns/remote_turns.h serves cancellations. The person was checked where the
 * answer was given; the host of the turn checks the place (`to`) and four_eyes. Loop thread only.
 */
#ifndef CORE_INBOUND_INBOUND_REMOTE_H
#define CORE_INBOUND_INBOUND_REMOTE_H

#include "core/bus/bus.h"
#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"
#include "plugin/host_call.h"

struct inbound_remote;

/* Borrows all. */
struct inbound_remote *inbound_remote_new(struct bus *bus, const struct turnlog *turnlog,
                                          struct request_registry *requests);
/* After the bus was freed. NULL is fine. */
void inbound_remote_free(struct inbound_remote *r);
/* Whether the turn is one of another host and has not ended; false for NULL. */
bool inbound_remote_has(const struct inbound_remote *r, const char *turn);
/* Finds the open request of such a turn that has this ticket at d->instance; sets turn and request,
 * in the arena. False: none; or r is NULL. */
bool inbound_remote_find(const struct inbound_remote *r, struct arena *a,
                         struct request_decision *d, const char *ticket);
/* Completes the call later. The decision is copied. */
void inbound_remote_decide(const struct inbound_remote *r, struct host_call *a,
                           const struct request_decision *d);
/* The id of a turn of another host that runs in that conversation of the instance; NULL: none. */
const char *inbound_remote_find_running(const struct inbound_remote *r, const char *instance,
                                        const char *conversation);
/* Cancels that turn, for which inbound_remote_has holds. Completes the call later. dropped: queued
 * messages that the reply to a command reports as dropped. */
void inbound_remote_cancel(const struct inbound_remote *r, struct host_call *a, const char *turn,
                           size_t dropped);

#endif
