/* SPDX-License-Identifier: MIT
 * Prunes the journal between other operations. */
#include <stdlib.h>

#include "base/alloc.h"
#include "io/journal/journal_async_internal.h"

/* Prunes in steps; operations submitted meanwhile run between them. */
struct journal_upkeep {
    struct journal_async *journal;
    struct journal_limits limits;
    bool sets_limits, more;
};

static void journal_async_prune_step(void *arg)
{
    struct journal_upkeep *const u = arg;
    struct journal *const j = u->journal->journal;
    if (u->sets_limits)
        journal_set_limits(j, &u->limits);
    u->sets_limits = false;
    const bool pruned = journal_prune(j) == JOURNAL_DONE;
    u->more = pruned && journal_has_more_to_prune(j);
    if (pruned && !u->more)
        journal_checkpoint(j);
}

static void journal_async_on_step_done(void *arg)
{
    struct journal_upkeep *const u = arg;
    if (u->more && !u->journal->closing)
        worker_submit(u->journal->worker, journal_async_prune_step, journal_async_on_step_done, u);
    else
        free(u);
}

void journal_async_schedule_pruning(struct journal_async *l, const struct journal_limits *limits)
{
    struct journal_upkeep *const u = xcalloc(1, sizeof *u);
    u->journal = l;
    u->sets_limits = limits;
    if (limits)
        u->limits = *limits;
    worker_submit(l->worker, journal_async_prune_step, journal_async_on_step_done, u);
}

void journal_async_set_limits(struct journal_async *l, const struct journal_limits *limits)
{
    journal_async_schedule_pruning(l, limits);
}
