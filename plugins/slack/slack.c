/* SPDX-License-Identifier: MIT
 * The connector slack: its options, and the description of the service for the chat engine. */
#include "slack.h"

#include <stdio.h>
#include <string.h>

#include "slack_inbound.h"
#include "slack_operation.h"

static const struct tc_option options[] = {
    TC_OPTION(struct slack_conf, bot_token, NULL, TC_SECRET | TC_REQUIRED, "bot token (xoxb-…)"),
    TC_OPTION(struct slack_conf, app_token, NULL, TC_SECRET,
              "app-level token (xapp-…) for Socket Mode"),
    TC_OPTION(struct slack_conf, signing_secret, NULL, TC_SECRET,
              "signing secret for the Events API"),
    TC_OPTION(struct slack_conf, api_base, "https://slack.com/api/", 0, "base URL of the Web API"),
    TC_OPTION(struct slack_conf, channel, NULL, 0,
              "channel ID for turns that did not start in Slack"),
    TC_OPTION(struct slack_conf, stream, "true", 0,
              "use Slack's native streaming; otherwise edit one message"),
    /* The common option with another default: Slack shows thinking as a task that is folded. */
    TC_OPTION(struct slack_conf, thinking, "true", 0, "show thinking if visibility allows it"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "bot_token", .kind = TC_RULE_GRANTS, .text = "submit cancel answer"},
    {.key = "signing_secret", .kind = TC_RULE_SERVER},
    {.key = "api_base", .kind = TC_RULE_URL, .text = "https http"},
    {0},
};

static const struct tc_header probe_headers[] = {{"Authorization", "Bearer {option:bot_token}"}};

/* The token is good: whoever wrote meanwhile is heard. */
static int ready(struct tc_turn *lobby, const struct tc_result *identity)
{
    const struct slack_conf *const conf = lobby->inst->conf;
    struct slack *const s = lobby->inst->state;
    snprintf(s->user, sizeof s->user, "%s", identity->message ? identity->message : "");
    if (conf->app_token)
        slack_socket_start(lobby);
    return 1; /* there is nothing to poll */
}

/* A message has 12,000 characters in Markdown blocks. */
#define TEXT(limit)                                                                                \
    {                                                                                              \
        .form = TC_MARKDOWN, .units = (limit)                                                      \
    }

/* Slack was seen to refuse streams from 10,600 bytes on, tasks and all; it ends them after about
 * 300 s and takes 50 blocks. */
#define FILE_BYTES_MAX (20 << 20)

static const struct tc_feed feed = {.size = sizeof feed,
                                    .take = slack_history_read,
                                    .rewind = slack_history_rewind,
                                    .page = slack_history_request};

static const struct tc_chat chat = {
    .size = sizeof chat,
    .can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | TC_CAN(TC_OP_EDIT) | TC_CAN(TC_OP_DELETE) |
           TC_CAN(TC_OP_FILE) | TC_CAN(TC_OP_TYPING) | TC_CAN(TC_OP_REACT) | TC_CAN(TC_OP_PRIVATE) |
           TC_CAN(TC_OP_LOOKUP) | TC_CAN(TC_OP_FETCH) | TC_CAN(TC_OP_MENU) |
           TC_CAN(TC_OP_STREAM_BEGIN) | TC_CAN(TC_OP_STREAM_APPEND) | TC_CAN(TC_OP_STREAM_END),
    .text = {[TC_ROLE_LIVE] = TEXT(3000),
             [TC_ROLE_ANSWER] = TEXT(11500),
             [TC_ROLE_CARD] = TEXT(11000),
             [TC_ROLE_REPLY] = TEXT(11500)},
    .edit_ms = 1200,
    .typing_ms = 90000,
    .idempotency = TC_IDEMPOTENCY_LOOKUP,
    .input = TC_INPUT_FIELDS,
    .buttons = 25,
    .fields = 12,
    .reply =
        {.ok = "/ok", .error = "/error", .message = "/ts", .name = "/user", .rules = slack_errors},
    .command = "!",
    .attachments = {.name = "name",
                    .type = "mimetype",
                    .ref = "url_private_download url_private",
                    .bytes = "size",
                    .bytes_max = FILE_BYTES_MAX},
    .chat_option = "channel",
    .personal_menu = true,
    .stream = {.text = {.form = TC_MARKDOWN, .bytes = 3000},
               .pace_ms = 1000,
               .age_ms = 240000,
               .bytes = 9000,
               .items = 45,
               .option = "stream"},
    .request = slack_request,
    .read = slack_read,
    .ready = ready,
    .feed = &feed,
};

/* Handles replies to the connector's own requests. */
static int on_reply(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    if (strncmp(r->tag, SLACK_HISTORY, strlen(SLACK_HISTORY)) == 0)
        return slack_history_read_reply(turn, r, v);
    return strcmp(r->tag, "open") == 0 ? slack_socket_read_reply(turn, r, v) : 0;
}

static int init(struct tc_instance *inst)
{
    const struct slack_conf *const conf = inst->conf;
    if (conf->signing_secret && tc_route(inst, "/events"))
        return -1;
    if (!conf->app_token && !conf->signing_secret)
        tc_log(inst, TC_INFO,
               "neither app_token nor signing_secret is set; sending only, messages from Slack are "
               "not received");
    return 0;
}

TURNCAST_PLUGIN(.name = "slack", .version = "1.0", .summary = "conversations in Slack threads",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct slack_conf),
                .state_size = sizeof(struct slack), .options = options, .rules = rules,
                .probe = TC_PROBE(.method = "POST", .url = "{option:api_base}/auth.test",
                                  .headers = probe_headers, .header_count = 1, .ok = "/ok",
                                  .account = "/user", .reason = "/error"),
                .init = init, .pace_ms = 200, .rates = slack_rates,
                .sink = TC_SINK(.on_reply = on_reply, .on_hit = slack_hook_handle,
                                .on_frame = slack_socket_handle_frame),
                .chat = &chat);
