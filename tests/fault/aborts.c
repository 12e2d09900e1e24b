/* SPDX-License-Identifier: MIT
 * A module that ends the process that loads it. */
#include <stdlib.h>

#include <turncast/plugin.h>

__attribute__((__constructor__)) static void begin(void)
{
    abort();
}

TURNCAST_PLUGIN(.name = "aborts", .version = "1", .summary = "aborts as it is loaded",
                .sink = TC_SINK(.on_event = NULL));
