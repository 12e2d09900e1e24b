/* SPDX-License-Identifier: MIT
 * The connector telegram: its options, its callbacks, and which file an answer goes to. */
#include "telegram.h"

#include <stdlib.h>
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
    TC_OPTION(struct telegram_conf, finalize, "new", 0,
              "answer: new (send a new message) or edit (replace the progress message)"),
    TC_OPTION(struct telegram_conf, after, "delete", 0,
              "progress message after the answer: keep, summary or delete"),
    TC_OPTION(struct telegram_conf, overflow, "split", 0,
              "answer too long for one message: split, file or trim"),
    TC_OPTION(struct telegram_conf, max_parts, "6", 0, "maximum number of messages per answer"),
    TC_OPTION(struct telegram_conf, ambiguous, "mark", 0,
              "answer with unknown delivery state: mark (send again, marked) or drop"),
    TC_OPTION(struct telegram_conf, progress_after_ms, "1500", 0,
              "delay before the progress message is sent, in ms"),
    TC_OPTION(struct telegram_conf, thinking, "true", 0,
              "show thinking in the progress message if visibility allows it"),
    TC_OPTION(struct telegram_conf, rich, "false", 0, "send answers as rich messages"),
    TC_OPTION(struct telegram_conf, draft, "false", 0,
              "show progress as a draft (private chats only)"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "api_base", .kind = TC_RULE_URL, .text = "https http"},
    /* A Bot API server of one's own takes http:, too. */
    {.key = "webhook", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "webhook", .kind = TC_RULE_NEEDS, .text = "webhook_secret"},
    {.key = "webhook", .kind = TC_RULE_SERVER},
    {.key = "finalize", .kind = TC_RULE_ONE_OF, .text = "new edit"},
    {.key = "after", .kind = TC_RULE_ONE_OF, .text = "keep summary delete"},
    {.key = "overflow", .kind = TC_RULE_ONE_OF, .text = "split file trim"},
    {.key = "max_parts", .kind = TC_RULE_RANGE, .min = 1, .max = 50},
    {.key = "ambiguous", .kind = TC_RULE_ONE_OF, .text = "mark drop"},
    {.key = "progress_after_ms", .kind = TC_RULE_DURATION, .text = "ms"},
    {.key = "progress_after_ms", .kind = TC_RULE_RANGE, .min = 0, .max = INT64_MAX},
    {0},
};

/* The published limits, kept apart. Groups may have 20 in a minute: 3.1 s are fewer. */
static const struct tc_rate rates[] = {
    {.count = 1, .burst = 1, .interval_ms = 1100, .per_lane = 1},
    {.count = 1, .burst = 1, .interval_ms = 3100, .per_lane = 1},
    /* The service takes 30; what leaves evenly does not arrive so. */
    {.count = 25, .burst = 1, .interval_ms = 1000, .per_lane = 0},
    {0},
};

/* ---- life ---- */

static int init(struct tc_instance *inst)
{
    return poll_begin(inst);
}

static void teardown(struct tc_instance *inst)
{
    struct telegram *const s = inst->state;
    inbox_free(s);
    button_free(s);
    question_free(s);
    route_free(s);
}

/* ---- a turn ---- */

static int on_start(struct tc_turn *turn, const struct tc_start *ev)
{
    (void)ev;
    live_begin(turn);
    return 0;
}

static int on_narration(struct tc_turn *turn, const struct tc_narration *ev)
{
    chips_narrate(turn->state, ev);
    live_touch(turn, true);
    return 0;
}

static int on_thinking(struct tc_turn *turn, const struct tc_thinking *ev)
{
    chips_think(turn->state, ev->text);
    live_touch(turn, conf_of(turn)->thinking);
    return 0;
}

static int on_tool_call(struct tc_turn *turn, const struct tc_tool_call *ev)
{
    chips_call(turn->state, ev);
    live_touch(turn, true);
    return 0;
}

static int on_tool_result(struct tc_turn *turn, const struct tc_tool_result *ev)
{
    chips_result(turn->state, ev);
    live_touch(turn, true);
    return 0;
}

static int on_progress(struct tc_turn *turn, const struct tc_progress *ev)
{
    struct live *const l = turn->state;
    if (ev->message && *ev->message)
        message_clip(l->notice, sizeof l->notice, ev->message);
    live_touch(turn, ev->message && *ev->message);
    return 0;
}

static int on_step(struct tc_turn *turn, const struct tc_step *ev)
{
    (void)ev;
    live_touch(turn, false);
    return 0;
}

static int on_notice(struct tc_turn *turn, const struct tc_notice *ev)
{
    struct live *const l = turn->state;
    const bool shown = strcmp(ev->level, "warn") == 0 || strcmp(ev->level, "error") == 0;
    if (ev->code && strcmp(ev->code, "retracted") == 0)
        l->headline[0] = l->thinking[0] = '\0';
    if (shown)
        message_clip(l->notice, sizeof l->notice, tc_sprint(turn, "⚠ %s", ev->text));
    live_touch(turn, shown);
    return 0;
}

