/* SPDX-License-Identifier: MIT
 * Chat operations for the program: its hello describes a chat service, in which the host shows
 * turns (turncast/chat.h); the program performs each operation and reports the result. */
#include <stdlib.h>

#include "exec_chat.h"

static const char *const results[TC_RESULTS] = {
    [TC_RESULT_DONE] = "done",
    [TC_RESULT_NEXT_STEP] = "next_step",
    [TC_RESULT_NOT_FOUND] = "not_found",
    [TC_RESULT_IN_DOUBT] = "in_doubt",
    [TC_RESULT_RETRY] = "retry",
    [TC_RESULT_BAD_FORMAT] = "bad_format",
    [TC_RESULT_TOO_LONG] = "too_long",
    [TC_RESULT_EMPTY] = "empty",
    [TC_RESULT_REPLY_GONE] = "reply_gone",
    [TC_RESULT_THREAD_GONE] = "thread_gone",
    [TC_RESULT_MESSAGE_GONE] = "message_gone",
    [TC_RESULT_CHAT_MOVED] = "chat_moved",
    [TC_RESULT_CHAT_GONE] = "chat_gone",
    [TC_RESULT_UNSUPPORTED] = "unsupported",
    [TC_RESULT_UNAUTHORIZED] = "unauthorized",
    [TC_RESULT_REFUSED] = "refused",
    [TC_RESULT_STOPPED] = "stopped",
    [TC_RESULT_STREAM_OVER] = "stream_over",
};
static const char *const scopes[] = {"lane", "rates", "instance"};

/* ---- operations ---- */

void exec_chat_perform(struct exec *e, struct tc_turn *turn, const struct tc_reply *reply)
{
    if (!e->hello.is_known) { /* the program is being restarted */
        tc_complete(turn, reply->number,
                    TC_COMPLETION(.outcome = TC_NOT_SENT, .error = "the program does not run"));
        return;
    }
    struct exec_op *const op = calloc(1, sizeof *op);
    json_t *const m = json_loadb(reply->http->body, reply->http->body_len, 0, NULL);
    if (!op || !m) {
        free(op);
        json_decref(m);
        return; /* the attempt ends with its time limit */
    }
    *op = (struct exec_op){.number = reply->number, .turn = turn};
    LIST_INSERT_HEAD(&e->ops, op, next);
    json_object_set_new(m, "tc", json_string("op"));
    json_object_set_new(m, "n", json_integer((json_int_t)reply->number));
    json_object_set_new(m, "attempt", json_integer(reply->attempts));
    exec_message_json(e, m);
}

int exec_chat_ready(struct tc_turn *lobby, const struct tc_result *identity)
{
    struct exec *const e = lobby->inst->state;
    exec_message_json(e, json_pack("{s:s, s:s?, s:s?}", "tc", "ready", "id", identity->message,
                                   "name", identity->name));
    return 0;
}

/* ---- results ---- */

static void end_op(struct exec_op *op, const struct tc_completion *completion)
{
    tc_complete(op->turn, op->number, completion);
    LIST_REMOVE(op, next);
    free(op);
}

/* The program has exited: each of its operations may have been performed. */
void exec_chat_abandon(struct exec *e)
{
    while (!LIST_EMPTY(&e->ops))
        end_op(LIST_FIRST(&e->ops),
               TC_COMPLETION(.outcome = TC_AMBIGUOUS, .error = "the program has ended"));
}

/* NULL, or the error. */
static const char *check_result(const struct exec *e, const json_t *m)
{
    const char *const path = tc_member_text(m, "path");
    if (!tc_member_text(m, "status") ||
        exec_member_word(m, "status", results, EXEC_COUNT(results), -1) < 0)
        return "status is not one of the words for results";
    if (exec_member_word(m, "scope", scopes, EXEC_COUNT(scopes), 0) < 0)
        return "scope must be lane, rates or instance";
    return path && !exec_chat_find_file(e, path)
               ? "path must be a file in the directory of the program"
               : NULL;
}

const char *exec_chat_handle_result(struct exec *e, const json_t *m)
{
    const uint64_t number = (uint64_t)tc_member_number(m, "n");
    struct exec_op *op;
    LIST_FOREACH (op, &e->ops, next)
        if (op->number == number)
            break;
    if (!op)
        return NULL; /* too late */
    const char *const why = check_result(e, m);
    if (why)
        return why;
    e->program.has_progressed = true;
    char *const body = json_dumps(m, JSON_COMPACT);
    end_op(op, TC_COMPLETION(.outcome = TC_OK, .status = 200, .body = body));
    free(body);
    return NULL;
}

/* A member of the result, valid until the callback ends; or NULL. */
static const char *copy_member(struct tc_turn *turn, const json_t *m, const char *key)
{
    const char *const text = tc_member_text(m, key);
    return text ? tc_sprint(turn, "%s", text) : NULL;
}

int exec_chat_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                   struct tc_result *result)
{
    (void)op;
    if (reply->outcome != TC_OK)
        return 0;
    json_t *const m = json_loadb(reply->body, reply->body_len, 0, NULL);
    const int kind =
        exec_member_word(m, "status", results, EXEC_COUNT(results), TC_RESULT_IN_DOUBT);
    const int scope = exec_member_word(m, "scope", scopes, EXEC_COUNT(scopes), TC_HOLD_LANE);
    const char *const path = tc_member_text(m, "path");
    result->kind = kind < 0 ? TC_RESULT_IN_DOUBT : (enum tc_result_kind)kind;
    result->scope = scope < 0 ? TC_HOLD_LANE : (enum tc_scope)scope;
    result->hold_ms = tc_member_number(m, "hold_ms");
    result->message = copy_member(turn, m, "message");
    result->name = copy_member(turn, m, "name");
    result->chat = copy_member(turn, m, "chat");
    result->cursor = copy_member(turn, m, "cursor");
    result->reason = tc_member_text(m, "reason") ? copy_member(turn, m, "reason") : "";
    result->path = path ? exec_chat_find_file(turn->inst->state, path) : NULL;
    json_decref(m);
    return 0;
}
