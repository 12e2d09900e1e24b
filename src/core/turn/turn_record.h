/* SPDX-License-Identifier: MIT
 * What the ledger keeps of a turn that runs: who sees it, which process its agent is, and how it
 * ended, with a row for everybody who has to be told; and which processes wait for another turn.
 * Loop thread only. */
#ifndef CORE_TURN_TURN_RECORD_H
#define CORE_TURN_TURN_RECORD_H

#include <sys/types.h>

#include "core/dispatch/dispatch.h"
#include "core/turn/turn_result.h"
#include "io/journal/journal_async.h"

/* The instances that a turn which begins now is cast to, as record_turn.seen. Owned. */
char *keep_seen(const struct dispatch *d);
/* A turn that runs as soon as it is there: all but `seen` is read. */
void keep_turn(struct ledger *l, const struct dispatch *d, const struct record_turn *t,
               ledger_done *done, void *ctx);
void keep_agent(struct ledger *l, const char *turn, pid_t pid);

/* Where a process is to be found after the host's death. */
struct keep_process {
    const char *turn, *boot_id; /* turn: for which it was started */
    int64_t pid, start;
};
/* The process waits, and belongs to no turn; or it does so no more. */
void keep_waiting(struct ledger *l, const char *turn, pid_t pid);
void keep_not_waiting(struct ledger *l, const char *turn);
/* Those that waited when the host died; `each` asks nothing of the ledger. */
enum record_status keep_each_waiting(struct ledger *l,
                                     void (*each)(void *ctx, const struct keep_process *p),
                                     void *ctx);

/* What is kept of a message, and told of a turn: the first bytes. */
#define KEEP_TASK_BYTES ((size_t)400)

/* The turn ends by this event. */
struct keep_end {
    struct ledger *ledger;
    struct dispatch_turn *cast;
    const char *turn, *lane;
    const struct event *outcome;
    const struct result *result; /* of the turn so far, or NULL */
    const char *task;            /* its message, or NULL */
    bool cancelled;              /* somebody asked for its end */
};
void keep_outcome(const struct keep_end *end, ledger_done *done, void *ctx);
/* Of a turn that has ended: its result as it is in the end. */
void keep_result_again(struct ledger *l, const char *turn, const struct result *r, const char *task,
                       bool cancelled);

/* What a turn of a host that died ends with. Its u.meta is still to be set. */
struct event keep_restart_error(const char *turn);
/* A turn of a host that died, as the ledger lists it: it ends as host_restart, which everybody who
 * saw it has to be told. When that is not known, all of d. */
void keep_restart(struct ledger *l, const struct dispatch *d, const struct record_turn *t);

#endif
