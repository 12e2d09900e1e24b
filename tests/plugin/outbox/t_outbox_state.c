/* SPDX-License-Identifier: MIT
 * Tests of plugin/outbox/outbox_state.h: each event in each state. */
#include "plugin/outbox/outbox_state.h"

#include "base/table_check.h"
#include "tap/tap.h"

static unsigned move(unsigned state, unsigned event)
{
    return outbox_state_next((enum outbox_state)state, (enum outbox_state_event)event);
}

int main(void)
{
    plan_lazy();
    table_check(&outbox_state_table, move, OUTBOX_NEW, 1);
    return 0;
}
