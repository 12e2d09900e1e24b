/* SPDX-License-Identifier: MIT
 * Operations of the chat engine as requests of Discord's HTTP API, of a bot or of a webhook that
 * only posts. Every new message of a bot has the key of its operation as nonce, so that Discord
 * recognises a repeat for some minutes. */
#include <string.h>

#include "discord.h"

#define SUPPRESS_EMBEDS 4
#define SUPPRESS_NOTIFICATIONS 4096
#define EPHEMERAL 64
#define ROW_BUTTONS 5
#define LABEL_CHARS 80
#define HOOK_DELAY_MS 1000

/* The host omits the header Authorization if there is no token. */
const struct tc_header discord_headers[2] = {
    {"Authorization", "Bot {option:token}"},
    {"User-Agent", "DiscordBot (turncast, 0.1.0)"},
};

int discord_get(struct tc_turn *lobby, const char *path, const char *lane, const char *tag)
{
    return tc_http(lobby, TC_HTTP(.method = "GET", .url = tc_sprint(lobby, DISCORD_API "%s", path),
                                  .headers = discord_headers, .header_count = 2,
                                  .priority = TC_P_REQUEST, .lane = lane, .rates = DISCORD_RATE_ALL,
                                  .flags = TC_IDEMPOTENT, .tag = tag));
}

static bool is_webhook(const struct tc_turn *turn)
{
    const struct discord_conf *const conf = turn->inst->conf;
    return conf->webhook != NULL;
}

static const char *thread_of(const struct tc_op *op)
{
    return op->omit & TC_OMIT_THREAD ? NULL : op->target->thread;
}

/* A thread is a separate channel. */
static const char *channel_of(const struct tc_op *op)
{
    return thread_of(op) ? thread_of(op) : op->target->chat;
}

/* Path of a message, or (id NULL) of all messages. */
static const char *message_url(struct tc_turn *turn, const struct tc_op *op, const char *id)
{
    const char *const thread = thread_of(op);
    if (is_webhook(turn))
        return tc_sprint(turn, "{option:webhook}%s%s?wait=true%s%s", id ? "/messages/" : "",
                         id ? id : "", thread ? "&thread_id=" : "", thread ? thread : "");
    return tc_sprint(turn, DISCORD_API "/channels/%s/messages%s%s", channel_of(op), id ? "/" : "",
                     id ? id : "");
}

/* ---- messages ---- */

/* Rows of buttons. An edit without rows takes the old ones away. */
static json_t *components(struct tc_turn *turn, const struct tc_op *op)
{
    static const int styles[] = {
        [TC_STYLE_PLAIN] = 2, [TC_STYLE_PRIMARY] = 1, [TC_STYLE_GOOD] = 3, [TC_STYLE_BAD] = 4};
    json_t *const rows = json_array();
    for (size_t i = 0; i < op->button_count; i++) {
        const struct tc_button *const b = &op->buttons[i];
        if (i % ROW_BUTTONS == 0)
            json_array_append_new(rows, json_pack("{s:i, s:[]}", "type", 1, "components"));
        json_array_append_new(json_object_get(json_array_get(rows, i / ROW_BUTTONS), "components"),
                              json_pack("{s:i, s:i, s:s, s:s}", "type", 2, "style",
                                        styles[b->style <= TC_STYLE_BAD ? b->style : 0], "label",
                                        tc_fit(turn, b->label, LABEL_CHARS), "custom_id", b->data));
    }
    return rows;
}

/* Further parts of an answer reply to nothing; nor does what leaves the thread of the question. */
static json_t *reference(const struct tc_op *op)
{
    return op->target->message && op->part == 0 && !(op->omit & (TC_OMIT_REPLY | TC_OMIT_THREAD))
               ? json_pack("{s:s, s:b}", "message_id", op->target->message, "fail_if_not_exists", 0)
               : NULL;
}

/* Nothing in a text mentions anybody, whoever wrote it. */
static json_t *message_body(struct tc_turn *turn, const struct tc_op *op)
{
    const bool is_new = op->kind != TC_OP_EDIT, bot = !is_webhook(turn);
    const bool rings = is_new && !op->silent;
    const bool pings = rings && (op->role == TC_ROLE_ANSWER || op->role == TC_ROLE_CARD);
    const bool buttons = bot && (!is_new || op->button_count);
    const struct tc_chat_file *const file = op->kind == TC_OP_FILE ? op->file : NULL;
    return json_pack(
        "{s:s, s:i, s:{s:[], s:b}, s:s*, s:o*, s:o*, s:o*, s:o*}", "content",
        op->omit & TC_OMIT_FORMAT && *op->plain ? op->plain : op->text, "flags",
        SUPPRESS_EMBEDS | (is_new && op->silent ? SUPPRESS_NOTIFICATIONS : 0), "allowed_mentions",
        "parse", "replied_user", pings, "nonce", is_new && bot ? op->key : NULL, "enforce_nonce",
        is_new && bot ? json_true() : NULL, "components", buttons ? components(turn, op) : NULL,
        "message_reference", is_new ? reference(op) : NULL, "attachments",
        file ? json_pack("[{s:i, s:s}]", "id", 0, "filename", file->name) : NULL);
}

