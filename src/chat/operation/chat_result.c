/* SPDX-License-Identifier: MIT
 * Classifies replies by the connector's reply map and error rules. */
#include "chat/operation/chat_result.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event/json/json_reader.h"

#define HOLD_MAX_MS ((int64_t)86400 * 1000) /* maximum duration that is accepted from a service */

/* ---- members of the reply ---- */

static const char *chat_result_read_member(const struct tc_reply *reply, const char *pointer,
                                           struct arena *arena)
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

static int64_t chat_result_read_hold_ms(const struct tc_reply_map *map,
                                        const struct tc_reply *reply, struct arena *arena)
{
    const char *const s = chat_result_read_member(reply, map->retry_s, arena);
    const char *const ms = chat_result_read_member(reply, map->retry_ms, arena);
    const double wait = s ? strtod(s, NULL) * 1000 : ms ? strtod(ms, NULL) : 0;
    return !(wait > 0) ? 0 : wait < (double)HOLD_MAX_MS ? (int64_t)wait : HOLD_MAX_MS;
}

/* ---- limits that a success tells of ---- */

#define LIMIT_MAX_S 3600

static const char *chat_result_find_header(const struct tc_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (strcasecmp(reply->headers[i].name, name) == 0)
            return reply->headers[i].value;
    return NULL;
}

/* Names of headers with the remaining requests of a limit and the seconds until it is reset: those
 * of the IETF draft, and those of Discord. */
static const struct {
    const char *left, *reset_s;
} limits[] = {
    {"ratelimit-remaining", "ratelimit-reset"},
    {"x-ratelimit-remaining", "x-ratelimit-reset-after"},
};

/* Returns the time for which the next request of the lane must wait because this request has used
 * up a limit. */
static int64_t chat_result_limit(const struct tc_reply *reply)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *const left = chat_result_find_header(reply, limits[i].left);
        const char *const reset = chat_result_find_header(reply, limits[i].reset_s);
        const double seconds = reset ? strtod(reset, NULL) : 0;
        if (left && strcmp(left, "0") == 0 && seconds > 0 && seconds < LIMIT_MAX_S)
            return (int64_t)(seconds * 1000 + 0.999);
    }
    return 0;
}

/* ---- refusals ---- */

static enum tc_result_kind chat_result_kind_of_status(int status)
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
    return chat_result_kind_of_status(status);
}

static void chat_result_refuse(struct chat_result *r, const struct tc_reply_map *map,
                               const struct tc_reply *reply, const char *error, struct arena *arena)
{
    r->result.kind = kind_of_refusal(map, reply->status, error ? error : "");
    r->result.reason = error && *error ? error : reply->error;
    r->result.hold_ms = chat_result_read_hold_ms(map, reply, arena);
}

/* ---- successes ---- */

static bool chat_result_creates_message(enum tc_op_kind kind)
{
    return kind == TC_OP_POST || kind == TC_OP_FILE || kind == TC_OP_STREAM_BEGIN;
}

/* Returns the reason why a 2xx reply does not confirm the operation: it may come from a proxy or a
 * login page of a network. */
static const char *chat_result_find_doubt(const struct tc_reply_map *map, enum tc_op_kind kind,
                                          const struct tc_reply *reply,
                                          const struct tc_result *result, struct arena *arena)
{
    if (reply->body_len && !json_reader_is_valid((struct str){reply->body, reply->body_len}))
        return "the response is not JSON";
    const char *const confirmed = chat_result_read_member(reply, map->ok, arena);
    if (map->ok && (!confirmed || strcmp(confirmed, "true") != 0))
        return "the response does not confirm the operation";
    if (chat_result_creates_message(kind) && map->message && !result->message)
        return "the response names no message";
    return NULL;
}

static void chat_result_check_success(struct chat_result *r, const struct tc_reply_map *map,
                                      enum tc_op_kind kind, const struct tc_reply *reply,
                                      struct arena *arena)
{
    const bool json = json_reader_is_valid((struct str){reply->body, reply->body_len});
    const char *const error = json ? chat_result_read_member(reply, map->error, arena) : NULL;
    const char *const confirmed = json ? chat_result_read_member(reply, map->ok, arena) : NULL;
    if (map->ok && error && confirmed && strcmp(confirmed, "false") == 0) {
        chat_result_refuse(r, map, reply, error, arena);
        return;
    }
    r->result.kind = TC_RESULT_DONE;
    if (reply->path) /* a downloaded file with any content */
        return;
    if (json) {
        r->result.message = chat_result_read_member(reply, map->message, arena);
        r->result.name = chat_result_read_member(reply, map->name, arena);
        r->result.chat = chat_result_read_member(reply, map->chat, arena);
    }
    r->result.reason = chat_result_find_doubt(map, kind, reply, &r->result, arena);
    r->answered = r->result.reason != NULL;
    if (r->answered)
        r->result.kind = TC_RESULT_IN_DOUBT;
}

void chat_result_add_details(struct chat_result *r, const struct tc_reply_map *map,
                             const char *pointer, const struct tc_reply *reply, struct arena *arena)
{
    const bool json = pointer && json_reader_is_valid((struct str){reply->body, reply->body_len});
    const char *const details = json ? chat_result_read_member(reply, pointer, arena) : NULL;
    if (reply->outcome != TC_REJECTED || !details)
        return;
    for (const struct tc_error_rule *rule = map->rules; rule && !chat_result_is_end(rule); rule++)
        if (rule->text && (!rule->status || rule->status == reply->status) &&
            strstr(details, rule->text)) {
            r->result.kind = rule->kind;
            return;
        }
}

void chat_result_add_words(struct chat_result *r, const char *pointer, const struct tc_reply *reply,
                           struct arena *arena)
{
    const bool json = json_reader_is_valid((struct str){reply->body, reply->body_len});
    const char *const words = json ? chat_result_read_member(reply, pointer, arena) : NULL;
    const char *const code = r->result.reason;
    if (reply->outcome == TC_REJECTED && words && *words)
        r->result.reason = code && code != reply->error && strcmp(code, "0") != 0
                               ? arena_sprintf(arena, "%s: %s", code, words)
                               : words;
}

struct chat_result chat_result_read(const struct tc_reply_map *map, enum tc_op_kind kind,
                                    const struct tc_reply *reply, struct arena *arena)
{
    struct chat_result r = {.result = {.size = sizeof r.result, .reason = reply->error}};
    const bool json = json_reader_is_valid((struct str){reply->body, reply->body_len});
    switch (reply->outcome) {
    case TC_OK:
        chat_result_check_success(&r, map, kind, reply, arena);
        if (r.result.kind != TC_RESULT_RETRY && reply->http && reply->http->lane)
            r.result.hold_ms = chat_result_limit(reply);
        break;
    case TC_REJECTED:
        chat_result_refuse(&r, map, reply,
                           json ? chat_result_read_member(reply, map->error, arena) : NULL, arena);
        if (json)
            r.result.chat = chat_result_read_member(reply, map->chat, arena);
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
