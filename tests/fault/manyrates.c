/* SPDX-License-Identifier: MIT
 * A plugin with more rates than a lane may have. */
#include <turncast/plugin.h>

#define RATE                                                                                       \
    {                                                                                              \
        .count = 1, .interval_ms = 1000                                                            \
    }

static const struct tc_rate rates[] = {RATE, RATE, RATE, RATE, RATE, RATE, RATE, RATE, RATE, {0}};

TURNCAST_PLUGIN(.name = "manyrates", .rates = rates, .sink = TC_SINK(.on_event = NULL));
