/* SPDX-License-Identifier: MIT
 * Input of people in Slack, and its two ways: Socket Mode and signed requests. */
#ifndef SLACK_INBOUND_H
#define SLACK_INBOUND_H

#include "slack.h"

/* ---- slack_form.c ---- */

/* Reads the filled-in form of a payload: the JSON object of tc_chat_action.answers. */
json_t *slack_form_read(const json_t *payload);

/* ---- slack_event.c ---- */

/* Handles an event, an interaction or a slash command from either way. False: Slack must deliver it
 * again. */
bool slack_event_handle(struct tc_turn *lobby, const json_t *payload);
bool slack_action_handle(struct tc_turn *lobby, const json_t *payload);
bool slack_command_handle(struct tc_turn *lobby, const json_t *payload);

/* ---- slack_hook.c ---- */

int slack_hook_handle(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);

/* ---- slack_socket.c ---- */

/* Connects, unless that has been done. */
void slack_socket_start(struct tc_turn *lobby);
/* Handles the reply with the address of the websocket. */
int slack_socket_read_reply(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);
int slack_socket_handle_frame(struct tc_turn *lobby, const struct tc_frame *frame);

/* ---- slack_history.c ---- */

#define SLACK_HISTORY "history:" /* begins the tag of its requests */

/* tc_feed.page, .take and .rewind */
int slack_history_request(struct tc_turn *lobby, const struct tc_target *where, const char *after,
                          const char *key);
enum tc_feed_step slack_history_read(struct tc_turn *lobby, const char *text,
                                     const struct tc_target *where);
void slack_history_rewind(struct tc_turn *lobby);
int slack_history_read_reply(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);

#endif
