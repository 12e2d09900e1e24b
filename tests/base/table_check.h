/* SPDX-License-Identifier: MIT
 * Checks a state machine against its transition table, for the tests of each machine. */
#ifndef TESTS_BASE_TABLE_CHECK_H
#define TESTS_BASE_TABLE_CHECK_H

#include "base/state_table.h"

/* Every pair of a state and an event: one that is in the table gives its next state, any other
 * aborts and says which it was. `move` is the function that the code uses. The table has no pair
 * twice, every state can be reached from `first`, and the states without a way out are the last
 * `ends` ones. */
void table_check(const struct state_table *t, unsigned (*move)(unsigned state, unsigned event),
                 unsigned first, unsigned ends);

#endif
