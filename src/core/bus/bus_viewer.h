/* SPDX-License-Identifier: MIT
 * Shows turns of other hosts in this host's turn log: what they are, always; their events, while
 * somebody follows them here. Listens only to what JetStream has stored and republished. A gap is
 * seen by a batch's `after`; it is repaired by the turn's host ("feed"), else from the stream. Loop
 * thread only. */
#ifndef CORE_BUS_BUS_VIEWER_H
#define CORE_BUS_BUS_VIEWER_H

#include "core/bus/bus_link.h"

struct bus_viewer;

/* Becomes the turn log's source (turnlog_set_source). Borrows the link. */
struct bus_viewer *bus_viewer_new(struct bus_link *link);
void bus_viewer_free(struct bus_viewer *v); /* NULL is fine */
/* The link has become active, or messages were lost. has_missed: reads what it has missed. */
void bus_viewer_resume(struct bus_viewer *v, bool has_missed);
/* Turns of other hosts that are followed here. */
size_t bus_viewer_count(const struct bus_viewer *v);

#endif
