/* SPDX-License-Identifier: MIT
 * The connector matrix: its options, its table for the chat engine of the host, and the
 * interpretation of a homeserver's replies. */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

static const struct tc_option options[] = {
    TC_OPTION(struct matrix_conf, homeserver, NULL, TC_REQUIRED, "base URL of the homeserver"),
    TC_OPTION(struct matrix_conf, token, NULL, TC_SECRET | TC_REQUIRED,
              "access token of the bot's account"),
    TC_OPTION(struct matrix_conf, user, NULL, TC_REQUIRED,
              "user ID of that account, such as @bot:example.org"),
    TC_OPTION(struct matrix_conf, room, NULL, 0, "room ID for turns that did not start in Matrix"),
    TC_OPTION(struct matrix_conf, invites, "allowed", 0,
              "invites to accept: allowed (from people in allow), all or none"),
    TC_OPTION(struct matrix_conf, limited, "true", 0,
              "keep to the default message limit of Synapse: 10 at once, then one per 5 s"),
    TC_OPTION(struct matrix_conf, file_bytes, "20971520", 0,
              "largest file of a person that is downloaded, in bytes"),
    /* The common option with another default, because clients show deleted messages. */
    TC_OPTION(struct matrix_conf, after, "summary", 0,
              "progress message after the answer: keep, summary or delete"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "token", .kind = TC_RULE_GRANTS, .text = "submit cancel answer"},
    {.key = "homeserver", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "invites", .kind = TC_RULE_ONE_OF, .text = "allowed all none"},
    {.key = "file_bytes", .kind = TC_RULE_SIZE, .text = "B"},
    {.key = "file_bytes", .kind = TC_RULE_RANGE, .min = 0, .max = (int64_t)1 << 30},
    {0},
};

/* A homeserver's rate limit counts the events of the account in all rooms: MATRIX_RATE_… */
static const struct tc_rate rates[] = {
    {.count = 1, .burst = 10, .interval_ms = 5000},
    {.count = 10, .burst = 10, .interval_ms = 1000},
    {0},
};

static const struct tc_error_rule errors[] = {
    {429, NULL, TC_RESULT_RETRY},
    {0, "M_LIMIT_EXCEEDED", TC_RESULT_RETRY},
    {0, "M_DUPLICATE_ANNOTATION", TC_RESULT_DONE},
    {0, "M_TOO_LARGE", TC_RESULT_TOO_LONG},
    {0, "M_UNKNOWN_TOKEN", TC_RESULT_UNAUTHORIZED},
    {0, "M_MISSING_TOKEN", TC_RESULT_UNAUTHORIZED},
    {0, "M_USER_", TC_RESULT_UNAUTHORIZED}, /* _DEACTIVATED, _LOCKED, _SUSPENDED */
    {0, "M_FORBIDDEN", TC_RESULT_CHAT_GONE},
    {0, "M_NOT_FOUND", TC_RESULT_MESSAGE_GONE},
    {0, "M_UNRECOGNIZED", TC_RESULT_UNSUPPORTED},
    {0, NULL, TC_RESULT_DONE},
};

/* ---- replies ---- */

/* A member of the body, which may be the page of a proxy: NULL then. */
static const char *read_member(struct tc_turn *turn, const struct tc_reply *reply, const char *name)
{
    json_t *const body = json_loadb(reply->body, reply->body_len, 0, NULL);
    const char *const text = tc_member_text(body, name);
    const char *const copy = text ? tc_sprint(turn, "%s", text) : NULL;
    json_decref(body);
    return copy;
}

/* Error texts: a homeserver has no error code for refused relations. */
static void read_refusal(const struct tc_op *op, struct tc_result *result)
{
    const bool posts = op->kind == TC_OP_POST || op->kind == TC_OP_FILE;
    if (result->kind == TC_RESULT_REFUSED && strstr(result->reason, "relation"))
        result->kind = posts ? TC_RESULT_THREAD_GONE : TC_RESULT_MESSAGE_GONE;
}

static void next_step(struct tc_turn *turn, struct tc_result *result, const char *cursor)
{
    result->kind = TC_RESULT_NEXT_STEP;
    result->cursor = tc_sprint(turn, "%s", cursor);
}

