/* SPDX-License-Identifier: MIT
 * Shared by the files of the connector matrix, which describes the client-server API of Matrix to
 * the chat service of the host; all code of an instance runs on its thread. */
#ifndef MATRIX_H
#define MATRIX_H

#include <turncast/json.h>
#include <turncast/plugin.h>

struct matrix_conf {
    const char *homeserver, *token, *user, *room, *invites, *after;
    bool limited;
    int64_t file_bytes;
};

struct matrix {
    json_t *rooms;  /* stored set of known rooms */
    unsigned tries; /* consecutive failures at the same page */
};

#define MATRIX_CLIENT "{option:homeserver}/_matrix/client/v3"

/* Instance-wide rates of the plugin. */
enum { MATRIX_RATE_LIMITED = 1, MATRIX_RATE_FREE = 2 };

/* ---- matrix_request.c ---- */

/* The Authorization header of every request. */
extern const struct tc_header matrix_bearer[1];
int matrix_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);

/* ---- matrix_sync.c ---- */

/* The request of a poll: /sync, or a page of events omitted from a limited timeline. */
int matrix_sync_request(struct tc_turn *lobby, const struct tc_op *op, struct tc_http *http);
void matrix_sync_read(struct tc_turn *lobby, const struct tc_op *op, const struct tc_reply *reply,
                      struct tc_result *result);

/* ---- matrix_event.c ---- */

/* Passes on an event of a timeline. False: not on disk; it must be delivered again. */
bool matrix_event_handle(struct tc_turn *lobby, const char *room, const json_t *event);
/* The path of an mxc: URL in the media API; NULL: invalid. */
const char *matrix_event_media(struct tc_turn *lobby, const char *url);

/* ---- matrix_room.c ---- */

int matrix_room_load(struct tc_instance *inst);
/* Stores whether a room is a direct chat. `joined` is its part of /sync. */
void matrix_room_record(struct tc_turn *lobby, const char *room, const json_t *joined);
bool matrix_room_is_group(struct tc_turn *lobby, const char *room);
/* Joins the room if the inviting person may write to the agent, or if all invites are accepted. */
void matrix_room_handle_invite(struct tc_turn *lobby, const char *room, const json_t *invite);
/* Replies once that the bot cannot read encrypted messages. */
void matrix_room_report_encrypted(struct tc_turn *lobby, const char *room);
int matrix_room_on_reply(struct tc_turn *turn, const struct tc_reply *reply,
                         struct tc_verdict *verdict);

#endif
