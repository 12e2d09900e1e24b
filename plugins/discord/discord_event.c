/* SPDX-License-Identifier: MIT
 * Events of the gateway: messages, and interactions, which are answered at once. The host processes
 * them in order (tc_feed); each waits until it is known whether its channel is a thread. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "discord.h"

#define CHANNELS_MAX 2000
#define UPDATE_S 60
#define DISCORD_EPOCH_MS INT64_C(1420070400000)
#define VOICE (1 << 13)

/* ---- channels ---- */

void discord_event_store_channel(struct tc_turn *lobby, const char *id, const json_t *channel)
{
    struct discord *const s = discord_state(lobby);
    const int64_t type = tc_member_number(channel, "type");
    const bool is_thread = type >= 10 && type <= 12;
    const char *const parent = is_thread ? tc_member_text(channel, "parent_id") : NULL;
    if (json_object_size(s->channels) >= CHANNELS_MAX)
        json_object_clear(s->channels);
    json_object_set_new(s->channels, id, json_string(parent ? parent : ""));
}

static bool is_in_server(const json_t *event)
{
    return tc_member_text(event, "guild_id") != NULL;
}

/* Events do not contain whether their channel is a thread: the connector requests the channel from
 * Discord, once for all of its events. */
static bool channel_is_known(struct tc_turn *lobby, const json_t *event)
{
    json_t *const channels = discord_state(lobby)->channels;
    const char *const id = tc_member_text(event, "channel_id");
    const char *const tag = tc_sprint(lobby, "channel:%s", id);
    if (!is_in_server(event) || tc_member_text(channels, id))
        return true;
    if (!json_object_get(channels, id) &&
        discord_get(lobby, tc_sprint(lobby, "/channels/%s", id), tag, tag) == 0)
        json_object_set_new(channels, id, json_null());
    return false;
}

void discord_event_handle_channel(struct tc_turn *lobby, const char *channel,
                                  const struct tc_reply *reply)
{
    json_auto_t *body = json_loadb(reply->body, reply->body_len, 0, NULL);
    discord_event_store_channel(lobby, channel, reply->outcome == TC_OK ? body : NULL);
    tc_feed_go(lobby);
}

struct tc_target discord_target_of(struct tc_turn *lobby, const json_t *event, const char *message,
                                   const char *user)
{
    const char *const channel = tc_member_text(event, "channel_id");
    const char *const parent = tc_member_text(discord_state(lobby)->channels, channel);
    const bool threaded = parent && *parent;
    return (struct tc_target){.chat = threaded ? parent : channel,
                              .thread = threaded ? channel : NULL,
                              .message = message,
                              .user = user,
                              .group = is_in_server(event)};
}

/* ---- messages ---- */

static bool is_self(struct tc_turn *lobby, const json_t *user)
{
    return tc_member_is(user, "id", discord_state(lobby)->user);
}

static bool is_of_a_person(struct tc_turn *lobby, const json_t *message)
{
    const json_t *const author = json_object_get(message, "author");
    const int64_t type = tc_member_number(message, "type");
    return tc_member_text(author, "id") && !json_is_true(json_object_get(author, "bot")) &&
           !is_self(lobby, author) && !tc_member_text(message, "webhook_id") &&
           (type == 0 || type == 19);
}

static bool is_mentioned(struct tc_turn *lobby, const json_t *message)
{
    const json_t *const replied = json_object_get(message, "referenced_message");
    size_t i;
    const json_t *user;
    json_array_foreach(json_object_get(message, "mentions"), i,
                       user) if (is_self(lobby, user)) return true;
    return is_self(lobby, json_object_get(replied, "author"));
}

const char *discord_name_of(const json_t *member, const json_t *user)
{
    const char *const nick = tc_member_text(member, "nick"), *const shown = tc_member_text(
                                                                 user, "global_name");
    return nick ? nick : shown ? shown : tc_member_text(user, "username");
}

