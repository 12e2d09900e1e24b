/* SPDX-License-Identifier: MIT
 * Usage of one turn, computed from running totals of an agent's session: the difference to the
 * totals after the previous turn. For dialects with `counts_session`. Pure. An all-zero struct
 * spent is valid and means no previous turn. */
#ifndef CORE_TURN_USAGE_DELTA_H
#define CORE_TURN_USAGE_DELTA_H

#include <turncast/plugin.h>

struct spent {
    char *before; /* text of the turn before, or NULL; owned */
    char *total;  /* text of this turn, to be kept for the next, or NULL; owned */
};

/* `u` has the totals of `session`. They become `total`; where `before` is of the same session and
 * none of its counts is greater, they are subtracted from `u`. */
void usage_delta_count(struct spent *s, struct tc_usage *u, const char *session);
void usage_delta_fini(struct spent *s);

#endif
