/* SPDX-License-Identifier: MIT
 * Events of the gateway: messages, and interactions, which are answered at once. Events wait in a
 * queue, in order, until it is known whether their channel is a thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "discord.h"

#define MARKS_MAX 40 /* two of a person */
#define QUEUE_MAX 1000
#define CHANNELS_MAX 2000
#define UPDATE_S 60
#define DISCORD_EPOCH_MS INT64_C(1420070400000)
#define VOICE (1 << 13)

static bool is(const json_t *object, const char *name, const char *word)
{
    const char *const text = discord_text(object, name);
    return text && strcmp(text, word) == 0;
}

static int64_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

/* ---- channels ---- */

static bool is_thread(const json_t *channel)
{
    const int64_t type = number(channel, "type");
    return type >= 10 && type <= 12;
}

void discord_note_channel(struct tc_turn *lobby, const char *id, const json_t *channel)
{
    struct discord *const s = discord_state(lobby);
    const char *const parent = is_thread(channel) ? discord_text(channel, "parent_id") : NULL;
    if (json_object_size(s->channels) >= CHANNELS_MAX)
        json_object_clear(s->channels);
    json_object_set_new(s->channels, id, json_string(parent ? parent : ""));
}

/* Messages do not say whether their channel is a thread. */
static void ask_channel(struct tc_turn *lobby, const char *id)
{
    const char *const tag = tc_sprint(lobby, "channel:%s", id);
    discord_get(lobby, tc_sprint(lobby, "/channels/%s", id), tag, tag);
}

void discord_event_take_channel(struct tc_turn *lobby, const char *channel,
                                const struct tc_reply *reply)
{
    json_auto_t *body = json_loadb(reply->body, reply->body_len, 0, NULL);
    discord_note_channel(lobby, channel, reply->outcome == TC_OK ? body : NULL);
    discord_event_drain(lobby);
}

struct tc_target discord_target_of(struct tc_turn *lobby, const json_t *event, const char *message,
                                   const char *user)
{
    const char *const channel = discord_text(event, "channel_id");
    const char *const parent = discord_text(discord_state(lobby)->channels, channel);
    const bool threaded = parent && *parent;
    return (struct tc_target){.chat = threaded ? parent : channel,
                              .thread = threaded ? channel : NULL,
                              .message = message,
                              .user = user,
                              .group = discord_text(event, "guild_id") != NULL};
}

/* ---- messages ---- */

static bool is_self(struct tc_turn *lobby, const json_t *user)
{
    return is(user, "id", discord_state(lobby)->user);
}

