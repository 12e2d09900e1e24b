/* SPDX-License-Identifier: MIT
 * The constant that the host looks for, which Go cannot express, and the callback in C. */
#include <string.h>

#include <turncast/plugin.h>

#include "_cgo_export.h"

static int on_usage(struct tc_turn *turn, const struct tc_usage *ev)
{
    if (strcmp(ev->scope, "turn") != 0 || ev->cost_usd < 0)
        return 0;
    return costs_add((char *)turn->agent, ev->cost_usd);
}

TURNCAST_PLUGIN(.name = "costs", .version = "1.0", .summary = "costs of each agent",
                .sink = TC_SINK(.on_usage = on_usage));
