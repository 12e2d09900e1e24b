/* SPDX-License-Identifier: MIT
 * A plugin that says it is longer than it is. */
#include <turncast/plugin.h>

extern const struct tc_plugin turncast_plugin;
TC_EXPORT const struct tc_plugin turncast_plugin = {
    .size = sizeof(struct tc_plugin) + 8,
    .major = TURNCAST_API_MAJOR,
    .name = "toolong",
    .sink = TC_SINK(.on_event = NULL),
};
