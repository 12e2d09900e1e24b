/* SPDX-License-Identifier: MIT
 * A healthy plugin that declares rates and hears replies. */
#include <turncast/plugin.h>

static const struct tc_rate rates[] = {
    {.count = 30, .interval_ms = 1000},
    {.count = 1, .burst = 3, .interval_ms = 1100, .per_lane = 1},
    {0},
};

static int on_reply(struct tc_turn *turn, const struct tc_reply *reply, struct tc_verdict *verdict)
{
    (void)turn;
    (void)reply;
    (void)verdict;
    return 0;
}

TURNCAST_PLUGIN(.name = "rated", .flags = TC_DELIVERS, .rates = rates,
                .sink = TC_SINK(.on_reply = on_reply));