/* Result of the first step of an edit or a file. */
static void read_step(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                      struct tc_result *result)
{
    if (reply->outcome != TC_OK)
        return;
    const char *const url = read_member(turn, reply, "content_uri");
    if (op->kind == TC_OP_FILE && url)
        next_step(turn, result, url);
    else if (op->kind != TC_OP_EDIT || result->kind != TC_RESULT_DONE)
        return;
    else if (tc_json_get(turn, reply->body, "/unsigned/redacted_because"))
        result->kind = TC_RESULT_MESSAGE_GONE;
    else
        next_step(turn, result, "");
}

/* With a token of another account, the bot would not recognise its own messages. */
static void read_identity(struct tc_turn *turn, const struct tc_reply *reply,
                          struct tc_result *result)
{
    const struct matrix_conf *const conf = turn->inst->conf;
    const char *const user = read_member(turn, reply, "user_id");
    result->message = user;
    if (result->kind != TC_RESULT_DONE || (user && strcmp(user, conf->user) == 0))
        return;
    result->kind = TC_RESULT_UNAUTHORIZED;
    result->reason = tc_sprint(turn, "the token belongs to %s, not to user = \"%s\"",
                               user ? user : "another account", conf->user);
}

static int read_reply(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                      struct tc_result *result)
{
    if (result->kind == TC_RESULT_RETRY && reply->status == 429)
        result->scope = TC_HOLD_RATES; /* the account has reached its limit */
    if (reply->outcome == TC_REJECTED && result->reason)
        read_refusal(op, result);
    if (op->kind == TC_OP_IDENTIFY)
        read_identity(turn, reply, result);
    else if (op->kind == TC_OP_POLL)
        matrix_sync_read(turn, op, reply, result);
    else if (op->step == 0 && (op->kind == TC_OP_EDIT || op->kind == TC_OP_FILE))
        read_step(turn, op, reply, result);
    return 0;
}

/* ---- table ---- */

static int init(struct tc_instance *inst)
{
    return matrix_room_load(inst);
}

static void teardown(struct tc_instance *inst)
{
    struct matrix *const s = inst->state;
    json_decref(s->rooms);
}

/* An event has 64 KiB and contains the text twice, with and without formatting; an edit contains it
 * once more. */
static const struct tc_chat chat = {
    .size = sizeof chat,
    .can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | TC_CAN(TC_OP_EDIT) | TC_CAN(TC_OP_DELETE) |
           TC_CAN(TC_OP_FILE) | TC_CAN(TC_OP_REACT) | TC_CAN(TC_OP_TYPING) | TC_CAN(TC_OP_POLL) |
           TC_CAN(TC_OP_FETCH),
    .text = {[TC_ROLE_LIVE] = {.form = TC_HTML, .bytes = 8000},
             [TC_ROLE_ANSWER] = {.form = TC_HTML, .bytes = 16000},
             [TC_ROLE_CARD] = {.form = TC_HTML, .bytes = 16000},
             [TC_ROLE_REPLY] = {.form = TC_HTML, .bytes = 8000}},
    .edit_ms = 3000,
    .edit_count = 8,
    .typing_ms = 25000,
    .idempotency = TC_IDEMPOTENCY_KEY,
    .input = TC_INPUT_REACTIONS,
    .rates = MATRIX_RATE_LIMITED,
    .rates_group = MATRIX_RATE_LIMITED,
    .reply = {.error = "/errcode",
              .message = "/event_id",
              .retry_ms = "/retry_after_ms",
              .rules = errors},
    .error_words = "/error",
    .colon_ids = true,
    .command = "!", /* clients intercept messages that begin with / */
    .chat_option = "room",
    .poll_ms = 30000,
    .request = matrix_request,
    .read = read_reply,
};

TURNCAST_PLUGIN(.name = "matrix", .version = "0.1.0", .summary = "conversations in Matrix rooms",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct matrix_conf),
                .state_size = sizeof(struct matrix), .options = options, .rules = rules,
                .probe = TC_PROBE(.url = MATRIX_CLIENT "/account/whoami", .headers = matrix_bearer,
                                  .header_count = 1, .account = "/user_id", .reason = "/error"),
                .init = init, .teardown = teardown, .rates = rates,
                .sink = TC_SINK(.on_reply = matrix_room_on_reply), .chat = &chat);