static bool is_of_a_person(struct tc_turn *lobby, const json_t *message)
{
    const json_t *const author = json_object_get(message, "author");
    const int64_t type = number(message, "type");
    return discord_text(author, "id") && !json_is_true(json_object_get(author, "bot")) &&
           !is_self(lobby, author) && !discord_text(message, "webhook_id") &&
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

/* Marks of people in the text: the agent reads their names. */
static size_t take_mentions(struct tc_turn *lobby, const json_t *message,
                            struct tc_mention marks[MARKS_MAX])
{
    size_t i, n = 0;
    const json_t *user;
    json_array_foreach(json_object_get(message, "mentions"), i, user)
    {
        const char *const id = discord_text(user, "id");
        const char *const name = discord_text(user, "username");
        if (!id || n + 2 > MARKS_MAX)
            break;
        const char *const shown = is_self(lobby, user) ? NULL : name ? name : id;
        marks[n++] = (struct tc_mention){tc_sprint(lobby, "<@%s>", id), shown};
        marks[n++] = (struct tc_mention){tc_sprint(lobby, "<@!%s>", id), shown};
    }
    return n;
}

const char *discord_name_of(const json_t *member, const json_t *user)
{
    const char *const nick = discord_text(member, "nick"), *const shown =
                                                               discord_text(user, "global_name");
    return nick ? nick : shown ? shown : discord_text(user, "username");
}

static const char *kind_of(const json_t *message)
{
    if (number(message, "flags") & VOICE)
        return "voice";
    return json_array_size(json_object_get(message, "sticker_items")) ? "sticker" : NULL;
}

static const char *first_button(const json_t *message)
{
    const json_t *const row = json_array_get(json_object_get(message, "components"), 0);
    return discord_text(json_array_get(json_object_get(row, "components"), 0), "custom_id");
}

/* Texts of other people in a server are empty, unless the bot may read them. */
static bool message_take(struct tc_turn *lobby, const json_t *message)
{
    const json_t *const author = json_object_get(message, "author");
    const json_t *const replied = json_object_get(message, "referenced_message");
    const bool own = is_self(lobby, json_object_get(replied, "author"));
    const char *const id = discord_text(message, "id");
    json_t *const files = json_incref(json_object_get(message, "attachments"));
    struct tc_mention marks[MARKS_MAX];
    const struct tc_target target =
        discord_target_of(lobby, message, id, discord_text(author, "id"));
    const enum tc_addressed addressed = !target.group || is_mentioned(lobby, message)
                                            ? TC_ADDRESSED_YES
                                        : target.thread ? TC_ADDRESSED_THREAD
                                                        : TC_ADDRESSED_NO;
    const enum tc_accepted how = tc_chat_receive(
        lobby,
        TC_CHAT_MESSAGE(.id = id, .target = target, .topic = target.thread,
                        .name = discord_name_of(json_object_get(message, "member"), author),
                        .text = discord_text(message, "content"),
                        .quote = discord_text(replied, "content"),
                        .reply_to = discord_text(replied, "id"),
                        .reply_text = own ? discord_text(replied, "content") : NULL,
                        .reply_data = own ? first_button(replied) : NULL, .addressed = addressed,
                        .attachments = files ? tc_json(lobby, "o", files) : NULL,
                        .kind = kind_of(message), .mentions = marks,
                        .mention_count = take_mentions(lobby, message, marks)));
    if (how != TC_NOT_KEPT && addressed == TC_ADDRESSED_YES)
        discord_history_note(lobby, message);
    return how != TC_NOT_KEPT;
}

/* ---- the queue ---- */

static bool event_take(struct tc_turn *lobby, const json_t *event)
{
    return json_object_get(event, "author") ? message_take(lobby, event)
                                            : discord_interaction_take(lobby, event);
}

void discord_event_drain(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    while (json_array_size(s->queue)) {
        const json_t *const event = json_array_get(s->queue, 0);
        const char *const channel = discord_text(event, "channel_id");
        if (discord_text(event, "guild_id") && !discord_text(s->channels, channel))
            return; /* discord_event_take_channel goes on */
        if (!event_take(lobby, event)) {
            discord_gateway_rewind(lobby);
            return;
        }
        json_array_remove(s->queue, 0);
    }
    discord_session_admit(lobby);
    discord_history_end(lobby);
    discord_session_store(lobby);
}

static void enqueue(struct tc_turn *lobby, json_t *event)
{
    struct discord *const s = discord_state(lobby);
    const char *const channel = discord_text(event, "channel_id");
    if (json_array_size(s->queue) >= QUEUE_MAX) {
        discord_gateway_rewind(lobby);
        return;
    }
    if (discord_text(event, "guild_id") && !discord_text(s->channels, channel))
        ask_channel(lobby, channel);
    json_array_append(s->queue, event);
    discord_event_drain(lobby);
}

/* Somebody may mention the bot by an edit. Discord also tells of edits that it makes by itself. */
static bool is_new_update(const json_t *message)
{
    const char *const id = discord_text(message, "id");
    const int64_t ms = id ? (int64_t)(strtoull(id, NULL, 10) >> 22) + DISCORD_EPOCH_MS : 0;
    return discord_text(message, "edited_timestamp") && time(NULL) - ms / 1000 < UPDATE_S;
}

void discord_event_take(struct tc_turn *lobby, const char *type, json_t *data)
{
    const bool is_press = strcmp(type, "INTERACTION_CREATE") == 0;
    const bool is_message = strcmp(type, "MESSAGE_CREATE") == 0 ||
                            (strcmp(type, "MESSAGE_UPDATE") == 0 && is_new_update(data));
    const char *const channel = discord_text(data, "channel_id");
    if (is_press && discord_interaction_answer(lobby, data)) {
        enqueue(lobby, data);
    } else if (channel && is_message && is_of_a_person(lobby, data) &&
               (!discord_text(data, "guild_id") || is_mentioned(lobby, data) ||
                (discord_text(data, "content") && *discord_text(data, "content")))) {
        enqueue(lobby, data);
    } else {
        discord_session_admit(lobby);
    }
}
