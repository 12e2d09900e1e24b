/* SPDX-License-Identifier: MIT
 * What one turn uses, counted in the budgets of its payer as often as its agent reports more. */
#ifndef CORE_BUDGET_TURN_SPENDING_H
#define CORE_BUDGET_TURN_SPENDING_H

#include "core/budget/budgets.h"
#include "core/settings/usage_log.h"

struct turn_spending {
    struct budgets *budgets; /* NULL: nothing is counted */
    struct budget_payer payer;
    struct usage_sum counted; /* so far */
};

/* Counts what `usage` (turn_result.usage, or empty) has more than the call before, which goes to
 * *more, for the journal; the first call counts the turn. False: there is no more. `warning` as of
 * budgets_add. */
bool turn_spending_count(struct turn_spending *s, struct str usage, struct journal_spent *more,
                         struct buf *warning);

#endif
