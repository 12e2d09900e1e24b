/* SPDX-License-Identifier: MIT
 * Messages that came while there was no session: when a session could not be resumed, they are read
 * from the history of the channels in which the bot was last spoken to. The session has for each of
 * them the id of the last message that was taken, and the server that the channel belongs to; the
 * channel that was used last stands at the end. */
#include <string.h>

#include "discord.h"

#define CHANNELS_MAX 50
#define PAGE 100

static json_t *channels_of(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    if (!json_is_object(json_object_get(s->session, "channels")))
        json_object_set_new(s->session, "channels", json_object());
    return json_object_get(s->session, "channels");
}

/* Ids are numbers that grow with time. */
static bool is_later(const char *id, const char *than)
{
    const size_t a = strlen(id), b = strlen(than);
    return a != b ? a > b : strcmp(id, than) > 0;
}

void discord_history_note(struct tc_turn *lobby, const json_t *message)
{
    json_t *const channels = channels_of(lobby);
    const char *const channel = discord_text(message, "channel_id");
    const char *const id = discord_text(message, "id");
    const char *const last = discord_text(json_object_get(channels, channel), "last");
    if (last && !is_later(id, last))
        return;
    json_object_del(channels, channel);
    if (json_object_size(channels) >= CHANNELS_MAX)
        json_object_del(channels, json_object_iter_key(json_object_iter(channels)));
    json_object_set_new(
        channels, channel,
        json_pack("{s:s, s:s*}", "last", id, "guild", discord_text(message, "guild_id")));
}

static void ask_page(struct tc_turn *lobby, const char *channel, const char *after)
{
    discord_get(lobby,
                tc_sprint(lobby, "/channels/%s/messages?limit=%d&after=%s", channel, PAGE, after),
                "history", tc_sprint(lobby, "history:%s", channel));
    discord_state(lobby)->pages++;
}

void discord_history_read(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    const char *channel;
    json_t *one;
    if (!json_is_true(json_object_get(s->session, "gap")) || s->pages)
        return;
    json_object_foreach(channels_of(lobby), channel, one)
        ask_page(lobby, channel, discord_text(one, "last"));
}

/* The newest message comes first. A message that is taken replaces what is known of its channel. If
 * one could not be stored, seq is negative: all is read again after the resume. */
static void take_page(struct tc_turn *lobby, const char *channel, json_t *page)
{
    const struct discord *const s = discord_state(lobby);
    json_t *const guild =
        json_incref(json_object_get(json_object_get(channels_of(lobby), channel), "guild"));
    for (size_t i = json_array_size(page); i > 0 && s->seq >= 0; i--) {
        json_t *const message = json_array_get(page, i - 1);
        if (guild)
            json_object_set(message, "guild_id", guild);
        discord_event_take(lobby, "MESSAGE_CREATE", message);
    }
    json_decref(guild);
    if (json_array_size(page) == PAGE && s->seq >= 0)
        ask_page(lobby, channel, discord_text(json_array_get(page, 0), "id"));
}

void discord_history_end(struct tc_turn *lobby)
{
    const struct discord *const s = discord_state(lobby);
    if (s->pages == 0 && s->seq >= 0)
        json_object_del(s->session, "gap");
}

void discord_history_take(struct tc_turn *lobby, const char *channel, const struct tc_reply *reply)
{
    struct discord *const s = discord_state(lobby);
    json_auto_t *page = json_loadb(reply->body, reply->body_len, 0, NULL);
    if (reply->outcome != TC_OK)
        tc_log(lobby->inst, TC_WARN,
               "cannot read the messages of channel %s that came while there was no session: %s",
               channel, reply->error);
    take_page(lobby, channel, page);
    if (s->pages)
        s->pages--;
    discord_event_drain(lobby);
}
