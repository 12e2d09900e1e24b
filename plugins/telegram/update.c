/* SPDX-License-Identifier: MIT
 * Interprets an update: person, text and place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "telegram.h"

#define GENERAL 1 /* id of the general topic, which belongs to the conversation of the chat */

static bool is_group(const json_t *message)
{
    const char *const type = tc_member_text(json_object_get(message, "chat"), "type");
    return !type || strcmp(type, "private") != 0;
}

static const char *text_of(const json_t *message)
{
    const char *const text = tc_member_text(message, "text"), *const caption = tc_member_text(
                                                                  message, "caption");
    return text ? text : caption ? caption : "";
}

/* Byte offset of a UTF-16 offset. */
static size_t byte_at(const char *text, int64_t units)
{
    size_t i = 0;
    while (text[i] && units > 0) {
        const unsigned char c = (unsigned char)text[i];
        units -= c >= 0xf0 ? 2 : 1;
        for (i++; ((unsigned char)text[i] & 0xc0) == 0x80; i++)
            ;
    }
    return i;
}

static char *entity_text(struct tc_turn *lobby, const char *text, const json_t *entity)
{
    const size_t from = byte_at(text, tc_member_number(entity, "offset"));
    const size_t n = byte_at(text + from, tc_member_number(entity, "length"));
    return tc_sprint(lobby, "%.*s", (int)n, text + from);
}

static const json_t *entities_of(const json_t *message)
{
    const json_t *const entities = json_object_get(message, "entities");
    return entities ? entities : json_object_get(message, "caption_entities");
}

static bool names_us(struct tc_turn *lobby, const char *text, const json_t *entity)
{
    const struct telegram *const s = state_of(lobby);
    const char *const type = tc_member_text(entity, "type");
    const char *const said = entity_text(lobby, text, entity);
    if (!type || !said)
        return false;
    if (strcmp(type, "mention") == 0)
        return said[0] == '@' && strcasecmp(said + 1, s->username) == 0;
    if (strcmp(type, "text_mention") == 0)
        return tc_member_number(json_object_get(entity, "user"), "id") == s->self;
    if (strcmp(type, "bot_command") != 0)
        return false;
    const char *const at = strchr(said, '@');
    return !at || strcasecmp(at + 1, s->username) == 0;
}

/* Messages of a topic name its first message as the replied one. */
static const json_t *replied_to(const json_t *message)
{
    const json_t *const to = json_object_get(message, "reply_to_message");
    if (!to || json_object_get(to, "forum_topic_created"))
        return NULL;
    if (json_is_true(json_object_get(message, "is_topic_message")) &&
        tc_member_number(to, "message_id") == tc_member_number(message, "message_thread_id"))
        return NULL;
    return to;
}

static bool is_addressed(struct tc_turn *lobby, const json_t *message)
{
    if (!is_group(message))
        return true;
    const json_t *const from = json_object_get(replied_to(message), "from");
    if (from && tc_member_number(from, "id") == state_of(lobby)->self)
        return true;
    const char *const text = text_of(message);
    size_t i;
    const json_t *entity;
    json_array_foreach(entities_of(message), i,
                       entity) if (names_us(lobby, text, entity)) return true;
    return false;
}

/* ---- commands ---- */

json_t *update_menu(const struct tc_op *op)
{
    json_t *const commands = json_array();
    for (size_t i = 0; i < op->menu_count; i++)
        json_array_append_new(commands, json_pack("{s:s, s:s}", "command", op->menu[i].name,
                                                  "description", op->menu[i].help));
    return json_pack("{s:o}", "commands", commands);
}

/* A link to the bot starts a chat with "/start" and an argument. */
static bool is_start(const char *text)
{
    const size_t n = strlen("/start ");
    return strncmp(text, "/start ", n) == 0 && text[n] && !strpbrk(text + n, " \n");
}

/* ---- text ---- */

/* Removes a leading mention, and "@bot" after a command, so that "/stop@bot" and "@bot stop" are
 * recognised. */
static char *spoken(struct tc_turn *lobby, const char *text)
{
    char *const at = tc_sprint(lobby, "@%s", state_of(lobby)->username);
    const size_t n = at ? strlen(at) : 0;
    if (!at)
        return NULL;
    if (strncasecmp(text, at, n) == 0 && strchr(" \n,:", text[n]))
        return tc_sprint(lobby, "%s", text + n + strspn(text + n, " \n,:"));
    const size_t command = text[0] == '/' ? strcspn(text, " \n@") : 0;
    if (command && strncasecmp(text + command, at, n) == 0 && strchr(" \n", text[command + n]))
        return tc_sprint(lobby, "%.*s%s", (int)command, text, text + command + n);
    return tc_sprint(lobby, "%s", text);
}

static const char *quote_of(const json_t *message)
{
    const char *const part = tc_member_text(json_object_get(message, "quote"), "text");
    const json_t *const to = replied_to(message);
    return part ? part : to && *text_of(to) ? text_of(to) : NULL;
}

/* NULL: it has text, or supported files. */
static const char *update_kind(const json_t *message)
{
    static const char *const kinds[] = {"voice",    "sticker", "contact", "venue",
                                        "location", "poll",    "dice"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_object_get(message, kinds[i]))
            return kinds[i];
    return NULL;
}

/* ---- place ---- */

static const char *id_of(struct tc_turn *lobby, int64_t id)
{
    return id ? tc_sprint(lobby, "%" PRId64, id) : NULL;
}

