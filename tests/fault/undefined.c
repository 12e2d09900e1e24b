/* SPDX-License-Identifier: MIT
 * A plugin that uses a symbol nobody has. */
#include <turncast/plugin.h>

int a_function_that_nobody_has(void);

static int on_idle(struct tc_instance *inst)
{
    (void)inst;
    return a_function_that_nobody_has();
}

TURNCAST_PLUGIN(.name = "undefined", .sink = TC_SINK(.on_idle = on_idle));
