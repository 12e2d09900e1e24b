/* SPDX-License-Identifier: MIT
 * Remembered approvals: for a turn, for the session of a conversation, or permanent. Checked only
 * where the policy would ask, so calls that the policy denies stay denied. Calls are compared by a
 * digest of agent, tool and argument; of an argument, only its beginning is stored, without
 * secrets, for people. Loop thread only. */
#ifndef CORE_REQUEST_APPROVALS_H
#define CORE_REQUEST_APPROVALS_H

#include "core/shared/shared_settings.h"
#include "io/journal/journal_async.h"

#define APPROVALS_MAX 10000 /* limit; above it, the oldest are forgotten */

struct approvals;

enum approvals_scope { APPROVALS_TURN, APPROVALS_SESSION, APPROVALS_ALWAYS };

/* Reads stored approvals: waits for the disk. Borrows the journal; NULL: none outlives the
 * process. */
struct approvals *approvals_new(struct journal_async *journal);
void approvals_free(struct approvals *a); /* NULL is allowed */

/* Shares permanent approvals with all hosts: digest, agent, tool and author, but no part of the
 * argument. Call it while the host starts. */
void approvals_join(struct approvals *a, struct shared_settings *shared);

/* Whether the call was allowed before. `argument` is from policy_approval_key; NULL: the call
 * cannot be remembered. `conversation` may be NULL or empty: none. */
bool approvals_match(struct approvals *a, const char *agent, const char *conversation,
                     const char *turn, const char *tool, const char *argument);
/* Remembers the approval; `by` is its author, for people. Without a conversation, an approval for
 * the session is for the turn. */
void approvals_remember(struct approvals *a, enum approvals_scope scope, const char *agent,
                        const char *conversation, const char *turn, const char *tool,
                        const char *argument, const char *by);
/* The turn has ended; the conversation starts a new session. */
void approvals_end_turn(struct approvals *a, const char *turn);
void approvals_end_session(struct approvals *a, const char *agent, const char *conversation);
/* Appends a description of the call for people: without secrets, shortened. */
void approvals_append_summary(struct buf *out, const char *argument);
/* Revokes approvals of that id and agent, whatever their scope, and returns their number. `done`
 * (or NULL) is called when the change is on disk; at once without a journal. */
size_t approvals_revoke(struct approvals *a, const struct journal_approval_filter *which,
                        journal_done_fn *done, void *ctx);

#endif
