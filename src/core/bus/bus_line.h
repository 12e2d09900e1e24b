/* SPDX-License-Identifier: MIT
 * The line by which an event crosses the bus: its canonical line, or a shorter one if that does not
 * fit into a message. Pure. */
#ifndef CORE_BUS_BUS_LINE_H
#define CORE_BUS_BUS_LINE_H

#include <stdint.h>

#include "base/bytes/buf.h"
#include "event/event.h"

/* Appends it with a newline. The seq of the event is raised by `shift`. A long text is cut in its
 * middle; an event that is still too long becomes a notice. */
void bus_line_append(struct buf *out, struct shared_event *shared, uint64_t shift);

#endif
