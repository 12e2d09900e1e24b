/* SPDX-License-Identifier: MIT
 * What replies of Discord's HTTP API mean: error codes, rate limits, and the count of refused
 * requests, for too many of which Discord bans the address. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "discord.h"

#define REFUSALS_MS INT64_C(600000)

/* Codes of Discord. CHAT_GONE of a message in a thread is THREAD_GONE first. */
static const struct {
    int code;
    enum tc_result_kind kind;
} codes[] = {
    {10003, TC_RESULT_CHAT_GONE},    /* unknown channel */
    {10008, TC_RESULT_MESSAGE_GONE}, /* unknown message */
    {10014, TC_RESULT_UNSUPPORTED},  /* unknown emoji */
    {10015, TC_RESULT_UNAUTHORIZED}, /* unknown webhook */
    {10062, TC_RESULT_DONE},         /* the press is too old for a reply */
    {30010, TC_RESULT_DONE},         /* the message has too many reactions */
    {30046, TC_RESULT_MESSAGE_GONE}, /* too many edits of a message older than an hour */
    {40005, TC_RESULT_TOO_LONG},     /* the file is too large */
    {40060, TC_RESULT_DONE},         /* the press was acknowledged before */
    {50001, TC_RESULT_CHAT_GONE},    /* no access */
    {50005, TC_RESULT_MESSAGE_GONE}, /* the message is not the bot's */
    {50006, TC_RESULT_EMPTY},
    {50007, TC_RESULT_CHAT_GONE},    /* the person does not take direct messages */
    {50013, TC_RESULT_CHAT_GONE},    /* a permission is missing */
    {50027, TC_RESULT_UNAUTHORIZED}, /* invalid webhook token */
    {50083, TC_RESULT_THREAD_GONE},  /* the thread is archived */
    {160002, TC_RESULT_REPLY_GONE},  /* no permission to read the message that is replied to */
    {160005, TC_RESULT_THREAD_GONE}, /* the thread is locked */
};

static enum tc_result_kind kind_of_code(int code, enum tc_result_kind otherwise)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].kind;
    return otherwise;
}

/* 50035: a field is refused; `errors` names it. */
static enum tc_result_kind kind_of_invalid(const json_t *body)
{
    const json_t *const errors = json_object_get(body, "errors");
    char *const text = json_dumps(json_object_get(errors, "content"), JSON_COMPACT);
    const bool is_long = text && strstr(text, "BASE_TYPE_MAX_LENGTH");
    free(text);
    if (json_object_get(errors, "message_reference"))
        return TC_RESULT_REPLY_GONE;
    return is_long ? TC_RESULT_TOO_LONG : TC_RESULT_REFUSED;
}

static void read_refusal(struct tc_turn *turn, const struct tc_op *op, const json_t *body,
                         struct tc_result *result)
{
    const int code = (int)json_integer_value(json_object_get(body, "code"));
    const char *const message = discord_text(body, "message");
    const bool in_thread = op->target && op->target->thread && !(op->omit & TC_OMIT_THREAD);
    result->kind = code == 50035 ? kind_of_invalid(body) : kind_of_code(code, result->kind);
    /* The token of a press, not of the bot. */
    if (result->kind == TC_RESULT_UNAUTHORIZED && op->kind == TC_OP_PRIVATE)
        result->kind = TC_RESULT_DONE;
    if (result->kind == TC_RESULT_CHAT_GONE && in_thread)
        result->kind = TC_RESULT_THREAD_GONE;
    if (message && code)
        result->reason = tc_sprint(turn, "%s (code %d)", message, code);
}

/* ---- limits ---- */

/* The requests of this channel have to wait when the limit that the reply tells of is used up. */
static void read_limit(struct tc_turn *turn, const struct tc_reply *reply, struct tc_result *result)
{
    const char *const left = tc_header_value(turn, reply, "x-ratelimit-remaining");
    const char *const after = tc_header_value(turn, reply, "x-ratelimit-reset-after");
    const double seconds = after ? strtod(after, NULL) : 0;
    if (reply->outcome != TC_OK || !reply->http->lane || !left || strcmp(left, "0") != 0 ||
        !(seconds > 0 && seconds < 3600))
        return;
    result->hold_ms = (int64_t)ceil(seconds * 1000);
    result->scope = TC_HOLD_LANE;
}

