/* SPDX-License-Identifier: MIT
 * A connector whose init fails, with its reason. */
#include <turncast/plugin.h>

static int init(struct tc_instance *inst)
{
    tc_log(inst, TC_ERR, "no luck today");
    return -1;
}

TURNCAST_PLUGIN(.name = "initfails", .version = "1", .summary = "fails in init", .init = init,
                .sink = TC_SINK(.on_event = NULL));
