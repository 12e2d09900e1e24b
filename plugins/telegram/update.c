/* SPDX-License-Identifier: MIT
 * Owns what an update means: who speaks to the agent, what is said, and how the person sees that
 * it arrived. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "telegram.h"

#define TEXT_UNITS 4000
#define TEXT_BYTES 32000

static const json_t *message_of(const json_t *update)
{
    return json_object_get(update, "message");
}

static bool is_group(const json_t *message)
{
    const char *const type = call_str(json_object_get(message, "chat"), "type");
    return !type || strcmp(type, "private") != 0;
}

const char *update_text(const json_t *message)
{
    const char *const text = call_str(message, "text"), *const caption =
                                                            call_str(message, "caption");
    return text ? text : caption ? caption : "";
}

/* Byte of a UTF-16 offset. */
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
    const size_t from = byte_at(text, call_int(entity, "offset"));
    const size_t n = byte_at(text + from, call_int(entity, "length"));
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
    const char *const type = call_str(entity, "type");
    const char *const said = entity_text(lobby, text, entity);
    if (!type || !said)
        return false;
    if (strcmp(type, "mention") == 0)
        return said[0] == '@' && strcasecmp(said + 1, s->username) == 0;
    if (strcmp(type, "text_mention") == 0)
        return call_int(json_object_get(entity, "user"), "id") == s->self;
    if (strcmp(type, "bot_command") != 0)
        return false;
    const char *const at = strchr(said, '@');
    return !at || strcasecmp(at + 1, s->username) == 0;
}

/* Messages of a topic name its first message as the one they reply to. */
const json_t *update_replied_to(const json_t *message)
{
    const json_t *const to = json_object_get(message, "reply_to_message");
    if (!to || json_object_get(to, "forum_topic_created"))
        return NULL;
    if (json_is_true(json_object_get(message, "is_topic_message")) &&
        call_int(to, "message_id") == call_int(message, "message_thread_id"))
        return NULL;
    return to;
}

bool update_is_addressed(struct tc_turn *lobby, const json_t *message)
{
    if (!is_group(message))
        return true;
    const json_t *const from = json_object_get(update_replied_to(message), "from");
    if (from && call_int(from, "id") == state_of(lobby)->self)
        return true;
    const char *const text = update_text(message);
    size_t i;
    const json_t *entity;
    json_array_foreach(entities_of(message), i,
                       entity) if (names_us(lobby, text, entity)) return true;
    return false;
}

/* ---- what is said ---- */

/* Without the mention it begins with, and without "@bot" behind a command: so "/stop@bot" and
 * "@bot stop" are what they are meant as. */
char *update_spoken(struct tc_turn *lobby, const char *text)
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
    const char *const part = call_str(json_object_get(message, "quote"), "text");
    const json_t *const to = update_replied_to(message);
    return part ? part : to && *update_text(to) ? update_text(to) : NULL;
}

/* NULL: it is written, or has files that are. */
static const char *update_kind(const json_t *message)
{
    static const char *const kinds[] = {"voice",    "sticker", "contact", "venue",
                                        "location", "poll",    "dice"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_object_get(message, kinds[i]))
            return kinds[i];
    return NULL;
}

/* ---- what the person sees of it ---- */

/* What update_say needs of the message, and the text: for the case that Telegram refuses the
 * reaction. */
static json_t *react_tag(const json_t *message, const char *instead)
{
    static const char *const keys[] = {"chat", "message_id", "message_thread_id",
                                       "is_topic_message"};
    json_t *const tag = call_tag("react"), *const kept = json_object();
    for (size_t i = 0; instead && i < sizeof keys / sizeof *keys; i++)
        json_object_set(kept, keys[i], json_object_get(message, keys[i]));
    if (instead)
        json_object_set_new(tag, "text", json_string(instead));
    json_object_set_new(tag, "message", kept);
    return tag;
}

int update_on_reacted(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v)
{
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_REJECTED && !answer_rule(lobby, &a, v)) {
        v->next = TC_NEXT_DONE;
        if (call_str(tag, "text"))
            update_say(lobby, json_object_get(tag, "message"), call_str(tag, "text"));
    }
    answer_free(&a);
    return 0;
}

void update_react(struct tc_turn *lobby, const json_t *message, const char *emoji,
                  const char *instead)
{
    const int64_t chat = call_int(json_object_get(message, "chat"), "id");
    const struct target to = {.chat = chat, .group = is_group(message)};
    json_t *const body = call_body(lobby, &to);
    json_object_set_new(body, "message_id", json_integer(call_int(message, "message_id")));
    json_object_set_new(body, "reaction",
                        json_pack("[{s:s, s:s}]", "type", "emoji", "emoji", emoji));
    call_send(lobby, &(struct telegram_call){.method = "setMessageReaction",
                                             .body = body,
                                             .tag = react_tag(message, instead),
                                             .to = &to,
                                             .apart = true,
                                             .priority = TC_P_NOTICE,
                                             .flags = TC_IDEMPOTENT,
                                             .max_age_ms = 60000});
}

