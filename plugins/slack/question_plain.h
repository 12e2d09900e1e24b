/* SPDX-License-Identifier: MIT
 * A request that cannot be answered here, as Markdown. */
#ifndef SLACK_QUESTION_PLAIN_H
#define SLACK_QUESTION_PLAIN_H

#include <turncast/plugin.h>

/* Of the callback; NULL: no memory. */
const char *question_plain(struct tc_turn *turn, const struct tc_request *ev);

#endif
