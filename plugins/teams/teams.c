/* SPDX-License-Identifier: MIT
 * The connector teams: its options, its table for the chat engine of the host, initialisation. With
 * `webhook` only, it has no table and only posts outcomes. */
#include "teams.h"

#include <string.h>

static const struct tc_option options[] = {
    TC_OPTION(struct teams_conf, app_id, NULL, 0, "application (client) ID of the bot"),
    TC_OPTION(struct teams_conf, app_password, NULL, TC_SECRET, "client secret of the bot"),
    TC_OPTION(struct teams_conf, tenant, NULL, 0, "directory (tenant) ID of the bot"),
    TC_OPTION(struct teams_conf, conversation, NULL, 0,
              "conversation ID for turns that did not start in Teams"),
    TC_OPTION(struct teams_conf, webhook, NULL, TC_SECRET,
              "URL of a Workflows webhook to which outcomes are posted"),
    TC_OPTION(struct teams_conf, stream, "true", 0,
              "use native streaming in personal chats; otherwise edit one message"),
    TC_OPTION(struct teams_conf, file_bytes, "20971520", 0,
              "largest file of a person that is downloaded, in bytes"),
    TC_OPTION(struct teams_conf, service_url, "https://smba.trafficmanager.net/teams/", 0,
              "connector service for conversations that people have not written in"),
    TC_OPTION(struct teams_conf, login_url, "https://login.microsoftonline.com/", 0,
              "base URL of the login service"),
    TC_OPTION(struct teams_conf, openid_url,
              "https://login.botframework.com/v1/.well-known/openidconfiguration", 0,
              "OpenID configuration of the connector service"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "app_id", .kind = TC_RULE_AT_LEAST_ONE, .text = "webhook"},
    {.key = "app_id", .kind = TC_RULE_NEEDS, .text = "app_password"},
    {.key = "app_id", .kind = TC_RULE_NEEDS, .text = "tenant"},
    {.key = "app_password", .kind = TC_RULE_NEEDS, .text = "app_id"},
    {.key = "app_id", .kind = TC_RULE_SERVER},
    {.key = "app_id", .kind = TC_RULE_GRANTS, .text = "submit cancel answer"},
    {.key = "webhook", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "service_url", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "login_url", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "openid_url", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "file_bytes", .kind = TC_RULE_SIZE, .text = "B"},
    {.key = "file_bytes", .kind = TC_RULE_RANGE, .min = 0, .max = (int64_t)1 << 30},
    {0},
};

/* Rate limits of Teams per conversation: 7 requests in 1 s, 8 in 2 s, 60 in 30 s, 1800 in an hour;
 * per bot and tenant: 30 in 1 s; per stream: 1 in 1 s. A rate permits its burst in addition to its
 * count in any interval. The remainder is used for typing, which has a separate share of the bot's
 * requests, so that it cannot delay a text. */
static const struct tc_rate rates[] = {
    {.count = 3, .burst = 4, .interval_ms = 2000, .per_lane = 1},
    {.count = 1, .burst = 26, .interval_ms = 1000, .per_lane = 1},
    {.count = 1080, .burst = 500, .interval_ms = 3600000, .per_lane = 1},
    {.count = 18, .burst = 6, .interval_ms = 1000},
    {.count = 1, .interval_ms = 1000, .per_lane = 1},
    {.count = 4, .burst = 2, .interval_ms = 1000},
    {0},
};

/* A message has 100 KB in UTF-16, or about 28 KB with a card. Its Markdown has no tables and
 * headings. */
#define TEXT(limit)                                                                                \
    {                                                                                              \
        .form = TC_COMMONMARK, .flags = TC_NO_TABLES | TC_NO_HEADINGS, .units = (limit)            \
    }

/* Teams ends a stream after two minutes. */
static const struct tc_chat chat = {
    .size = sizeof chat,
    .can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | TC_CAN(TC_OP_EDIT) | TC_CAN(TC_OP_DELETE) |
           TC_CAN(TC_OP_TYPING) | TC_CAN(TC_OP_PRIVATE) | TC_CAN(TC_OP_FETCH) |
           TC_CAN(TC_OP_STREAM_BEGIN) | TC_CAN(TC_OP_STREAM_APPEND) | TC_CAN(TC_OP_STREAM_END),
    .text = {[TC_ROLE_LIVE] = TEXT(4000),
             [TC_ROLE_ANSWER] = TEXT(10000),
             [TC_ROLE_CARD] = TEXT(6000),
             [TC_ROLE_REPLY] = TEXT(10000)},
    .edit_ms = 2000,
    .edit_group_ms = 2000,
    .typing_ms = 9000,
    .input = TC_INPUT_FIELDS,
    .buttons = 24,
    .fields = 10,
    .rates = TEAMS_RATES,
    .rates_group = TEAMS_RATES,
    .reply = {.error = "/error", .message = "/id", .rules = teams_errors},
    .colon_ids = true,
    .command = "!", /* clients intercept messages that begin with / */
    .chat_option = "conversation",
    .stream =
        {.text = TEXT(4000), .pace_ms = 1500, .age_ms = 105000, .bytes = 20000, .option = "stream"},
    .request = teams_request,
    .read = teams_read,
    .stream_whole = true,
};

/* Replies to the connector's own requests: for a token, and of the webhook. */
static int on_reply(struct tc_turn *turn, const struct tc_reply *reply, struct tc_verdict *verdict)
{
    if (strcmp(reply->tag, "token") == 0 && verdict->next != TC_NEXT_AGAIN)
        teams_token_on_reply(turn, reply);
    return 0;
}

static int on_wake(struct tc_turn *lobby)
{
    teams_token_renew(lobby);
    return 0;
}

static int init(struct tc_instance *inst)
{
    const struct teams_conf *const conf = inst->conf;
    if (!conf->app_id)
        return 0;
    if (tc_route_signed(inst, "/messages",
                        TC_ISSUER(.openid = "openid_url", .issuer = "https://api.botframework.com",
                                  .audience = conf->app_id)) < 0)
        return -1;
    return tc_chat_describe(inst, &chat);
}

TURNCAST_PLUGIN(.name = "teams", .version = "0.1.0", .summary = "conversations in Microsoft Teams",
                .flags = TC_DELIVERS | TC_CHATS, .conf_size = sizeof(struct teams_conf),
                .state_size = sizeof(struct teams), .options = options, .rules = rules,
                .init = init,
                .probe = TC_PROBE(.method = "POST",
                                  .url = "{option:login_url}/{option:tenant}/oauth2/v2.0/token",
                                  .body = TEAMS_TOKEN_FORM,
                                  .content_type = "application/x-www-form-urlencoded",
                                  .reason = "/error_description"),
                .rates = rates,
                .sink = TC_SINK(.on_final = teams_webhook_on_final,
                                .on_error = teams_webhook_on_error, .on_reply = on_reply,
                                .on_wake = on_wake, .on_hit = teams_activity_on_hit));
