/* SPDX-License-Identifier: MIT
 * Tests of plugin/process/spawn/connector_state.h: each event in each state. */
#include "plugin/process/spawn/connector_state.h"

#include "base/table_check.h"
#include "tap/tap.h"

static unsigned move(unsigned state, unsigned event)
{
    return connector_state_next((enum connector_state)state, (enum connector_state_event)event);
}

int main(void)
{
    plan_lazy();
    table_check(&connector_state_table, move, CONNECTOR_NEW, 1);
    return 0;
}
