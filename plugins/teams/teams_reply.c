/* SPDX-License-Identifier: MIT
 * Interprets replies of the login service and the connector service. */
#include <string.h>

#include "teams.h"

#define RENEWED_MS 2000 /* delay until a new token is available */
#define DROPPED "ContentStreamSequenceOrderPreConditionFailed"
#define COMPLETED "already completed"

/* The text is the object "error", with code and message; for the login service, the code. */
const struct tc_error_rule teams_errors[] = {
    {429, NULL, TC_RESULT_RETRY},
    {412, NULL, TC_RESULT_RETRY},
    {0, "invalid_client", TC_RESULT_UNAUTHORIZED},
    {0, "unauthorized_client", TC_RESULT_UNAUTHORIZED},
    {0, "invalid_request", TC_RESULT_UNAUTHORIZED}, /* error of the login: unknown tenant */
    {0, "canceled by user", TC_RESULT_STOPPED},
    {0, "cancelled by user", TC_RESULT_STOPPED},
    {0, "exceeded streaming time", TC_RESULT_STREAM_OVER},
    {0, COMPLETED, TC_RESULT_STREAM_OVER},
    {0, "previously streamed content", TC_RESULT_STREAM_OVER},
    {0, "Message size too large", TC_RESULT_TOO_LONG},
    {0, "MessageSizeTooBig", TC_RESULT_TOO_LONG},
    {0, "streaming api is not enabled", TC_RESULT_UNSUPPORTED},
    {0, "Content stream is not allowed", TC_RESULT_STREAM_OVER}, /* with an immediate result */
    {404, "ActivityNotFound", TC_RESULT_MESSAGE_GONE},
    {404, NULL, TC_RESULT_CHAT_GONE},
    {403, NULL, TC_RESULT_CHAT_GONE},
    {0, NULL, TC_RESULT_DONE},
};

/* Replaces the object by "code: message". */
static void reply_word(struct tc_turn *turn, const struct tc_reply *reply, struct tc_result *result)
{
    json_t *const body = json_loadb(reply->body, reply->body_len, 0, NULL);
    const json_t *const error = json_object_get(body, "error");
    const char *const code = tc_member_text(error, "code"),
                      *const message = tc_member_text(error, "message"),
                      *const login = tc_member_text(body, "error_description");
    if (login)
        result->reason = tc_sprint(turn, "%.*s", (int)strcspn(login, "\r\n"), login);
    else if (code || message)
        result->reason = tc_sprint(turn, "%s%s%s", code ? code : "", code && message ? ": " : "",
                                   message ? message : "");
    json_decref(body);
}

static void reply_identity(struct tc_turn *turn, const struct tc_reply *reply,
                           struct tc_result *result)
{
    if (result->kind != TC_RESULT_DONE)
        return;
    result->message = tc_sprint(turn, "28:%s", teams_conf(turn)->app_id);
    if (teams_token_read(turn->inst->lobby, reply))
        return;
    result->kind = TC_RESULT_RETRY;
    result->reason = "the login service has sent no token";
}

/* A repeated end of a stream, whose first reply was lost, is refused. */
static void reply_stream(const struct tc_op *op, const struct tc_reply *reply,
                         struct tc_result *result)
{
    if (result->kind == TC_RESULT_DONE && strstr(reply->body, DROPPED))
        result->kind = TC_RESULT_IN_DOUBT;
    else if (op->kind == TC_OP_STREAM_END && result->kind == TC_RESULT_STREAM_OVER &&
             reply->in_doubt && strstr(reply->body, COMPLETED))
        result->kind = TC_RESULT_DONE;
}

/* A refused token may have expired while the machine was suspended. */
static void reply_locked(struct tc_turn *turn, struct tc_result *result)
{
    if (!teams_token_renew(turn->inst->lobby))
        return;
    result->kind = TC_RESULT_RETRY;
    result->hold_ms = RENEWED_MS;
}

int teams_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
               struct tc_result *result)
{
    const bool posts = op->kind == TC_OP_POST || op->kind == TC_OP_STREAM_BEGIN;
    if (reply->outcome == TC_REJECTED)
        reply_word(turn, reply, result);
    if (op->kind == TC_OP_IDENTIFY)
        reply_identity(turn, reply, result);
    else if (result->kind == TC_RESULT_UNAUTHORIZED)
        reply_locked(turn, result);
    else if (reply->status == 404 && !posts)
        result->kind = TC_RESULT_MESSAGE_GONE;
    if (op->kind == TC_OP_STREAM_APPEND || op->kind == TC_OP_STREAM_END)
        reply_stream(op, reply, result);
    return 0;
}
