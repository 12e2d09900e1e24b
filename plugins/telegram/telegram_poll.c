/* SPDX-License-Identifier: MIT
 * Receives updates: polling, conflicts, and the webhook. An update is confirmed only when its
 * message is on disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "telegram.h"

#define POLL_S 50
#define CONFLICT_MS 5000
#define CONFLICT_MAX_MS 60000

/* ---- identification ---- */

/* The service answers both a malformed token and a wrong api_base with 404. */
static void read_identity(struct tc_turn *turn, const struct tc_reply *reply,
                          struct tc_result *result)
{
    const bool refused = reply->outcome == TC_REJECTED && result->kind != TC_RESULT_RETRY;
    if (refused) {
        result->kind = TC_RESULT_UNAUTHORIZED;
        if (reply->status == 404)
            result->reason = "404: token or api_base is wrong";
    }
    if (result->kind != TC_RESULT_DONE)
        return;
    result->message = tc_json_get(turn, reply->body, "/result/id");
    result->name = tc_json_get(turn, reply->body, "/result/username");
    if (!result->message || !result->name) {
        result->kind = TC_RESULT_RETRY;
        result->reason = "the response is not from a Bot API server";
    }
}

/* All parameters are in the URL, because the host inserts secrets only there. */
static void set_webhook(struct tc_turn *lobby)
{
    const char *const url = tc_quote(lobby, conf_of(lobby)->webhook);
    telegram_call(lobby,
                  tc_sprint(lobby,
                            "setWebhook?url=%s&secret_token={option:webhook_secret}"
                            "&allowed_updates=%%5B%%22message%%22%%2C%%22callback_query%%22%%5D",
                            url),
                  NULL);
}

int telegram_ready(struct tc_turn *lobby, const struct tc_result *identity)
{
    struct telegram *const s = state_of(lobby);
    if (!s->username || strcmp(s->username, identity->name) != 0)
        s->username = tc_keep(lobby, identity->name);
    s->self = strtoll(identity->message, NULL, 10);
    s->heard = true;
    if (conf_of(lobby)->webhook)
        set_webhook(lobby);
    return conf_of(lobby)->webhook != NULL;
}

/* ---- polling ---- */

/* The stored position is BOT:OFFSET; all earlier updates are on disk. Each bot has its own update
 * ids, so the position of another bot does not count. 0: no position; Telegram sends all updates
 * that are not confirmed. */
static int64_t offset_of(const struct tc_turn *lobby, const struct tc_op *op)
{
    char *end;
    if (!op->cursor || strtoll(op->cursor, &end, 10) != state_of(lobby)->self || *end != ':')
        return 0;
    return strtoll(end + 1, NULL, 10);
}

/* After a failure, the poll returns at once, so that its response shows that Telegram is available
 * again. */
json_t *telegram_poll_body(struct tc_turn *lobby, const struct tc_op *op)
{
    struct telegram *const s = state_of(lobby);
    json_t *const body = json_pack("{s:i, s:[s, s]}", "timeout", s->heard ? POLL_S : 0,
                                   "allowed_updates", "message", "callback_query");
    const int64_t offset = offset_of(lobby, op);
    s->heard = false;
    if (offset)
        json_object_set_new(body, "offset", json_integer(offset));
    return body;
}

/* Processes the updates in order. If one cannot be stored, it and the following ones are delivered
 * again. An id below the offset shows that Telegram has restarted its numbers, which happens after
 * a week without updates, and with another api_base. It may also be a repeated update; the host
 * recognises its message by chat and message id. Returns the next offset. */
static int64_t telegram_poll_handle_each(struct tc_turn *lobby, const json_t *updates,
                                         int64_t offset)
{
    size_t i;
    json_t *update;
    json_array_foreach(updates, i, update)
    {
        const int64_t id = tc_member_number(update, "update_id");
        if (id <= 0)
            continue;
        if (!update_handle(lobby, update))
            break;
        if (id < offset)
            tc_log(lobby->inst, TC_INFO,
                   "the update ids continue at %" PRId64 " instead of %" PRId64, id, offset);
        offset = id + 1;
    }
    return offset;
}

static void telegram_poll_handle_updates(struct tc_turn *lobby, const struct tc_op *op,
                                         const struct tc_reply *reply, struct tc_result *result)
{
    struct telegram *const s = state_of(lobby);
    json_t *const body = json_loadb(reply->body, reply->body_len, 0, NULL);
    const json_t *const updates = json_object_get(body, "result");
    const int64_t offset = telegram_poll_handle_each(lobby, updates, offset_of(lobby, op));
    s->heard = json_is_array(updates);
    if (!s->heard)
        result->kind = TC_RESULT_RETRY;
    if (s->heard && s->conflicts > 0)
        tc_log(lobby->inst, TC_INFO, "receiving updates again");
    if (s->heard)
        s->conflicts = 0;
    result->cursor = offset ? tc_sprint(lobby, "%" PRId64 ":%" PRId64, s->self, offset) : NULL;
    json_decref(body);
}

static void remove_webhook(struct tc_turn *lobby)
{
    state_of(lobby)->unhooked = true;
    tc_log(lobby->inst, TC_WARN,
           "removed the bot's webhook because this instance uses polling (option webhook is not "
           "set)");
    telegram_call(lobby, "deleteWebhook", json_pack("{s:b}", "drop_pending_updates", 0));
}

/* The updates go elsewhere: to a webhook, or to a process with the same token. */
static void telegram_poll_handle_conflict(struct tc_turn *lobby, struct tc_result *result)
{
    struct telegram *const s = state_of(lobby);
    const char *const reason = result->reason ? result->reason : "";
    result->kind = TC_RESULT_RETRY;
    result->hold_ms = CONFLICT_MS;
    if (strstr(reason, "webhook is active") && !s->unhooked) {
        remove_webhook(lobby);
        result->hold_ms = 1000;
        return;
    }
    if (s->conflicts++ == 0)
        tc_log(lobby->inst, TC_WARN,
               "another process is polling with the same bot token (%s); stop it; retrying",
               reason);
    for (unsigned i = 1; i < s->conflicts && result->hold_ms < CONFLICT_MAX_MS; i++)
        result->hold_ms *= 2;
    if (result->hold_ms > CONFLICT_MAX_MS)
        result->hold_ms = CONFLICT_MAX_MS;
}

int telegram_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                  struct tc_result *result)
{
    if (op->kind == TC_OP_IDENTIFY)
        read_identity(turn, reply, result);
    else if (op->kind == TC_OP_POLL && reply->status == 409)
        telegram_poll_handle_conflict(turn, result);
    else if (op->kind == TC_OP_POLL && result->kind == TC_RESULT_DONE)
        telegram_poll_handle_updates(turn, op, reply, result);
    else if (op->kind == TC_OP_POLL && reply->status == 404)
        result->kind = TC_RESULT_UNAUTHORIZED;
    else if (op->kind == TC_OP_FETCH && op->step == 0 && result->kind == TC_RESULT_DONE)
        file_read_place(turn, reply, result);
    return 0;
}

/* ---- webhook ---- */

int telegram_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    if (!tc_same(lobby, tc_header_value(lobby, hit, "X-Telegram-Bot-Api-Secret-Token"),
                 conf_of(lobby)->webhook_secret)) {
        answer->status = 401;
        return 0;
    }
    json_t *const update = json_loadb(hit->body, hit->body_len, 0, NULL);
    answer->status = !update                        ? 400
                     : !state_of(lobby)->username   ? 503
                     : update_handle(lobby, update) ? 200
                                                    : 500;
    json_decref(update);
    return 0;
}
