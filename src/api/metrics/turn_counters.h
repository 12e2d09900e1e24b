/* SPDX-License-Identifier: MIT
 * How many turns ended how, of each agent, since it began to count. Loop thread only. */
#ifndef API_METRICS_TURN_COUNTERS_H
#define API_METRICS_TURN_COUNTERS_H

#include "core/turnlog/turnlog.h"

struct turn_count;

struct turn_count *turn_count_new(struct turnlog *log);
/* Before the log. NULL is fine. */
void turn_count_free(struct turn_count *c);
/* Calls `each` for every agent and outcome that there was. */
void turn_count_each(const struct turn_count *c,
                     void (*each)(void *ctx, const char *agent, enum turnlog_state outcome,
                                  uint64_t n),
                     void *ctx);

#endif
