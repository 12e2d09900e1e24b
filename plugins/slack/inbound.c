/* SPDX-License-Identifier: MIT
 * Messages of people: which are meant for the agent, and how they are handed to it. */
#include <stdlib.h>
#include <string.h>

#include "decide.h"
#include "entity.h"
#include "fetch.h"
#include "inbound.h"
#include "message.h"
#include "route.h"
#include "slack.h"

static const char *inbound_text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* The bot's own id: asked for at the start, and said by each event. */
static const char *own_id(struct tc_turn *lobby, const json_t *payload)
{
    const json_t *first = json_array_get(json_object_get(payload, "authorizations"), 0);
    const char *said = inbound_text_at(first, "user_id");
    return *said ? said : state_of(lobby)->user;
}

static bool is_of_a_person(const json_t *event, const char *self)
{
    static const char *const subtypes[] = {"", "file_share", "thread_broadcast"};
    const char *user = inbound_text_at(event, "user"), *subtype = inbound_text_at(event, "subtype");
    if (!*user || strcmp(user, self) == 0 || *inbound_text_at(event, "bot_id") ||
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
    return strcmp(inbound_text_at(event, "channel_type"), "im") == 0 ||
           *inbound_text_at(event, "channel") == 'D';
}

/* In a channel the bot is talked to by name; in a thread that began so, without. The host knows of
 * threads from before a restart. */
static bool is_for_us(struct tc_turn *lobby, const json_t *event, const char *self)
{
    const char *thread = inbound_text_at(event, "thread_ts");
    if (strcmp(inbound_text_at(event, "type"), "app_mention") == 0 || is_direct(event) ||
        mentions(inbound_text_at(event, "text"), self))
        return true;
    const char *channel = inbound_text_at(event, "channel");
    return *thread && (talk_knows(&state_of(lobby)->talks, route_lane(lobby, channel, thread)) ||
                       tc_knows(lobby, channel, thread));
}

/* The thread whose conversation the message belongs to; "": that of the channel. Direct messages
 * are one conversation, and so are replies below them, for the answers stand there. A thread that
 * the bot began, as the threads of Slack's assistant view are, is one of its own. */
static const char *conversation_thread(const json_t *event, const char *self)
{
    const char *thread = inbound_text_at(event, "thread_ts"),
               *root = inbound_text_at(event, "parent_user_id");
    if (!is_direct(event))
        return *thread ? thread : inbound_text_at(event, "ts");
    return *thread && *self && strcmp(root, self) == 0 ? thread : "";
}

static json_t *files_of(const json_t *event)
{
    json_t *files = json_array();
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(event, "files"), i, file)
    {
        const char *url = inbound_text_at(file, "url_private_download");
        url = *url ? url : inbound_text_at(file, "url_private");
        json_array_append_new(files, json_pack("{s:s, s:s, s:s, s:I}", "url", url, "name",
                                               inbound_text_at(file, "name"), "type",
                                               inbound_text_at(file, "mimetype"), "size",
                                               json_integer_value(json_object_get(file, "size"))));
    }
    return files;
}

static json_t *decoded_text(const json_t *event, const char *self)
{
    char *text = strdup(inbound_text_at(event, "text"));
    if (!text)
        return NULL;
    entity_decode(text, self);
    json_t *json = json_string(text);
    free(text);
    return json;
}

/* NULL: it is no message that could be answered. */
static json_t *message_of(struct tc_turn *lobby, const json_t *payload, const char *self)
{
    const json_t *event = json_object_get(payload, "event");
    const char *channel = inbound_text_at(event, "channel"), *ts = inbound_text_at(event, "ts");
    const char *thread = inbound_text_at(event, "thread_ts"),
               *user = inbound_text_at(event, "user");
    const char *team = inbound_text_at(payload, "team_id"),
               *id = inbound_text_at(payload, "event_id");
    if (!*channel || !*ts)
        return NULL;
    const char *also = tc_sprint(lobby, "%s:%s:%s:%s", team, channel, ts, user);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:[], s:[]}", "id",
                     *id ? id : also, "also", also, "channel", channel, "thread",
                     *thread ? thread : ts, "conversation", conversation_thread(event, self), "ts",
                     ts, "user", user, "team", team, "text", decoded_text(event, self), "files",
                     files_of(event), "paths", "names");
}

