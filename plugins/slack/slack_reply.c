/* SPDX-License-Identifier: MIT
 * Classifies replies of the Web API: HTTP 200 with "ok":false is Slack's usual form of a
 * refusal. */
#include <string.h>

#include "slack_operation.h"

/* After "internal_error" and "fatal_error", the operation may have been executed. */
const struct tc_error_rule slack_errors[] = {
    {429, NULL, TC_RESULT_RETRY},
    {0, "ratelimited", TC_RESULT_RETRY},
    {0, "rate_limited", TC_RESULT_RETRY},
    {0, "service_unavailable", TC_RESULT_RETRY},
    {0, "request_timeout", TC_RESULT_RETRY},
    {0, "team_added_to_org", TC_RESULT_RETRY},
    {0, "external_channel_migrating", TC_RESULT_RETRY},
    {0, "update_failed", TC_RESULT_RETRY},
    {0, "messaging_processing_failed", TC_RESULT_RETRY},
    {0, "accesslimited", TC_RESULT_RETRY},
    {0, "already_reacted", TC_RESULT_DONE},
    {0, "no_reaction", TC_RESULT_DONE},
    {0, "internal_error", TC_RESULT_IN_DOUBT},
    {0, "fatal_error", TC_RESULT_IN_DOUBT},
    {0, "msg_too_long", TC_RESULT_TOO_LONG},
    {0, "msg_blocks_too_", TC_RESULT_TOO_LONG},
    {0, "streaming_mode_mismatch",
     TC_RESULT_TOO_LONG}, /* the limit of this stream; the next one may be text */
    {0, "invalid_blocks", TC_RESULT_BAD_FORMAT},
    {0, "invalid_chunks", TC_RESULT_BAD_FORMAT},
    {0, "markdown_text", TC_RESULT_BAD_FORMAT}, /* together with what it excludes */
    {0, "no_text", TC_RESULT_EMPTY},
    {0, "stopped_by_user", TC_RESULT_STOPPED},
    {0, "message_not_found", TC_RESULT_MESSAGE_GONE},
    {0, "cant_update_message", TC_RESULT_MESSAGE_GONE},
    {0, "cant_delete_message", TC_RESULT_MESSAGE_GONE},
    {0, "edit_window_closed", TC_RESULT_MESSAGE_GONE},
    {0, "message_not_in_streaming_state", TC_RESULT_MESSAGE_GONE},
    {0, "streaming_state_conflict", TC_RESULT_MESSAGE_GONE},
    {0, "block_mismatch", TC_RESULT_MESSAGE_GONE},
    {0, "message_not_owned_by_app", TC_RESULT_MESSAGE_GONE},
    {0, "cannot_reply_to_message", TC_RESULT_THREAD_GONE},
    {0, "channel_not_found", TC_RESULT_CHAT_GONE},
    {0, "not_in_channel", TC_RESULT_CHAT_GONE},
    {0, "is_archived", TC_RESULT_CHAT_GONE},
    {0, "is_inactive", TC_RESULT_CHAT_GONE},
    {0, "user_not_found", TC_RESULT_CHAT_GONE},
    {0, "messages_tab_disabled", TC_RESULT_CHAT_GONE},
    {0, "team_access_not_granted", TC_RESULT_CHAT_GONE},
    {0, "message_limit_exceeded", TC_RESULT_CHAT_GONE},
    {0, "restricted_action", TC_RESULT_CHAT_GONE},
    {0, "missing_scope", TC_RESULT_UNSUPPORTED},
    {0, "no_permission", TC_RESULT_UNSUPPORTED},
    {0, "not_allowed_token_type", TC_RESULT_UNSUPPORTED},
    {0, "unknown_method", TC_RESULT_UNSUPPORTED},
    {0, "method_not_supported_for_channel_type", TC_RESULT_UNSUPPORTED},
    {0, "feature_not_enabled", TC_RESULT_UNSUPPORTED},
    {0, "invalid_auth", TC_RESULT_UNAUTHORIZED},
    {0, "not_authed", TC_RESULT_UNAUTHORIZED},
    {0, "account_inactive", TC_RESULT_UNAUTHORIZED},
    {0, "token_revoked", TC_RESULT_UNAUTHORIZED},
    {0, "token_expired", TC_RESULT_UNAUTHORIZED},
    {0, "org_login_required", TC_RESULT_UNAUTHORIZED},
    {0, "ekm_access_denied", TC_RESULT_UNAUTHORIZED},
    {0, "user_removed_from_team", TC_RESULT_UNAUTHORIZED},
    {0, "team_disabled", TC_RESULT_UNAUTHORIZED},
    {0, NULL, TC_RESULT_DONE},
};

/* Without messages there is nothing that this app can do. */
static void read_missing_scope(struct tc_turn *turn, const struct tc_reply *reply,
                               struct tc_result *result)
{
    const char *const needed = tc_json_get(turn, reply->body, "/needed");
    result->kind = TC_RESULT_UNAUTHORIZED;
    if (needed)
        result->reason = tc_sprint(turn, "%s: %s", result->reason, needed);
}

static void read_identity(struct tc_turn *turn, const json_t *ok, struct tc_result *result)
{
    const char *const user = tc_member_text(ok, "user_id");
    result->message = user ? tc_sprint(turn, "%s", user) : NULL;
}

/* A reply to a slash command: its id has another name, and nothing is done with it. */
static void read_post(struct tc_turn *turn, const json_t *ok, struct tc_result *result)
{
    const char *const ts = tc_member_text(ok, "message_ts");
    if (!ts || result->message)
        return;
    result->kind = TC_RESULT_DONE;
    result->message = tc_sprint(turn, "%s", ts);
}

static void read_operation(struct tc_turn *turn, const struct tc_op *op,
                           const struct tc_reply *reply, const json_t *ok, struct tc_result *result)
{
    if (op->kind == TC_OP_IDENTIFY)
        read_identity(turn, ok, result);
    else if (op->kind == TC_OP_POST)
        read_post(turn, ok, result);
    else if (op->kind == TC_OP_TYPING)
        slack_status_read(turn, reply, result);
    else if (op->kind == TC_OP_LOOKUP)
        slack_lookup_read(turn, op, ok, result);
    else if (op->kind == TC_OP_FILE)
        slack_file_read(turn, op, reply, ok, result);
    else if (op->kind == TC_OP_FETCH)
        slack_fetch_read(op, reply, result);
}

int slack_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
               struct tc_result *result)
{
    json_t *const json = reply->path ? NULL : json_loadb(reply->body, reply->body_len, 0, NULL);
    const bool confirmed = reply->outcome == TC_OK && json_is_true(json_object_get(json, "ok"));
    const bool needed = op->kind == TC_OP_POST || op->kind == TC_OP_IDENTIFY;
    /* Limits are per method; only messages have theirs per channel. */
    if (reply->status == 429 && !strstr(reply->http->url, "chat.postMessage"))
        result->scope = TC_HOLD_RATES;
    if (result->kind == TC_RESULT_UNSUPPORTED && needed)
        read_missing_scope(turn, reply, result);
    read_operation(turn, op, reply, confirmed ? json : NULL, result);
    json_decref(json);
    return 0;
}
