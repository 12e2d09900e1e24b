/* SPDX-License-Identifier: MIT
 * Classifies replies by the connector's reply map and error rules. */
#include "chat/operation/chat_result.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "event/json/json_reader.h"

#define HOLD_MAX_MS ((int64_t)86400 * 1000) /* the longest that a service is believed */

/* ---- members of the reply ---- */

static const char *member(const struct tc_reply *reply, const char *pointer, struct arena *arena)
{
    if (!pointer)
        return NULL;
    const struct str value =
        json_reader_pointer((struct str){reply->body, reply->body_len}, pointer);
    struct json j;
    struct str raw;
    if (!value.p)
        return NULL;
    json_init(&j, value.p, value.len);
    if (json_reader_read_string(&j, &raw))
        return json_reader_unescape(arena, raw, NULL);
    return json_reader_compact_dup(arena, value, NULL);
}

static int64_t hold_of(const struct tc_reply_map *map, const struct tc_reply *reply,
                       struct arena *arena)
{
    const char *const s = member(reply, map->retry_s, arena);
    const char *const ms = member(reply, map->retry_ms, arena);
    const double wait = s ? strtod(s, NULL) * 1000 : ms ? strtod(ms, NULL) : 0;
    return !(wait > 0) ? 0 : wait < (double)HOLD_MAX_MS ? (int64_t)wait : HOLD_MAX_MS;
}

/* ---- refusals ---- */

static enum tc_result_kind kind_by_status(int status)
{
    switch (status) {
    case 401:
        return TC_RESULT_UNAUTHORIZED;
    case 413:
        return TC_RESULT_TOO_LONG;
    case 429:
        return TC_RESULT_RETRY;
    default:
        return TC_RESULT_REFUSED;
    }
}

static bool chat_result_is_end(const struct tc_error_rule *rule)
{
    return !rule->status && !rule->text && rule->kind == TC_RESULT_DONE;
}

static enum tc_result_kind kind_of_refusal(const struct tc_reply_map *map, int status,
                                           const char *error)
{
    for (const struct tc_error_rule *rule = map->rules; rule && !chat_result_is_end(rule); rule++)
        if ((!rule->status || rule->status == status) && (!rule->text || strstr(error, rule->text)))
            return rule->kind;
    return kind_by_status(status);
}

static void chat_result_refuse(struct chat_result *r, const struct tc_reply_map *map,
                               const struct tc_reply *reply, const char *error, struct arena *arena)
{
    r->result.kind = kind_of_refusal(map, reply->status, error ? error : "");
    r->result.reason = error && *error ? error : reply->error;
    r->result.hold_ms = hold_of(map, reply, arena);
}

/* ---- successes ---- */

static bool creates_message(enum tc_op_kind kind)
{
    return kind == TC_OP_POST || kind == TC_OP_FILE || kind == TC_OP_STREAM_BEGIN;
}

/* A proxy or a login page of a network answers 200, too. */
static const char *doubt_about(const struct tc_reply_map *map, enum tc_op_kind kind,
                               const struct tc_reply *reply, const struct tc_result *result,
                               struct arena *arena)
{
    if (reply->body_len && !json_reader_is_valid((struct str){reply->body, reply->body_len}))
        return "the response is not JSON";
    const char *const confirmed = member(reply, map->ok, arena);
    if (map->ok && (!confirmed || strcmp(confirmed, "true") != 0))
        return "the response does not confirm the operation";
    if (creates_message(kind) && map->message && !result->message)
        return "the response names no message";
    return NULL;
}

static void confirm(struct chat_result *r, const struct tc_reply_map *map, enum tc_op_kind kind,
                    const struct tc_reply *reply, struct arena *arena)
{
    const bool json = json_reader_is_valid((struct str){reply->body, reply->body_len});
    const char *const error = json ? member(reply, map->error, arena) : NULL;
    const char *const confirmed = json ? member(reply, map->ok, arena) : NULL;
    if (map->ok && error && confirmed && strcmp(confirmed, "false") == 0) {
        chat_result_refuse(r, map, reply, error, arena);
        return;
    }
    r->result.kind = TC_RESULT_DONE;
    if (reply->path) /* a file that was downloaded, whatever is in it */
        return;
    if (json) {
        r->result.message = member(reply, map->message, arena);
        r->result.name = member(reply, map->name, arena);
        r->result.chat = member(reply, map->chat, arena);
    }
    r->result.reason = doubt_about(map, kind, reply, &r->result, arena);
    r->answered = r->result.reason != NULL;
    if (r->answered)
        r->result.kind = TC_RESULT_IN_DOUBT;
}

struct chat_result chat_result_read(const struct tc_reply_map *map, enum tc_op_kind kind,
                                    const struct tc_reply *reply, struct arena *arena)
{
    struct chat_result r = {.result = {.size = sizeof r.result, .reason = reply->error}};
    const bool json = json_reader_is_valid((struct str){reply->body, reply->body_len});
    switch (reply->outcome) {
    case TC_OK:
        confirm(&r, map, kind, reply, arena);
        break;
    case TC_REJECTED:
        chat_result_refuse(&r, map, reply, json ? member(reply, map->error, arena) : NULL, arena);
        if (json)
            r.result.chat = member(reply, map->chat, arena);
        break;
    case TC_NOT_SENT:
    case TC_DROPPED:
    case TC_YOUR_TURN: /* no result yet */
        r.result.kind = TC_RESULT_RETRY;
        break;
    case TC_AMBIGUOUS:
        r.result.kind = TC_RESULT_IN_DOUBT;
        r.answered = reply->status >= 500;
        break;
    }
    return r;
}
