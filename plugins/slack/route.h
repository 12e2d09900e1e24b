/* SPDX-License-Identifier: MIT
 * Where a turn is shown: the thread of the question, fixed as the question came in. */
#ifndef SLACK_ROUTE_H
#define SLACK_ROUTE_H

#include <jansson.h>

#include "slack.h"

/* Never NULL; its channel may be. */
const struct route *route_of(struct tc_turn *turn);
/* The route of a turn that a message begins; takes nothing over. */
json_t *route_pack(const char *channel, const char *thread, const char *ts, const char *user,
                   const char *team);
/* "channel:thread": the conversation as this connector names it. Of the callback. */
const char *route_lane(struct tc_turn *turn, const char *channel, const char *thread);

#endif