static int on_usage(struct tc_turn *turn, const struct tc_usage *ev)
{
    struct live *const l = turn->state;
    if (strcmp(ev->scope, "turn") != 0)
        return 0;
    l->tokens = ev->total_tokens;
    if (l->tokens < 0)
        l->tokens = (ev->input_tokens > 0 ? ev->input_tokens : 0) +
                    (ev->output_tokens > 0 ? ev->output_tokens : 0);
    return 0;
}

static bool was_stopped(struct tc_turn *turn, const struct tc_final *ev)
{
    const char *const reason = ev->meta->x ? tc_json_get(turn, ev->meta->x, "/reason") : NULL;
    return reason && strcmp(reason, "cancelled") == 0;
}

/* The live message, which showed what the agent was writing, is about to be deleted. */
static int send_stopped(struct tc_turn *turn, const struct tc_final *ev)
{
    const char *const text =
        ev->text_len ? tc_sprint(turn, "%s\n\n_Stopped._", ev->text) : "Stopped.";
    return text ? final_send(turn, text, strlen(text), !ev->text_len) : -1;
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    question_end(turn);
    return was_stopped(turn, ev) ? send_stopped(turn, ev)
                                 : final_send(turn, ev->text, ev->text_len, false);
}

/* The host knows the message of a turn that began in a chat. */
static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    const bool may_retry = turn->route && (!ev->code || strcmp(ev->code, "cancelled") != 0);
    const char *const text =
        tc_sprint(turn, "⚠ %s%s", ev->message, may_retry ? "\nSend /retry to try again." : "");
    question_end(turn);
    return text ? final_send(turn, text, strlen(text), true) : -1;
}

static int on_done(struct tc_turn *turn, const struct tc_done *ev)
{
    (void)ev;
    question_end(turn);
    live_end(turn);
    return 0;
}

/* ---- what comes back ---- */

/* Of what nobody waits for: a pause is kept, the rest is no loss. */
static int on_small(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                    struct tc_verdict *v)
{
    (void)tag;
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_REJECTED && !answer_rule(turn, &a, v))
        v->next = TC_NEXT_DONE;
    answer_free(&a);
    return 0;
}

static const struct {
    const char *kind;
    int (*take)(struct tc_turn *, const struct tc_reply *, const json_t *tag, struct tc_verdict *);
} kinds[] = {
    {"me", poll_on_me},          {"poll", poll_on_updates},        {"hook", poll_on_hook},
    {"final", final_on_reply},   {"clear", final_on_cleared},      {"ask", question_on_asked},
    {"form", question_on_shown}, {"decided", question_on_decided}, {"create", live_on_created},
    {"edit", live_on_edited},    {"draft", live_on_draft},         {"file", inbox_on_file},
    {"save", inbox_on_saved},    {"typing", live_on_typed},        {"react", update_on_reacted},
};

static int on_reply(struct tc_turn *turn, const struct tc_reply *reply, struct tc_verdict *v)
{
    json_t *const tag = json_loads(reply->tag, 0, NULL);
    const char *const kind = call_str(tag, "k");
    int rc = 0;
    size_t i = 0;
    while (kind && i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].kind, kind) != 0)
        i++;
    if (kind && i < sizeof kinds / sizeof *kinds)
        rc = kinds[i].take(turn, reply, tag, v);
    else
        rc = on_small(turn, reply, tag, v);
    json_decref(tag);
    return rc;
}

static int on_wake(struct tc_turn *turn)
{
    if (turn == turn->inst->lobby)
        poll_wake(turn);
    else
        live_wake(turn);
    return 0;
}

TURNCAST_PLUGIN(.name = "telegram", .version = "0.1.0",
                .summary = "conversations in Telegram, through the Bot API", .flags = TC_DELIVERS,
                .conf_size = sizeof(struct telegram_conf), .state_size = sizeof(struct telegram),
                .turn_size = sizeof(struct live), .options = options, .rules = rules,
                .probe = TC_PROBE(.url = "{option:api_base}/bot{option:token}/getMe", .ok = "/ok",
                                  .account = "/result/username", .reason = "/description"),
                .init = init, .teardown = teardown, .pace_ms = 1000, .rates = rates,
                .sink = TC_SINK(.on_start = on_start, .on_narration = on_narration,
                                .on_thinking = on_thinking, .on_tool_call = on_tool_call,
                                .on_tool_result = on_tool_result, .on_progress = on_progress,
                                .on_step = on_step, .on_notice = on_notice, .on_usage = on_usage,
                                .on_request = question_on_request, .on_final = on_final,
                                .on_error = on_error, .on_done = on_done, .on_reply = on_reply,
                                .on_wake = on_wake, .on_hit = poll_on_hit));
