/* SPDX-License-Identifier: MIT
 * A connector whose teardown does not return in time. */
#include <time.h>

#include <turncast/plugin.h>

static void teardown(struct tc_instance *inst)
{
    (void)inst;
    nanosleep(&(struct timespec){.tv_sec = 10}, NULL);
}

TURNCAST_PLUGIN(.name = "hangsteardown", .version = "1", .summary = "hangs in teardown",
                .teardown = teardown, .sink = TC_SINK(.on_event = NULL));
