/* SPDX-License-Identifier: MIT
 * Encodes an event as a line for the bus: its canonical line, or a shortened one if that does not
 * fit into a message. Pure. */
#ifndef CORE_BUS_BUS_LINE_H
#define CORE_BUS_BUS_LINE_H

#include <stdint.h>

#include "base/bytes/buf.h"
#include "event/event.h"

/* Appends the line with a newline. Adds `shift` to the event's seq. Cuts a long text in its middle;
 * an event that is still too long becomes a notice. */
void bus_line_append(struct buf *out, struct shared_event *shared, uint64_t shift);

#endif
