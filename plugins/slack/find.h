/* SPDX-License-Identifier: MIT
 * Looks for an own message in its thread, where it is not known whether Slack took it. */
#ifndef SLACK_FIND_H
#define SLACK_FIND_H

#include <jansson.h>

#include <turncast/plugin.h>

/* Each sends the durable search: 0, or -1: no more is to be done. `data` is that of the post. */
int find_message(struct tc_turn *turn, json_t *body, const json_t *data);
int find_question(struct tc_turn *turn, json_t *body, const json_t *data);
/* The end of the stream `ts`; not found, the text is posted, and it is ended once more. */
int find_stream(struct tc_turn *turn, const char *ts, const char *text);
/* A file; not found, it is completed again as `body` says. */
int find_file(struct tc_turn *turn, json_t *body, const json_t *data);
int find_on_read(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
