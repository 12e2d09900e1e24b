/* SPDX-License-Identifier: MIT
 * What the ledger keeps of a turn that runs: who sees it, which process its agent is, and how it
 * ended, with a row for everybody who has to be told. Loop thread only. */
#ifndef CORE_KEEP_H
#define CORE_KEEP_H

#include <sys/types.h>

#include "core/dispatch.h"
#include "io/ledger.h"

/* The instances that a turn which begins now is cast to, as record_turn.seen. Owned. */
char *keep_seen(const struct dispatch *d);
/* A turn that runs as soon as it is there: all but `seen` is read. */
void keep_turn(struct ledger *l, const struct dispatch *d, const struct record_turn *t,
               ledger_done *done, void *ctx);
void keep_agent(struct ledger *l, const char *turn, pid_t pid);

/* The turn ends by this event. */
struct keep_end {
    struct ledger *ledger;
    struct dispatch_turn *cast;
    const char *turn, *lane;
    const struct event *outcome;
};
void keep_outcome(const struct keep_end *end, ledger_done *done, void *ctx);

/* What a turn of a host that died ends with. Its u.meta is still to be set. */
struct event keep_restart_error(const char *turn);
/* A turn of a host that died, as the ledger lists it: it ends as host_restart, which everybody who
 * saw it has to be told. When that is not known, all of d. */
void keep_restart(struct ledger *l, const struct dispatch *d, const struct record_turn *t);

#endif
