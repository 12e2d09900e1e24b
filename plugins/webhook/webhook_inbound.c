/* SPDX-License-Identifier: MIT
 * Signed requests of other programs: a message for the agent, a decision on a request of the agent,
 * or a wish to stop a turn. The id of a request is the id of its message, which is accepted once.
 */
#include <stdlib.h>
#include <string.h>

#include "webhook.h"

#include <turncast/json.h>

/* ---- responses ---- */

/* The form of all errors of the HTTP server. */
static void refuse(struct tc_turn *lobby, struct tc_answer *answer, int status, const char *code,
                   const char *message)
{
    const char *const type = status == 401   ? "authentication_error"
                             : status == 403 ? "permission_error"
                             : status == 429 ? "rate_limit_error"
                             : status >= 500 ? "server_error"
                                             : "invalid_request_error";
    answer->status = status;
    answer->content_type = "application/json";
    answer->body = tc_json(lobby, "{s:{s:s, s:s, s:n, s:s}}", "error", "message", message, "type",
                           type, "param", "code", code);
}

/* The host's result. */
static void respond(struct tc_turn *lobby, struct tc_answer *answer, enum tc_accepted how,
                    const struct tc_receipt *receipt)
{
    static const struct {
        int status;
        const char *state; /* code of an error */
        const char *message;
    } rows[] = {
        [TC_ACCEPTED] = {202, "accepted", NULL},
        [TC_QUEUED] = {202, "queued", NULL},
        [TC_GIVEN] = {202, "given", NULL},
        [TC_INTERRUPT] = {202, "interrupt", NULL},
        [TC_COMMAND] = {200, "done", NULL},
        [TC_KNOWN] = {200, "known", NULL},
        [TC_DENIED] = {403, "not_allowed", "the user is not in allow, or the grant is missing"},
        [TC_FULL] = {429, "queue_full", "too many messages are waiting"},
        [TC_NOT_KEPT] = {503, "not_kept", "the message could not be stored; send it again"},
        [TC_INVALID] = {400, "invalid_value", "a value is too long or not valid"},
    };
    const char *const text = receipt->answer;
    answer->status = rows[how].status;
    answer->content_type = "application/json";
    if (rows[how].status >= 400)
        refuse(lobby, answer, rows[how].status, rows[how].state, text ? text : rows[how].message);
    else
        answer->body = tc_json(lobby, "{s:s, s:s*, s:s*}", "state", rows[how].state, "turn",
                               receipt->turn, "text", text);
}

/* ---- actions ---- */

/* A conversation per user, unless the sender names one. */
static const char *body_conversation(const json_t *body)
{
    const char *const conversation = tc_member_text(body, "conversation");
    return conversation ? conversation : tc_member_text(body, "user");
}

static enum tc_accepted webhook_inbound_handle_decision(struct tc_turn *lobby, const json_t *body,
                                                        const json_t *decision,
                                                        struct tc_receipt *receipt)
{
    char *const answers = json_dumps(json_object_get(decision, "answers"), JSON_COMPACT);
    const enum tc_accepted how = tc_answer(
        lobby,
        TC_DECISION(.ticket = tc_member_text(decision, "ticket"),
                    .choice = tc_member_text(decision, "choice"),
                    .text = tc_member_text(decision, "text"), .answers = answers,
                    .user = tc_member_text(body, "user"), .name = tc_member_text(body, "name"),
                    .chat = body_conversation(body)),
        receipt);
    free(answers);
    return how;
}

static enum tc_accepted webhook_inbound_handle_message(struct tc_turn *lobby, const json_t *body,
                                                       const char *id, struct tc_receipt *receipt)
{
    char *const route = json_dumps(json_object_get(body, "route"), JSON_COMPACT | JSON_ENCODE_ANY);
    const enum tc_accepted how = tc_submit(
        lobby,
        TC_INBOUND(.id = id, .chat = body_conversation(body), .user = tc_member_text(body, "user"),
                   .name = tc_member_text(body, "name"), .text = tc_member_text(body, "text"),
                   .route = route),
        receipt);
    free(route);
    return how;
}

/* NULL, or the missing member of the body. */
static const char *body_check(const json_t *body)
{
    const json_t *const decision = json_object_get(body, "answer");
    if (!json_is_object(body))
        return "the body must be a JSON object";
    if (!tc_member_text(body, "user"))
        return "\"user\" must be a string";
    if (json_object_get(body, "conversation") && !tc_member_text(body, "conversation"))
        return "\"conversation\" must be a string";
    if (decision && (!tc_member_text(decision, "ticket") || !tc_member_text(decision, "choice")))
        return "\"answer\" must be an object with the strings \"ticket\" and \"choice\"";
    if (!decision && !tc_member_text(body, "cancel") && !tc_member_text(body, "text"))
        return "\"text\", \"answer\" or \"cancel\" is required";
    return NULL;
}

static void webhook_inbound_handle_body(struct tc_turn *lobby, const json_t *body, const char *id,
                                        struct tc_answer *answer)
{
    const json_t *const decision = json_object_get(body, "answer");
    const char *const cancel = tc_member_text(body, "cancel"), *const wrong = body_check(body);
    struct tc_receipt receipt = {0};
    if (wrong) {
        refuse(lobby, answer, 400, "invalid_body", wrong);
        return;
    }
    const enum tc_accepted how =
        decision ? webhook_inbound_handle_decision(lobby, body, decision, &receipt)
        : cancel ? tc_cancel(lobby, cancel, tc_member_text(body, "user"), &receipt)
                 : webhook_inbound_handle_message(lobby, body, id, &receipt);
    respond(lobby, answer, how, &receipt);
}

int webhook_inbound_handle(struct tc_turn *lobby, const struct tc_hit *hit,
                           struct tc_answer *answer)
{
    const struct webhook_conf *const conf = lobby->inst->conf;
    if (strcmp(hit->method, "POST") != 0) {
        refuse(lobby, answer, 405, "method_not_allowed", "method not allowed; allowed: POST");
        return 0;
    }
    const char *const wrong =
        tc_webhook_check(lobby, conf->inbound_secret ? conf->inbound_secret : conf->secret, hit);
    if (wrong) {
        refuse(lobby, answer, 401, "invalid_signature", wrong);
        return 0;
    }
    json_t *const body = json_loadb(hit->body, hit->body_len, 0, NULL);
    webhook_inbound_handle_body(lobby, body, tc_header_value(lobby, hit, "webhook-id"), answer);
    json_decref(body);
    return 0;
}
