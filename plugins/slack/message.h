/* SPDX-License-Identifier: MIT
 * The bodies of messages: Markdown as blocks, with the same as text where blocks are not taken. */
#ifndef SLACK_MESSAGE_H
#define SLACK_MESSAGE_H

#include <jansson.h>

#include "slack.h"

#define MESSAGE_UNITS 11500 /* of 12,000 in a markdown block */

/* Markdown as pieces of a message each. Of the callback. */
const struct tc_piece *message_pieces(struct tc_turn *turn, const char *markdown, uint32_t flags,
                                      size_t *count);
/* One piece, for chat.postMessage to the place of a route. */
json_t *message_body(struct tc_turn *turn, const struct route *r, const struct tc_piece *piece);
/* The text of a markdown block as mrkdwn: for notifications, and where blocks are not taken. */
json_t *message_text(struct tc_turn *turn, const json_t *block);
/* Ours, of that turn and part: it is found again by it. */
json_t *message_mark(const struct tc_turn *turn, int part);
/* A message that matters only now: a word of the host, for a person. */
void message_tell(struct tc_turn *lobby, const struct route *r, const char *markdown);
int message_on_told(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);

#endif
