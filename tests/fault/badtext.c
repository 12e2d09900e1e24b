/* SPDX-License-Identifier: MIT
 * A plugin whose summary would speak to a terminal. */
#include <turncast/plugin.h>

TURNCAST_PLUGIN(.name = "badtext", .summary = "clean\033[2J", .sink = TC_SINK(.on_event = NULL));
