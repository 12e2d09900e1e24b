/* SPDX-License-Identifier: MIT
 * A connector whose every callback fails. */
#include <turncast/plugin.h>

static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    (void)turn;
    (void)n;
    return -1;
}

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    (void)turn;
    (void)ev;
    return -1;
}

TURNCAST_PLUGIN(.name = "fails", .version = "1", .summary = "fails always",
                .sink = TC_SINK(.on_narration = on_narration, .on_event = on_event));
