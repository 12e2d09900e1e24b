/* SPDX-License-Identifier: MIT
 * Converts timeline events to messages and actions of people: text without the mention, files,
 * threads, reactions to requests. Ignores own events and those of other bots (m.notice). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* ---- mentions ---- */

static bool is_mentioned(const struct tc_turn *lobby, const json_t *content)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    const json_t *const users = json_object_get(json_object_get(content, "m.mentions"), "user_ids");
    const char *const body = tc_member_text(content, "body");
    size_t i;
    const json_t *user;
    json_array_foreach(users, i, user) if (is(json_string_value(user), conf->user)) return true;
    return body && strstr(body, conf->user);
}

/* The name of the bot in this message: the text of the first link to it. */
static const char *called(struct tc_turn *lobby, const json_t *content)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    const char *const html = tc_member_text(content, "formatted_body");
    const char *const link =
        html ? strstr(html, tc_sprint(lobby, "https://matrix.to/#/%s\">", conf->user)) : NULL;
    const char *const name = link ? strstr(link, "\">") + 2 : NULL;
    const char *const end = name ? strstr(name, "</a>") : NULL;
    return end ? tc_sprint(lobby, "%.*s", (int)(end - name), name) : conf->user;
}

/* Text after "NAME: " at the beginning. */
static const char *after_mention(const char *text, const char *name)
{
    const size_t len = strlen(name);
    if (!len || strncmp(text, name, len) != 0)
        return text;
    text += len;
    return text + strspn(text, ":, ");
}

/* Clients before 2024 put the quoted message in front of the text, with "> ". */
static const char *after_quote(const char *text)
{
    while (strncmp(text, "> ", 2) == 0) {
        const char *const end = strchr(text, '\n');
        text = end ? end + 1 : "";
    }
    return text + (*text == '\n');
}

/* ---- files ---- */

static bool has_file(const json_t *content)
{
    static const char *const types[] = {"m.file", "m.image", "m.audio", "m.video"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (tc_member_is(content, "msgtype", types[i]))
            return true;
    return false;
}

static const char *file_name(const json_t *content)
{
    const char *const name = tc_member_text(content, "filename");
    return name ? name : tc_member_text(content, "body");
}

/* The caption of a file; if the event has no file name, the body is the name. */
static const char *caption(const json_t *content)
{
    const char *const name = tc_member_text(content, "filename");
    const char *const body = tc_member_text(content, "body");
    return name && body && strcmp(name, body) != 0 ? body : "";
}

const char *matrix_event_media(struct tc_turn *turn, const char *url)
{
    const char *const server = url && strncmp(url, "mxc://", 6) == 0 ? url + 6 : NULL;
    const char *const media = server ? strchr(server, '/') : NULL;
    if (!media)
        return NULL;
    return tc_sprint(turn, "%s/%s",
                     tc_quote(turn, tc_sprint(turn, "%.*s", (int)(media - server), server)),
                     tc_quote(turn, media + 1));
}

static bool is_too_large(const struct tc_turn *lobby, const json_t *content)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    const json_t *const size = json_object_get(json_object_get(content, "info"), "size");
    return json_number_value(size) > (double)conf->file_bytes;
}

/* ---- messages ---- */

static bool receive(struct tc_turn *lobby, const struct tc_chat_message *message)
{
    return tc_chat_receive(lobby, message) != TC_NOT_KEPT;
}

static struct tc_chat_message describe(struct tc_turn *lobby, const char *room, const json_t *event)
{
    const json_t *const content = json_object_get(event, "content");
    const json_t *const relates = json_object_get(content, "m.relates_to");
    const bool threaded = tc_member_is(relates, "rel_type", "m.thread");
    const char *const thread = threaded ? tc_member_text(relates, "event_id") : NULL;
    const bool group = matrix_room_is_group(lobby, room);
    const char *const reply =
        threaded && json_is_true(json_object_get(relates, "is_falling_back"))
            ? NULL
            : tc_member_text(json_object_get(relates, "m.in_reply_to"), "event_id");
    return (struct tc_chat_message){
        .size = sizeof(struct tc_chat_message),
        .id = tc_member_text(event, "event_id"),
        .target = {.chat = room,
                   .thread = thread,
                   .message = tc_member_text(event, "event_id"),
                   .user = tc_member_text(event, "sender"),
                   .group = group},
        .topic = thread,
        .user = tc_member_text(event, "sender"),
        .reply_to = reply,
        .addressed = !group || is_mentioned(lobby, content) ? TC_ADDRESSED_YES
                     : thread                               ? TC_ADDRESSED_THREAD
                                                            : TC_ADDRESSED_NO,
    };
}

