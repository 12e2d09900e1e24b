/* SPDX-License-Identifier: MIT
 * Operations of the chat engine as requests of Discord's HTTP API. Every new message has the key of
 * its operation as nonce, so that Discord recognises a repeat for some minutes. */
#include <string.h>
#include <strings.h>

#include "discord.h"

#define SUPPRESS_EMBEDS 4
#define SUPPRESS_NOTIFICATIONS 4096
#define EPHEMERAL 64
#define ROW_BUTTONS 5
#define LABEL_CHARS 80
#define HOOK_DELAY_MS 1000
#define NAME_CHARS 32

const struct tc_header discord_headers[2] = {
    {"Authorization", "Bot {option:token}"},
    {"User-Agent", "DiscordBot (turncast, 0.1.0)"},
};

/* A thread is a channel of its own. */
static const char *channel_of(const struct tc_op *op)
{
    const char *const thread = op->target->thread;
    return thread && !(op->omit & TC_OMIT_THREAD) ? thread : op->target->chat;
}

static const char *messages_url(struct tc_turn *turn, const struct tc_op *op)
{
    return tc_sprint(turn, DISCORD_API "/channels/%s/messages", channel_of(op));
}

static const char *message_url(struct tc_turn *turn, const struct tc_op *op)
{
    return tc_sprint(turn, "%s/%s", messages_url(turn, op), op->message);
}

/* ---- bodies ---- */

static int style_of(enum tc_style style)
{
    static const int styles[] = {
        [TC_STYLE_PLAIN] = 2, [TC_STYLE_PRIMARY] = 1, [TC_STYLE_GOOD] = 3, [TC_STYLE_BAD] = 4};
    return (size_t)style < sizeof styles / sizeof *styles ? styles[style] : 2;
}

const char *discord_fit(struct tc_turn *turn, const char *text, size_t chars)
{
    const char *end = text, *last = text;
    for (size_t n = 0; *end && n < chars; n++) {
        last = end++;
        while ((*end & 0xC0) == 0x80)
            end++;
    }
    const char *const fit =
        *end ? tc_sprint(turn, "%.*s…", (int)(last - text), text) : tc_sprint(turn, "%s", text);
    return fit && *fit ? fit : "…";
}

/* Rows of buttons. An edit without rows takes the old ones away. */
static json_t *components(struct tc_turn *turn, const struct tc_op *op)
{
    json_t *const rows = json_array();
    for (size_t i = 0; i < op->button_count; i++) {
        const struct tc_button *const b = &op->buttons[i];
        json_t *const button =
            json_pack("{s:i, s:i, s:s, s:s}", "type", 2, "style", style_of(b->style), "label",
                      discord_fit(turn, b->label, LABEL_CHARS), "custom_id", b->data);
        if (i % ROW_BUTTONS == 0)
            json_array_append_new(rows, json_pack("{s:i, s:[]}", "type", 1, "components"));
        json_array_append_new(json_object_get(json_array_get(rows, i / ROW_BUTTONS), "components"),
                              button);
    }
    return rows;
}

/* Nothing in a text mentions anybody, whoever wrote it. */
static json_t *content(const struct tc_op *op, bool pings)
{
    const char *const text = op->omit & TC_OMIT_FORMAT && *op->plain ? op->plain : op->text;
    return json_pack("{s:s, s:{s:[], s:b}}", "content", text, "allowed_mentions", "parse",
                     "replied_user", pings);
}

/* Further parts of an answer reply to nothing; nor does what leaves the thread of the question. */
static bool is_reply(const struct tc_op *op)
{
    return op->target->message && op->part == 0 && !(op->omit & (TC_OMIT_REPLY | TC_OMIT_THREAD));
}

static json_t *new_message(struct tc_turn *turn, const struct tc_op *op)
{
    const bool pings = !op->silent && (op->role == TC_ROLE_ANSWER || op->role == TC_ROLE_CARD);
    json_t *const body = content(op, pings);
    json_object_set_new(body, "nonce", json_string(op->key));
    json_object_set_new(body, "enforce_nonce", json_true());
    json_object_set_new(body, "flags",
                        json_integer(SUPPRESS_EMBEDS | (op->silent ? SUPPRESS_NOTIFICATIONS : 0)));
    if (op->button_count)
        json_object_set_new(body, "components", components(turn, op));
    if (is_reply(op))
        json_object_set_new(
            body, "message_reference",
            json_pack("{s:s, s:b}", "message_id", op->target->message, "fail_if_not_exists", 0));
    return body;
}

/* ---- requests ---- */

static int send_body(struct tc_turn *turn, struct tc_http *http, const char *url, json_t *body)
{
    http->url = url;
    http->body = tc_json(turn, "o", body);
    return http->url && http->body ? 0 : -1;
}

