/* SPDX-License-Identifier: MIT
 * Owns the numbers of turns by agent and outcome. */
#include "api/metrics/turn_counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct agent {
    struct agent *next;
    char *name;
    uint64_t ended[TURNLOG_CANCELLED + 1];
};

struct turn_counters {
    struct turnlog_watcher *watcher;
    struct agent *agents; /* as many as the configurations had */
};

static struct agent *turn_counters_find_or_make(struct turn_counters *c, const char *name)
{
    struct agent *a = c->agents;
    while (a && strcmp(a->name, name) != 0)
        a = a->next;
    if (a)
        return a;
    a = xcalloc(1, sizeof *a);
    a->name = xstrdup(name);
    a->next = c->agents;
    c->agents = a;
    return a;
}

static void turn_counters_on_ended(void *ctx, const struct turnlog_turn *t)
{
    turn_counters_find_or_make(ctx, t->spec.agent ? t->spec.agent : "")->ended[t->state]++;
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
                        void (*each)(void *ctx, const char *agent, enum turnlog_state outcome,
                                     uint64_t n),
                        void *ctx)
{
    for (const struct agent *a = c->agents; a; a = a->next)
        for (unsigned i = TURNLOG_FINAL; i <= TURNLOG_CANCELLED; i++)
            if (a->ended[i])
                each(ctx, a->name, (enum turnlog_state)i, a->ended[i]);
}
