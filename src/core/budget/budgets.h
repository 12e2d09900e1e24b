/* SPDX-License-Identifier: MIT
 * Daily budgets: what the host, each agent, conversation, person and API key has used today, and
 * whether a new turn may begin. The sums are those of the journal, where they are written in the
 * transaction that ends a turn. A turn that runs is never stopped, so a budget is exceeded by at
 * most what ran when it was used up. Loop thread only. */
#ifndef CORE_BUDGET_BUDGETS_H
#define CORE_BUDGET_BUDGETS_H

#include "base/bytes/buf.h"
#include "conf/conf.h"
#include "io/journal/journal_async.h"

struct budgets;

/* Whose budgets a turn is counted in; each but agent and conversation may be NULL. */
struct budget_payer {
    const char *agent, *conversation;
    const char *person; /* "INSTANCE/USER", as journal_turn.person */
    const char *key;    /* of the HTTP server */
};

/* What one of them has used of its budget today. */
struct budget_state {
    enum conf_budget_scope scope;
    const char *name; /* "" of the host */
    struct journal_spent spent;
    struct conf_budget limit; /* 0: none */
};

/* Why a turn may not begin. */
struct budget_refusal {
    struct budget_state state; /* of the budget that is used up */
    bool tokens;               /* of its tokens, not of its money */
    int64_t seconds;           /* until the next day begins */
};

/* Reads the sums of today. Borrows both; the configuration until budgets_set_conf. */
struct budgets *budgets_new(struct journal_async *journal, const struct conf_budgets *conf);
/* NULL is fine. */
void budgets_free(struct budgets *b);
void budgets_set_conf(struct budgets *b, const struct conf_budgets *conf);

/* False: one of the payer's budgets is used up, described in *why; its strings are borrowed until
 * the next call. */
bool budgets_allow(struct budgets *b, const struct budget_payer *payer, struct budget_refusal *why);
/* How often that has been false. */
uint64_t budgets_count_refusals(const struct budgets *b);
/* A turn of the payer has used this; `spent->day` is set. What reaches 80 % of a budget, or uses it
 * up, is logged and appended to `warning` (or NULL). */
void budgets_add(struct budgets *b, const struct budget_payer *payer, struct journal_spent *spent,
                 struct buf *warning);
/* The host and all agents that were used today, then others that have used 80 % of a budget; valid
 * for the call. */
void budgets_each(struct budgets *b, void (*each)(void *ctx, const struct budget_state *s),
                  void *ctx);
/* The greatest part of a budget of that scope that anybody has used: 1 is all of it. Negative: it
 * has no budget. */
double budgets_used(struct budgets *b, enum conf_budget_scope scope);

#endif
