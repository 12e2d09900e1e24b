/* SPDX-License-Identifier: MIT
 * The time of a turn, and when its timer is next needed. */
#ifndef SLACK_PULSE_H
#define SLACK_PULSE_H

#include "slack.h"

#define PULSE_BEAT_MS 30000 /* after so long without news a running turn shows that it runs */

/* Milliseconds since any point. */
int64_t pulse_now(void);
void pulse_begin(struct tc_turn *turn);
/* on_wake not later than this. */
void pulse_wake_at(struct tc_turn *turn, int64_t at);
/* In on_wake. True: a beat is due. */
bool pulse_woke(struct tc_turn *turn);
void pulse_end(struct tc_turn *turn);

#endif
