/* SPDX-License-Identifier: MIT
 * The passing messages of a turn: which there are, kept over a restart, and how they go away. */
#ifndef SLACK_SHOWN_H
#define SLACK_SHOWN_H

#include <turncast/plugin.h>

/* Keeps what is there now. */
void shown_remember(struct tc_turn *turn);
/* Deletes a message of ours. */
void shown_remove(struct tc_turn *turn, const char *ts);
/* Puts away what an earlier process left of this turn. */
void shown_clean_up(struct tc_turn *turn);
int shown_on_remove(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
