/* SPDX-License-Identifier: MIT
 * The Events API: signed requests to the host's HTTP server. */
#ifndef SLACK_HOOK_H
#define SLACK_HOOK_H

#include <turncast/plugin.h>

int hook_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);

#endif
