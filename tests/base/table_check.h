/* SPDX-License-Identifier: MIT
 * Checks a state machine against its transition table, for the tests of each machine. */
#ifndef TESTS_BASE_TABLE_CHECK_H
#define TESTS_BASE_TABLE_CHECK_H

#include "base/state_table.h"

/* Checks every pair of a state and an event: a pair in the table gives its next state, any other
 * pair aborts with a message that names it. `move` is the function that the code uses. Also checks
 * that the table has no pair twice, that every state can be reached from `first`, and that the
 * states without a transition are the last `ends` ones. */
void table_check(const struct state_table *t, unsigned (*move)(unsigned state, unsigned event),
                 unsigned first, unsigned ends);

#endif
