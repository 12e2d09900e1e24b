/* SPDX-License-Identifier: MIT
 * The connector null: takes every event and does nothing, to measure what the host costs. */
#include <turncast/plugin.h>

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    (void)turn;
    (void)ev;
    return 0;
}

TURNCAST_PLUGIN(.name = "null", .version = "1.0", .summary = "takes every event, does nothing",
                .flags = TC_SEES_ALL, .sink = TC_SINK(.on_event = on_event));
