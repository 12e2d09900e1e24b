/* SPDX-License-Identifier: MIT
 * Operations of the chat engine as methods of Slack's Web API: URL, token, rate limits, lane and
 * body. */
#include <stdlib.h>
#include <string.h>

#include "slack_operation.h"

enum rate {
    RATE_POST,
    RATE_UPDATE,
    RATE_START,
    RATE_STOP,
    RATE_APPEND,
    RATE_STATUS,
    RATE_ADD,
    RATE_REMOVE,
    RATE_TIER3,
    RATE_TIER4,
};

#define MINUTE 60000

/* The published limits: per method, workspace and app; messages once a second per channel. */
const struct tc_rate slack_rates[] = {
    [RATE_POST] = {1, 1, 1000, 1},
    [RATE_UPDATE] = {1, 1, 1200, 0},
    [RATE_START] = {20, 5, MINUTE, 0},
    [RATE_STOP] = {20, 5, MINUTE, 0},
    [RATE_APPEND] = {100, 10, MINUTE, 0},
    [RATE_STATUS] = {50, 10, MINUTE, 0},
    [RATE_ADD] = {50, 10, MINUTE, 0},
    [RATE_REMOVE] = {20, 5, MINUTE, 0},
    [RATE_TIER3] = {50, 10, MINUTE, 0},
    [RATE_TIER4] = {100, 10, MINUTE, 0},
    {0},
};

static const struct {
    const char *name;
    uint32_t rates;
} methods[] = {
    [AUTH_TEST] = {"auth.test", 0},
    [CONNECTIONS_OPEN] = {"apps.connections.open", 0},
    [POST_MESSAGE] = {"chat.postMessage", 1u << RATE_POST},
    [POST_EPHEMERAL] = {"chat.postEphemeral", 1u << RATE_TIER4},
    [UPDATE] = {"chat.update", 1u << RATE_UPDATE},
    [DELETE] = {"chat.delete", 1u << RATE_TIER3},
    [START_STREAM] = {"chat.startStream", 1u << RATE_START},
    [APPEND_STREAM] = {"chat.appendStream", 1u << RATE_APPEND},
    [STOP_STREAM] = {"chat.stopStream", 1u << RATE_STOP},
    [SET_SESSION_STATUS] = {"agents.sessions.setStatus", 1u << RATE_STATUS},
    [SET_THREAD_STATUS] = {"assistant.threads.setStatus", 1u << RATE_STATUS},
    [ADD_REACTION] = {"reactions.add", 1u << RATE_ADD},
    [REMOVE_REACTION] = {"reactions.remove", 1u << RATE_REMOVE},
    [REPLIES] = {"conversations.replies", 1u << RATE_TIER3},
    [HISTORY] = {"conversations.history", 1u << RATE_TIER3},
    [UPLOAD_URL] = {"files.getUploadURLExternal", 1u << RATE_TIER4},
    [UPLOAD_DONE] = {"files.completeUploadExternal", 1u << RATE_TIER4},
    [PUBLISH_VIEW] = {"views.publish", 1u << RATE_TIER4},
};

const char *slack_escape(struct tc_turn *turn, const char *plain, size_t bytes)
{
    size_t count = 0;
    const struct tc_piece *const pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = plain, .len = strlen(plain), .form = TC_MRKDWN,
                          .flags = TC_VERBATIM, .bytes = bytes),
                  &count);
    return pieces && count > 0 ? pieces[0].text : "";
}

int slack_call(struct tc_turn *turn, enum slack_method method, json_t *body, struct tc_http *http)
{
    static const struct tc_header bot[] = {{"Authorization", "Bearer {option:bot_token}"}};
    static const struct tc_header app[] = {{"Authorization", "Bearer {option:app_token}"}};
    http->url = tc_sprint(turn, "{option:api_base}/%s", methods[method].name);
    http->headers = method == CONNECTIONS_OPEN ? app : bot;
    http->header_count = 1;
    http->rates = http->lane ? methods[method].rates : 0;
    http->body = tc_json(turn, "o", body);
    return http->url && http->body ? 0 : -1;
}

int slack_get(struct tc_turn *turn, enum slack_method method, const char *query,
              struct tc_http *http)
{
    const int rc = slack_call(turn, method, json_object(), http);
    http->method = "GET";
    http->body = NULL;
    http->url = tc_sprint(turn, "%s?%s", http->url, query);
    return rc == 0 && http->url ? 0 : -1;
}

