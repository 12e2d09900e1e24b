/* SPDX-License-Identifier: MIT
 * Counters of finished turns by agent and outcome. Loop thread only. */
#ifndef API_METRICS_TURN_COUNTERS_H
#define API_METRICS_TURN_COUNTERS_H

#include "core/turnlog/turnlog.h"

struct turn_counters;

struct turn_counters *turn_counters_new(struct turnlog *log);
/* Before the log. NULL is fine. */
void turn_counters_free(struct turn_counters *c);
/* Calls `each` for every agent and outcome that there was. */
void turn_counters_each(const struct turn_counters *c,
                        void (*each)(void *ctx, const char *agent, enum turnlog_state outcome,
                                     uint64_t n),
                        void *ctx);

#endif
