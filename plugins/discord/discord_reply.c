/* SPDX-License-Identifier: MIT
 * Classifies replies of Discord's HTTP API beyond the table: the refused field, limits of the whole
 * bot, and the identity of the bot. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "discord.h"

/* Results by Discord's codes. For a message in a thread, CHAT_GONE becomes THREAD_GONE first. */
const struct tc_error_rule discord_errors[] = {
    {0, "message_reference", TC_RESULT_REPLY_GONE}, /* fields that are not valid, code 50035 */
    {0, "BASE_TYPE_MAX_LENGTH", TC_RESULT_TOO_LONG},
    {0, "10003", TC_RESULT_CHAT_GONE},    /* unknown channel */
    {0, "10008", TC_RESULT_MESSAGE_GONE}, /* unknown message */
    {0, "10014", TC_RESULT_UNSUPPORTED},  /* unknown emoji */
    {0, "10015", TC_RESULT_UNAUTHORIZED}, /* unknown webhook */
    {0, "10062", TC_RESULT_DONE},         /* the press is too old for a reply */
    {0, "30010", TC_RESULT_DONE},         /* the message has too many reactions */
    {0, "30046", TC_RESULT_MESSAGE_GONE}, /* too many edits of a message older than an hour */
    {0, "40005", TC_RESULT_TOO_LONG},     /* the file is too large */
    {0, "40060", TC_RESULT_DONE},         /* the press was acknowledged before */
    {0, "50001", TC_RESULT_CHAT_GONE},    /* no access */
    {0, "50005", TC_RESULT_MESSAGE_GONE}, /* the message is not the bot's */
    {0, "50006", TC_RESULT_EMPTY},        /* the message is empty */
    {0, "50007", TC_RESULT_CHAT_GONE},    /* the person does not take direct messages */
    {0, "50013", TC_RESULT_CHAT_GONE},    /* a permission is missing */
    {0, "50027", TC_RESULT_UNAUTHORIZED}, /* invalid webhook token */
    {0, "50083", TC_RESULT_THREAD_GONE},  /* the thread is archived */
    {0, "160002", TC_RESULT_REPLY_GONE},  /* no permission to read what is replied to */
    {0, "160005", TC_RESULT_THREAD_GONE}, /* the thread is locked */
    {0, NULL, TC_RESULT_DONE},
};

static void read_refusal(const struct tc_op *op, const json_t *body, struct tc_result *result)
{
    const bool in_thread = op->target && op->target->thread && !(op->omit & TC_OMIT_THREAD);
    if (result->kind == TC_RESULT_UNAUTHORIZED && op->kind == TC_OP_PRIVATE)
        result->kind = TC_RESULT_DONE; /* the token of a press, not of the bot */
    else if (result->kind == TC_RESULT_CHAT_GONE && in_thread)
        result->kind = TC_RESULT_THREAD_GONE;
    if (json_is_true(json_object_get(body, "global")))
        result->scope = TC_HOLD_INSTANCE;
}

static void read_identity(struct tc_turn *turn, const json_t *body, struct tc_result *result)
{
    struct discord *const s = discord_state(turn);
    const struct discord_conf *const conf = turn->inst->conf;
    const char *const app = tc_member_text(body, "id"), *const key =
                                                            tc_member_text(body, "verify_key");
    const char *const user = tc_member_text(json_object_get(body, "bot"), "id");
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
    json_auto_t *body = reply->path ? NULL : json_loadb(reply->body, reply->body_len, 0, NULL);
    if (reply->outcome == TC_REJECTED)
        read_refusal(op, body, result);
    if (op->kind == TC_OP_IDENTIFY)
        read_identity(turn, body, result);
    return 0;
}
