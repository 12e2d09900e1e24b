/* SPDX-License-Identifier: MIT
 * Input of people in Slack: messages, presses of buttons, slash commands, Slack's Stop button, the
 * app's home. The way of an event (Socket Mode or a route) only matters for its acknowledgement. */
#include <stdlib.h>
#include <string.h>

#include "entity.h"
#include "slack_inbound.h"

#define COMMAND "/turncast" /* the slash command that stands for all commands */

static const char *text_or_empty(const json_t *json, const char *key)
{
    const char *const text = tc_member_text(json, key);
    return text ? text : "";
}

static const char *text_or_null(const json_t *json, const char *key)
{
    const char *const text = tc_member_text(json, key);
    return text && *text ? text : NULL;
}

static bool is_direct_id(const char *channel)
{
    return *channel == 'D';
}

/* ---- messages ---- */

/* Returns the bot's own id, which was requested at the start and is in each event. */
static const char *slack_event_bot_user(const struct tc_turn *lobby, const json_t *payload)
{
    const json_t *const first = json_array_get(json_object_get(payload, "authorizations"), 0);
    const char *const said = text_or_null(first, "user_id");
    return said ? said : state_of(lobby)->user;
}

static bool is_of_a_person(const json_t *event, const char *self)
{
    static const char *const subtypes[] = {"", "file_share", "thread_broadcast"};
    const char *const user = text_or_empty(event, "user"), *const subtype =
                                                               text_or_empty(event, "subtype");
    if (!*user || strcmp(user, self) == 0 || *text_or_empty(event, "bot_id") ||
        json_object_get(event, "bot_profile") || json_is_true(json_object_get(event, "hidden")))
        return false;
    for (size_t i = 0; i < sizeof subtypes / sizeof *subtypes; i++)
        if (strcmp(subtype, subtypes[i]) == 0)
            return true;
    return false;
}

static bool mentions(const char *text, const char *self)
{
    const size_t n = strlen(self);
    for (const char *p = text; n > 0 && (p = strstr(p, "<@")); p += 2)
        if (strncmp(p + 2, self, n) == 0 && (p[2 + n] == '>' || p[2 + n] == '|'))
            return true;
    return false;
}

static bool is_direct(const json_t *event)
{
    return strcmp(text_or_empty(event, "channel_type"), "im") == 0 ||
           is_direct_id(text_or_empty(event, "channel"));
}

/* In a channel the bot is talked to by name; in a thread that began so, without. */
static enum tc_addressed addressed(const json_t *event, const char *self)
{
    if (strcmp(text_or_empty(event, "type"), "app_mention") == 0 || is_direct(event) ||
        mentions(text_or_empty(event, "text"), self))
        return TC_ADDRESSED_YES;
    return text_or_null(event, "thread_ts") ? TC_ADDRESSED_THREAD : TC_ADDRESSED_NO;
}

/* Returns the thread to whose conversation the message belongs; NULL: the conversation of the
 * channel. Direct messages are one conversation, together with replies below them, because the
 * answers are there. A thread that the bot started, such as those of Slack's assistant view, is a
 * separate conversation. */
static const char *topic_of(const json_t *event, const char *self)
{
    const char *const thread = text_or_null(event, "thread_ts"), *const root = text_or_empty(
                                                                     event, "parent_user_id");
    if (!is_direct(event))
        return thread ? thread : tc_member_text(event, "ts");
    return thread && *self && strcmp(root, self) == 0 ? thread : NULL;
}

static const char *decoded_text(struct tc_turn *lobby, const json_t *event, const char *self)
{
    char *const text = tc_sprint(lobby, "%s", text_or_empty(event, "text"));
    if (text)
        entity_decode(text, self);
    return text ? text : "";
}

static bool slack_event_handle_message(struct tc_turn *lobby, const json_t *payload)
{
    const json_t *const event = json_object_get(payload, "event");
    const char *const self = slack_event_bot_user(lobby, payload), *const team = text_or_empty(
                                                                       payload, "team_id");
    const char *const channel = text_or_null(event, "channel"),
                      *const ts = text_or_null(event, "ts"),
                      *const user = text_or_null(event, "user");
    if (!is_of_a_person(event, self) || !channel || !ts)
        return true;
    const char *const also = tc_sprint(lobby, "%s:%s:%s:%s", team, channel, ts, user);
    const char *const id = text_or_null(payload, "event_id");
    const char *const thread = text_or_null(event, "thread_ts");
    return tc_chat_receive(lobby,
                           TC_CHAT_MESSAGE(.id = id ? id : also, .also = also,
                                           .target = {.chat = channel,
                                                      .thread = thread ? thread : ts,
                                                      .message = ts,
                                                      .user = user,
                                                      .more = *team ? team : NULL,
                                                      .group = !is_direct(event)},
                                           .topic = topic_of(event, self), .user = user,
                                           .text = decoded_text(lobby, event, self),
                                           .addressed = addressed(event, self),
                                           .attachments = tc_member_json(lobby, event, "files"))) !=
           TC_NOT_KEPT;
}

/* ---- presses and commands ---- */

static bool act(struct tc_turn *lobby, const struct tc_chat_action *action)
{
    return tc_chat_act(lobby, action) == 0;
}

