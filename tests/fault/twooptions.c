/* SPDX-License-Identifier: MIT
 * A plugin that declares one option twice. */
#include <turncast/plugin.h>

struct conf {
    int64_t a;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, a, NULL, 0, ""),
    TC_OPTION(struct conf, a, "7", 0, ""),
    {0},
};

TURNCAST_PLUGIN(.name = "twooptions", .conf_size = sizeof(struct conf), .options = options,
                .sink = TC_SINK(.on_event = NULL));
