/* SPDX-License-Identifier: MIT
 * Follows one turn of another host: enters its events in this host's turn log, in order and without
 * gaps. Loop thread only. */
#ifndef CORE_BUS_BUS_FOLLOW_H
#define CORE_BUS_BUS_FOLLOW_H

#include <sys/queue.h>

#include "core/bus/bus_link.h"
#include "turn/visibility/view_pairing.h"

struct bus_follow;

/* Starts with the first event. */
struct bus_follow *bus_follow_new(struct bus_link *link, const struct turnlog_turn *t);
/* A pending reply is ignored when it arrives. NULL is allowed. */
void bus_follow_free(struct bus_follow *f);
const char *bus_follow_turn(const struct bus_follow *f);
/* Messages may have been missed: requests the events behind the last one. */
void bus_follow_repair(struct bus_follow *f);
/* Whether all events are in the turn log, and marked as complete there. */
bool bus_follow_is_complete(const struct bus_follow *f);

#endif
