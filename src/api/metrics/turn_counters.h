/* SPDX-License-Identifier: MIT
 * Counters of finished turns by agent: outcomes, tokens, cost, and histograms of durations. Agents
 * of earlier configurations are kept. Loop thread only. */
#ifndef API_METRICS_TURN_COUNTERS_H
#define API_METRICS_TURN_COUNTERS_H

#include "base/histogram.h"
#include "core/turnlog/turnlog.h"

struct turn_counters;

enum turn_time {
    TURN_TIME_WAITED, /* from the message to the start of its turn */
    TURN_TIME_FIRST,  /* from the start to the first text or thought */
    TURN_TIME_TOTAL,  /* from the start to the end */
};
#define TURN_TIMES 3

struct turn_agent_counts {
    const char *name;
    uint64_t ended[TURNLOG_CANCELLED + 1]; /* by outcome */
    int64_t tokens[TURNLOG_TOKENS];
    double cost_usd;
    uint64_t priced;                    /* turns whose agent reported a cost */
    struct histogram times[TURN_TIMES]; /* in seconds */
};

struct turn_counters *turn_counters_new(struct turnlog *log);
/* Free it before the turn log. NULL is allowed. */
void turn_counters_free(struct turn_counters *c);
/* Calls `each` for every agent that had a turn. */
void turn_counters_each(const struct turn_counters *c,
                        void (*each)(void *ctx, const struct turn_agent_counts *a), void *ctx);

#endif
