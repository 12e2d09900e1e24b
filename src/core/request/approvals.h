/* SPDX-License-Identifier: MIT
 * What people allowed for longer than once: for the turn, for the session of a conversation, or for
 * good. It is looked at where the policy would ask, so what that denies stays denied. Calls are
 * compared by a digest of agent, tool and argument; nothing else of an argument is kept but its
 * beginning, without secrets, for people. Loop thread only. */
#ifndef CORE_REQUEST_APPROVALS_H
#define CORE_REQUEST_APPROVALS_H

#include "core/shared/shared_settings.h"
#include "io/journal/journal_async.h"

#define APPROVALS_MAX 10000 /* in all; above, the oldest are forgotten */

struct approvals;

enum approvals_scope { APPROVALS_TURN, APPROVALS_SESSION, APPROVALS_ALWAYS };

/* Reads what is kept: waits for the disk. Borrows the journal; NULL: none outlives the process. */
struct approvals *approvals_new(struct journal_async *journal);
void approvals_free(struct approvals *a); /* NULL is fine */

/* Those for good hold on all hosts from now on: a digest, agent, tool and who allowed it are
 * shared, nothing of an argument. While the host starts. */
void approvals_join(struct approvals *a, struct shared_settings *shared);

/* Whether the call was allowed before. `argument` is what policy_approval_key says; NULL: the call
 * cannot be remembered. `conversation` may be NULL or empty: there is none. */
bool approvals_match(struct approvals *a, const char *agent, const char *conversation,
                     const char *turn, const char *tool, const char *argument);
/* Remembers it; `by` is who allowed it, for people. Without a conversation that for the session is
 * for the turn. */
void approvals_remember(struct approvals *a, enum approvals_scope scope, const char *agent,
                        const char *conversation, const char *turn, const char *tool,
                        const char *argument, const char *by);
/* The turn is over; the conversation begins a new session. */
void approvals_end_turn(struct approvals *a, const char *turn);
void approvals_end_session(struct approvals *a, const char *agent, const char *conversation);
/* Appends what a call is about as people may read it: no secrets, and not all of what is long. */
void approvals_append_summary(struct buf *out, const char *argument);
/* Forgets those of that id and agent, whatever they are for, and returns how many there were.
 * `done` (or NULL) when it is so on disk, too; at once without a journal. */
size_t approvals_revoke(struct approvals *a, const struct journal_approval_filter *which,
                        journal_done_fn *done, void *ctx);

#endif
