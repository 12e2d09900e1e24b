/* SPDX-License-Identifier: MIT
 * Sentences about budgets, for operators and for people. */
#ifndef CORE_BUDGET_BUDGET_TEXT_H
#define CORE_BUDGET_BUDGET_TEXT_H

#include "core/budget/budgets.h"

/* For operators: whose budget, the used part, and the configuration key. */
void budget_text_append_state(struct buf *out, const struct budget_state *s, bool tokens);
/* For the person whose message is refused. */
void budget_text_append_refusal(struct buf *out, const struct budget_refusal *why);

#endif
