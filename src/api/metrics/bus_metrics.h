/* SPDX-License-Identifier: MIT
 * Metrics of the connection to other hosts. */
#ifndef API_METRICS_BUS_METRICS_H
#define API_METRICS_BUS_METRICS_H

#include "base/bytes/buf.h"
#include "core/bus/bus.h"
#include "core/runner/runner.h"
#include "core/work/work.h"

/* bus NULL: writes nothing. Each other argument may be NULL, too. */
void bus_metrics_append(struct buf *out, const struct bus *bus, const struct work *work,
                        const struct runner *runner);

#endif
