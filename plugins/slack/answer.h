/* SPDX-License-Identifier: MIT
 * The outcome of a turn in Slack, as durable requests: each carries in its body and tag all that
 * the next step needs, so that any process can go on with it. */
#ifndef SLACK_ANSWER_H
#define SLACK_ANSWER_H

#include <stdint.h>

#include <jansson.h>

#include <turncast/plugin.h>

#include "fault.h"

/* The text as new messages, or as files when it is too long for that. -1: not all of it is sent. */
int answer_send(struct tc_turn *turn, const char *markdown, uint32_t flags);
/* The same, never as files. */
int answer_post(struct tc_turn *turn, const char *markdown, uint32_t flags);
/* The rest of the answer, and so all of it, at the end of the open stream and behind it. false: the
 * stream does not show what was before, or cannot be ended so; nothing is sent. */
bool answer_end_stream(struct tc_turn *turn, const char *markdown, const char *rest);
int answer_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int answer_on_stop(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

/* The data of a tag behind its word; the caller's reference. NULL: it has none. */
json_t *answer_data(const struct tc_reply *r);
/* Sends a body again as the message it was. */
int answer_repeat(struct tc_turn *turn, json_t *body, json_t *data);

/* When the verdict is that an answer is given up, the chat is told so, once per turn. */
void answer_lost(struct tc_turn *turn, const struct fault *f, const struct tc_verdict *v);

#endif
