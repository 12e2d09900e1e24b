/* SPDX-License-Identifier: MIT
 * What an answer of the Web API means: HTTP 200 with "ok":false is Slack's normal way to fail. */
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "slack.h"

#define AUTH_HOLD_MS (5 * 60 * 1000) /* how often a refused token is tried again */

/* Sorted by kind. "internal_error" and "fatal_error" may come after the work was done. */
static const struct {
    const char *error;
    enum fault_kind kind;
} faults[] = {
    {"already_reacted", FAULT_NONE},
    {"no_reaction", FAULT_NONE},
    {"ratelimited", FAULT_TRANSIENT},
    {"rate_limited", FAULT_TRANSIENT},
    {"service_unavailable", FAULT_TRANSIENT},
    {"request_timeout", FAULT_TRANSIENT},
    {"team_added_to_org", FAULT_TRANSIENT},
    {"external_channel_migrating", FAULT_TRANSIENT},
    {"update_failed", FAULT_TRANSIENT},
    {"messaging_processing_failed", FAULT_TRANSIENT},
    {"accesslimited", FAULT_TRANSIENT},
    {"internal_error", FAULT_DOUBT},
    {"fatal_error", FAULT_DOUBT},
    {"msg_too_long", FAULT_PAYLOAD},
    {"msg_blocks_too_long", FAULT_PAYLOAD},
    {"msg_blocks_too_many", FAULT_PAYLOAD},
    {"invalid_blocks", FAULT_PAYLOAD},
    {"invalid_blocks_format", FAULT_PAYLOAD},
    {"no_text", FAULT_PAYLOAD},
    {"markdown_text_conflict", FAULT_PAYLOAD},
    {"invalid_chunks", FAULT_PAYLOAD},
    {"cannot_provide_both_markdown_text_and_chunks", FAULT_PAYLOAD},
    {"streaming_mode_mismatch", FAULT_PAYLOAD},
    {"metadata_too_large", FAULT_PAYLOAD},
    {"too_many_attachments", FAULT_PAYLOAD},
    {"message_not_found", FAULT_MESSAGE},
    {"cant_update_message", FAULT_MESSAGE},
    {"cant_delete_message", FAULT_MESSAGE},
    {"edit_window_closed", FAULT_MESSAGE},
    {"message_not_in_streaming_state", FAULT_MESSAGE},
    {"streaming_state_conflict", FAULT_MESSAGE},
    {"stopped_by_user", FAULT_MESSAGE},
    {"block_mismatch", FAULT_MESSAGE},
    {"message_not_owned_by_app", FAULT_MESSAGE},
    {"channel_not_found", FAULT_TARGET},
    {"not_in_channel", FAULT_TARGET},
    {"is_archived", FAULT_TARGET},
    {"is_inactive", FAULT_TARGET},
    {"user_not_found", FAULT_TARGET},
    {"user_not_in_channel", FAULT_TARGET},
    {"messages_tab_disabled", FAULT_TARGET},
    {"cannot_reply_to_message", FAULT_TARGET},
    {"team_access_not_granted", FAULT_TARGET},
    {"message_limit_exceeded", FAULT_TARGET},
    {"missing_scope", FAULT_SCOPE},
    {"no_permission", FAULT_SCOPE},
    {"not_allowed_token_type", FAULT_SCOPE},
    {"unknown_method", FAULT_SCOPE},
    {"method_not_supported_for_channel_type", FAULT_SCOPE},
    {"feature_not_enabled", FAULT_SCOPE},
    {"invalid_auth", FAULT_AUTH},
    {"not_authed", FAULT_AUTH},
    {"account_inactive", FAULT_AUTH},
    {"token_revoked", FAULT_AUTH},
    {"token_expired", FAULT_AUTH},
    {"org_login_required", FAULT_AUTH},
    {"ekm_access_denied", FAULT_AUTH},
    {"user_removed_from_team", FAULT_AUTH},
    {"team_disabled", FAULT_AUTH},
};

static enum fault_kind kind_of(const char *error)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].error, error) == 0)
            return faults[i].kind;
    return strncmp(error, "restricted_action", strlen("restricted_action")) == 0 ? FAULT_TARGET
                                                                                 : FAULT_OTHER;
}

