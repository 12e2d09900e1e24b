/* SPDX-License-Identifier: MIT
 * The connection to Discord's gateway: hello, heartbeats, identify and resume. A connection that
 * ends is resumed, so that no event is missed; after three resumes without success a new session
 * begins. Every connection is closed with a status that leaves the session alive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discord.h"

#define HELLO_MS 20000   /* a connection that has not said hello by then is given up */
#define SILENT_MS 120000 /* heartbeats are answered every 45 s at the latest */
#define PING_MS 86400000 /* heartbeats take the place of pings */
#define JOINING_BEATS 3u /* then a connection without a session is given up */
#define BACKOFF_MS 1000
#define BACKOFF_DOUBLINGS 6 /* 64 s */
#define RESUMES_MAX 3
#define UNOPENED_MAX 3
#define STARTS_MAX 1000 /* identifies in 24 hours, unless Discord says otherwise */
#define STARTS_MIN 50   /* identifies that stay in reserve: at 0 Discord resets the token */
#define STARTS_WAIT_MS INT64_C(3600000)
#define CLOSE_STATUS 4000 /* 1000 and 1001 would end the session */
#define INTENT_GUILD_MESSAGES (1 << 9)
#define INTENT_DIRECT_MESSAGES (1 << 12)
#define INTENT_MESSAGE_CONTENT (1 << 15)

/* Statuses with which Discord closes for good, and what an operator has to do. */
static const struct {
    int status;
    const char *remedy;
} fatal[] = {
    {4004, "the token is not valid; copy it again from the page Bot of the Developer Portal"},
    {4010, "the shard is not valid"},
    {4011, "the bot is in too many servers for one connection (sharding is not supported)"},
    {4012, "the version of the gateway is not supported any more; update turncast"},
    {4013, "the intents are not valid; update turncast"},
    {4014, "switch on \"Message Content Intent\" on the page Bot of the Developer Portal, or set "
           "message_content = false"},
};

static struct discord_gateway *gateway_of(struct tc_turn *lobby)
{
    return &discord_state(lobby)->gateway;
}

/* ---- connecting ---- */

static void gateway_stop(struct tc_turn *lobby, const char *why)
{
    tc_log(lobby->inst, TC_ERR,
           "disconnected from Discord for good: %s; then restart the instance; no messages are "
           "received",
           why);
    gateway_of(lobby)->phase = DISCORD_STOPPED;
    tc_wake(lobby, -1);
}

static void gateway_wait(struct tc_turn *lobby, int64_t ms)
{
    gateway_of(lobby)->phase = DISCORD_WAITING;
    tc_wake(lobby, ms);
}

static void connect_later(struct tc_turn *lobby)
{
    struct discord_gateway *const g = gateway_of(lobby);
    const int64_t ms =
        BACKOFF_MS << (g->failures < BACKOFF_DOUBLINGS ? g->failures : BACKOFF_DOUBLINGS);
    const int64_t delay = g->delay_ms >= 0 ? g->delay_ms : tc_random(lobby, ms / 2, ms);
    g->failures++;
    g->delay_ms = -1;
    gateway_wait(lobby, delay);
}

static void ask_url(struct tc_turn *lobby)
{
    const bool sent = tc_http(lobby, TC_HTTP(.method = "GET", .url = DISCORD_API "/gateway/bot",
                                             .headers = discord_headers, .header_count = 2,
                                             .priority = TC_P_REQUEST, .flags = TC_IDEMPOTENT,
                                             .tag = "gateway")) == 0;
    gateway_of(lobby)->phase = DISCORD_ASKING;
    if (!sent)
        connect_later(lobby);
}