void update_say(struct tc_turn *lobby, const json_t *message, const char *text)
{
    json_t *const route = route_write(message);
    const struct target to = {.chat = call_int(route, "chat"),
                              .thread = call_int(route, "thread"),
                              .group = is_group(message)};
    json_decref(route);
    size_t count;
    const struct tc_piece *const p =
        tc_pieces(lobby,
                  TC_TEXT(.markdown = text, .len = strlen(text), .form = TC_TELEGRAM,
                          .flags = TC_VERBATIM, .units = TEXT_UNITS, .bytes = TEXT_BYTES),
                  &count);
    if (!p)
        return;
    json_t *const body = call_body(lobby, &to);
    json_object_set_new(body, "text", json_string(p->text));
    json_object_set_new(body, "disable_notification", json_true());
    json_object_set_new(body, "reply_parameters",
                        json_pack("{s:I, s:b}", "message_id",
                                  (json_int_t)call_int(message, "message_id"),
                                  "allow_sending_without_reply", 1));
    call_send(lobby,
              &(struct telegram_call){.method = "sendMessage",
                                      .body = body,
                                      .tag = call_tag("say"),
                                      .to = &to,
                                      .paced = true,
                                      /* Before the outcome of the turn that the command ends. */
                                      .priority = TC_P_FINAL});
}

/* The host's answer to a command. While the option thinking is off, "Shown: thinking" is wrong. */
static void say_answer(struct tc_turn *lobby, const json_t *message, const char *text,
                       const char *answer)
{
    const bool wanted = strstr(text, "show-thinking") || strstr(text, "show-all");
    if (wanted && !conf_of(lobby)->thinking)
        answer =
            tc_sprint(lobby, "%s Thinking stays hidden in this chat (thinking = false).", answer);
    if (answer)
        update_say(lobby, message, answer);
}

static enum taken update_show(struct tc_turn *lobby, const json_t *message, const char *text,
                              enum tc_accepted accepted, const struct tc_receipt *receipt)
{
    switch (accepted) {
    case TC_ACCEPTED:
        update_react(lobby, message, "👀", NULL);
        return TAKEN;
    case TC_QUEUED: /* an hourglass is not among the reactions a bot may give */
        update_react(lobby, message, "✍", receipt->answer);
        return TAKEN;
    case TC_GIVEN:
        update_react(lobby, message, "👨‍💻", receipt->answer);
        return TAKEN;
    case TC_INTERRUPT:
        update_react(lobby, message, "⚡", receipt->answer);
        return TAKEN;
    case TC_COMMAND:
    case TC_FULL:
        if (receipt->answer)
            say_answer(lobby, message, text, receipt->answer);
        return TAKEN;
    case TC_KNOWN:
    case TC_DENIED:
    case TC_INVALID:
        return TAKEN;
    case TC_NOT_KEPT:
        break;
    }
    return TAKEN_NOT;
}

enum taken update_submit(struct tc_turn *lobby, const json_t *update, const json_t *files,
                         const char *note)
{
    const json_t *const message = message_of(update), *const from =
                                                          json_object_get(message, "from");
    const size_t count = json_array_size(files);
    const char **const paths = calloc(count + 1, sizeof *paths);
    const char **const names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; paths && names && i < count; i++) {
        paths[i] = call_str(json_array_get(files, i), "path");
        names[i] = call_str(json_array_get(files, i), "name");
    }
    json_t *const route = route_write(message);
    char *const route_text = json_dumps(route, JSON_COMPACT);
    const char *text = update_spoken(lobby, update_text(message));
    if (!text || !*text) /* a mention alone speaks too */
        text = update_text(message);
    if (count == 0)
        text = menu_spell(lobby, text);
    const long long chat = call_int(route, "chat"), thread = call_int(route, "thread");
    struct tc_receipt receipt = {0};
    const enum tc_accepted accepted = tc_submit(
        lobby,
        TC_INBOUND(.id = tc_sprint(lobby, "%" PRId64, call_int(update, "update_id")),
                   .also = tc_sprint(lobby, "%lld:%" PRId64, chat, call_int(message, "message_id")),
                   .chat = tc_sprint(lobby, "%lld", chat),
                   .thread = thread ? tc_sprint(lobby, "%lld", thread) : NULL,
                   .user = tc_sprint(lobby, "%" PRId64, call_int(from, "id")),
                   .name = call_str(from, "first_name"),
                   .text = *note ? tc_sprint(lobby, "%s%s%s", text, *text ? "\n" : "", note) : text,
                   .quote = quote_of(message), .route = route_text, .files = paths,
                   .file_names = names, .file_count = count, .direct = !is_group(message),
                   .kind = update_kind(message)),
        &receipt);
    const enum taken taken = update_show(lobby, message, text, accepted, &receipt);
    free(route_text);
    json_decref(route);
    free(paths);
    free(names);
    return taken;
}

/* ---- updates ---- */

static enum taken take_message(struct tc_turn *lobby, const json_t *update)
{
    const json_t *const message = message_of(update), *const from =
                                                          json_object_get(message, "from");
    struct telegram *const s = state_of(lobby);
    const int64_t chat = call_int(json_object_get(message, "chat"), "id");
    route_moved(s, chat, call_int(message, "migrate_to_chat_id"));
    route_moved(s, call_int(message, "migrate_from_chat_id"), chat);
    if (!from || json_is_true(json_object_get(from, "is_bot")) || !chat)
        return TAKEN; /* channels, and other bots: two that answer each other never end */
    enum taken taken = TAKEN;
    if (press_reply(lobby, message, &taken))
        return taken;
    if (inbox_wants(message))
        return inbox_add(lobby, update);
    if ((!*update_text(message) && !update_kind(message)) || !update_is_addressed(lobby, message))
        return TAKEN;
    return update_submit(lobby, update, NULL, "");
}

enum taken update_take(struct tc_turn *lobby, const json_t *update)
{
    const json_t *const query = json_object_get(update, "callback_query");
    if (query)
        press_take(lobby, query);
    return message_of(update) ? take_message(lobby, update) : TAKEN;
}
