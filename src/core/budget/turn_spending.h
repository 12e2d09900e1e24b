/* SPDX-License-Identifier: MIT
 * Usage of one turn, added to its payer's budgets whenever the agent reports more. */
#ifndef CORE_BUDGET_TURN_SPENDING_H
#define CORE_BUDGET_TURN_SPENDING_H

#include "core/budget/budgets.h"
#include "core/settings/usage_log.h"

struct turn_spending {
    struct budgets *budgets; /* NULL: usage is not counted */
    struct budget_payer payer;
    struct usage_sum counted; /* counted so far */
};

/* Adds the increase of `usage` (turn_result.usage, or empty) since the last call; writes it to
 * *more, for the journal. The first call counts the turn. False: no increase. `warning` as for
 * budgets_add. */
bool turn_spending_count(struct turn_spending *s, struct str usage, struct journal_spent *more,
                         struct buf *warning);

#endif