static int edit(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    json_t *const body = content(op, false);
    json_object_set_new(body, "flags", json_integer(SUPPRESS_EMBEDS));
    json_object_set_new(body, "components", components(turn, op));
    http->method = "PATCH";
    return send_body(turn, http, message_url(turn, op), body);
}

/* The fields of the message as JSON in one part, the file in another. */
static int send_file(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http,
                     const char *url, json_t *body)
{
    struct tc_part *const parts = tc_alloc(turn, 2 * sizeof *parts);
    json_object_set_new(body, "attachments",
                        json_pack("[{s:i, s:s}]", "id", 0, "filename", op->file->name));
    const char *const fields = tc_json(turn, "o", body);
    if (!parts || !fields)
        return -1;
    parts[0] = (struct tc_part){.name = "payload_json", .type = "application/json", .data = fields};
    parts[1] = (struct tc_part){.name = "files[0]",
                                .file_name = op->file->name,
                                .type = op->file->type,
                                .data = op->file->data,
                                .len = op->file->len};
    http->url = url;
    http->parts = parts;
    http->part_count = 2;
    return url ? 0 : -1;
}

static int react(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    static const char *const emoji[] = {
        [TC_REACTION_SEEN] = "👀",      [TC_REACTION_QUEUED] = "⏳",
        [TC_REACTION_TAKEN] = "👌",     [TC_REACTION_ALLOW] = "✅",
        [TC_REACTION_DENY] = "❌",      [TC_REACTION_GIVEN] = "🧑‍💻",
        [TC_REACTION_INTERRUPT] = "⚡",
    };
    if ((size_t)op->reaction >= sizeof emoji / sizeof *emoji)
        return -1;
    http->method = "PUT";
    http->url = tc_sprint(turn, "%s/reactions/%s/@me", message_url(turn, op),
                          tc_quote(turn, emoji[op->reaction]));
    return http->url ? 0 : -1;
}

const char *discord_press_lane(struct tc_turn *turn, const char *id)
{
    return tc_sprint(turn, "press:%s", id);
}

/* Only the person who pressed sees it. The token of the press is a secret of the host. What the
 * edited card shows anyway is not said twice. Discord knows the token when it has the response to
 * the press, which on HTTP is on its way now. */
static int tell_privately(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const struct discord_conf *const conf = turn->inst->conf;
    if (op->silent || !op->action)
        return -1;
    http->lane = discord_press_lane(turn, op->action);
    http->delay_ms = conf->public_key ? HOOK_DELAY_MS : 0;
    return send_body(turn, http,
                     tc_sprint(turn, DISCORD_API "/webhooks/%s/{secret:i%s}",
                               discord_state(turn)->app, op->action),
                     json_pack("{s:s, s:i, s:{s:[]}}", "content", op->text, "flags", EPHEMERAL,
                               "allowed_mentions", "parse"));
}

/* ---- attachments ---- */

static bool is_at(const char *url, const char *origin, size_t len)
{
    return strncasecmp(url, origin, len) == 0 && url[len] == '/';
}

/* Length of the scheme, host and port of api_base, if the URL has the same; else 0. */
static size_t own_origin_length(const struct tc_turn *turn, const char *url)
{
    const struct discord_conf *const conf = turn->inst->conf;
    const char *const host = strstr(conf->api_base, "://");
    const size_t len = host ? (size_t)(host - conf->api_base) + 3 + strcspn(host + 3, "/") : 0;
    return len && is_at(url, conf->api_base, len) ? len : 0;
}

bool discord_is_attachment(const struct tc_turn *turn, const char *url)
{
    static const char *const origins[] = {"https://cdn.discordapp.com",
                                          "https://media.discordapp.net"};
    if (!url)
        return false;
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
        if (is_at(url, origins[i], strlen(origins[i])))
            return true;
    return own_origin_length(turn, url) > 0;
}

/* The URLs are signed: they need no token, and do not get it. */
static int fetch(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const char *const url = op->file->ref;
    if (!discord_is_attachment(turn, url))
        return -1;
    const size_t own = own_origin_length(turn, url);
    http->method = "GET";
    http->url = own ? tc_sprint(turn, "{origin:api_base}%s", url + own) : url;
    http->header_count = 0;
    http->flags |= TC_SAVE;
    return http->url ? 0 : -1;
}

/* ---- commands ---- */

/* Names have no blanks; none of the host's commands has an underscore. */
static char *command_name(struct tc_turn *turn, const char *words)
{
    char *const name = tc_sprint(turn, "%.*s", NAME_CHARS, words);
    for (char *p = name; p && *p; p++)
        if (*p == ' ')
            *p = '_';
    return name;
}

