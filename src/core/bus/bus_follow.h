/* SPDX-License-Identifier: MIT
 * The events of one turn of another host, put into this host's turn log in order and without gaps.
 * Loop thread only. */
#ifndef CORE_BUS_BUS_FOLLOW_H
#define CORE_BUS_BUS_FOLLOW_H

#include <sys/queue.h>

#include "core/bus/bus_link.h"
#include "turn/visibility/view_pairing.h"

struct bus_follow;

/* From the first event on. */
struct bus_follow *bus_follow_new(struct bus_link *link, const struct turnlog_turn *t);
/* An answer that is awaited is ignored when it comes. NULL is fine. */
void bus_follow_free(struct bus_follow *f);
const char *bus_follow_turn(const struct bus_follow *f);
/* Something may have been missed: asks for what is behind the last event. */
void bus_follow_repair(struct bus_follow *f);
/* All events are in the turn log, and it has been told so. */
bool bus_follow_is_complete(const struct bus_follow *f);

#endif
