/* SPDX-License-Identifier: MIT
 * Text that grows in memory of the turn, and text of agents made fit for Slack. */
#ifndef SLACK_TEXT_H
#define SLACK_TEXT_H

#include "slack.h"

#define TEXT_MAX (512u << 10) /* of one growing text */

/* -1: no memory, or it would be above TEXT_MAX. */
int text_add(struct tc_turn *turn, struct text *t, const char *p, size_t n);
/* No mention and no markup of Slack is left in it; one line of at most `bytes`; "" when nothing is
 * to be seen. Of the callback. */
const char *text_label(struct tc_turn *turn, const char *raw, size_t bytes);
/* Without what cannot be seen, of at most `units`, no markup: for rich text. Of the callback. */
const char *text_plain(struct tc_turn *turn, const char *raw, size_t units);
/* As far as it is the beginning of mrkdwn in `bytes`. Of the callback. */
const char *text_mrkdwn(struct tc_turn *turn, const char *markdown, size_t len, uint32_t flags,
                        size_t bytes);
/* 850ms, 12s, 2m05s. */
void text_elapsed(char out[32], int64_t ms);

#endif
