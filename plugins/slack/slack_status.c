/* SPDX-License-Identifier: MIT
 * Running state of a turn outside of messages: the status of an agent's session, or of an
 * assistant's thread, or a reaction to the question. The first way that Slack permits to this app
 * is used for all turns. */
#include <inttypes.h>
#include <string.h>

#include "slack_operation.h"

#define ELAPSED_FROM_MS 30000

static bool waits(const struct tc_op *op)
{
    return op->view && op->view->phase == TC_PHASE_WAITING;
}

static json_t *session_body(const struct tc_op *op)
{
    const struct tc_target *const to = op->target;
    return json_pack("{s:s, s:s, s:s, s:s*}", "channel_id", to->chat, "thread_ts", to->thread,
                     "status",
                     op->off     ? "active"
                     : waits(op) ? "suspended"
                                 : "processing",
                     "initiator_user_id", to->user);
}

static const char *thread_words(struct tc_turn *turn, const struct tc_op *op)
{
    const int64_t ms = op->view ? op->view->elapsed_ms : 0, s = ms / 1000;
    if (op->off)
        return "";
    if (waits(op))
        return tc_say(turn, "is waiting for an answer…", NULL);
    const char *const working = tc_say(turn, "is working…", NULL);
    if (ms < ELAPSED_FROM_MS)
        return working;
    return s < 60 ? tc_sprint(turn, "%s (%" PRId64 "s)", working, s)
                  : tc_sprint(turn, "%s (%" PRId64 "m%02" PRId64 "s)", working, s / 60, s % 60);
}

static json_t *thread_body(struct tc_turn *turn, const struct tc_op *op)
{
    return json_pack("{s:s, s:s, s:s}", "channel_id", op->target->chat, "thread_ts",
                     op->target->thread, "status", thread_words(turn, op));
}

static json_t *reaction_body(const struct tc_op *op)
{
    return json_pack("{s:s, s:s, s:s}", "channel", op->target->chat, "timestamp",
                     op->target->message, "name", "hourglass_flowing_sand");
}

int slack_status_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const enum slack_status_way way = state_of(turn)->status_way;
    if (!op->target->thread || (way == SLACK_STATUS_REACTION && !op->target->message))
        return -1;
    if (way == SLACK_STATUS_SESSION)
        return slack_call(turn, SET_SESSION_STATUS, session_body(op), http);
    if (way == SLACK_STATUS_THREAD)
        return slack_call(turn, SET_THREAD_STATUS, thread_body(turn, op), http);
    return slack_call(turn, op->off ? REMOVE_REACTION : ADD_REACTION, reaction_body(op), http);
}

/* The way that a request used, which others may have left meanwhile. */
static enum slack_status_way way_of(const struct tc_http *http)
{
    if (strstr(http->url, "agents.sessions"))
        return SLACK_STATUS_SESSION;
    return strstr(http->url, "assistant.threads") ? SLACK_STATUS_THREAD : SLACK_STATUS_REACTION;
}

static bool is_refusal(enum tc_result_kind kind)
{
    return kind != TC_RESULT_DONE && kind != TC_RESULT_IN_DOUBT && kind != TC_RESULT_RETRY &&
           kind != TC_RESULT_UNAUTHORIZED;
}

/* As long as no way has worked, a refusal applies to the app, not to one thread. */
void slack_status_read(struct tc_turn *turn, const struct tc_reply *reply, struct tc_result *result)
{
    struct slack *const s = state_of(turn);
    const bool current = way_of(reply->http) == s->status_way;
    s->status_proven |= current && result->kind == TC_RESULT_DONE;
    if (!is_refusal(result->kind) || (current && s->status_way == SLACK_STATUS_REACTION))
        return;
    if (current && s->status_proven) {
        result->kind = TC_RESULT_REFUSED; /* refused for this thread */
        return;
    }
    if (current) {
        s->status_way++;
        tc_log(turn->inst, TC_INFO, "cannot show the thread status: %s; using a fallback",
               result->reason ? result->reason : "no reason given");
    }
    result->kind = TC_RESULT_NEXT_STEP;
    result->cursor = NULL;
}
