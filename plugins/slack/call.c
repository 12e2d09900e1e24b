/* SPDX-License-Identifier: MIT
 * A call of Slack's Web API: its URL, its token, its pace. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "slack.h"

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
    RATE_TIER4
};

#define MINUTE 60000

/* The published limits: per method, workspace and app; messages once a second per channel. */
const struct tc_rate call_rates[] = {
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
};

static const char *url_of(struct tc_turn *turn, enum method m, const char *query)
{
    const struct slack_conf *conf = turn->inst->conf;
    const size_t n = strlen(conf->api_base);
    const char *slash = n > 0 && conf->api_base[n - 1] == '/' ? "" : "/";
    return tc_sprint(turn, "{option:api_base}%s%s%s%s", slash, methods[m].name, query ? "?" : "",
                     query ? query : "");
}

size_t call_origin(const char *url)
{
    const char *host = strstr(url, "://");
    const size_t scheme = host ? (size_t)(host - url) + 3 : 0;
    const size_t n = scheme ? strcspn(url + scheme, "/?#\\@") : 0;
    return n > 0 && url[scheme + n] != '@' && url[scheme + n] != '\\' ? scheme + n : 0;
}

const char *call_own(struct tc_turn *turn, const char *url)
{
    const struct slack_conf *conf = turn->inst->conf;
    const size_t n = call_origin(url);
    const bool own =
        n > 0 && n == call_origin(conf->api_base) && strncmp(url, conf->api_base, n) == 0;
    return own ? tc_sprint(turn, "{origin:api_base}%s", url + n) : NULL;
}

static int call_send(struct tc_turn *turn, enum method m, const char *query, const char *body,
                     const struct slack_call *how)
{
    static const struct tc_header bot[] = {{"Authorization", "Bearer {option:bot_token}"}};
    static const struct tc_header app[] = {{"Authorization", "Bearer {option:app_token}"}};
    const char *url = url_of(turn, m, query);
    if (!url || !how->tag)
        return -1;
    return tc_http(turn, TC_HTTP(.method = query ? "GET" : "POST", .url = url,
                                 .headers = m == CONNECTIONS_OPEN ? app : bot, .header_count = 1,
                                 .body = body, .lane = how->lane, .priority = how->priority,
                                 .key = how->key, .rates = how->lane ? methods[m].rates : 0,
                                 .flags = how->flags, .max_age_ms = how->max_age_ms,
                                 .delay_ms = how->delay_ms, .tag = how->tag));
}

int call_json(struct tc_turn *turn, enum method m, json_t *body, const struct slack_call *how)
{
    const char *text = call_dump(turn, body);
    return text ? call_send(turn, m, NULL, text, how) : -1;
}

int call_get(struct tc_turn *turn, enum method m, const char *query, const struct slack_call *how)
{
    return query ? call_send(turn, m, query, NULL, how) : -1;
}

const char *call_dump(struct tc_turn *turn, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    const char *copy = text ? tc_sprint(turn, "%s", text) : NULL;
    free(text);
    json_decref(value);
    return copy;
}

const char *call_tag(struct tc_turn *turn, const char *word, json_t *data)
{
    const char *text = call_dump(turn, data);
    return text ? tc_sprint(turn, "%s %s", word, text) : NULL;
}

const char *call_quote(struct tc_turn *turn, const char *raw)
{
    static const char hex[] = "0123456789ABCDEF";
    char *out = tc_sprint(turn, "%*s", (int)(strlen(raw) * 3), "");
    size_t n = 0;
    if (!out)
        return NULL;
    for (; *raw; raw++) {
        const unsigned char c = (unsigned char)*raw;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || strchr("-._~", c);
        if (plain) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = hex[c >> 4];
            out[n++] = hex[c & 15];
        }
    }
    out[n] = '\0';
    return out;
}