const char *discord_command_text(struct tc_turn *lobby, const char *name, const char *argument)
{
    char *const text =
        tc_sprint(lobby, "/%s%s%s", name, argument ? " " : "", argument ? argument : "");
    for (char *p = text; p && *p && *p != ' '; p++)
        if (*p == '_')
            *p = ' ';
    return text;
}

static bool has_argument(const char *name)
{
    static const char *const names[] = {"agent", "model", "cwd", "resume"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Type 1: a slash command; contexts: in servers and in direct messages. */
static json_t *command(struct tc_turn *turn, const struct tc_menu_entry *entry)
{
    json_t *const json =
        json_pack("{s:s, s:s, s:i, s:[i, i]}", "name", command_name(turn, entry->name),
                  "description", entry->help, "type", 1, "contexts", 0, 1);
    if (has_argument(entry->name))
        json_object_set_new(json, "options",
                            json_pack("[{s:s, s:s, s:i, s:b}]", "name", "name", "description",
                                      tc_say(turn, "Which one", NULL), "type", 3, "required", 0));
    return json;
}

static int publish(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    json_t *const commands = json_array();
    for (size_t i = 0; i < op->menu_count; i++)
        json_array_append_new(commands, command(turn, &op->menu[i]));
    http->method = "PUT";
    return send_body(
        turn, http,
        tc_sprint(turn, DISCORD_API "/applications/%s/commands", discord_state(turn)->app),
        commands);
}

/* ---- all ---- */

/* Discord limits requests by channel, and a thread is one. */
static void set_limits(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    http->headers = discord_headers;
    http->header_count = 2;
    if (http->lane && op->target->thread)
        http->lane = tc_sprint(turn, "%s:%s", http->lane, op->target->thread);
    if (op->kind != TC_OP_PRIVATE && op->kind != TC_OP_FETCH && http->lane)
        http->rates = DISCORD_RATE_ALL;
}

int discord_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    set_limits(turn, op, http);
    switch ((int)op->kind) {
    case TC_OP_IDENTIFY:
        http->method = "GET";
        http->url = DISCORD_API "/applications/@me";
        return 0;
    case TC_OP_POST:
        return send_body(turn, http, messages_url(turn, op), new_message(turn, op));
    case TC_OP_FILE:
        return send_file(turn, op, http, messages_url(turn, op), new_message(turn, op));
    case TC_OP_EDIT:
        return edit(turn, op, http);
    case TC_OP_DELETE:
        http->method = "DELETE";
        http->url = message_url(turn, op);
        return http->url ? 0 : -1;
    case TC_OP_TYPING:
        http->url = tc_sprint(turn, DISCORD_API "/channels/%s/typing", channel_of(op));
        return op->off || !http->url ? -1 : 0;
    case TC_OP_REACT:
        return react(turn, op, http);
    case TC_OP_PRIVATE:
        return tell_privately(turn, op, http);
    case TC_OP_FETCH:
        return fetch(turn, op, http);
    case TC_OP_MENU:
        return publish(turn, op, http);
    default:
        return -1;
    }
}

/* ---- webhook ---- */

/* path: "" or "/messages/ID". */
static const char *webhook_url(struct tc_turn *turn, const struct tc_op *op, const char *path)
{
    const char *const thread = op->omit & TC_OMIT_THREAD ? NULL : op->target->thread;
    return tc_sprint(turn, "{option:webhook}%s?wait=true%s%s", path, thread ? "&thread_id=" : "",
                     thread ? thread : "");
}

int discord_webhook_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const bool silent = op->kind != TC_OP_EDIT && op->silent;
    http->headers = &discord_headers[1];
    http->header_count = 1;
    if (op->kind == TC_OP_IDENTIFY) {
        http->method = "GET";
        http->url = "{option:webhook}";
        return 0;
    }
    if (op->kind == TC_OP_DELETE) {
        http->method = "DELETE";
        http->url = webhook_url(turn, op, tc_sprint(turn, "/messages/%s", op->message));
        return http->url ? 0 : -1;
    }
    json_t *const body = content(op, false);
    json_object_set_new(body, "flags",
                        json_integer(SUPPRESS_EMBEDS | (silent ? SUPPRESS_NOTIFICATIONS : 0)));
    if (op->kind == TC_OP_FILE)
        return send_file(turn, op, http, webhook_url(turn, op, ""), body);
    if (op->kind == TC_OP_POST)
        return send_body(turn, http, webhook_url(turn, op, ""), body);
    http->method = "PATCH";
    return send_body(turn, http,
                     webhook_url(turn, op, tc_sprint(turn, "/messages/%s", op->message)), body);
}
