/* SPDX-License-Identifier: MIT
 * A plugin of an API major that never was: only the first four numbers mean anything. */
#include <turncast/plugin.h>

extern const uint32_t turncast_plugin[];
TC_EXPORT const uint32_t turncast_plugin[] = {16, 0, 3, 0};
