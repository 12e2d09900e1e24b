/* SPDX-License-Identifier: MIT
 * State of rooms: direct chats, invites, and the notice in encrypted ones. */
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

#define KEY "rooms"

/* ---- stored state ---- */

/* A JSON object on disk: "direct" and "told" are sets of rooms. */
int matrix_room_load(struct tc_instance *inst)
{
    struct matrix *const s = inst->state;
    const char *const text = tc_load(inst, KEY);
    s->rooms = text ? json_loads(text, 0, NULL) : NULL;
    if (!s->rooms)
        s->rooms = json_pack("{s:{}, s:{}}", "direct", "told");
    return s->rooms ? 0 : -1;
}

static bool is_noted(struct tc_turn *lobby, const char *what, const char *room)
{
    const struct matrix *const s = lobby->inst->state;
    return json_object_get(json_object_get(s->rooms, what), room) != NULL;
}

static void matrix_room_set_mark(struct tc_turn *lobby, const char *what, const char *room, bool on)
{
    const struct matrix *const s = lobby->inst->state;
    json_t *const set = json_object_get(s->rooms, what);
    if (is_noted(lobby, what, room) == on)
        return;
    if (on)
        json_object_set_new(set, room, json_integer(1));
    else
        json_object_del(set, room);
    char *const text = json_dumps(s->rooms, JSON_COMPACT);
    tc_store(lobby->inst, KEY, text);
    free(text);
}

/* ---- members ---- */

void matrix_room_record(struct tc_turn *lobby, const char *room, const json_t *joined)
{
    const json_t *const summary = json_object_get(joined, "summary");
    const json_t *const members = json_object_get(summary, "m.joined_member_count");
    const json_t *const invited = json_object_get(summary, "m.invited_member_count");
    if (json_is_integer(members))
        matrix_room_set_mark(lobby, "direct", room,
                             json_integer_value(members) + json_integer_value(invited) <= 2);
}

bool matrix_room_is_group(struct tc_turn *lobby, const char *room)
{
    return !is_noted(lobby, "direct", room);
}

/* ---- invites ---- */

static const char *inviter(const struct tc_turn *lobby, const json_t *invite)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    const json_t *const events = json_object_get(json_object_get(invite, "invite_state"), "events");
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        const char *const type = tc_member_text(event, "type");
        const char *const of = tc_member_text(event, "state_key");
        if (type && of && strcmp(type, "m.room.member") == 0 && strcmp(of, conf->user) == 0)
            return tc_member_text(event, "sender");
    }
    return NULL;
}

static bool is_welcome(struct tc_turn *lobby, const char *room, const char *user)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    if (strcmp(conf->invites, "allowed") == 0)
        return user && tc_may_submit(lobby, user, room);
    return strcmp(conf->invites, "all") == 0;
}

void matrix_room_handle_invite(struct tc_turn *lobby, const char *room, const json_t *invite)
{
    const char *const user = inviter(lobby, invite);
    if (!is_welcome(lobby, room, user)) {
        tc_log(lobby->inst, TC_INFO, "ignoring the invite of %s to room %s",
               user ? user : "an unknown user", room);
        return;
    }
    tc_log(lobby->inst, TC_INFO, "joining room %s, invited by %s", room,
           user ? user : "an unknown user");
    tc_http(lobby, TC_HTTP(.url = tc_sprint(lobby, MATRIX_CLIENT "/join/%s", tc_quote(lobby, room)),
                           .headers = matrix_bearer, .header_count = 1, .body = "{}",
                           .flags = TC_DURABLE | TC_IDEMPOTENT, .tag = "join"));
}

/* ---- encrypted rooms ---- */

void matrix_room_report_encrypted(struct tc_turn *lobby, const char *room)
{
    if (is_noted(lobby, "told", room))
        return;
    tc_http(lobby,
            TC_HTTP(.method = "PUT",
                    .url = tc_sprint(lobby, MATRIX_CLIENT "/rooms/%s/send/m.room.message/encrypted",
                                     tc_quote(lobby, room)),
                    .headers = matrix_bearer, .header_count = 1,
                    .body = tc_json(lobby, "{s:s, s:s, s:{}}", "msgtype", "m.notice", "body",
                                    tc_say(lobby,
                                           "This room is encrypted, and this bot cannot read "
                                           "encrypted messages. Please use a room without "
                                           "encryption.",
                                           NULL),
                                    "m.mentions"),
                    .flags = TC_DURABLE | TC_IDEMPOTENT, .tag = "notice"));
    matrix_room_set_mark(lobby, "told", room, true);
}

/* Neither matters if the room no longer exists. */
int matrix_room_on_reply(struct tc_turn *turn, const struct tc_reply *reply,
                         struct tc_verdict *verdict)
{
    if (reply->outcome == TC_REJECTED && verdict->next == TC_NEXT_FAIL) {
        tc_log(turn->inst, TC_WARN, "the homeserver rejected a %s: %s", reply->tag, reply->error);
        verdict->next = TC_NEXT_DONE;
    }
    return 0;
}
