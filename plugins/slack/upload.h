/* SPDX-License-Identifier: MIT
 * An answer too long for messages, as files: asks for a place, puts the bytes there, shows them in
 * the thread. Three durable steps each. */
#ifndef SLACK_UPLOAD_H
#define SLACK_UPLOAD_H

#include <jansson.h>

#include <turncast/plugin.h>

/* -1: not all of it is sent. */
int upload_send(struct tc_turn *turn, const char *markdown);
/* The last step; takes both over. */
int upload_complete(struct tc_turn *turn, json_t *body, json_t *data);
int upload_on_place(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int upload_on_put(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int upload_on_complete(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
