/* SPDX-License-Identifier: MIT
 * Interactions: presses of buttons, forms and slash commands. They arrive over the gateway, where a
 * request acknowledges them, or as signed requests to the host's HTTP server, where the response is
 * the acknowledgement. Discord waits three seconds for the acknowledgement. */
#include <stdio.h>
#include <string.h>

#include "discord.h"

#define ACK_MS 2900

static const struct tc_signature signature = {.size = sizeof signature,
                                              .key = "public_key",
                                              .time = "X-Signature-Timestamp",
                                              .value = "X-Signature-Ed25519",
                                              .ed25519 = true};

enum { PING = 1, COMMAND = 2, PRESS = 3, SUBMIT = 5 };

/* The name of a command, and its argument. */
static const char *text_of_command(struct tc_turn *lobby, const json_t *event)
{
    const json_t *const data = json_object_get(event, "data");
    const char *const name = tc_member_text(data, "name");
    const char *const argument =
        tc_member_text(json_array_get(json_object_get(data, "options"), 0), "value");
    return tc_sprint(lobby, "/%s%s%s", name ? name : "help", argument ? " " : "",
                     argument ? argument : "");
}

/* ---- what it means ---- */

static struct tc_chat_action action_of(struct tc_turn *lobby, const json_t *event)
{
    const char *const data = tc_member_text(json_object_get(event, "data"), "custom_id");
    const char *const message = tc_member_text(json_object_get(event, "message"), "id");
    const json_t *const member = json_object_get(event, "member");
    const json_t *const user = json_object_get(member ? member : event, "user");
    const struct tc_target target =
        discord_target_of(lobby, event, message, tc_member_text(user, "id"));
    return (struct tc_chat_action){.size = sizeof(struct tc_chat_action),
                                   .id = tc_member_text(event, "id"),
                                   .data = data ? data : "",
                                   .target = target,
                                   .topic = target.thread,
                                   .name = discord_name_of(member, user)};
}

bool discord_interaction_handle(struct tc_turn *lobby, const json_t *event)
{
    struct tc_chat_action a = action_of(lobby, event);
    if (tc_member_number(event, "type") == COMMAND)
        return tc_chat_receive(
                   lobby, TC_CHAT_MESSAGE(.id = a.id, .target = a.target, .topic = a.topic,
                                          .name = a.name, .text = text_of_command(lobby, event),
                                          .addressed = TC_ADDRESSED_YES)) != TC_NOT_KEPT;
    if (tc_member_number(event, "type") == SUBMIT)
        a.filled = discord_form_read(lobby, json_object_get(event, "data"));
    return tc_chat_act(lobby, &a) == 0;
}

/* Response types 9: a form; 6: the message will be edited; 4: a message, which only the person
 * sees. *form: the press is answered by a form, and decides nothing. */
static const char *response_of(struct tc_turn *lobby, const json_t *event, bool *form)
{
    size_t count = 0;
    discord_event_store_channel(lobby, tc_member_text(event, "channel_id"),
                                json_object_get(event, "channel"));
    const struct tc_chat_action action = action_of(lobby, event);
    const struct tc_field *const fields =
        tc_member_number(event, "type") == PRESS ? tc_chat_form(lobby, &action, &count) : NULL;
    *form = fields != NULL;
    if (fields)
        return discord_form_open(lobby, action.data, fields, count);
    return tc_member_number(event, "type") == COMMAND
               ? tc_json(lobby, "{s:i, s:{s:s, s:i, s:{s:[]}}}", "type", 4, "data", "content",
                         tc_sprint(lobby, "`%s`", text_of_command(lobby, event)), "flags", 64,
                         "allowed_mentions", "parse")
               : "{\"type\":6}";
}

/* The token is good for 15 minutes; the host puts it into the URLs of replies. */
static bool discord_interaction_store_token(struct tc_turn *lobby, const json_t *event)
{
    const char *const id = tc_member_text(event, "id");
    const char *const token = tc_member_text(event, "token");
    return id && token && tc_secret_of(lobby->inst, tc_sprint(lobby, "i%s", id), token) == 0;
}

static bool is_known(const json_t *event)
{
    const int64_t kind = tc_member_number(event, "type");
    return tc_member_text(event, "channel_id") &&
           (kind == COMMAND || kind == PRESS || kind == SUBMIT);
}

/* ---- by the gateway ---- */

/* The token of a press is valid only after this response: a private reply follows in the same
 * lane. */
bool discord_interaction_answer(struct tc_turn *lobby, const json_t *event)
{
    const char *const id = tc_member_text(event, "id");
    bool form = false;
    if (!is_known(event))
        return false;
    const char *const response = response_of(lobby, event, &form);
    if (discord_interaction_store_token(lobby, event))
        tc_http(lobby,
                TC_HTTP(.url = tc_sprint(
                            lobby, DISCORD_API "/interactions/%s/{secret:i%s}/callback", id, id),
                        .headers = discord_headers, .header_count = 2, .body = response,
                        .lane = tc_sprint(lobby, DISCORD_PRESS_LANE, id), .priority = TC_P_FINAL,
                        .flags = TC_IDEMPOTENT, .timeout_ms = ACK_MS, .max_age_ms = ACK_MS,
                        .tag = "acknowledge"));
    return !form;
}

/* ---- by HTTP ---- */

/* A press that is not kept fails visibly, and the person presses again. */
static void interaction_receive(struct tc_turn *lobby, const json_t *event,
                                struct tc_answer *answer)
{
    struct discord *const s = discord_state(lobby);
    const char *const app = tc_member_text(event, "application_id");
    bool form = false;
    answer->content_type = "application/json";
    if (tc_member_number(event, "type") == PING) {
        answer->body = "{\"type\":1}";
        return;
    }
    if (!is_known(event)) {
        answer->status = 400;
        return;
    }
    if (app && !*s->app) /* the bot has not been identified yet */
        snprintf(s->app, sizeof s->app, "%s", app);
    answer->body = response_of(lobby, event, &form);
    if (!form && !(discord_interaction_store_token(lobby, event) &&
                   discord_interaction_handle(lobby, event)))
        answer->status = 503;
}

int discord_interaction_hit(struct tc_turn *lobby, const struct tc_hit *hit,
                            struct tc_answer *answer)
{
    if (strcmp(hit->method, "POST") != 0) {
        answer->status = 405;
    } else if (!tc_is_signed(lobby, hit, &signature)) {
        answer->status = 401;
    } else {
        json_auto_t *event = json_loadb(hit->body, hit->body_len, 0, NULL);
        interaction_receive(lobby, event, answer);
    }
    return 0;
}
