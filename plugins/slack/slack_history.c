/* SPDX-License-Identifier: MIT
 * Reads messages that were sent while Socket Mode was not connected, and that Slack does not send
 * again, from the history of a channel, or from the replies in a thread. The host stores which of
 * them must be read (tc_feed). */
#include <string.h>

#include "slack_inbound.h"

#define PAGE 200
#define REWIND_MS 2000

int slack_history_request(struct tc_turn *lobby, const struct tc_target *where, const char *after,
                          const char *key)
{
    struct tc_http http = {.size = sizeof http,
                           .priority = TC_P_REQUEST,
                           .flags = TC_IDEMPOTENT,
                           .lane = "history",
                           .tag = tc_sprint(lobby, SLACK_HISTORY "%s", key)};
    const char *const query =
        tc_sprint(lobby, "channel=%s&oldest=%s&limit=%d%s%s", where->chat, after, PAGE,
                  where->thread ? "&ts=" : "", where->thread ? where->thread : "");
    return slack_get(lobby, where->thread ? REPLIES : HISTORY, query, &http) == 0
               ? tc_http(lobby, &http)
               : -1;
}

/* The history of a channel begins with its newest message; that of a thread with the message that
 * started it, which belongs to the channel. */
static json_t *events_of(const json_t *messages, const char *thread)
{
    json_t *const events = json_array();
    size_t i;
    json_t *message;
    json_array_foreach(messages, i, message)
    {
        if (!thread)
            json_array_insert(events, 0, message);
        else if (!tc_member_is(message, "ts", thread))
            json_array_append(events, message);
    }
    return events;
}

int slack_history_read_reply(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    const char *const key = r->tag + strlen(SLACK_HISTORY), *const colon = strchr(key, ':');
    json_auto_t *body = json_loadb(r->body, r->body_len, 0, NULL);
    const json_t *const messages = json_object_get(body, "messages");
    const bool has_more = json_is_true(json_object_get(body, "has_more"));
    const char *const error = tc_member_text(body, "error");
    const char *const last =
        tc_member_text(json_array_get(messages, json_array_size(messages) - 1), "ts");
    if (v->next == TC_NEXT_AGAIN)
        return 0;
    v->next = TC_NEXT_DONE;
    if (error)
        tc_log(lobby->inst, TC_WARN,
               "cannot read messages of %s that came without a connection: %s", key, error);
    if (has_more && !colon)
        tc_log(lobby->inst, TC_WARN,
               "only the newest messages of %s that came without a connection are read: %d", key,
               PAGE);
    tc_feed_page(lobby, key, r, tc_json(lobby, "o", events_of(messages, colon ? colon + 1 : NULL)),
                 has_more && colon ? last : NULL);
    return 0;
}

/* Messages of a history do not contain their channel. */
enum tc_feed_step slack_history_read(struct tc_turn *lobby, const char *text,
                                     const struct tc_target *where)
{
    json_auto_t *event = json_loads(text, 0, NULL);
    if (!where)
        return TC_FEED_DONE;
    json_object_set_new(event, "channel", json_string(where->chat));
    json_auto_t *payload = json_pack("{s:O, s:s*}", "event", event, "team_id", where->more);
    return slack_event_handle(lobby, payload) ? TC_FEED_DONE : TC_FEED_NOT_KEPT;
}

/* The next connection reads the history again. */
void slack_history_rewind(struct tc_turn *lobby)
{
    tc_link_renew(lobby, REWIND_MS);
}
