/* SPDX-License-Identifier: MIT
 * Reads messages that were sent while there was no session from the history of a channel or thread.
 * The host stores which of them must be read (tc_feed). */
#include "discord.h"

#define PAGE 100

int discord_history_request(struct tc_turn *lobby, const struct tc_target *where, const char *after,
                            const char *key)
{
    const char *const channel = where->thread ? where->thread : where->chat;
    return discord_get(
        lobby, tc_sprint(lobby, "/channels/%s/messages?limit=%d&after=%s", channel, PAGE, after),
        "history", tc_sprint(lobby, "history:%s", key));
}

/* Discord returns the newest message first. */
void discord_history_read(struct tc_turn *lobby, const char *key, const struct tc_reply *reply)
{
    json_auto_t *page = json_loadb(reply->body, reply->body_len, 0, NULL);
    json_t *const events = json_array(), *message;
    const bool is_full = json_array_size(page) == PAGE;
    size_t i;
    json_array_foreach(page, i, message) json_array_insert(events, 0, message);
    tc_feed_page(lobby, key, reply, tc_json(lobby, "o", events),
                 is_full ? tc_member_text(json_array_get(page, 0), "id") : NULL);
}
