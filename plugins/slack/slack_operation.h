/* SPDX-License-Identifier: MIT
 * Operations of the chat engine as requests of Slack's Web API, and what their replies mean. */
#ifndef SLACK_OPERATION_H
#define SLACK_OPERATION_H

#include "slack.h"

/* ---- slack_request.c ---- */

/* An operation of the chat engine as a request. */
int slack_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);

/* ---- slack_message.c ---- */

/* Body of chat.postMessage or chat.update. */
json_t *slack_message(struct tc_turn *turn, const struct tc_op *op);
/* Metadata by which the message is found again. */
json_t *slack_mark(const struct tc_op *op);
/* View of the app's home with the commands. */
json_t *slack_home(struct tc_turn *turn, const struct tc_op *op);

/* ---- slack_form.c ---- */

/* Appends the input blocks of a card. */
void slack_form_add(struct tc_turn *turn, json_t *blocks, const struct tc_op *op);

/* ---- slack_stream.c ---- */

int slack_stream_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);

/* ---- slack_status.c ---- */

int slack_status_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
/* A way that this app may not use: the next one. */
void slack_status_read(struct tc_turn *turn, const struct tc_reply *reply,
                       struct tc_result *result);

/* ---- slack_file.c ---- */

int slack_file_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
/* ok: the reply, if it confirms the request; else NULL. Here and below. */
void slack_file_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                     const json_t *ok, struct tc_result *result);
int slack_fetch_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
void slack_fetch_read(const struct tc_op *op, const struct tc_reply *reply,
                      struct tc_result *result);

/* ---- slack_reply.c ---- */

/* Texts of Slack's errors, for people and operators. */
extern const struct tc_error_rule slack_errors[];
int slack_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
               struct tc_result *result);

/* ---- slack_lookup.c ---- */

int slack_lookup_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
void slack_lookup_read(struct tc_turn *turn, const struct tc_op *op, const json_t *ok,
                       struct tc_result *result);

#endif
