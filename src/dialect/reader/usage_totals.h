/* SPDX-License-Identifier: MIT
 * Totals of the usage of all model calls of a turn, for agents that report calls only. */
#ifndef DIALECT_READER_USAGE_TOTALS_H
#define DIALECT_READER_USAGE_TOTALS_H

#include "dialect/dialect.h"

/* All zero is empty. */
struct usage_totals {
    bool counted;
    bool mixed; /* calls in different currencies: their costs are not added */
    struct tc_usage sum;
    char currency[16];
};

/* What a call did not say adds nothing; what none said stays unsaid. */
void usage_totals_add(struct usage_totals *t, const struct tc_usage *call);
/* Tells usage{turn} and empties the tally; nothing when no call was counted. */
void usage_totals_emit(struct usage_totals *t, const struct dialect_sink *out, bool is_error);

#endif
