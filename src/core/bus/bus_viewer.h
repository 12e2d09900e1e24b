/* SPDX-License-Identifier: MIT
 * Shows turns of other hosts in this host's turn log: always their states; their events while the
 * turn has a follower here. Subscribes only to messages that JetStream has stored and republished.
 * A batch's `after` reveals gaps, which are repaired from the turn's host ("feed"), otherwise from
 * the stream. Loop thread only. */
#ifndef CORE_BUS_BUS_VIEWER_H
#define CORE_BUS_BUS_VIEWER_H

#include "core/bus/bus_link.h"

struct bus_viewer;

/* Becomes the turn log's source of remote events (turnlog_set_source). Borrows the link. */
struct bus_viewer *bus_viewer_new(struct bus_link *link);
void bus_viewer_free(struct bus_viewer *v); /* NULL is allowed */
/* state: the message, borrowed; sequence: of the message in the stream. */
typedef void bus_found_unfinished(void *ctx, const char *turn, struct str state, uint64_t sequence);
/* `found` is called for each published state of a turn of this host by which the turn has not
 * ended, if the turn log does not know the turn: an earlier life of the host has published the
 * state. NULL: it is not called any more. */
void bus_viewer_set_unfinished(struct bus_viewer *v, bus_found_unfinished *found, void *ctx);
/* The link has become active, or messages were lost. has_missed: reads the missed states. */
void bus_viewer_resume(struct bus_viewer *v, bool has_missed);
/* Number of followed turns of other hosts. */
size_t bus_viewer_count(const struct bus_viewer *v);

#endif