static void open_url(struct tc_turn *lobby, const char *url)
{
    struct discord_gateway *const g = gateway_of(lobby);
    const size_t n = strcspn(url, "?");
    const bool slash = n > 0 && url[n - 1] == '/';
    const char *const full =
        tc_sprint(lobby, "%.*s%s?v=10&encoding=json", (int)n, url, slash ? "" : "/");
    g->socket = tc_socket_open(lobby->inst,
                               TC_SOCKET(.url = full, .ping_ms = PING_MS, .silent_ms = SILENT_MS,
                                         .close_status = CLOSE_STATUS));
    if (g->socket <= 0) {
        g->socket = 0;
        connect_later(lobby);
        return;
    }
    g->phase = DISCORD_OPENING;
    tc_wake(lobby, HELLO_MS);
}

/* The server of the session may be gone: then another one is asked to resume it. */
static void gateway_connect(struct tc_turn *lobby)
{
    const char *const url = discord_text(discord_state(lobby)->session, "url");
    if (discord_session_exists(lobby) && url && gateway_of(lobby)->unopened < UNOPENED_MAX)
        open_url(lobby, url);
    else
        ask_url(lobby);
}

int discord_gateway_start(struct tc_turn *lobby, const struct tc_result *identity)
{
    struct discord_gateway *const g = gateway_of(lobby);
    (void)identity;
    if (g->phase == DISCORD_IDLE) {
        g->delay_ms = -1;
        gateway_connect(lobby);
    }
    return 1; /* there is nothing to poll */
}

/* Identifies that are left, as Discord says or by the connector's own count, whichever is less. */
static int64_t identifies_left(struct tc_turn *lobby, const json_t *limit)
{
    const json_t *const total = json_object_get(limit, "total");
    const json_t *const left = json_object_get(limit, "remaining");
    const int64_t most = json_is_integer(total) ? json_integer_value(total) : STARTS_MAX;
    const int64_t own = most - discord_session_starts(lobby);
    const int64_t told = json_is_integer(left) ? json_integer_value(left) : most;
    return own < told ? own : told;
}

/* False: a new session would use up the identifies that are left. */
static bool may_identify(struct tc_turn *lobby, const json_t *body)
{
    const json_t *const limit = json_object_get(body, "session_start_limit");
    const int64_t left = identifies_left(lobby, limit);
    if (discord_session_exists(lobby) || left >= STARTS_MIN)
        return true;
    const int64_t reset = json_integer_value(json_object_get(limit, "reset_after"));
    const int64_t wait = reset > 0 && reset < STARTS_WAIT_MS ? reset : STARTS_WAIT_MS;
    tc_log(
        lobby->inst, TC_ERR,
        "new sessions left for this token: %lld, and Discord resets the token at 0; asking again "
        "in %lld min; no messages are received",
        (long long)left, (long long)wait / 60000);
    gateway_wait(lobby, wait);
    return false;
}

void discord_gateway_take_url(struct tc_turn *lobby, const struct tc_reply *reply)
{
    json_t *const body = json_loadb(reply->body, reply->body_len, 0, NULL);
    const char *const url = discord_text(body, "url");
    if (gateway_of(lobby)->phase != DISCORD_ASKING) {
    } else if (reply->outcome != TC_OK || !url) {
        if (gateway_of(lobby)->failures == 0)
            tc_log(lobby->inst, TC_WARN, "cannot ask Discord for its gateway: %s; retrying",
                   *reply->error ? reply->error : "unexpected response");
        connect_later(lobby);
    } else if (may_identify(lobby, body)) {
        open_url(lobby, url);
    }
    json_decref(body);
}

/* ---- sending ---- */

static void send_op(struct tc_turn *lobby, int op, json_t *data)
{
    const char *const text = tc_json(lobby, "{s:i, s:o}", "op", op, "d", data);
    if (text)
        tc_socket_send(lobby->inst, gateway_of(lobby)->socket, text, strlen(text));
}

static void beat(struct tc_turn *lobby)
{
    struct discord_gateway *const g = gateway_of(lobby);
    send_op(lobby, 1, g->seq < 0 ? json_null() : json_integer(g->seq));
}

