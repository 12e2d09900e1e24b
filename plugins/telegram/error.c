/* SPDX-License-Identifier: MIT
 * Owns what the service's refusals mean. It has no codes, only descriptions. */
#include <stdio.h>
#include <string.h>

#include "telegram.h"

#define FLOOD_MAX_S 100000 /* a penalty of a day is the longest that was seen */

/* The first that occurs decides. */
static const struct {
    const char *says;
    enum refusal is;
} table[] = {
    {"message is not modified", REFUSED_SAME},
    {"message to edit not found", REFUSED_MESSAGE},
    {"message can't be edited", REFUSED_MESSAGE},
    {"message to delete not found", REFUSED_MESSAGE},
    {"message can't be deleted", REFUSED_MESSAGE},
    {"MESSAGE_ID_INVALID", REFUSED_MESSAGE},
    {"can't parse entities", REFUSED_ENTITIES},
    {"an't parse MessageEntity", REFUSED_ENTITIES},
    {"an't parse entity", REFUSED_ENTITIES},
    {"Entity ", REFUSED_ENTITIES},
    {"entity ", REFUSED_ENTITIES},
    {"message is too long", REFUSED_LONG},
    {"ext is too long", REFUSED_LONG},
    {"MESSAGE_TOO_LONG", REFUSED_LONG},
    {"caption is too long", REFUSED_LONG},
    {"message text is empty", REFUSED_EMPTY},
    {"text must be non-empty", REFUSED_EMPTY},
    {"message thread not found", REFUSED_THREAD},
    {"TOPIC_CLOSED", REFUSED_THREAD},
    {"TOPIC_DELETED", REFUSED_THREAD},
    {"message to be replied not found", REFUSED_REPLY},
    {"message to reply not found", REFUSED_REPLY},
    {"group chat was upgraded to a supergroup", REFUSED_MOVED},
    {"chat not found", REFUSED_CHAT},
    {"PEER_ID_INVALID", REFUSED_CHAT},
    {"bot was blocked by the user", REFUSED_CHAT},
    {"user is deactivated", REFUSED_CHAT},
    {"bot was kicked", REFUSED_CHAT},
    {"bot is not a member", REFUSED_CHAT},
    {"bot can't initiate conversation", REFUSED_CHAT},
    {"not enough rights", REFUSED_CHAT},
    {"CHAT_WRITE_FORBIDDEN", REFUSED_CHAT},
    {"CHAT_SEND_PLAIN_FORBIDDEN", REFUSED_CHAT},
    {"have no rights to send", REFUSED_CHAT},
    {"group chat was deleted", REFUSED_CHAT},
};

static enum refusal by_description(const char *description)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(description, table[i].says))
            return table[i].is;
    return REFUSED;
}

static enum refusal classify(const struct answer *a, int status)
{
    if (status == 429)
        return REFUSED_FLOOD;
    if (a->moved_to)
        return REFUSED_MOVED;
    if (status == 413)
        return REFUSED_LONG;
    const enum refusal said = by_description(a->description);
    if (said != REFUSED)
        return said;
    if (status == 401)
        return REFUSED_TOKEN;
    if (status == 404)
        return REFUSED_METHOD;
    return status == 403 ? REFUSED_CHAT : REFUSED;
}

struct answer answer_read(const struct tc_reply *reply)
{
    struct answer a = {.body = json_loadb(reply->body, reply->body_len, 0, NULL),
                       .description = "",
                       .status = reply->status};
    const json_t *const parameters = json_object_get(a.body, "parameters");
    const char *const description = call_str(a.body, "description");
    const double retry = json_number_value(json_object_get(parameters, "retry_after"));
    if (description)
        a.description = description;
    a.result = json_object_get(a.body, "result");
    /* A proxy or a captive portal answers 200, too. */
    a.done = reply->outcome == TC_OK && json_is_true(json_object_get(a.body, "ok"));
    a.in_doubt = reply->outcome == TC_AMBIGUOUS || (reply->outcome == TC_OK && !a.done);
    if (retry > 0)
        a.retry_ms = (int64_t)((retry < FLOOD_MAX_S ? retry : FLOOD_MAX_S) * 1000);
    a.moved_to = call_int(parameters, "migrate_to_chat_id");
    if (reply->outcome == TC_REJECTED)
        a.refusal = classify(&a, reply->status);
    return a;
}

void answer_free(struct answer *a)
{
    json_decref(a->body);
    *a = (struct answer){0};
}

/* A bad token is logged once; then the instance is silent. */
static void die(struct tc_turn *turn, const struct answer *a)
{
    struct telegram *const s = state_of(turn);
    if (!s->dead && a->status == 404)
        tc_log(turn->inst, TC_ERR,
               "the server returned 404 (%s): token or api_base is wrong; polling and sending "
               "stopped; "
               "fix it and restart the instance",
               *a->description ? a->description : "not a Bot API server");
    else if (!s->dead)
        tc_log(turn->inst, TC_ERR,
               "Telegram rejected the bot token (%s); polling and sending stopped; fix token and "
               "restart the instance",
               a->description);
    s->dead = true;
    snprintf(s->refusal, sizeof s->refusal, "token rejected by the service (%.100s)",
             *a->description ? a->description : "no reason given");
}

bool answer_rule(struct tc_turn *turn, const struct answer *a, struct tc_verdict *v)
{
    if (a->refusal == REFUSED_TOKEN) {
        die(turn, a);
        *v = (struct tc_verdict){
            .next = TC_NEXT_FAIL, .scope = TC_HOLD_INSTANCE, .reason = state_of(turn)->refusal};
        return true;
    }
    if (a->refusal != REFUSED_FLOOD)
        return false;
    v->next = TC_NEXT_AGAIN;
    if (a->retry_ms)
        v->hold_ms = a->retry_ms;
    return true;
}
