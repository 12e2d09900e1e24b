/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the asynchronous journal. */
#ifndef IO_JOURNAL_JOURNAL_ASYNC_INTERNAL_H
#define IO_JOURNAL_JOURNAL_ASYNC_INTERNAL_H

#include "io/journal/journal.h"
#include "io/journal/journal_async.h"
#include "io/loop/worker.h"

struct journal_async {
    /* used by the loop thread */
    struct worker *worker;
    int64_t next_seq;
    bool closing;
    int64_t pruned_ms; /* clock_mono_ms of the last maintenance */
    /* used by the worker's thread */
    struct journal *journal;
    struct unrecorded_end *unended;
};

static inline bool journal_async_is_done(enum journal_status status)
{
    return status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE;
}

/* journal_async_upkeep.c: limits NULL: unchanged. */
void journal_async_schedule_pruning(struct journal_async *l, const struct journal_limits *limits);

/* journal_async_unended.c, on the worker's thread */
void journal_async_add_unrecorded_end(struct journal_async *l, const struct journal_outcome *what);
void journal_async_end_again(void *journal);
void journal_async_free_unended(struct journal_async *l);

#endif
