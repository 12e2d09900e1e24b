/* SPDX-License-Identifier: MIT
 * The host services a plugin reaches through struct tc_host. */
#ifndef PLUGIN_INSTANCE_SERVICES_H
#define PLUGIN_INSTANCE_SERVICES_H

#include <turncast/plugin.h>

/* The one table; immutable. */
const struct tc_host *services_table(void);

#endif
