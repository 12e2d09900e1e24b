/* SPDX-License-Identifier: MIT
 * The connector discord: its options, and the description of the service for the chat engine: a
 * bot, or a webhook that only posts. */
#include "discord.h"

#include <string.h>

static const struct tc_option options[] = {
    TC_OPTION(struct discord_conf, token, NULL, TC_SECRET, "bot token of the Developer Portal"),
    TC_OPTION(struct discord_conf, webhook, NULL, TC_SECRET,
              "URL of a webhook, instead of a bot: sending only"),
    TC_OPTION(struct discord_conf, public_key, NULL, 0,
              "public key of the application: presses and commands come as signed HTTP requests"),
    TC_OPTION(struct discord_conf, channel, NULL, 0,
              "channel ID for turns that did not start in Discord"),
    TC_OPTION(struct discord_conf, message_content, "false", 0,
              "read messages that do not mention the bot (privileged intent)"),
    TC_OPTION(struct discord_conf, api_base, "https://discord.com/api/v10", 0,
              "base URL of the HTTP API"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "token", .kind = TC_RULE_EXACTLY_ONE, .text = "webhook"},
    {.key = "token", .kind = TC_RULE_GRANTS, .text = "submit cancel answer"},
    {.key = "webhook", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "webhook", .kind = TC_RULE_NEEDS, .text = "channel"},
    {.key = "public_key", .kind = TC_RULE_NEEDS, .text = "token"},
    {.key = "public_key", .kind = TC_RULE_SERVER},
    {.key = "public_key", .kind = TC_RULE_HEX, .text = "64"},
    {.key = "api_base", .kind = TC_RULE_URL, .text = "https http"},
    {0},
};

/* DISCORD_RATE_ALL: Discord takes 50 in a second; count and burst together stay below it, because
 * what leaves evenly does not arrive so. All other limits are learned from replies. */
static const struct tc_rate rates[] = {{.count = 35, .burst = 8, .interval_ms = 1000}, {0}};

/* A message has 2,000 characters; the mark of a repeat needs some. */
#define TEXT(limit)                                                                                \
    {                                                                                              \
        .form = TC_COMMONMARK, .flags = TC_NO_TABLES, .units = (limit)                             \
    }

#define DISCORD_CHAT(...)                                                                          \
    {                                                                                              \
        .size = sizeof(struct tc_chat), .unit = TC_UNIT_CODEPOINTS,                                \
        .text = {[TC_ROLE_LIVE] = TEXT(1900),                                                      \
                 [TC_ROLE_ANSWER] = TEXT(1950),                                                    \
                 [TC_ROLE_CARD] = TEXT(1900),                                                      \
                 [TC_ROLE_REPLY] = TEXT(1950)},                                                    \
        .file_bytes = 10 << 20, .edit_ms = 1250, .edit_age_ms = 55 * 60000,                        \
        .rates = DISCORD_RATE_ALL, .rates_group = DISCORD_RATE_ALL,                                \
        .reply = {.error = "/code",                                                                \
                  .message = "/id",                                                                \
                  .retry_s = "/retry_after",                                                       \
                  .rules = discord_errors},                                                        \
        .error_words = "/message", .error_details = "/errors", .request = discord_request,         \
        .chat_option = "channel", .read = discord_read, __VA_ARGS__                                \
    }

static const struct tc_feed feed = {.size = sizeof feed,
                                    .take = discord_event_handle,
                                    .rewind = discord_gateway_rewind,
                                    .page = discord_history_request};

static const struct tc_chat bot_chat =
    DISCORD_CHAT(.can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | TC_CAN(TC_OP_EDIT) |
                        TC_CAN(TC_OP_DELETE) | TC_CAN(TC_OP_FILE) | TC_CAN(TC_OP_TYPING) |
                        TC_CAN(TC_OP_REACT) | TC_CAN(TC_OP_PRIVATE) | TC_CAN(TC_OP_FETCH) |
                        TC_CAN(TC_OP_MENU),
                 .typing_ms = 9000, .idempotency = TC_IDEMPOTENCY_KEY, .idempotency_ms = 120000,
                 .attachments = {.name = "filename",
                                 .type = "content_type",
                                 .ref = "url",
                                 .bytes = "size",
                                 .bytes_max = 25 << 20},
                 .mentions = {.id = "id", .name = "username", .marks = "<@*> <@!*>"},
                 .input = TC_INPUT_DIALOG, .fields = DISCORD_FORM_INPUTS, .buttons = 25,
                 .command = "/", .command_lacks = " ", .ready = discord_gateway_start,
                 .feed = &feed);

static const struct tc_chat webhook_chat =
    DISCORD_CHAT(.can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | TC_CAN(TC_OP_EDIT) |
                        TC_CAN(TC_OP_DELETE) | TC_CAN(TC_OP_FILE),
                 .input = TC_INPUT_TEXT);

static bool is_tagged(const struct tc_reply *reply, const char *beginning)
{
    return strncmp(reply->tag, beginning, strlen(beginning)) == 0;
}

/* Handles replies to the connector's own requests. The host waits for rate limits and repeats the
 * request; other failures are handled here. */
static int on_reply(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_verdict *v)
{
    const char *const colon = strchr(reply->tag, ':'), *const id = colon ? colon + 1 : "";
    const bool gateway = strcmp(reply->tag, "gateway") == 0;
    if (reply->status == 429 || (v->next == TC_NEXT_AGAIN && !gateway))
        return 0;
    v->next = TC_NEXT_DONE;
    if (gateway)
        discord_gateway_read_url(lobby, reply);
    else if (is_tagged(reply, "channel:"))
        discord_event_handle_channel(lobby, id, reply);
    else if (is_tagged(reply, "history:"))
        discord_history_read(lobby, id, reply);
    return 0;
}

static int init(struct tc_instance *inst)
{
    const struct discord_conf *const conf = inst->conf;
    struct discord *const s = inst->state;
    s->channels = json_object();
    return conf->public_key && tc_route(inst, "/interactions") < 0
               ? -1
               : tc_chat_describe(inst, conf->webhook ? &webhook_chat : &bot_chat);
}

static void teardown(struct tc_instance *inst)
{
    struct discord *const s = inst->state;
    json_decref(s->session);
    json_decref(s->channels);
}

TURNCAST_PLUGIN(.name = "discord", .version = "0.1.0",
                .summary = "conversations in Discord channels and direct messages",
                .flags = TC_DELIVERS | TC_CHATS, .conf_size = sizeof(struct discord_conf),
                .state_size = sizeof(struct discord), .options = options, .rules = rules,
                .probe = TC_PROBE(.url = DISCORD_API "/users/@me", .headers = discord_headers,
                                  .header_count = 2, .account = "/username", .reason = "/message"),
                .init = init, .teardown = teardown, .pace_ms = 1000, .rates = rates,
                .sink = TC_SINK(.on_reply = on_reply, .on_frame = discord_gateway_handle_frame,
                                .on_hit = discord_interaction_hit));
