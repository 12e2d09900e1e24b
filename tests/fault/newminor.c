/* SPDX-License-Identifier: MIT
 * A plugin built for a newer minor than any host has. */
#include <turncast/plugin.h>

extern const struct tc_plugin turncast_plugin;
TC_EXPORT const struct tc_plugin turncast_plugin = {
    .size = sizeof(struct tc_plugin),
    .major = TURNCAST_API_MAJOR,
    .minor = 999,
    .name = "newminor",
    .sink = TC_SINK(.on_event = NULL),
};
