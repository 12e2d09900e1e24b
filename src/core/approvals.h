/* SPDX-License-Identifier: MIT
 * What people have allowed beyond one call: for the rest of a turn, for a session, for always.
 * Loop thread only. */
#ifndef CORE_APPROVALS_H
#define CORE_APPROVALS_H

#include <stdbool.h>

struct approvals;
struct ledger;

enum approvals_scope { APPROVALS_TURN, APPROVALS_SESSION, APPROVALS_ALWAYS };

struct approvals *approvals_new(struct ledger *ledger);
void approvals_free(struct approvals *a); /* NULL is fine */
/* Whether a call of that tool with exactly that argument was allowed, in any scope that holds. */
bool approvals_has(struct approvals *a, const char *agent, const char *conversation,
                   const char *turn, const char *tool, const char *argument);
/* `by`: who allowed it, for people. */
void approvals_keep(struct approvals *a, enum approvals_scope scope, const char *agent,
                    const char *conversation, const char *turn, const char *tool,
                    const char *argument, const char *by);
void approvals_end_turn(struct approvals *a, const char *turn);
void approvals_end_session(struct approvals *a, const char *agent, const char *conversation);

#endif
