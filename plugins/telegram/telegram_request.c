/* SPDX-License-Identifier: MIT
 * Converts operations of the chat engine to methods of the Bot API. Depends on the operation and
 * the options only, except for polls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define GENERAL 1 /* id of the general topic, which only sendChatAction accepts */
#define FIELDS_MAX 8

const char *telegram_url(struct tc_turn *turn, const char *method)
{
    return tc_sprint(turn, "{option:api_base}/bot{option:token}/%s", method);
}

int telegram_call(struct tc_turn *lobby, const char *method, json_t *body)
{
    return tc_http(lobby, TC_HTTP(.url = telegram_url(lobby, method),
                                  .body = body ? tc_json(lobby, "o", body) : NULL,
                                  .priority = TC_P_NOTICE, .flags = TC_IDEMPOTENT));
}

/* ---- bodies ---- */

static json_t *number(const char *text)
{
    return json_integer(text ? strtoll(text, NULL, 10) : 0);
}

static void set_thread(json_t *body, const struct tc_op *op)
{
    const char *const thread = op->target->thread;
    if (thread && !(op->omit & TC_OMIT_THREAD))
        json_object_set_new(body, "message_thread_id", number(thread));
    else if (op->kind == TC_OP_TYPING && op->target->more) /* see update_target */
        json_object_set_new(body, "message_thread_id", json_integer(GENERAL));
}

/* Further parts of an answer, and text ahead of a card, reply to no message. */
static bool is_reply(const struct tc_op *op)
{
    const bool first = !op->silent || op->role == TC_ROLE_LIVE || op->role == TC_ROLE_REPLY;
    return first && op->target->message && !(op->omit & TC_OMIT_REPLY);
}

/* Members for a new message. */
static json_t *new_body(const struct tc_op *op)
{
    json_t *const body = json_pack("{s:o}", "chat_id", number(op->target->chat));
    set_thread(body, op);
    if (op->silent)
        json_object_set_new(body, "disable_notification", json_true());
    if (is_reply(op))
        json_object_set_new(body, "reply_parameters",
                            json_pack("{s:o, s:b}", "message_id", number(op->target->message),
                                      "allow_sending_without_reply", 1));
    return body;
}

/* Members for an existing message. */
static json_t *message_body(const struct tc_op *op)
{
    return json_pack("{s:o, s:o}", "chat_id", number(op->target->chat), "message_id",
                     number(op->message));
}

static void set_text(json_t *body, const struct tc_op *op)
{
    json_t *const entities = op->entities ? json_loads(op->entities, 0, NULL) : NULL;
    json_object_set_new(body, "text", json_stringn(op->text, op->text_len));
    if (json_array_size(entities) > 0)
        json_object_set(body, "entities", entities);
    json_decref(entities);
}

/* One button per row; an edit without a keyboard removes it. */
static void set_buttons(json_t *body, const struct tc_op *op)
{
    json_t *const rows = json_array();
    for (size_t i = 0; i < op->button_count; i++)
        json_array_append_new(rows, json_pack("[{s:s, s:s}]", "text", op->buttons[i].label,
                                              "callback_data", op->buttons[i].data));
    if (op->button_count)
        json_object_set_new(body, "reply_markup", json_pack("{s:O}", "inline_keyboard", rows));
    json_decref(rows);
}

static void set_message(json_t *body, const struct tc_op *op)
{
    set_text(body, op);
    set_buttons(body, op);
    json_object_set_new(body, "link_preview_options", json_pack("{s:b}", "is_disabled", 1));
}

/* ---- messages ---- */

/* Outside of code, a dollar sign would begin a formula. */
static const char *without_math(struct tc_turn *turn, const struct tc_op *op)
{
    char *const out = tc_alloc(turn, 2 * op->text_len + 1), *to = out;
    bool code = false;
    for (size_t i = 0; out && i < op->text_len; i++) {
        if (op->text[i] == '`' && (i == 0 || op->text[i - 1] != '`'))
            code = !code;
        if (op->text[i] == '$' && !code)
            *to++ = '\\';
        *to++ = op->text[i];
    }
    return out;
}

static const char *post(struct tc_turn *turn, const struct tc_op *op, json_t **body)
{
    *body = new_body(op);
    if (op->source) {
        json_object_set_new(*body, "rich_message",
                            json_pack("{s:s?}", "markdown", without_math(turn, op)));
        return "sendRichMessage";
    }
    set_message(*body, op);
    return "sendMessage";
}

/* If the text of a card is refused, at least its buttons are updated. */
static const char *edit(const struct tc_op *op, json_t **body)
{
    *body = message_body(op);
    if (op->role == TC_ROLE_CARD && op->omit & TC_OMIT_FORMAT) {
        set_buttons(*body, op);
        return "editMessageReplyMarkup";
    }
    set_message(*body, op);
    return "editMessageText";
}

