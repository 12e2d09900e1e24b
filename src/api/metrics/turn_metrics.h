/* SPDX-License-Identifier: MIT
 * Metrics of turns, agents and budgets. Loop thread only. */
#ifndef API_METRICS_TURN_METRICS_H
#define API_METRICS_TURN_METRICS_H

#include "api/metrics/turn_counters.h"
#include "base/bytes/buf.h"
#include "core/budget/budgets.h"

void turn_metrics_append_turns(struct buf *out, const struct turn_counters *c);
/* Budgets are summed by scope and not listed by name, because the number of conversations, people
 * and keys is unlimited. */
void turn_metrics_append_budgets(struct buf *out, struct budgets *b);

#endif
