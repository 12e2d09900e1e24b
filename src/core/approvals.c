/* SPDX-License-Identifier: MIT
 * Owns what is remembered, and how long. */
#include "core/approvals.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct approval {
    struct approval *next;
    enum approvals_scope scope;
    char *agent, *holder, *tool, *argument; /* holder: the turn, the conversation, or "" */
};

struct approvals {
    struct approval *first;
};

struct approvals *approvals_new(struct ledger *ledger)
{
    (void)ledger;
    return xcalloc(1, sizeof(struct approvals));
}

static void forget(struct approval **at)
{
    struct approval *const p = *at;
    *at = p->next;
    free(p->agent);
    free(p->holder);
    free(p->tool);
    free(p->argument);
    free(p);
}

void approvals_free(struct approvals *a)
{
    while (a && a->first)
        forget(&a->first);
    free(a);
}

static const char *holder_of(enum approvals_scope scope, const char *conversation, const char *turn)
{
    return scope == APPROVALS_TURN ? turn : scope == APPROVALS_SESSION ? conversation : "";
}

bool approvals_has(struct approvals *a, const char *agent, const char *conversation,
                   const char *turn, const char *tool, const char *argument)
{
    for (const struct approval *p = a->first; p; p = p->next)
        if (strcmp(p->argument, argument) == 0 && strcmp(p->tool, tool) == 0 &&
            strcmp(p->agent, agent) == 0 &&
            strcmp(p->holder, holder_of(p->scope, conversation, turn)) == 0)
            return true;
    return false;
}

void approvals_keep(struct approvals *a, enum approvals_scope scope, const char *agent,
                    const char *conversation, const char *turn, const char *tool,
                    const char *argument, const char *by)
{
    (void)by;
    struct approval *const p = xmalloc(sizeof *p);
    *p = (struct approval){
        .next = a->first,
        .scope = scope,
        .agent = xstrdup(agent),
        .holder = xstrdup(holder_of(scope, conversation, turn)),
        .tool = xstrdup(tool),
        .argument = xstrdup(argument),
    };
    a->first = p;
}

static void end(struct approvals *a, enum approvals_scope scope, const char *agent,
                const char *holder)
{
    for (struct approval **at = &a->first; *at;)
        if ((*at)->scope == scope && strcmp((*at)->holder, holder) == 0 &&
            (!agent || strcmp((*at)->agent, agent) == 0))
            forget(at);
        else
            at = &(*at)->next;
}

void approvals_end_turn(struct approvals *a, const char *turn)
{
    end(a, APPROVALS_TURN, NULL, turn);
}

void approvals_end_session(struct approvals *a, const char *agent, const char *conversation)
{
    end(a, APPROVALS_SESSION, agent, conversation);
}