static const char *topic_of(struct tc_turn *lobby, const json_t *message)
{
    const int64_t thread = tc_member_number(message, "message_thread_id");
    const bool topic = json_is_true(json_object_get(message, "is_topic_message"));
    return topic && thread != GENERAL ? id_of(lobby, thread) : NULL;
}

static bool is_in_general(const json_t *message)
{
    return json_is_true(json_object_get(message, "is_topic_message")) &&
           tc_member_number(message, "message_thread_id") == GENERAL;
}

static struct tc_target update_target(struct tc_turn *lobby, const json_t *message,
                                      const json_t *from)
{
    const int64_t chat = tc_member_number(json_object_get(message, "chat"), "id");
    return (struct tc_target){
        .chat = chat ? id_of(lobby, chat) : "0",
        .thread = topic_of(lobby, message),
        .message = id_of(lobby, tc_member_number(message, "message_id")),
        .user = id_of(lobby, tc_member_number(from, "id")),
        .more = is_in_general(message) ? "\"general\"" : NULL,
        .group = is_group(message),
    };
}

/* ---- messages ---- */

/* Data of the replied message, if the bot wrote it. */
static void set_reply(struct tc_turn *lobby, struct tc_chat_message *m, const json_t *to)
{
    const json_t *const rows =
        json_object_get(json_object_get(to, "reply_markup"), "inline_keyboard");
    if (tc_member_number(json_object_get(to, "from"), "id") != state_of(lobby)->self)
        return;
    m->reply_to = id_of(lobby, tc_member_number(to, "message_id"));
    m->reply_text = text_of(to);
    m->reply_data = tc_member_text(json_array_get(json_array_get(rows, 0), 0), "callback_data");
}

static const char *words_of(struct tc_turn *lobby, const json_t *message, bool file,
                            const char *note)
{
    const char *text = spoken(lobby, text_of(message));
    if (!text || !*text) /* a mention alone counts as text */
        text = text_of(message);
    if (!file && is_start(text))
        text = "/start";
    return note ? tc_sprint(lobby, "%s%s%s", text, *text ? "\n" : "", note) : text;
}

/* Ids of messages in private chats, and of updates, are those of one bot: two bots may use the same
 * ids. So the ids by which the host recognises a repeated message begin with the id of the bot. */
static bool submit(struct tc_turn *lobby, const json_t *update)
{
    const int64_t self = state_of(lobby)->self;
    const json_t *const message = json_object_get(update, "message");
    const json_t *const from = json_object_get(message, "from");
    const struct tc_target target = update_target(lobby, message, from);
    struct tc_chat_file file;
    const char *note = NULL;
    const bool has_file = file_read(lobby, message, &file, &note);
    struct tc_chat_message m = {
        .size = sizeof m,
        .id = tc_sprint(lobby, "%" PRId64 ":%" PRId64, self, tc_member_number(update, "update_id")),
        .also = tc_sprint(lobby, "%" PRId64 ":%s:%s", self, target.chat,
                          target.message ? target.message : "0"),
        .target = target,
        .topic = target.thread,
        .user = target.user ? target.user : "0",
        .name = tc_member_text(from, "first_name"),
        .text = words_of(lobby, message, has_file, note),
        .quote = quote_of(message),
        .addressed = is_addressed(lobby, message) ? TC_ADDRESSED_YES : TC_ADDRESSED_NO,
        .files = &file,
        .file_count = has_file && !note,
        .kind = update_kind(message),
        .group = tc_member_text(message, "media_group_id"),
    };
    set_reply(lobby, &m, replied_to(message));
    return tc_chat_receive(lobby, &m) != TC_NOT_KEPT;
}

/* A group became a supergroup, which has another id. */
static void update_record_move(struct tc_turn *lobby, int64_t from, int64_t to)
{
    if (from && to)
        tc_chat_receive(lobby, TC_CHAT_MESSAGE(.target = {.chat = id_of(lobby, to)},
                                               .chat_was = id_of(lobby, from)));
}

static bool update_handle_message(struct tc_turn *lobby, const json_t *update)
{
    const json_t *const message = json_object_get(update, "message");
    const json_t *const from = json_object_get(message, "from");
    const int64_t chat = tc_member_number(json_object_get(message, "chat"), "id");
    update_record_move(lobby, chat, tc_member_number(message, "migrate_to_chat_id"));
    update_record_move(lobby, tc_member_number(message, "migrate_from_chat_id"), chat);
    if (!from || json_is_true(json_object_get(from, "is_bot")) || !chat)
        return true; /* ignores channels, and other bots, because two bots that answer each other
                      * never end */
    return submit(lobby, update);
}

/* ---- presses ---- */

static bool update_handle_press(struct tc_turn *lobby, const json_t *query)
{
    const json_t *const message = json_object_get(query, "message");
    const json_t *const from = json_object_get(query, "from");
    const char *const data = tc_member_text(query, "data");
    const struct tc_target target = update_target(lobby, message, from);
    if (!tc_member_text(query, "id") || !target.user)
        return true;
    return tc_chat_act(lobby,
                       TC_CHAT_ACTION(.id = tc_member_text(query, "id"), .data = data ? data : "",
                                      .target = target, .topic = target.thread, .user = target.user,
                                      .name = tc_member_text(from, "first_name"))) == 0;
}

bool update_handle(struct tc_turn *lobby, const json_t *update)
{
    const json_t *const query = json_object_get(update, "callback_query");
    if (query && !update_handle_press(lobby, query))
        return false;
    return !json_object_get(update, "message") || update_handle_message(lobby, update);
}