/* A limit of the whole bot says so. */
static void read_flood(struct tc_turn *turn, const struct tc_reply *reply, const json_t *body,
                       struct tc_result *result)
{
    const bool global = json_is_true(json_object_get(body, "global")) ||
                        tc_header_value(turn, reply, "x-ratelimit-global") != NULL;
    result->scope = global ? TC_HOLD_INSTANCE : TC_HOLD_LANE;
}

static int64_t now_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Discord counts these replies, except for limits of a channel that others use up, too. */
static bool is_refusal(struct tc_turn *turn, const struct tc_reply *reply)
{
    const char *const scope = tc_header_value(turn, reply, "x-ratelimit-scope");
    if (reply->status == 429)
        return !scope || strcmp(scope, "shared") != 0;
    return reply->status == 401 || reply->status == 403;
}

int64_t discord_refusal_count(struct tc_turn *turn, const struct tc_reply *reply, const char **why)
{
    const struct discord_conf *const conf = turn->inst->conf;
    struct discord *const s = discord_state(turn);
    const int64_t now = now_ms();
    if (!is_refusal(turn, reply))
        return 0;
    if (now - s->refusals_ms >= REFUSALS_MS) {
        s->refusals_ms = now;
        s->refusals = 0;
    }
    if (++s->refusals < conf->refusals_max)
        return 0;
    s->refusals = 0; /* Discord forgets them during the pause */
    *why = tc_sprint(turn,
                     "requests that Discord refused within 10 minutes (HTTP 401, 403 or 429): %lld "
                     "(refusals_max); at 10000 it bans the address; no requests for 10 minutes",
                     (long long)conf->refusals_max);
    tc_log(turn->inst, TC_ERR, "%s", *why ? *why : "too many refused requests");
    return REFUSALS_MS;
}

static void read_refusals(struct tc_turn *turn, const struct tc_reply *reply,
                          struct tc_result *result)
{
    const char *why = NULL;
    const int64_t pause = discord_refusal_count(turn, reply, &why);
    if (!pause)
        return;
    result->kind = TC_RESULT_RETRY;
    result->hold_ms = pause;
    result->scope = TC_HOLD_INSTANCE;
    result->reason = why;
}

/* ---- all ---- */

static void read_identity(struct tc_turn *turn, const json_t *body, struct tc_result *result)
{
    struct discord *const s = discord_state(turn);
    const char *const app = discord_text(body, "id");
    const char *const user = discord_text(json_object_get(body, "bot"), "id");
    const char *const key = discord_text(body, "verify_key");
    const struct discord_conf *const conf = turn->inst->conf;
    if (result->kind != TC_RESULT_DONE || conf->webhook || !app)
        return;
    if (conf->public_key && key && strcasecmp(key, conf->public_key) != 0)
        tc_log(turn->inst, TC_ERR,
               "option public_key is not the public key of the application; presses and commands "
               "are refused");
    snprintf(s->app, sizeof s->app, "%s", app);
    snprintf(s->user, sizeof s->user, "%s", user ? user : app);
    result->message = tc_sprint(turn, "%s", s->user);
}

int discord_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                 struct tc_result *result)
{
    json_t *const body = reply->path ? NULL : json_loadb(reply->body, reply->body_len, 0, NULL);
    if (reply->outcome == TC_REJECTED)
        read_refusal(turn, op, body, result);
    if (reply->status == 429)
        read_flood(turn, reply, body, result);
    if (op->kind == TC_OP_IDENTIFY)
        read_identity(turn, body, result);
    read_limit(turn, reply, result);
    read_refusals(turn, reply, result);
    json_decref(body);
    return 0;
}
