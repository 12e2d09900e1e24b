/* SPDX-License-Identifier: MIT
 * Totals of the usage of all model calls of a turn, for agents that report calls only. */
#ifndef DIALECT_READER_USAGE_TOTALS_H
#define DIALECT_READER_USAGE_TOTALS_H

#include "dialect/dialect.h"

/* A struct of zeros is empty. */
struct usage_totals {
    bool counted;
    bool mixed; /* calls in different currencies: costs are not added */
    struct tc_usage sum;
    char currency[16];
};

/* A missing value of a call adds nothing; values missing in all calls stay unset. */
void usage_totals_add(struct usage_totals *t, const struct tc_usage *call);
/* Emits usage{turn} and resets the totals; nothing if no call was counted. */
void usage_totals_emit(struct usage_totals *t, const struct dialect_sink *out, bool is_error);

#endif