/* ---- operations ---- */

/* The host's reply to a slash command, which is no message in the channel. */
static bool is_reply_to_command(const struct tc_op *op)
{
    return op->role == TC_ROLE_REPLY && !op->target->message && !op->target->thread &&
           op->target->user;
}

static int post_ephemeral(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const struct tc_target *const to = op->target;
    json_t *const body =
        json_pack("{s:s, s:s, s:s, s:s*}", "channel", to->chat, "user", to->user, "text",
                  slack_escape(turn, op->plain, 0), "thread_ts", to->thread);
    return slack_call(turn, POST_EPHEMERAL, body, http);
}

static int post(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (is_reply_to_command(op))
        return post_ephemeral(turn, op, http);
    json_t *const body = slack_message(turn, op);
    json_object_set_new(body, "metadata", slack_mark(op));
    json_object_set_new(body, "unfurl_links", json_false());
    json_object_set_new(body, "unfurl_media", json_false());
    if (op->target->thread && !(op->omit & TC_OMIT_THREAD))
        json_object_set_new(body, "thread_ts", json_string(op->target->thread));
    return slack_call(turn, POST_MESSAGE, body, http);
}

static int edit(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    json_t *const body = slack_message(turn, op);
    json_object_set_new(body, "ts", json_string(op->message));
    if (op->role == TC_ROLE_ANSWER) /* the message was a progress message */
        json_object_set_new(body, "metadata", slack_mark(op));
    return slack_call(turn, UPDATE, body, http);
}

static int delete (struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    return slack_call(turn, DELETE,
                      json_pack("{s:s, s:s}", "channel", op->target->chat, "ts", op->message),
                      http);
}

static int react(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    static const char *const names[] = {
        [TC_REACTION_SEEN] = "eyes",     [TC_REACTION_QUEUED] = "writing_hand",
        [TC_REACTION_TAKEN] = "ok_hand", [TC_REACTION_ALLOW] = "white_check_mark",
        [TC_REACTION_DENY] = "x",        [TC_REACTION_GIVEN] = "technologist",
        [TC_REACTION_INTERRUPT] = "zap",
    };
    if ((size_t)op->reaction >= sizeof names / sizeof *names)
        return -1;
    return slack_call(turn, ADD_REACTION,
                      json_pack("{s:s, s:s, s:s}", "channel", op->target->chat, "timestamp",
                                op->message, "name", names[op->reaction]),
                      http);
}

static int publish(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (!op->target || !op->target->user)
        return -1;
    return slack_call(
        turn, PUBLISH_VIEW,
        json_pack("{s:s, s:o}", "user_id", op->target->user, "view", slack_home(turn, op)), http);
}

/* In Slack, people follow threads; therefore each thread has its own lane and rate limit. */
static const char *lane_of(struct tc_turn *turn, const struct tc_op *op, const char *lane)
{
    const char *const thread = op->target ? op->target->thread : NULL;
    return lane ? tc_sprint(turn, "%s:%s", lane, thread ? thread : "") : NULL;
}

int slack_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    http->lane = lane_of(turn, op, http->lane);
    switch ((int)op->kind) {
    case TC_OP_IDENTIFY:
        return slack_call(turn, AUTH_TEST, json_object(), http);
    case TC_OP_POST:
        return post(turn, op, http);
    case TC_OP_EDIT:
        return edit(turn, op, http);
    case TC_OP_DELETE:
        return delete (turn, op, http);
    case TC_OP_FILE:
        return slack_file_request(turn, op, http);
    case TC_OP_TYPING:
        return slack_status_request(turn, op, http);
    case TC_OP_REACT:
        return react(turn, op, http);
    case TC_OP_PRIVATE: /* a text that everybody sees is not sent privately, too */
        return op->silent || !op->target->user ? -1 : post_ephemeral(turn, op, http);
    case TC_OP_LOOKUP:
        return slack_lookup_request(turn, op, http);
    case TC_OP_FETCH:
        return slack_fetch_request(turn, op, http);
    case TC_OP_MENU:
        return publish(turn, op, http);
    case TC_OP_STREAM_BEGIN:
    case TC_OP_STREAM_APPEND:
    case TC_OP_STREAM_END:
        return slack_stream_request(turn, op, http);
    default:
        return -1;
    }
}
