/* SPDX-License-Identifier: MIT
 * Owns the counters of turns by agent. */
#include "api/metrics/turn_counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const double turn_time_bounds[] = {0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600};

struct agent {
    struct agent *next;
    char *name;
    struct turn_agent_counts counts; /* the name points to the member above */
};

struct turn_counters {
    struct turnlog_watcher *watcher;
    struct agent *agents;
};

static struct turn_agent_counts *turn_counters_find_or_make(struct turn_counters *c,
                                                            const char *name)
{
    struct agent *a = c->agents;
    while (a && strcmp(a->name, name) != 0)
        a = a->next;
    if (a)
        return &a->counts;
    a = xcalloc(1, sizeof *a);
    a->counts.name = a->name = xstrdup(name);
    for (size_t i = 0; i < TURN_TIMES; i++)
        a->counts.times[i] = (struct histogram){
            .bounds = turn_time_bounds,
            .n_bounds = sizeof turn_time_bounds / sizeof *turn_time_bounds,
        };
    a->next = c->agents;
    c->agents = a;
    return &a->counts;
}

/* Difference of two times of the wall clock, which may have been set back; 0: unknown. */
static void turn_counters_add_time(struct histogram *h, int64_t from_ms, int64_t to_ms)
{
    if (!from_ms || !to_ms)
        return;
    histogram_add(h, to_ms > from_ms ? (double)(to_ms - from_ms) / 1000 : 0);
}

static void turn_counters_on_ended(void *ctx, const struct turnlog_turn *t)
{
    struct turn_agent_counts *const a =
        turn_counters_find_or_make(ctx, t->spec.agent ? t->spec.agent : "");
    a->ended[t->state]++;
    for (size_t i = 0; i < TURNLOG_TOKENS; i++)
        a->tokens[i] += t->tokens[i];
    if (t->cost_usd > 0) {
        a->cost_usd += t->cost_usd;
        a->priced++;
    }
    turn_counters_add_time(&a->times[TURN_TIME_WAITED], t->created_ms, t->started_ms);
    turn_counters_add_time(&a->times[TURN_TIME_FIRST], t->started_ms, t->first_ms);
    if (t->started_ms)
        turn_counters_add_time(&a->times[TURN_TIME_TOTAL], t->started_ms, t->ended_ms);
}

struct turn_counters *turn_counters_new(struct turnlog *log)
{
    struct turn_counters *const c = xcalloc(1, sizeof *c);
    c->watcher = turnlog_watch_finished(log, turn_counters_on_ended, c);
    return c;
}

void turn_counters_free(struct turn_counters *c)
{
    if (!c)
        return;
    turnlog_watcher_free(c->watcher);
    while (c->agents) {
        struct agent *const a = c->agents;
        c->agents = a->next;
        free(a->name);
        free(a);
    }
    free(c);
}

void turn_counters_each(const struct turn_counters *c,
                        void (*each)(void *ctx, const struct turn_agent_counts *a), void *ctx)
{
    for (const struct agent *a = c->agents; a; a = a->next)
        each(ctx, &a->counts);
}
