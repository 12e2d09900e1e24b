/* SPDX-License-Identifier: MIT
 * Requests that the program passes to the host, which stores and sends them: validation and
 * results. The option urls limits the permitted URLs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exec.h"

#define HEADERS_MAX 64
#define PLACEHOLDER "{option:"

/* ---- permitted URLs ---- */

int exec_http_check_options(const struct exec *e)
{
    const struct exec_options *const o = e->inst->conf;
    for (const char *const *url = o->urls; url && *url; url++)
        if (strncmp(*url, "https://", 8) != 0 &&
            strncmp(*url, PLACEHOLDER, sizeof PLACEHOLDER - 1) != 0) {
            tc_log(e->inst, TC_ERR,
                   "urls: \"%s\" begins neither with https:// nor with {option:", *url);
            return -1;
        }
    return 0;
}

/* The text after the host must not extend the host name, and the text after a path must not leave
 * the path. */
static bool http_is_below(const char *url, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncmp(url, prefix, n) == 0 && (prefix[n - 1] == '/' || strchr("/?", url[n])) &&
           !strstr(url + n, "/..") && strncmp(url + n, "..", 2) != 0 && !strchr(url, '\\') &&
           !strcasestr(url + n, "%2e");
}

static bool http_is_permitted(const struct exec *e, const char *url)
{
    const struct exec_options *const o = e->inst->conf;
    for (const char *const *prefix = o->urls; prefix && *prefix; prefix++)
        if (http_is_below(url, *prefix))
            return true;
    return false;
}

/* ---- the request ---- */

static bool http_flag(const json_t *m, const char *key, bool missing)
{
    const json_t *const value = json_object_get(m, key);
    return value ? json_is_true(value) : missing;
}

/* NULL, or the error. */
static const char *http_read_headers(const json_t *m, struct tc_http *http,
                                     struct tc_header headers[HEADERS_MAX])
{
    json_t *const given = json_object_get(m, "headers");
    const char *name;
    json_t *value;
    if ((given && !json_is_object(given)) || json_object_size(given) > HEADERS_MAX)
        return "headers must be an object of at most 64 strings";
    json_object_foreach(given, name, value)
    {
        if (!json_is_string(value))
            return "headers must be an object of at most 64 strings";
        headers[http->header_count++] = (struct tc_header){name, json_string_value(value)};
    }
    http->headers = headers;
    return NULL;
}

static const char *http_read_priority(const json_t *m, struct tc_http *http)
{
    static const char *const names[] = {"final", "request", "notice", "live"};
    const char *const name = tc_member_text(m, "priority");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name && strcmp(name, names[i]) == 0)
            http->priority = (enum tc_priority)i;
    return name && strcmp(name, names[http->priority]) != 0
               ? "priority must be final, request, notice or live"
               : NULL;
}

/* Requests are stored on disk until sent, unless the program says otherwise: all except edits. */
static uint32_t http_flags(const json_t *m, const struct tc_http *http)
{
    return (http_flag(m, "durable", http->priority != TC_P_LIVE) ? TC_DURABLE : 0u) |
           (http_flag(m, "idempotent", false) ? TC_IDEMPOTENT : 0u);
}

/* The turn of the event that the request delivers (n), or of the id; otherwise none. */
static struct tc_turn *http_find_turn(const struct exec *e, const json_t *m)
{
    const char *const id = tc_member_text(m, "turn");
    struct tc_turn *const turn = json_object_get(m, "n")
                                     ? exec_window_turn_of(e, (uint64_t)tc_member_number(m, "n"))
                                 : id ? exec_window_find_turn(e, id)
                                      : NULL;
    return turn ? turn : e->inst->lobby;
}

static const char *http_check(const struct exec *e, const json_t *m, const struct tc_http *http)
{
    const bool delivers = json_object_get(m, "n") != NULL;
    if (!http->url || !http_is_permitted(e, http->url))
        return "the option urls of the instance does not permit this url";
    if (delivers && !exec_window_turn_of(e, (uint64_t)tc_member_number(m, "n")))
        return "n is not the number of an unacknowledged event";
    if (delivers && !(http->flags & TC_DURABLE))
        return "a request that delivers an event (n) must be durable";
    return NULL;
}

static const char *http_submit(struct exec *e, const json_t *m, const struct tc_http *http)
{
    struct tc_turn *const turn = http_find_turn(e, m);
    if (tc_http(turn, http) < 0)
        return "the request is not valid; the log of turncast has the reason";
    if (json_object_get(m, "n"))
        exec_window_ack(e, (uint64_t)tc_member_number(m, "n"), true);
    return NULL;
}

/* An object or array is sent as JSON (the default), a string unchanged. Returns the JSON text,
 * freed by the caller, or NULL. */
static char *http_set_body(const json_t *m, struct tc_http *http)
{
    const json_t *const body = json_object_get(m, "body");
    char *const json =
        json_is_object(body) || json_is_array(body) ? json_dumps(body, JSON_COMPACT) : NULL;
    http->body = json ? json : json_string_value(body);
    http->content_type = tc_member_text(m, "content_type");
    if (http->body && !json && !http->content_type)
        http->content_type = "text/plain; charset=utf-8";
    return json;
}

const char *exec_http_send(struct exec *e, const json_t *m)
{
    const char *const id = tc_member_text(m, "id");
    struct tc_header headers[HEADERS_MAX];
    char tag[512];
    if (!id || strlen(id) > 256)
        return "id must be a string of at most 256 bytes";
    snprintf(tag, sizeof tag, "%lld %s", (long long)tc_member_number(m, "pace_ms"), id);
    struct tc_http http = {
        .size = sizeof http,
        .method = tc_member_text(m, "method"),
        .url = tc_member_text(m, "url"),
        .lane = tc_member_text(m, "lane"),
        .key = tc_member_text(m, "key"),
        .timeout_ms = tc_member_number(m, "timeout_ms"),
        .max_age_ms = tc_member_number(m, "max_age_ms"),
        .delay_ms = tc_member_number(m, "delay_ms"),
        .tag = tag,
    };
    char *const json = http_set_body(m, &http);
    const char *why = http_read_headers(m, &http, headers);
    why = why ? why : http_read_priority(m, &http);
    http.flags = http_flags(m, &http);
    why = why ? why : http_check(e, m, &http);
    why = why ? why : http_submit(e, m, &http);
    free(json);
    return why;
}

/* ---- results ---- */

void exec_http_on_reply(struct exec *e, const struct tc_reply *reply, struct tc_verdict *verdict)
{
    char *id;
    const long long pace_ms = strtoll(reply->tag, &id, 10);
    if (verdict->next == TC_NEXT_AGAIN)
        return;
    if (verdict->next == TC_NEXT_DONE && pace_ms > 0) {
        verdict->hold_ms = pace_ms;
        verdict->scope = TC_HOLD_LANE;
    }
    exec_message_response(e, *id ? id + 1 : id, reply);
}
