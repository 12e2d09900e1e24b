/* SPDX-License-Identifier: MIT
 * A plugin whose option lies outside its struct. */
#include <turncast/plugin.h>

struct conf {
    int64_t a, b;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, a, NULL, 0, ""),
    TC_OPTION(struct conf, b, NULL, 0, ""),
    {0},
};

TURNCAST_PLUGIN(.name = "badoption", .conf_size = sizeof(int64_t), .options = options,
                .sink = TC_SINK(.on_event = NULL));
