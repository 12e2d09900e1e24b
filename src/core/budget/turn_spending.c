/* SPDX-License-Identifier: MIT
 * Computes the difference between two usage reports of a turn. */
#include "core/budget/turn_spending.h"

#include <string.h>

bool turn_spending_count(struct turn_spending *s, struct str usage, struct journal_spent *more,
                         struct buf *warning)
{
    const struct usage_sum now = usage_log_read_turn(usage), before = s->counted;
    if (!s->budgets || memcmp(&now, &before, sizeof now) == 0)
        return false;
    *more = (struct journal_spent){.turns = now.turns - before.turns,
                                   .counted = now.counted - before.counted,
                                   .input = now.input - before.input,
                                   .output = now.output - before.output,
                                   .priced = now.priced - before.priced,
                                   .micros = now.micros - before.micros};
    s->counted = now;
    budgets_add(s->budgets, &s->payer, more, warning);
    return true;
}
