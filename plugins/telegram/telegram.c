/* SPDX-License-Identifier: MIT
 * The connector telegram: its options, and the description of the service for the chat engine. */
#include "telegram.h"

#include <string.h>

static const struct tc_option options[] = {
    TC_OPTION(struct telegram_conf, token, NULL, TC_SECRET | TC_REQUIRED,
              "bot token from @BotFather"),
    TC_OPTION(struct telegram_conf, api_base, "https://api.telegram.org", 0,
              "root URL of the Bot API server"),
    TC_OPTION(struct telegram_conf, chat, "0", 0,
              "chat ID for turns that did not start in Telegram"),
    TC_OPTION(struct telegram_conf, webhook, NULL, 0,
              "public https URL for updates (default: polling)"),
    TC_OPTION(struct telegram_conf, webhook_secret, NULL, TC_SECRET,
              "secret token that Telegram sends with each webhook call"),
    TC_OPTION(struct telegram_conf, rich, "false", 0, "send answers as rich messages"),
    TC_OPTION(struct telegram_conf, draft, "false", 0,
              "show progress as a draft (private chats only)"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "token", .kind = TC_RULE_GRANTS, .text = "submit cancel answer"},
    {.key = "api_base", .kind = TC_RULE_URL, .text = "https http"},
    /* A private Bot API server may use http:, too. */
    {.key = "webhook", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "webhook", .kind = TC_RULE_NEEDS, .text = "webhook_secret"},
    {.key = "webhook", .kind = TC_RULE_SERVER},
    {0},
};

/* The published limits with a margin. Groups may have 20 messages per minute; 3.1 s per message are
 * fewer. The bits are those of telegram_request.c. */
static const struct tc_rate rates[] = {
    {.count = 1, .burst = 1, .interval_ms = 1100, .per_lane = 1},
    {.count = 1, .burst = 1, .interval_ms = 3100, .per_lane = 1},
    /* The service permits 30 per second; evenly sent requests do not arrive evenly. */
    {.count = 25, .burst = 1, .interval_ms = 1000, .per_lane = 0},
    {0},
};

/* The service has no error codes, only descriptions. */
static const struct tc_error_rule errors[] = {
    {429, NULL, TC_RESULT_RETRY},
    {413, NULL, TC_RESULT_TOO_LONG},
    {0, "message is not modified", TC_RESULT_DONE},
    {0, "message to edit not found", TC_RESULT_MESSAGE_GONE},
    {0, "message can't be edited", TC_RESULT_MESSAGE_GONE},
    {0, "message to delete not found", TC_RESULT_MESSAGE_GONE},
    {0, "message can't be deleted", TC_RESULT_MESSAGE_GONE},
    {0, "MESSAGE_ID_INVALID", TC_RESULT_MESSAGE_GONE},
    {0, "can't parse entities", TC_RESULT_BAD_FORMAT},
    {0, "an't parse MessageEntity", TC_RESULT_BAD_FORMAT},
    {0, "an't parse entity", TC_RESULT_BAD_FORMAT},
    {0, "Entity ", TC_RESULT_BAD_FORMAT},
    {0, "entity ", TC_RESULT_BAD_FORMAT},
    {0, "message is too long", TC_RESULT_TOO_LONG},
    {0, "ext is too long", TC_RESULT_TOO_LONG},
    {0, "MESSAGE_TOO_LONG", TC_RESULT_TOO_LONG},
    {0, "caption is too long", TC_RESULT_TOO_LONG},
    {0, "message text is empty", TC_RESULT_EMPTY},
    {0, "text must be non-empty", TC_RESULT_EMPTY},
    {0, "message thread not found", TC_RESULT_THREAD_GONE},
    {0, "TOPIC_CLOSED", TC_RESULT_THREAD_GONE},
    {0, "TOPIC_DELETED", TC_RESULT_THREAD_GONE},
    {0, "message to be replied not found", TC_RESULT_REPLY_GONE},
    {0, "message to reply not found", TC_RESULT_REPLY_GONE},
    {0, "group chat was upgraded to a supergroup", TC_RESULT_CHAT_MOVED},
    {0, "chat not found", TC_RESULT_CHAT_GONE},
    {0, "PEER_ID_INVALID", TC_RESULT_CHAT_GONE},
    {0, "bot was blocked by the user", TC_RESULT_CHAT_GONE},
    {0, "user is deactivated", TC_RESULT_CHAT_GONE},
    {0, "bot was kicked", TC_RESULT_CHAT_GONE},
    {0, "bot is not a member", TC_RESULT_CHAT_GONE},
    {0, "bot can't initiate conversation", TC_RESULT_CHAT_GONE},
    {0, "not enough rights", TC_RESULT_CHAT_GONE},
    {0, "CHAT_WRITE_FORBIDDEN", TC_RESULT_CHAT_GONE},
    {0, "CHAT_SEND_PLAIN_FORBIDDEN", TC_RESULT_CHAT_GONE},
    {0, "have no rights to send", TC_RESULT_CHAT_GONE},
    {0, "group chat was deleted", TC_RESULT_CHAT_GONE},
    {403, NULL, TC_RESULT_CHAT_GONE},
    {404, NULL, TC_RESULT_UNSUPPORTED}, /* an unknown method */
    {0, NULL, TC_RESULT_DONE},
};