static void identify(struct tc_turn *lobby)
{
    const struct discord_conf *const conf = lobby->inst->conf;
    const int intents = INTENT_GUILD_MESSAGES | INTENT_DIRECT_MESSAGES |
                        (conf->message_content ? INTENT_MESSAGE_CONTENT : 0);
    discord_session_count_start(lobby);
    send_op(lobby, 2,
            json_pack("{s:s, s:i, s:{s:s, s:s, s:s}}", "token", conf->token, "intents", intents,
                      "properties", "os", "linux", "browser", "turncast", "device", "turncast"));
}

static void resume(struct tc_turn *lobby)
{
    const struct discord_conf *const conf = lobby->inst->conf;
    const struct discord *const s = discord_state(lobby);
    send_op(lobby, 6,
            json_pack("{s:s, s:s, s:I}", "token", conf->token, "session_id",
                      discord_text(s->session, "id"), "seq",
                      json_integer_value(json_object_get(s->session, "seq"))));
}

/* ---- receiving ---- */

/* delay_ms: before the next connection; negative: that of the back-off. */
static void leave(struct tc_turn *lobby, int64_t delay_ms)
{
    struct discord_gateway *const g = gateway_of(lobby);
    g->delay_ms = delay_ms;
    tc_wake(lobby, -1);
    tc_socket_close(lobby->inst, g->socket); /* CLOSED will come */
}

static void take_hello(struct tc_turn *lobby, const json_t *data)
{
    struct discord *const s = discord_state(lobby);
    struct discord_gateway *const g = &s->gateway;
    const int64_t interval = json_integer_value(json_object_get(data, "heartbeat_interval"));
    if (g->phase != DISCORD_OPENING)
        return;
    g->interval_ms = interval > 0 && interval < SILENT_MS ? interval : SILENT_MS / 3;
    g->phase = DISCORD_JOINING;
    g->acked = true;
    g->unopened = 0;
    g->beats = 0;
    g->resuming = discord_session_exists(lobby);
    if (g->resuming) {
        g->resumes++;
        g->seq = json_integer_value(json_object_get(s->session, "seq"));
        resume(lobby);
    } else {
        identify(lobby);
    }
    tc_wake(lobby, tc_random(lobby, 0, g->interval_ms));
}

static void take_invalid_session(struct tc_turn *lobby, bool can_resume)
{
    if (!can_resume)
        discord_session_drop(lobby);
    leave(lobby, tc_random(lobby, 1000, 5000));
}

static void take_ready(struct tc_turn *lobby, const json_t *data)
{
    struct discord *const s = discord_state(lobby);
    const char *const user = discord_text(json_object_get(data, "user"), "id");
    if (user)
        snprintf(s->user, sizeof s->user, "%s", user);
    discord_session_begin(lobby, data);
}

static void gateway_begin(struct tc_turn *lobby, const char *how)
{
    struct discord_gateway *const g = gateway_of(lobby);
    tc_log(lobby->inst, TC_INFO, "connected to Discord (%s)", how);
    g->phase = DISCORD_READY;
    g->resumes = 0;
    discord_session_admit(lobby);
    discord_session_store(lobby);
    discord_history_read(lobby);
}

static void take_dispatch(struct tc_turn *lobby, const json_t *frame, json_t *data)
{
    struct discord_gateway *const g = gateway_of(lobby);
    const json_t *const seq = json_object_get(frame, "s");
    const char *const type = discord_text(frame, "t");
    if (json_is_integer(seq))
        g->seq = json_integer_value(seq);
    if (!type)
        return;
    if (strcmp(type, "READY") == 0) {
        take_ready(lobby, data);
        gateway_begin(lobby, "new session");
    } else if (strcmp(type, "RESUMED") == 0) {
        gateway_begin(lobby, "session resumed");
    } else {
        discord_event_take(lobby, type, data);
    }
}

