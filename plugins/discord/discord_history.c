/* SPDX-License-Identifier: MIT
 * Messages that came while there was no session: when a session could not be resumed, they are read
 * from the history of the channels in which the bot was last spoken to. The session has for each of
 * them the id of the last message that was taken, and the server that the channel belongs to. */
#include <stdio.h>
#include <string.h>

#include "discord.h"

#define CHANNELS_MAX 50
#define PAGE 100

static json_t *channels_of(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    json_t *channels = json_object_get(s->session, "channels");
    if (!json_is_object(channels)) {
        json_object_set_new(s->session, "channels", json_object());
        channels = json_object_get(s->session, "channels");
    }
    return channels;
}

/* Ids are numbers that grow with time. */
static bool is_later(const char *id, const char *than)
{
    const size_t a = strlen(id), b = strlen(than);
    return a != b ? a > b : strcmp(id, than) > 0;
}

static void forget_oldest(json_t *channels)
{
    const char *channel, *oldest = NULL, *last = NULL;
    json_t *one;
    json_object_foreach(channels, channel, one)
    {
        const char *const id = discord_text(one, "last");
        if (!oldest || (id && last && is_later(last, id))) {
            oldest = channel;
            last = id;
        }
    }
    if (oldest)
        json_object_del(channels, oldest);
}

void discord_history_note(struct tc_turn *lobby, const json_t *message)
{
    json_t *const channels = channels_of(lobby);
    const char *const channel = discord_text(message, "channel_id");
    const char *const id = discord_text(message, "id");
    const char *const last = discord_text(json_object_get(channels, channel), "last");
    if (last && !is_later(id, last))
        return;
    if (!last && json_object_size(channels) >= CHANNELS_MAX)
        forget_oldest(channels);
    json_object_set_new(
        channels, channel,
        json_pack("{s:s, s:s*}", "last", id, "guild", discord_text(message, "guild_id")));
}

static void ask_page(struct tc_turn *lobby, const char *channel, const char *after)
{
    tc_http(lobby,
            TC_HTTP(.method = "GET",
                    .url = tc_sprint(lobby, DISCORD_API "/channels/%s/messages?limit=%d&after=%s",
                                     channel, PAGE, after),
                    .headers = discord_headers, .header_count = 2, .priority = TC_P_REQUEST,
                    .lane = "history", .rates = DISCORD_RATE_ALL, .flags = TC_IDEMPOTENT,
                    .tag = tc_sprint(lobby, "history:%s", channel)));
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
static const char *take_page(struct tc_turn *lobby, const char *channel, json_t *page)
{
    const struct discord *const s = discord_state(lobby);
    const char *const known = discord_text(json_object_get(channels_of(lobby), channel), "guild");
    char guild[32];
    snprintf(guild, sizeof guild, "%s", known ? known : "");
    for (size_t i = json_array_size(page); i > 0 && s->seq >= 0; i--) {
        json_t *const message = json_array_get(page, i - 1);
        if (*guild)
            json_object_set_new(message, "guild_id", json_string(guild));
        discord_event_take(lobby, "MESSAGE_CREATE", message);
    }
    return json_array_size(page) == PAGE && s->seq >= 0
               ? discord_text(json_array_get(page, 0), "id")
               : NULL;
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
    json_t *const page = json_loadb(reply->body, reply->body_len, 0, NULL);
    if (s->pages)
        s->pages--;
    if (reply->outcome != TC_OK)
        tc_log(lobby->inst, TC_WARN,
               "cannot read the messages of channel %s that came while there was no session: %s",
               channel, reply->error);
    const char *const more = take_page(lobby, channel, page);
    if (more)
        ask_page(lobby, channel, more);
    json_decref(page);
    discord_event_drain(lobby);
}