#define TEXT(...)                                                                                  \
    {                                                                                              \
        .form = TC_TELEGRAM, .units = 4040, .bytes = 32000, .entities = 95, __VA_ARGS__            \
    }

static const struct tc_chat chat = {
    .size = sizeof chat,
    .can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | TC_CAN(TC_OP_EDIT) | TC_CAN(TC_OP_DELETE) |
           TC_CAN(TC_OP_FILE) | TC_CAN(TC_OP_TYPING) | TC_CAN(TC_OP_REACT) | TC_CAN(TC_OP_PRIVATE) |
           TC_CAN(TC_OP_POLL) | TC_CAN(TC_OP_DRAFT) | TC_CAN(TC_OP_FETCH) | TC_CAN(TC_OP_MENU),
    .text = {[TC_ROLE_LIVE] = TEXT(.flags = TC_FOLD_QUOTES),
             [TC_ROLE_ANSWER] = TEXT(),
             [TC_ROLE_CARD] = TEXT(),
             [TC_ROLE_REPLY] = TEXT()},
    .edit_ms = 1000,
    .typing_ms = 4500,
    .input = TC_INPUT_BUTTONS,
    .rates = TELEGRAM_PACE_PRIVATE | TELEGRAM_PACE_ALL,
    .rates_group = TELEGRAM_PACE_GROUP | TELEGRAM_PACE_ALL,
    .reply = {.ok = "/ok",
              .error = "/description",
              .message = "/result/message_id",
              .chat = "/parameters/migrate_to_chat_id",
              .retry_s = "/parameters/retry_after",
              .rules = errors},
    .command = "/",
    .command_lacks = " -",
    .chat_option = "chat",
    .poll_ms = 50000,
    .draft_option = "draft",
    .source_option = "rich",
    .source_bytes = 32000,
    .request = telegram_request,
    .read = telegram_read,
    .ready = telegram_ready,
};

static int init(struct tc_instance *inst)
{
    const struct telegram_conf *const conf = inst->conf;
    return conf->webhook ? tc_route(inst, "/update") : 0;
}

/* Replies to the connector's own requests, which concern the webhook. */
static int on_reply(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_verdict *v)
{
    if (v->next != TC_NEXT_AGAIN && reply->outcome == TC_REJECTED)
        tc_log(lobby->inst, TC_ERR, "Telegram rejected the webhook: %s",
               tc_json_get(lobby, reply->body, "/description"));
    return 0;
}

TURNCAST_PLUGIN(.name = "telegram", .version = "0.1.0",
                .summary = "conversations in Telegram, through the Bot API", .flags = TC_DELIVERS,
                .conf_size = sizeof(struct telegram_conf), .state_size = sizeof(struct telegram),
                .options = options, .rules = rules,
                .probe = TC_PROBE(.url = "{option:api_base}/bot{option:token}/getMe", .ok = "/ok",
                                  .account = "/result/username", .reason = "/description"),
                .init = init, .pace_ms = 1000, .rates = rates,
                .sink = TC_SINK(.on_reply = on_reply, .on_hit = telegram_hit), .chat = &chat);