/* The fields of the message as JSON in one part, the file in another. */
static int set_file(struct tc_turn *turn, const struct tc_chat_file *file, struct tc_http *http)
{
    struct tc_part *const parts = tc_alloc(turn, 2 * sizeof *parts);
    if (!parts)
        return -1;
    parts[0] =
        (struct tc_part){.name = "payload_json", .type = "application/json", .data = http->body};
    parts[1] = (struct tc_part){.name = "files[0]",
                                .file_name = file->name,
                                .type = file->type,
                                .data = file->data,
                                .len = file->len};
    http->body = NULL;
    http->parts = parts;
    http->part_count = 2;
    return 0;
}

static int set_message(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const bool is_new = op->kind != TC_OP_EDIT;
    http->method = is_new ? "POST" : "PATCH";
    http->url = message_url(turn, op, is_new ? NULL : op->message);
    http->body = tc_json(turn, "o", message_body(turn, op));
    if (!http->url || !http->body)
        return -1;
    return op->kind == TC_OP_FILE ? set_file(turn, op->file, http) : 0;
}

/* ---- other requests ---- */

/* Writes a message that only the person who pressed the button sees. The host stores the token of
 * the press as a secret. A text that the edited card shows anyway is not sent. The token is valid
 * after the response to the press, which over HTTP is being sent now. */
static int discord_request_write_private(struct tc_turn *turn, const struct tc_op *op,
                                         struct tc_http *http)
{
    const struct discord_conf *const conf = turn->inst->conf;
    if (op->silent || !op->action)
        return -1;
    http->lane = tc_sprint(turn, DISCORD_PRESS_LANE, op->action);
    http->rates = 0;
    http->delay_ms = conf->public_key ? HOOK_DELAY_MS : 0;
    http->url = tc_sprint(turn, DISCORD_API "/webhooks/%s/{secret:i%s}", discord_state(turn)->app,
                          op->action);
    http->body = tc_json(turn, "{s:s, s:i, s:{s:[]}}", "content", op->text, "flags", EPHEMERAL,
                         "allowed_mentions", "parse");
    return http->url && http->body ? 0 : -1;
}

/* Attachments are fetched from Discord only. Their URLs are signed: they need no token, and do not
 * get it. */
static int fetch(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    http->method = "GET";
    http->url =
        tc_url_at(turn, op->file->ref, "api_base", "cdn.discordapp.com media.discordapp.net");
    http->header_count = 0;
    http->rates = 0;
    http->flags |= TC_SAVE;
    return http->url ? 0 : -1;
}

/* Slash commands (type 1), in servers and in direct messages; an argument is a text (type 3). */
static int publish(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    json_t *const commands = json_array();
    for (size_t i = 0; i < op->menu_count; i++)
        json_array_append_new(
            commands,
            json_pack("{s:s, s:s, s:i, s:[i, i], s:o*}", "name", op->menu[i].name, "description",
                      op->menu[i].help, "type", 1, "contexts", 0, 1, "options",
                      *op->menu_arguments[i]
                          ? json_pack("[{s:s, s:s, s:i, s:b}]", "name", "name", "description",
                                      tc_say(turn, "Which one", NULL), "type", 3, "required", 0)
                          : NULL));
    http->method = "PUT";
    http->url = tc_sprint(turn, DISCORD_API "/applications/%s/commands", discord_state(turn)->app);
    http->body = tc_json(turn, "o", commands);
    return http->url && http->body ? 0 : -1;
}

/* ---- all ---- */

int discord_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    http->headers = discord_headers;
    http->header_count = 2;
    if (http->lane && op->target->thread) /* Discord limits requests by channel */
        http->lane = tc_sprint(turn, "%s:%s", http->lane, op->target->thread);
    http->rates = http->lane ? DISCORD_RATE_ALL : http->rates;
    switch ((int)op->kind) {
    case TC_OP_IDENTIFY:
        http->method = "GET";
        http->url = is_webhook(turn) ? "{option:webhook}" : DISCORD_API "/applications/@me";
        break;
    case TC_OP_POST:
    case TC_OP_FILE:
    case TC_OP_EDIT:
        return set_message(turn, op, http);
    case TC_OP_DELETE:
        http->method = "DELETE";
        http->url = message_url(turn, op, op->message);
        break;
    case TC_OP_TYPING:
        http->url =
            op->off ? NULL : tc_sprint(turn, DISCORD_API "/channels/%s/typing", channel_of(op));
        break;
    case TC_OP_REACT:
        http->method = "PUT";
        http->url = tc_sprint(turn, "%s/reactions/%s/@me", message_url(turn, op, op->message),
                              tc_quote(turn, op->emoji));
        break;
    case TC_OP_PRIVATE:
        return discord_request_write_private(turn, op, http);
    case TC_OP_FETCH:
        return fetch(turn, op, http);
    case TC_OP_MENU:
        return publish(turn, op, http);
    default:
        break;
    }
    return http->url ? 0 : -1;
}
