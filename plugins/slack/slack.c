/* SPDX-License-Identifier: MIT
 * The connector slack: turns in the threads of Slack, begun there by messages of people. */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "decide.h"
#include "event.h"
#include "fault.h"
#include "find.h"
#include "hook.h"
#include "message.h"
#include "show.h"
#include "shown.h"
#include "slack.h"
#include "upload.h"

static const struct tc_option options[] = {
    TC_OPTION(struct slack_conf, bot_token, NULL, TC_SECRET | TC_REQUIRED, "bot token (xoxb-…)"),
    TC_OPTION(struct slack_conf, app_token, NULL, TC_SECRET,
              "app-level token (xapp-…) for Socket Mode"),
    TC_OPTION(struct slack_conf, signing_secret, NULL, TC_SECRET,
              "signing secret for the Events API"),
    TC_OPTION(struct slack_conf, api_base, "https://slack.com/api/", 0, "base URL of the Web API"),
    TC_OPTION(struct slack_conf, channel, NULL, 0,
              "channel ID for turns that did not start in Slack"),
    TC_OPTION(struct slack_conf, overflow, "split", 0,
              "answer too long for one message: split or file"),
    TC_OPTION(struct slack_conf, stream, "true", 0,
              "use Slack's native streaming; otherwise edit one message"),
    TC_OPTION(struct slack_conf, thinking, "true", 0, "show thinking if visibility allows it"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "signing_secret", .kind = TC_RULE_SERVER},
    {.key = "api_base", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "overflow", .kind = TC_RULE_ONE_OF, .text = "split file"},
    {0},
};

static const struct tc_header probe_headers[] = {{"Authorization", "Bearer {option:bot_token}"}};

static int on_identity(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    struct slack_state *s = state_of(lobby);
    FAULT_CLEANUP struct fault f = fault_read(lobby, r);
    fault_judge(lobby, &f, r, false, v);
    const char *user = json_string_value(json_object_get(f.json, "user_id"));
    const char *team = json_string_value(json_object_get(f.json, "team_id"));
    if (f.kind != FAULT_NONE || !user)
        return 0;
    snprintf(s->user, sizeof s->user, "%s", user);
    snprintf(s->team, sizeof s->team, "%s", team ? team : "");
    return 0;
}

/* By the first word of a request's tag. */
static const struct {
    const char *word;
    int (*reply)(struct tc_turn *, const struct tc_reply *, struct tc_verdict *);
} replies[] = {
    {"identity", on_identity},      {"open", socket_on_url},
    {"start", stream_on_start},     {"append", stream_on_append},
    {"leave", stream_on_leave},     {"end", stream_on_end},
    {"progress", progress_on_post}, {"edit", progress_on_edit},
    {"status", status_on_set},      {"react", status_on_react},
    {"question", question_on_post}, {"answered", question_on_edit},
    {"told", message_on_told},      {"whisper", decide_on_told},
    {"remove", shown_on_remove},    {"fetch", fetch_on_file},
    {"post", answer_on_post},       {"stop", answer_on_stop},
    {"find", find_on_read},         {"place", upload_on_place},
    {"put", upload_on_put},         {"complete", upload_on_complete},
};

static int on_reply(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    const size_t n = strcspn(r->tag, " ");
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++)
        if (strlen(replies[i].word) == n && strncmp(replies[i].word, r->tag, n) == 0)
            return replies[i].reply(turn, r, v);
    return 0;
}

static int on_wake(struct tc_turn *turn)
{
    return turn == turn->inst->lobby ? socket_on_wake(turn) : show_wake(turn);
}

static int init(struct tc_instance *inst)
{
    const struct slack_conf *conf = inst->conf;
    if (conf->signing_secret && tc_route(inst, "/events"))
        return -1;
    if (!conf->app_token && !conf->signing_secret)
        tc_log(inst, TC_INFO,
               "neither app_token nor signing_secret is set; sending only, messages from Slack are "
               "not received");
    const struct slack_call how = {.tag = "identity", .priority = TC_P_REQUEST};
    if (call_json(inst->lobby, AUTH_TEST, json_object(), &how))
        return -1;
    if (conf->app_token)
        socket_start(inst->lobby);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    struct slack_state *s = inst->state;
    fetch_end(s->fetches);
}

TURNCAST_PLUGIN(.name = "slack", .version = "1.0", .summary = "conversations in Slack threads",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct slack_conf),
                .state_size = sizeof(struct slack_state), .turn_size = sizeof(struct cast),
                .options = options, .rules = rules,
                .probe = TC_PROBE(.method = "POST", .url = "{option:api_base}/auth.test",
                                  .headers = probe_headers, .header_count = 1, .ok = "/ok",
                                  .account = "/user", .reason = "/error"),
                .init = init, .teardown = teardown, .pace_ms = 200, .rates = call_rates,
                .sink = TC_SINK(.on_narration = show_narration, .on_final = show_final,
                                .on_tool_call = show_tool_call, .on_tool_result = show_tool_result,
                                .on_thinking = show_thinking, .on_error = show_error,
                                .on_done = show_done, .on_request = show_request,
                                .on_start = show_start, .on_notice = show_notice,
                                .on_reply = on_reply, .on_wake = on_wake, .on_hit = hook_on_hit,
                                .on_frame = socket_on_frame));
