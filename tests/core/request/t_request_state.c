/* SPDX-License-Identifier: MIT
 * Tests of core/request/request_state.h: each state with each event. */
#include "core/request/request_state.h"

#include "base/table_check.h"
#include "tap/tap.h"

static unsigned move(unsigned state, unsigned event)
{
    return request_state_next((enum request_state)state, (enum request_state_event)event);
}

int main(void)
{
    plan_lazy();
    table_check(&request_state_table, move, REQUEST_NEW, 1);
    return 0;
}
