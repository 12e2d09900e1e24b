/* SPDX-License-Identifier: MIT
 * A plugin with a name that could be mistaken for a path. */
#include <turncast/plugin.h>

TURNCAST_PLUGIN(.name = "../etc", .sink = TC_SINK(.on_event = NULL));