/* Of an answer without a body that Slack would write. */
static enum fault_kind kind_of_outcome(const struct tc_reply *reply)
{
    switch (reply->outcome) {
    case TC_REJECTED:
        return reply->status == 429 ? FAULT_TRANSIENT : FAULT_OTHER;
    case TC_NOT_SENT:
        return FAULT_TRANSIENT;
    case TC_DROPPED:
        return FAULT_DROPPED;
    case TC_YOUR_TURN:
    case TC_OK: /* but nothing that can be read */
    case TC_AMBIGUOUS:
        break;
    }
    return FAULT_DOUBT;
}

struct fault fault_read(struct tc_turn *turn, const struct tc_reply *reply)
{
    struct slack_state *s = state_of(turn);
    struct fault f = {kind_of_outcome(reply), reply->error ? reply->error : "", NULL};
    if (reply->outcome != TC_OK && reply->outcome != TC_REJECTED)
        return f;
    f.json = json_loadb(reply->body, reply->body_len, 0, NULL);
    const json_t *ok = json_object_get(f.json, "ok");
    const char *error = json_string_value(json_object_get(f.json, "error"));
    if (json_is_true(ok) && reply->outcome == TC_OK) {
        f.kind = FAULT_NONE;
    } else if (json_is_false(ok) && error && reply->status != 429) {
        snprintf(s->error, sizeof s->error, "%s", error);
        f.kind = kind_of(error);
        f.error = s->error;
    }
    return f;
}

void fault_fini(struct fault *f)
{
    json_decref(f->json);
}

bool fault_is(const struct fault *f, const char *error)
{
    return strcmp(f->error, error) == 0;
}

bool fault_is_end(const struct tc_verdict *v)
{
    return v->next != TC_NEXT_AGAIN;
}

void fault_replaced(struct tc_verdict *v, int failed, const char *reason)
{
    *v = (struct tc_verdict){.next = failed ? TC_NEXT_FAIL : TC_NEXT_DONE, .reason = reason};
}

const char *fault_refusal(struct tc_turn *turn, const struct fault *f, const char *token)
{
    struct slack_state *s = state_of(turn);
    snprintf(s->refusal, sizeof s->refusal, "%s rejected by the service (%s)", token, f->error);
    return s->refusal;
}

/* Sending is paused until the operator has fixed the token; the queued requests are kept. */
static void lock_out(struct tc_turn *turn, const struct fault *f, struct tc_verdict *v)
{
    struct slack_state *s = state_of(turn);
    const char *needed = json_string_value(json_object_get(f->json, "needed"));
    if (!s->locked_out)
        tc_log(turn->inst, TC_ERR,
               "Slack rejected the bot token: %s%s%s; sending is paused until bot_token or its "
               "scopes are fixed",
               f->error, needed ? ", missing scope: " : "", needed ? needed : "");
    s->locked_out = true;
    *v = (struct tc_verdict){TC_NEXT_AGAIN, AUTH_HOLD_MS, TC_HOLD_INSTANCE,
                             fault_refusal(turn, f, "bot token")};
}

static void judge_transient(const struct tc_reply *reply, struct tc_verdict *v)
{
    v->next = TC_NEXT_AGAIN;
    v->reason = NULL;
    /* Limits are per method; only messages have theirs per channel. */
    if (reply->status == 429 && !strstr(reply->http->url, "chat.postMessage"))
        v->scope = TC_HOLD_RATES;
}

void fault_judge(struct tc_turn *turn, const struct fault *f, const struct tc_reply *reply,
                 bool optional, struct tc_verdict *v)
{
    const bool unsure = f->kind == FAULT_DOUBT;
    if (f->kind == FAULT_NONE) {
        state_of(turn)->locked_out = false;
        v->next = TC_NEXT_DONE;
    } else if (f->kind == FAULT_TRANSIENT) {
        if (reply->outcome != TC_NOT_SENT)
            judge_transient(reply, v);
    } else if (f->kind == FAULT_AUTH || (f->kind == FAULT_SCOPE && !optional)) {
        lock_out(turn, f, v);
    } else if (!unsure || reply->outcome != TC_AMBIGUOUS) {
        const bool again = unsure && (reply->http->flags & TC_IDEMPOTENT);
        v->next = again ? TC_NEXT_AGAIN : TC_NEXT_FAIL;
        v->reason = f->error;
    }
}
