/* SPDX-License-Identifier: MIT
 * The turn record in the journal: recipients, agent process id, and the outcome with one delivery
 * row per recipient, written in one transaction. Also ends the records of turns whose host died.
 * Loop thread only. */
#ifndef CORE_TURN_TURN_RECORD_H
#define CORE_TURN_TURN_RECORD_H

#include <sys/types.h>

#include "conf/conf_scope.h"
#include "core/dispatch/dispatch.h"
#include "core/turn/turn_result.h"
#include "io/journal/journal_async.h"

/* The instances that such a turn is cast to if it begins now, as journal_turn.seen. Owned. */
char *turn_record_format_recipients(const struct dispatch *d, const struct conf_scope_turn *turn);
/* Records a turn that runs at once; all members except `seen` are read. */
void turn_record_begin(struct journal_async *l, const struct dispatch *d,
                       const struct journal_turn *t, journal_done_fn *done, void *ctx);
void turn_record_set_agent_pid(struct journal_async *l, const char *turn, pid_t pid);
/* Another host is to run the turn. is_stored: other hosts can read it, so one may have begun it. */
void turn_record_set_elsewhere(struct journal_async *l, const char *turn, bool is_stored);
#define TURN_RECORD_ELSEWHERE (-1) /* journal_turn.agent_pid of one that is stored */
bool turn_record_is_elsewhere(const struct journal_turn *t);
bool turn_record_is_stored_elsewhere(const struct journal_turn *t);

/* Identification of an agent process, to find it after a crash of the host. */
struct keep_process {
    const char *turn, *boot_id; /* turn: for which it was started */
    int64_t pid, start;
};
/* The process waits, and belongs to no turn; or it does so no more. */
void turn_record_waiting(struct journal_async *l, const char *turn, pid_t pid);
void turn_record_not_waiting(struct journal_async *l, const char *turn);
/* Calls `each` for the turns that waited when the host died; it must not call the journal. */
enum journal_status turn_record_each_waiting(struct journal_async *l,
                                             void (*each)(void *ctx, const struct keep_process *p),
                                             void *ctx);

/* Limit of the beginning of a message that is stored, and shown of a turn. */
#define KEEP_TASK_BYTES ((size_t)400)

/* The turn ends by this event. */
struct turn_record_end {
    struct journal_async *journal;
    struct dispatch_turn *cast;
    const char *turn, *lane;
    const struct event *outcome;
    const struct turn_result *result;  /* result of the turn so far, or NULL */
    const char *task;                  /* its message, or NULL */
    const struct journal_spent *spent; /* usage of the turn so far, or NULL */
    bool cancelled;                    /* a person or client has cancelled the turn */
};
void turn_record_outcome(const struct turn_record_end *end, journal_done_fn *done, void *ctx);
/* Replaces the result of a turn that has ended. */
void turn_record_result_again(struct journal_async *l, const char *turn,
                              const struct turn_result *r, const char *task, bool cancelled);

/* The error with which a turn of a dead host ends. The caller sets u.meta. */
struct event turn_record_restart_error(const char *turn);
/* Ends a turn of a crashed host that the journal lists: delivers the error host_restart to every
 * instance that received a part of the turn, or, if these are not known, to all instances that
 * would receive it now. */
void turn_record_end_interrupted(struct journal_async *l, const struct dispatch *d,
                                 const struct journal_turn *t);

#endif
