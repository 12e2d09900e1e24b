/* SPDX-License-Identifier: MIT
 * Numbers of the connection to other hosts, as metrics. */
#ifndef API_METRICS_BUS_METRICS_H
#define API_METRICS_BUS_METRICS_H

#include "base/bytes/buf.h"
#include "core/bus/bus.h"

/* bus: NULL: nothing is written. */
void bus_metrics_append(struct buf *out, const struct bus *bus);

#endif
