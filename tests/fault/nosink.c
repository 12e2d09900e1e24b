/* SPDX-License-Identifier: MIT
 * A plugin that forgot its sink. */
#include <turncast/plugin.h>

TURNCAST_PLUGIN(.name = "nosink");
