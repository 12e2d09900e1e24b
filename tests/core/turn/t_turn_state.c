/* SPDX-License-Identifier: MIT
 * Tests of core/turn/turn_state.h: each state with each event. */
#include "core/turn/turn_state.h"

#include "base/table_check.h"
#include "tap/tap.h"

static unsigned move(unsigned state, unsigned event)
{
    return turn_state_next((enum turn_state)state, (enum turn_state_event)event);
}

int main(void)
{
    plan_lazy();
    table_check(&turn_state_table, move, TURN_RUNNING, 1);
    return 0;
}