/* The Stop button that Slack itself shows while a session is processing. */
static bool slack_event_handle_stop(struct tc_turn *lobby, const json_t *payload)
{
    const json_t *const event = json_object_get(payload, "event");
    const char *const channel = text_or_null(event, "channel"),
                      *const thread = text_or_null(event, "thread_ts"),
                      *const user = text_or_null(event, "user");
    if (!channel || !thread || !user)
        return true;
    return act(lobby, TC_CHAT_ACTION(.id = text_or_null(payload, "event_id"), .stop = true,
                                     .target = {.chat = channel,
                                                .thread = thread,
                                                .user = user,
                                                .group = !is_direct_id(channel)},
                                     .user = user));
}

static bool slack_event_handle_home(struct tc_turn *lobby, const json_t *payload)
{
    const json_t *const event = json_object_get(payload, "event");
    const char *const channel = text_or_null(event, "channel"), *const user =
                                                                    text_or_null(event, "user");
    if (!channel || !user || strcmp(text_or_empty(event, "tab"), "home") != 0)
        return true;
    return act(lobby, TC_CHAT_ACTION(.menu = true, .target = {.chat = channel, .user = user},
                                     .user = user));
}

bool slack_event_handle(struct tc_turn *lobby, const json_t *payload)
{
    const char *const type = text_or_empty(json_object_get(payload, "event"), "type");
    if (strcmp(text_or_empty(payload, "type"), "app_rate_limited") == 0)
        tc_log(lobby->inst, TC_WARN,
               "app_rate_limited: Slack is dropping events (more than 30000 per hour)");
    if (strcmp(type, "message") == 0 || strcmp(type, "app_mention") == 0)
        return slack_event_handle_message(lobby, payload);
    if (strcmp(type, "agent_session_stopped") == 0)
        return slack_event_handle_stop(lobby, payload);
    return strcmp(type, "app_home_opened") == 0 ? slack_event_handle_home(lobby, payload) : true;
}

/* Where the message with the button is. */
static struct tc_target target_of(const json_t *payload)
{
    const json_t *const container = json_object_get(payload, "container");
    const char *const channel = text_or_null(json_object_get(payload, "channel"), "id");
    struct tc_target to = {.chat = channel ? channel : text_or_null(container, "channel_id"),
                           .thread = text_or_null(container, "thread_ts"),
                           .message = text_or_null(container, "message_ts"),
                           .user = text_or_null(json_object_get(payload, "user"), "id")};
    to.group = to.chat && !is_direct_id(to.chat);
    return to;
}

static const char *name_of(const json_t *payload)
{
    const json_t *const user = json_object_get(payload, "user");
    const char *const name = text_or_null(user, "name");
    return name ? name : text_or_null(user, "username");
}

/* The conversation of the message with the button; as topic_of. */
static const char *topic_of_press(const struct tc_turn *lobby, const json_t *payload,
                                  const struct tc_target *to)
{
    const json_t *const message = json_object_get(payload, "message");
    const char *const root = text_or_empty(message, "parent_user_id");
    if (to->group)
        return to->thread ? to->thread : to->message;
    return *root && strcmp(root, state_of(lobby)->user) == 0 ? to->thread : NULL;
}

/* A press that Slack delivers again has the same time. */
static bool press(struct tc_turn *lobby, const json_t *payload, const json_t *action)
{
    static const char prefix[] = "turncast:";
    const struct tc_target to = target_of(payload);
    const char *const button = text_or_empty(action, "action_id"),
                      *const data = text_or_empty(action, "value"),
                      *const when = text_or_null(action, "action_ts");
    const bool own = strncmp(button, prefix, sizeof prefix - 1) == 0 &&
                     strcmp(button + sizeof prefix - 1, data) == 0;
    if (!to.chat || !to.user)
        return true;
    const char *const answers = tc_json(lobby, "o", slack_form_read(payload));
    return act(lobby, TC_CHAT_ACTION(.id = when ? tc_sprint(lobby, "%s:%s", when, to.user) : NULL,
                                     .data = own ? data : "", .target = to,
                                     .topic = topic_of_press(lobby, payload, &to), .user = to.user,
                                     .name = name_of(payload), .answers = answers));
}

bool slack_action_handle(struct tc_turn *lobby, const json_t *payload)
{
    bool kept = true;
    size_t i;
    const json_t *action;
    if (strcmp(text_or_empty(payload, "type"), "block_actions") != 0)
        return true;
    json_array_foreach(json_object_get(payload, "actions"), i, action)
    {
        kept &= press(lobby, payload, action);
    }
    return kept;
}

/* "/turncast queue clear" is the command "queue clear"; "/other words" is the message. */
static const char *command_text(struct tc_turn *lobby, const json_t *payload)
{
    const char *const command = text_or_empty(payload, "command"), *const text = text_or_empty(
                                                                       payload, "text");
    if (strcmp(command, COMMAND) != 0)
        return tc_sprint(lobby, "%s %s", command, text);
    if (!*text)
        return "/help";
    return *text == '/' || *text == '!' ? text : tc_sprint(lobby, "/%s", text);
}

bool slack_command_handle(struct tc_turn *lobby, const json_t *payload)
{
    const char *const channel = text_or_null(payload, "channel_id"),
                      *const user = text_or_null(payload, "user_id"),
                      *const id = text_or_null(payload, "trigger_id");
    if (!channel || !user || !id)
        return true;
    return tc_chat_receive(lobby,
                           TC_CHAT_MESSAGE(.id = id,
                                           .target = {.chat = channel,
                                                      .user = user,
                                                      .more = text_or_null(payload, "team_id"),
                                                      .group = !is_direct_id(channel)},
                                           .user = user, .name = text_or_null(payload, "user_name"),
                                           .text = command_text(lobby, payload),
                                           .addressed = TC_ADDRESSED_YES)) != TC_NOT_KEPT;
}
