/* SPDX-License-Identifier: MIT
 * A plugin with more rates than a lane may have. */
#include <turncast/plugin.h>

#define RATE                                                                                       \
    {                                                                                              \
        .count = 1, .interval_ms = 1000                                                            \
    }
#define FOUR RATE, RATE, RATE, RATE

static const struct tc_rate rates[] = {FOUR, FOUR, FOUR, RATE, {0}};

TURNCAST_PLUGIN(.name = "manyrates", .rates = rates, .sink = TC_SINK(.on_event = NULL));
