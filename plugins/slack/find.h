/* SPDX-License-Identifier: MIT
 * Looks for an own message in its thread, where it is not known whether Slack took it. */
#ifndef SLACK_FIND_H
#define SLACK_FIND_H

#include <jansson.h>

#include <turncast/plugin.h>

/* What becomes of a post, with `data` in its tag, that Slack may have taken: a durable search takes
 * its place; or, where the search is not possible and the post already says that it may be there
 * twice, it is sent again as it is, with the host's back-off. */
void find_message(struct tc_turn *turn, json_t *body, const json_t *data, struct tc_verdict *v);
void find_question(struct tc_turn *turn, json_t *body, const json_t *data, struct tc_verdict *v);
/* A file; not found, it is completed again as `body` says. */
void find_file(struct tc_turn *turn, json_t *body, const json_t *data, struct tc_verdict *v);
/* The end of the stream `ts`; not found, the text is posted, and it is ended once more. 0, or -1:
 * the search could not be sent. */
int find_stream(struct tc_turn *turn, const char *ts, const char *text);
int find_on_read(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
