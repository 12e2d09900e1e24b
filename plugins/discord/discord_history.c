/* SPDX-License-Identifier: MIT
 * Messages that came while there was no session, from the history of a channel or thread. The host
 * keeps which of them are to be read (tc_feed). */
#include "discord.h"

#define PAGE 100

/* The tag says whether the channel is in a server, because messages of a history do not. */
int discord_history_ask(struct tc_turn *lobby, const struct tc_target *where, const char *after,
                        const char *key)
{
    return discord_get(lobby,
                       tc_sprint(lobby, "/channels/%s/messages?limit=%d&after=%s",
                                 where->thread ? where->thread : where->chat, PAGE, after),
                       "history",
                       tc_sprint(lobby, "%s:%s", where->group ? "history" : "direct", key));
}

/* The newest message comes first. */
void discord_history_take(struct tc_turn *lobby, const char *key, bool group,
                          const struct tc_reply *reply)
{
    json_auto_t *page = json_loadb(reply->body, reply->body_len, 0, NULL);
    json_t *const events = json_array(), *message;
    const bool is_full = json_array_size(page) == PAGE;
    size_t i;
    json_array_foreach(page, i, message)
    {
        if (group)
            json_object_set_new(message, "guild_id", json_string(""));
        if (discord_message_is_wanted(lobby, message))
            json_array_insert(events, 0, message);
    }
    tc_feed_page(lobby, key, reply, tc_json(lobby, "o", events),
                 is_full ? tc_member_text(json_array_get(page, 0), "id") : NULL);
}
