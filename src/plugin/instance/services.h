/* SPDX-License-Identifier: MIT
 * Host services of the plugin ABI (struct tc_host). Handles are verified and sizes capped; misuse
 * is logged and refused. */
#ifndef PLUGIN_INSTANCE_SERVICES_H
#define PLUGIN_INSTANCE_SERVICES_H

#include <turncast/plugin.h>

/* The one table; immutable. */
const struct tc_host *services_table(void);

#endif
