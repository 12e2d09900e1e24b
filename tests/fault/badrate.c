/* SPDX-License-Identifier: MIT
 * A plugin with a rate that has no interval. */
#include <turncast/plugin.h>

static const struct tc_rate rates[] = {{.count = 1, .interval_ms = 1000}, {.count = 1}, {0}};

TURNCAST_PLUGIN(.name = "badrate", .rates = rates, .sink = TC_SINK(.on_event = NULL));
