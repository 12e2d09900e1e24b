/* SPDX-License-Identifier: MIT
 * A plugin that is shorter than any header made it. */
#include <turncast/plugin.h>

extern const struct tc_plugin turncast_plugin;
TC_EXPORT const struct tc_plugin turncast_plugin = {
    .size = offsetof(struct tc_plugin, sink),
    .major = TURNCAST_API_MAJOR,
    .name = "tooshort",
    .sink = TC_SINK(.on_event = NULL),
};