static const char *draft(const struct tc_op *op, json_t **body)
{
    *body = json_pack("{s:o, s:o}", "chat_id", number(op->target->chat), "draft_id",
                      number(op->target->message ? op->target->message : "1"));
    set_thread(*body, op);
    set_text(*body, op);
    return "sendMessageDraft";
}

/* ---- reactions and typing ---- */

static const char *type(const struct tc_op *op, json_t **body)
{
    *body = json_pack("{s:o, s:s}", "chat_id", number(op->target->chat), "action", "typing");
    set_thread(*body, op);
    return "sendChatAction";
}

/* From the reactions permitted for bots, which do not include an hourglass. */
static const char *react(const struct tc_op *op, json_t **body)
{
    static const char *const emoji[] = {
        [TC_REACTION_SEEN] = "👀",     [TC_REACTION_QUEUED] = "✍",
        [TC_REACTION_TAKEN] = "👌",    [TC_REACTION_ALLOW] = "👍",
        [TC_REACTION_DENY] = "👎",     [TC_REACTION_GIVEN] = "👨‍💻",
        [TC_REACTION_INTERRUPT] = "⚡"};
    if ((size_t)op->reaction >= sizeof emoji / sizeof *emoji)
        return NULL;
    *body = message_body(op);
    json_object_set_new(*body, "reaction",
                        json_pack("[{s:s, s:s}]", "type", "emoji", "emoji", emoji[op->reaction]));
    return "setMessageReaction";
}

static const char *answer_press(const struct tc_op *op, json_t **body)
{
    *body = json_pack("{s:s, s:s}", "callback_query_id", op->action, "text", op->text);
    if (!op->silent)
        json_object_set_new(*body, "show_alert", json_true());
    return "answerCallbackQuery";
}

/* ---- documents ---- */

/* The fields as parts, and the file. */
static int set_document(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    struct tc_part *const parts = tc_alloc(turn, (FIELDS_MAX + 1) * sizeof *parts);
    json_t *const fields = new_body(op);
    const char *key;
    json_t *value;
    size_t n = 0;
    if (*op->text)
        json_object_set_new(fields, "caption", json_string(op->text));
    json_object_foreach(fields, key, value)
    {
        char *const dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        const char *const text = json_is_string(value) ? json_string_value(value) : dumped;
        if (parts && n < FIELDS_MAX)
            parts[n++] = (struct tc_part){.name = tc_sprint(turn, "%s", key),
                                          .data = tc_sprint(turn, "%s", text ? text : "")};
        free(dumped);
    }
    json_decref(fields);
    if (!parts)
        return -1;
    parts[n++] = (struct tc_part){.name = "document",
                                  .file_name = op->file->name,
                                  .type = op->file->type,
                                  .data = op->file->data,
                                  .len = op->file->len};
    http->url = telegram_url(turn, "sendDocument");
    http->parts = parts;
    http->part_count = n;
    return 0;
}

/* ---- all ---- */

/* Returns the name of the method; *body: NULL, or owned by the caller. */
static const char *translate(struct tc_turn *turn, const struct tc_op *op, json_t **body)
{
    switch ((int)op->kind) {
    case TC_OP_IDENTIFY:
        return "getMe";
    case TC_OP_POST:
        return post(turn, op, body);
    case TC_OP_EDIT:
        return edit(op, body);
    case TC_OP_DELETE:
        *body = message_body(op);
        return "deleteMessage";
    case TC_OP_TYPING:
        return type(op, body);
    case TC_OP_REACT:
        return react(op, body);
    case TC_OP_PRIVATE:
        return answer_press(op, body);
    case TC_OP_DRAFT:
        return draft(op, body);
    case TC_OP_MENU:
        *body = update_menu(op);
        return "setMyCommands";
    case TC_OP_POLL:
        *body = telegram_poll_body(turn, op);
        return "getUpdates";
    default:
        return NULL;
    }
}

/* Groups have negative ids. Typing and reactions count only towards the total. */
static uint32_t rates_of(const struct tc_op *op)
{
    if (op->kind == TC_OP_TYPING || op->kind == TC_OP_REACT)
        return TELEGRAM_PACE_ALL;
    return TELEGRAM_PACE_ALL |
           (*op->target->chat == '-' ? TELEGRAM_PACE_GROUP : TELEGRAM_PACE_PRIVATE);
}

int telegram_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    json_t *body = NULL;
    if (http->lane)
        http->rates = rates_of(op);
    if (op->kind == TC_OP_FILE)
        return set_document(turn, op, http);
    if (op->kind == TC_OP_FETCH)
        return file_request(turn, op, http);
    const char *const method = translate(turn, op, &body);
    http->body = body ? tc_json(turn, "o", body) : NULL;
    http->url = method ? telegram_url(turn, method) : NULL;
    return http->url ? 0 : -1;
}