static const char *kind_of(const json_t *message)
{
    const bool has_sticker = json_array_size(json_object_get(message, "sticker_items")) > 0;
    return tc_member_number(message, "flags") & VOICE ? "voice" : has_sticker ? "sticker" : NULL;
}

static const char *first_button(const json_t *message)
{
    const json_t *const row = json_array_get(json_object_get(message, "components"), 0);
    return tc_member_text(json_array_get(json_object_get(row, "components"), 0), "custom_id");
}

/* Texts of other people in a server are empty, unless the bot may read them. */
static bool discord_event_handle_message(struct tc_turn *lobby, const json_t *message)
{
    const json_t *const author = json_object_get(message, "author");
    const json_t *const replied = json_object_get(message, "referenced_message");
    const bool own = is_self(lobby, json_object_get(replied, "author"));
    const char *const id = tc_member_text(message, "id");
    const struct tc_target target =
        discord_target_of(lobby, message, id, tc_member_text(author, "id"));
    const enum tc_addressed addressed = !target.group || is_mentioned(lobby, message)
                                            ? TC_ADDRESSED_YES
                                        : target.thread ? TC_ADDRESSED_THREAD
                                                        : TC_ADDRESSED_NO;
    return tc_chat_receive(
               lobby,
               TC_CHAT_MESSAGE(.id = id, .target = target, .topic = target.thread,
                               .name = discord_name_of(json_object_get(message, "member"), author),
                               .text = tc_member_text(message, "content"),
                               .quote = tc_member_text(replied, "content"),
                               .reply_to = tc_member_text(replied, "id"),
                               .reply_text = own ? tc_member_text(replied, "content") : NULL,
                               .reply_data = own ? first_button(replied) : NULL,
                               .addressed = addressed,
                               .attachments = tc_member_json(lobby, message, "attachments"),
                               .kind = kind_of(message),
                               .mentioned = tc_member_json(lobby, message, "mentions"))) !=
           TC_NOT_KEPT;
}

/* ---- events ---- */

/* A person may mention the bot by an edit. Discord also sends events for its own edits. */
static bool is_new_update(const json_t *message)
{
    const char *const id = tc_member_text(message, "id");
    const int64_t ms = id ? (int64_t)(strtoull(id, NULL, 10) >> 22) + DISCORD_EPOCH_MS : 0;
    return tc_member_text(message, "edited_timestamp") && time(NULL) - ms / 1000 < UPDATE_S;
}

static bool message_is_wanted(struct tc_turn *lobby, const json_t *message)
{
    const char *const text = tc_member_text(message, "content");
    return tc_member_text(message, "channel_id") && is_of_a_person(lobby, message) &&
           (!is_in_server(message) || is_mentioned(lobby, message) || (text && *text));
}

const char *discord_event_receive(struct tc_turn *lobby, const char *type, json_t *data)
{
    const bool is_press = strcmp(type, "INTERACTION_CREATE") == 0;
    const bool is_message = strcmp(type, "MESSAGE_CREATE") == 0 ||
                            (strcmp(type, "MESSAGE_UPDATE") == 0 && is_new_update(data));
    if (is_press ? !discord_interaction_answer(lobby, data)
                 : !is_message || !message_is_wanted(lobby, data))
        return NULL;
    channel_is_known(lobby, data); /* requests the channel early */
    return tc_json(lobby, "O", data);
}

/* Messages of a history do not contain whether they are in a server. */
enum tc_feed_step discord_event_handle(struct tc_turn *lobby, const char *text,
                                       const struct tc_target *where)
{
    json_auto_t *event = json_loads(text, 0, NULL);
    if (where && where->group)
        json_object_set_new(event, "guild_id", json_string(""));
    if (where && !message_is_wanted(lobby, event))
        return TC_FEED_DONE;
    if (!channel_is_known(lobby, event))
        return TC_FEED_WAIT;
    const bool is_kept = json_object_get(event, "author")
                             ? discord_event_handle_message(lobby, event)
                             : discord_interaction_handle(lobby, event);
    return is_kept ? TC_FEED_DONE : TC_FEED_NOT_KEPT;
}
