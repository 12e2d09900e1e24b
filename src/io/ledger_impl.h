/* SPDX-License-Identifier: MIT
 * What the files of the ledger share. */
#ifndef IO_LEDGER_IMPL_H
#define IO_LEDGER_IMPL_H

#include "io/journal.h"
#include "io/ledger.h"
#include "io/worker.h"

struct ledger {
    /* loop thread */
    struct worker *worker;
    int64_t next_seq;
    int64_t pruned_ms; /* clock_mono_ms of the last upkeep */
    /* the worker's thread */
    struct journal *journal;
    struct unended *unended;
};

#endif