/* The host downloads the file. */
static bool matrix_event_read_file(struct tc_turn *lobby, const json_t *content,
                                   struct tc_chat_message *message)
{
    const char *const name = file_name(content);
    const struct tc_chat_file file = {
        .name = name ? name : "file",
        .type = tc_member_text(json_object_get(content, "info"), "mimetype"),
        .ref = tc_member_text(content, "url")};
    message->text = caption(content);
    if (json_object_get(content, "org.matrix.msc3245.voice"))
        message->kind = "voice";
    const bool large = is_too_large(lobby, content);
    if (!large && matrix_event_media(lobby, file.ref)) {
        message->files = &file;
        message->file_count = 1;
    } else {
        message->text = tc_sprint(lobby, "%s%s[%s: %s]", message->text, *message->text ? "\n" : "",
                                  file.name, large ? "too large" : "download failed");
    }
    return receive(lobby, message);
}

/* For a message without text, the host replies that it cannot be processed. */
static bool matrix_event_handle_other(struct tc_turn *lobby, const char *room, const json_t *event,
                                      const char *kind)
{
    struct tc_chat_message message = describe(lobby, room, event);
    message.text = "";
    message.kind = kind;
    return receive(lobby, &message);
}

static bool matrix_event_handle_message(struct tc_turn *lobby, const char *room,
                                        const json_t *event)
{
    const json_t *const content = json_object_get(event, "content");
    const json_t *const relates = json_object_get(content, "m.relates_to");
    const char *const body = tc_member_text(content, "body");
    struct tc_chat_message message = describe(lobby, room, event);
    if (!body || tc_member_is(relates, "rel_type", "m.replace"))
        return true;
    if (has_file(content))
        return matrix_event_read_file(lobby, content, &message);
    if (tc_member_is(content, "msgtype", "m.location"))
        return matrix_event_handle_other(lobby, room, event, "location");
    if (!tc_member_is(content, "msgtype", "m.text"))
        return true;
    message.text = message.reply_to ? after_quote(body) : body;
    if (is_mentioned(lobby, content))
        message.text = after_mention(message.text, called(lobby, content));
    return receive(lobby, &message);
}

/* ---- reactions ---- */

static bool matrix_event_handle_reaction(struct tc_turn *lobby, const char *room,
                                         const json_t *event)
{
    const json_t *const relates =
        json_object_get(json_object_get(event, "content"), "m.relates_to");
    const char *const key = tc_member_text(relates, "key");
    const struct tc_target target = {.chat = room,
                                     .message = tc_member_text(relates, "event_id"),
                                     .group = matrix_room_is_group(lobby, room)};
    const bool allow = is(key, "✅");
    if (!target.message || (!allow && !is(key, "❌")))
        return true;
    return tc_chat_act(lobby,
                       TC_CHAT_ACTION(.id = tc_member_text(event, "event_id"),
                                      .reaction = allow ? TC_REACTION_ALLOW : TC_REACTION_DENY,
                                      .target = target, .user = tc_member_text(event, "sender"))) ==
           0;
}

bool matrix_event_handle(struct tc_turn *lobby, const char *room, const json_t *event)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    const char *const type = tc_member_text(event, "type");
    const char *const sender = tc_member_text(event, "sender");
    if (!room || !sender || !tc_member_text(event, "event_id") || is(sender, conf->user))
        return true;
    if (is(type, "m.room.message"))
        return matrix_event_handle_message(lobby, room, event);
    if (is(type, "m.sticker"))
        return matrix_event_handle_other(lobby, room, event, "sticker");
    if (is(type, "m.reaction"))
        return matrix_event_handle_reaction(lobby, room, event);
    if (is(type, "m.room.encrypted") && tc_may_submit(lobby, sender, room))
        matrix_room_report_encrypted(lobby, room);
    return true;
}
