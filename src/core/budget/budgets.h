/* SPDX-License-Identifier: MIT
 * Daily budgets: today's usage of the host, each agent, conversation, person and API key, and
 * whether a new turn may start. The sums are from the journal, which updates them in the
 * transaction that ends a turn. A running turn is never stopped, so a budget is exceeded by at most
 * the turns that run when it is used up. Loop thread only. */
#ifndef CORE_BUDGET_BUDGETS_H
#define CORE_BUDGET_BUDGETS_H

#include "base/bytes/buf.h"
#include "conf/conf.h"
#include "io/journal/journal_async.h"

struct budgets;

/* Payers of a turn; each except agent and conversation may be NULL. */
struct budget_payer {
    const char *agent, *conversation;
    const char *person; /* "INSTANCE/USER", as journal_turn.person */
    const char *key;    /* of the HTTP server */
};

/* Usage of one budget today. */
struct budget_state {
    enum conf_budget_scope scope;
    const char *name; /* "" for the host */
    struct journal_spent spent;
    struct conf_budget limit; /* 0: none */
};

/* Why a turn may not start. */
struct budget_refusal {
    struct budget_state state; /* limit of the exhausted budget */
    bool tokens;               /* the token limit, not the money limit, is reached */
    int64_t seconds;           /* seconds until the next day */
};

/* Reads today's sums. Borrows both; the configuration until budgets_set_conf. */
struct budgets *budgets_new(struct journal_async *journal, const struct conf_budgets *conf);
/* NULL is allowed. */
void budgets_free(struct budgets *b);
void budgets_set_conf(struct budgets *b, const struct conf_budgets *conf);

/* False: one of the payer's budgets is used up, described in *why; its strings are borrowed until
 * the next call. */
bool budgets_allow(struct budgets *b, const struct budget_payer *payer, struct budget_refusal *why);
/* Number of refusals. */
uint64_t budgets_count_refusals(const struct budgets *b);
/* Adds usage of a turn to the payer's sums; `spent->day` is set. When 80 % of a budget is reached,
 * or all of it, this is logged and appended to `warning` (or NULL). */
void budgets_add(struct budgets *b, const struct budget_payer *payer, struct journal_spent *spent,
                 struct buf *warning);
/* Calls `each` for the host and all agents with usage today, then for others that have used 80 % of
 * a budget; valid for the call. */
void budgets_each(struct budgets *b, void (*each)(void *ctx, const struct budget_state *s),
                  void *ctx);
/* The highest usage of a budget of that scope: 1 is all of it. Negative: no budget. */
double budgets_used(struct budgets *b, enum conf_budget_scope scope);

#endif
