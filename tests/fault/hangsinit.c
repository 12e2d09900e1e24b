/* SPDX-License-Identifier: MIT
 * A connector whose init does not return in time. */
#include <time.h>

#include <turncast/plugin.h>

static int init(struct tc_instance *inst)
{
    (void)inst;
    nanosleep(&(struct timespec){.tv_sec = 10}, NULL);
    return 0;
}

TURNCAST_PLUGIN(.name = "hangsinit", .version = "1", .summary = "hangs in init", .init = init,
                .sink = TC_SINK(.on_event = NULL));