enum event_taken inbound_take(struct tc_turn *lobby, const json_t *payload,
                              const struct event_source *source)
{
    const json_t *event = json_object_get(payload, "event");
    const char *self = own_id(lobby, payload);
    if (!is_of_a_person(event, self))
        return EVENT_TAKEN;
    json_auto_t *message = message_of(lobby, payload, self);
    if (!message || decide_reply(lobby, message) || !is_for_us(lobby, event, self))
        return EVENT_TAKEN;
    if (json_array_size(json_object_get(message, "files")) > 0)
        return tc_may_submit(lobby, inbound_text_at(message, "user"),
                             inbound_text_at(message, "channel"))
                   ? fetch_begin(lobby, message, source)
                   : EVENT_TAKEN;
    return *inbound_text_at(message, "text") ? inbound_submit(lobby, message) : EVENT_TAKEN;
}

/* Texts of an array, at most FETCH_FILES. */
static size_t list(const json_t *array, const char *out[FETCH_FILES])
{
    const size_t n = json_array_size(array);
    for (size_t i = 0; i < n && i < FETCH_FILES; i++)
        out[i] = json_string_value(json_array_get(array, i));
    return n < FETCH_FILES ? n : FETCH_FILES;
}

/* The host's answer to a command. That thinking is shown is not true while the option is off. */
static const char *with_option(struct tc_turn *lobby, const char *text, const char *answer)
{
    const struct slack_conf *conf = lobby->inst->conf;
    if (conf->thinking || (!strstr(text, "show-thinking") && !strstr(text, "show-all")))
        return answer;
    const char *both =
        tc_sprint(lobby, "%s Thinking stays hidden in this chat (thinking = false).", answer);
    return both ? both : answer;
}

/* By which the person sees what the message waits for; NULL: it was not taken. */
static const char *reaction_to(enum tc_accepted accepted)
{
    switch (accepted) {
    case TC_ACCEPTED:
        return "eyes";
    case TC_QUEUED:
        return "writing_hand";
    case TC_GIVEN:
        return "technologist";
    case TC_INTERRUPT:
        return "zap";
    case TC_COMMAND:
    case TC_KNOWN:
    case TC_DENIED:
    case TC_INVALID:
    case TC_FULL:
    case TC_NOT_KEPT:
        break;
    }
    return NULL;
}

static void inbound_tell(struct tc_turn *lobby, const json_t *message, enum tc_accepted accepted,
                         const char *answer)
{
    const char *channel = inbound_text_at(message, "channel"),
               *thread = inbound_text_at(message, "thread");
    const struct route to = {
        .channel = channel, .thread = thread, .lane = route_lane(lobby, channel, thread)};
    const char *const reaction = reaction_to(accepted);
    if (reaction) {
        talk_note(&state_of(lobby)->talks, to.lane, NULL);
        if (!status_react(lobby, channel, inbound_text_at(message, "ts"), reaction) && answer)
            message_tell(lobby, &to, answer);
    } else if (answer && (accepted == TC_COMMAND || accepted == TC_FULL)) {
        message_tell(lobby, &to, with_option(lobby, inbound_text_at(message, "text"), answer));
    }
}

enum event_taken inbound_submit(struct tc_turn *lobby, const json_t *message)
{
    const char *paths[FETCH_FILES], *names[FETCH_FILES];
    const size_t files = list(json_object_get(message, "paths"), paths);
    list(json_object_get(message, "names"), names);
    json_auto_t *route =
        route_pack(inbound_text_at(message, "channel"), inbound_text_at(message, "thread"),
                   inbound_text_at(message, "ts"), inbound_text_at(message, "user"),
                   inbound_text_at(message, "team"));
    char *text = json_dumps(route, JSON_COMPACT);
    const char *thread = inbound_text_at(message, "conversation");
    struct tc_receipt receipt = {0};
    const enum tc_accepted accepted = tc_submit(
        lobby,
        TC_INBOUND(.id = inbound_text_at(message, "id"), .also = inbound_text_at(message, "also"),
                   .chat = inbound_text_at(message, "channel"), .thread = *thread ? thread : NULL,
                   .user = inbound_text_at(message, "user"),
                   .text = inbound_text_at(message, "text"), .route = text, .files = paths,
                   .file_names = names, .file_count = files,
                   .direct = *inbound_text_at(message, "channel") == 'D'),
        &receipt);
    free(text);
    if (accepted == TC_NOT_KEPT)
        return EVENT_NOT_KEPT;
    inbound_tell(lobby, message, accepted, receipt.answer);
    return EVENT_TAKEN;
}