static void take_ack(struct tc_turn *lobby)
{
    struct discord_gateway *const g = gateway_of(lobby);
    g->acked = true;
    if (g->phase == DISCORD_READY)
        g->failures = 0;
}

static void take_text(struct tc_turn *lobby, const struct tc_frame *frame)
{
    json_t *const json = json_loadb(frame->text, frame->len, 0, NULL);
    const json_t *const op = json_object_get(json, "op");
    json_t *const data = json_object_get(json, "d");
    switch (json_is_integer(op) ? json_integer_value(op) : -1) {
    case 0:
        take_dispatch(lobby, json, data);
        break;
    case 1:
        beat(lobby);
        break;
    case 7:
        leave(lobby, gateway_of(lobby)->failures ? -1 : 0);
        break;
    case 9:
        take_invalid_session(lobby, json_is_true(data));
        break;
    case 10:
        take_hello(lobby, data);
        break;
    case 11:
        take_ack(lobby);
        break;
    default: /* unknown */
        break;
    }
    json_decref(json);
}

/* ---- the end of a connection ---- */

/* The status of Discord's close frame; 0: the connection ended in another way. */
static int status_of(const char *reason)
{
    static const char before[] = "closed by the service: ";
    return strncmp(reason, before, sizeof before - 1) == 0 ? atoi(reason + sizeof before - 1) : 0;
}

static const char *find_remedy(int status)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i].status == status)
            return fatal[i].remedy;
    return NULL;
}

static void take_closed(struct tc_turn *lobby, const char *reason)
{
    struct discord *const s = discord_state(lobby);
    struct discord_gateway *const g = &s->gateway;
    const int status = status_of(reason);
    const bool opened = g->phase != DISCORD_OPENING;
    g->socket = 0;
    if (g->phase == DISCORD_STOPPED)
        return;
    if (find_remedy(status)) {
        gateway_stop(lobby, find_remedy(status));
        return;
    }
    if (status == 4007 || status == 4009 || (opened && g->resumes >= RESUMES_MAX))
        discord_session_drop(lobby);
    if (!discord_session_exists(lobby))
        g->resumes = 0;
    g->unopened = opened ? 0 : g->unopened + 1;
    if (g->delay_ms < 0 && g->failures == 0)
        tc_log(lobby->inst, TC_WARN, "connection to Discord lost: %s; reconnecting", reason);
    connect_later(lobby);
}

int discord_gateway_take_frame(struct tc_turn *lobby, const struct tc_frame *frame)
{
    if (frame->socket != gateway_of(lobby)->socket)
        return 0;
    if (frame->event == TC_SOCKET_TEXT)
        take_text(lobby, frame);
    else if (frame->event == TC_SOCKET_CLOSED)
        take_closed(lobby, frame->text);
    return 0;
}

void discord_gateway_rewind(struct tc_turn *lobby)
{
    json_array_clear(discord_state(lobby)->queue);
    leave(lobby, 2000);
}

int discord_gateway_wake(struct tc_turn *lobby)
{
    struct discord_gateway *const g = gateway_of(lobby);
    if (g->phase == DISCORD_WAITING) {
        gateway_connect(lobby);
    } else if (g->phase == DISCORD_OPENING) {
        tc_socket_close(lobby->inst, g->socket);
    } else if (g->phase == DISCORD_JOINING || g->phase == DISCORD_READY) {
        if (!g->acked) {
            tc_log(lobby->inst, TC_WARN, "Discord does not answer heartbeats; reconnecting");
            leave(lobby, 0);
            return 0;
        }
        if (g->phase == DISCORD_JOINING && g->beats++ >= JOINING_BEATS) {
            tc_log(lobby->inst, TC_WARN, "Discord does not begin a session; reconnecting");
            leave(lobby, 0);
            return 0;
        }
        g->acked = false;
        beat(lobby);
        discord_session_store(lobby);
        tc_wake(lobby, g->interval_ms);
    }
    return 0;
}
