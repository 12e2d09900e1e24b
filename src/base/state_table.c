/* SPDX-License-Identifier: MIT
 * Lookup in a transition table by linear search, because tables are short and transitions rare. */
#include "base/state_table.h"

#include <stdio.h>

#include "base/invariant.h"

int state_table_find(const struct state_table *t, unsigned state, unsigned event)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].state == state && t->rows[i].event == event)
            return t->rows[i].next;
    return -1;
}

unsigned state_table_move(const struct state_table *t, unsigned state, unsigned event)
{
    char what[160];
    ASSERT(state < t->state_count && event < t->event_count);
    const int next = state_table_find(t, state, event);
    if (next >= 0)
        return (unsigned)next;
    snprintf(what, sizeof what, "%s: event %s in state %s", t->name, t->events[event],
             t->states[state]);
    assert_fail(what, __FILE__, __LINE__);
}
