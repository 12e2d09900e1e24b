/* SPDX-License-Identifier: MIT
 * The connection to Discord's gateway, which the host keeps open (tc_link): identify and resume,
 * and what its operations mean. A connection that ends is resumed, so that no event is missed;
 * after three resumes without success a new session begins. Every connection is closed with a
 * status that leaves the session alive. The session is on disk as the position of tc_feed: a
 * restarted host resumes it. */
#include <string.h>
#include <time.h>

#include "discord.h"

#define SILENT_MS 120000 /* heartbeats are answered every 45 s at the latest */
#define PING_MS 86400000 /* heartbeats take the place of pings */
#define RESUMES_MAX 3
#define UNOPENED_MAX 3
/* Identifies permitted in 24 hours, unless Discord reports another number. */
#define STARTS_MAX 1000
#define STARTS_MIN 50 /* identifies that stay in reserve: at 0 Discord resets the token */
#define STARTS_WAIT_MS INT64_C(3600000)
#define STARTS_KEY "starts"
#define DAY_S 86400
#define REWIND_MS 2000
#define CLOSE_STATUS 4000          /* 1000 and 1001 would end the session */
#define INTENTS (1 << 9 | 1 << 12) /* messages of servers, direct messages */
#define INTENT_MESSAGE_CONTENT (1 << 15)

static const struct tc_link_fault faults[] = {
    {4004, "the token is not valid; copy it again from the page Bot of the Developer Portal"},
    {4010, "the shard is not valid"},
    {4011, "the bot is in too many servers for one connection (sharding is not supported)"},
    {4012, "the version of the gateway is not supported any more; update turncast"},
    {4013, "the intents are not valid; update turncast"},
    {4014, "switch on \"Message Content Intent\" on the page Bot of the Developer Portal, or set "
           "message_content = false"},
    {0},
};

/* ---- the session ---- */

static void load_session(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    const char *const stored = tc_feed_position(lobby);
    json_decref(s->session);
    s->session = json_loads(stored ? stored : "{}", 0, NULL);
}

/* The session as a position of tc_feed. */
static const char *position_of(struct tc_turn *lobby)
{
    return tc_json(lobby, "O", discord_state(lobby)->session);
}

/* The next connection begins a new session. */
static void session_drop(struct tc_turn *lobby)
{
    json_object_clear(discord_state(lobby)->session);
    discord_state(lobby)->resumes = 0;
    tc_feed_add(lobby, NULL, position_of(lobby));
}

static bool session_exists(const struct tc_turn *lobby)
{
    return tc_member_text(discord_state(lobby)->session, "id") != NULL;
}

/* Counts `more` sessions that are begun now. Returns the number of those that were begun within a
 * day, by earlier processes, too: Discord resets the token at 1000. */
static int64_t count_starts(struct tc_turn *lobby, int more)
{
    const char *const stored = tc_load(lobby->inst, STARTS_KEY);
    json_auto_t *starts = json_loads(stored ? stored : "{}", 0, NULL);
    const json_int_t now = (json_int_t)time(NULL), since = tc_member_number(starts, "since");
    const bool of_today = now >= since && now - since < DAY_S;
    const json_int_t count = (of_today ? tc_member_number(starts, "count") : 0) + more;
    tc_store(lobby->inst, STARTS_KEY,
             tc_json(lobby, "{s:I, s:I}", "since", of_today ? since : now, "count", count));
    return count;
}

/* ---- connecting ---- */

static int open_url(struct tc_turn *lobby, const char *url)
{
    const size_t n = strcspn(url, "?");
    const bool slash = n > 0 && url[n - 1] == '/';
    const char *const full =
        tc_sprint(lobby, "%.*s%s?v=10&encoding=json", (int)n, url, slash ? "" : "/");
    return tc_link_open(lobby, TC_SOCKET(.url = full, .ping_ms = PING_MS, .silent_ms = SILENT_MS,
                                         .close_status = CLOSE_STATUS));
}

/* The server of the session may be unavailable: then the session is resumed at another server. */
static int gateway_connect(struct tc_turn *lobby, int status, unsigned unopened)
{
    const struct discord *const s = discord_state(lobby);
    if (status == 4007 || status == 4009 || s->resumes >= RESUMES_MAX)
        session_drop(lobby);
    const char *const url = tc_member_text(s->session, "url");
    if (session_exists(lobby) && url && unopened < UNOPENED_MAX)
        return open_url(lobby, url);
    return discord_get(lobby, "/gateway/bot", NULL, "gateway");
}

/* Whether identifies remain after a new session, as Discord counts them and as the connector does.
 * If not, Discord is asked again later. */
static bool may_identify(struct tc_turn *lobby, json_t *limit)
{
    json_int_t total = STARTS_MAX, left = STARTS_MAX, reset = 0;
    json_unpack(limit, "{s?I, s?I, s?I}", "total", &total, "remaining", &left, "reset_after",
                &reset);
    const int64_t own = total - count_starts(lobby, 0);
    left = own < left ? own : left;
    if (session_exists(lobby) || left >= STARTS_MIN)
        return true;
    const int64_t wait = reset > 0 && reset < STARTS_WAIT_MS ? reset : STARTS_WAIT_MS;
    tc_log(lobby->inst, TC_ERR,
           "new sessions left for this token: %lld, and Discord resets the token at 0; asking "
           "again in %lld min; no messages are received",
           (long long)left, (long long)wait / 60000);
    tc_link_renew(lobby, wait);
    return false;
}

void discord_gateway_read_url(struct tc_turn *lobby, const struct tc_reply *reply)
{
    json_auto_t *body = json_loadb(reply->body, reply->body_len, 0, NULL);
    const char *const url = tc_member_text(body, "url");
    if (reply->outcome == TC_OK && url &&
        may_identify(lobby, json_object_get(body, "session_start_limit")))
        open_url(lobby, url);
}

/* ---- sending ---- */

static const char *heartbeat(struct tc_turn *lobby)
{
    tc_feed_add(lobby, NULL, position_of(lobby));
    return tc_json(lobby, "{s:i, s:O?}", "op", 1, "d",
                   json_object_get(discord_state(lobby)->session, "seq"));
}

static void identify(struct tc_turn *lobby)
{
    const struct discord_conf *const conf = lobby->inst->conf;
    const int intents = INTENTS | (conf->message_content ? INTENT_MESSAGE_CONTENT : 0);
    count_starts(lobby, 1);
    tc_link_send(lobby, tc_json(lobby, "{s:i, s:{s:s, s:i, s:{s:s, s:s, s:s}}}", "op", 2, "d",
                                "token", conf->token, "intents", intents, "properties", "os",
                                "linux", "browser", "turncast", "device", "turncast"));
}

static void resume(struct tc_turn *lobby)
{
    const struct discord_conf *const conf = lobby->inst->conf;
    struct discord *const s = discord_state(lobby);
    s->resumes++;
    tc_link_send(lobby, tc_json(lobby, "{s:i, s:{s:s, s:s, s:I}}", "op", 6, "d", "token",
                                conf->token, "session_id", tc_member_text(s->session, "id"), "seq",
                                tc_member_number(s->session, "seq")));
}

/* ---- receiving ---- */

static void discord_gateway_handle_hello(struct tc_turn *lobby, const json_t *data)
{
    const int64_t ms = tc_member_number(data, "heartbeat_interval");
    if (tc_link_hello(lobby, ms > 0 && ms < SILENT_MS ? ms : SILENT_MS / 3) < 0)
        return;
    if (session_exists(lobby))
        resume(lobby);
    else
        identify(lobby);
}

static void discord_gateway_handle_dispatch(struct tc_turn *lobby, const json_t *frame,
                                            json_t *data)
{
    struct discord *const s = discord_state(lobby);
    const char *const type = tc_member_text(frame, "t");
    const bool is_new = tc_member_is(frame, "t", "READY");
    if (json_is_integer(json_object_get(frame, "s")))
        json_object_set(s->session, "seq", json_object_get(frame, "s"));
    if (is_new) {
        json_object_set(s->session, "id", json_object_get(data, "session_id"));
        json_object_set(s->session, "url", json_object_get(data, "resume_gateway_url"));
    }
    if (type)
        tc_feed_add(lobby, discord_event_receive(lobby, type, data), position_of(lobby));
    if (is_new || tc_member_is(frame, "t", "RESUMED")) {
        tc_link_ready(lobby, is_new ? "new session" : "session resumed");
        s->resumes = 0;
        tc_feed_ready(lobby, is_new);
    }
}

int discord_gateway_handle_frame(struct tc_turn *lobby, const struct tc_frame *frame)
{
    json_auto_t *json = json_loadb(frame->text, frame->len, 0, NULL);
    json_t *const data = json_object_get(json, "d");
    const json_t *const op = json_object_get(json, "op");
    const int64_t number = json_is_integer(op) ? json_integer_value(op) : -1;
    if (number == 9 && !json_is_true(data))
        session_drop(lobby);
    if (number == 0)
        discord_gateway_handle_dispatch(lobby, json, data);
    else if (number == 1)
        tc_link_send(lobby, heartbeat(lobby));
    else if (number == 7)
        tc_link_renew(lobby, 0);
    else if (number == 9)
        tc_link_renew(lobby, tc_random(lobby, 1000, 5000));
    else if (number == 10)
        discord_gateway_handle_hello(lobby, data);
    else if (number == 11)
        tc_link_alive(lobby);
    return 0;
}

void discord_gateway_rewind(struct tc_turn *lobby)
{
    load_session(lobby);
    tc_link_renew(lobby, REWIND_MS);
}

int discord_gateway_start(struct tc_turn *lobby, const struct tc_result *identity)
{
    (void)identity;
    if (!discord_state(lobby)->session)
        load_session(lobby);
    tc_link_keep(lobby->inst, TC_LINK(.service = "Discord", .connect = gateway_connect,
                                      .tag = "gateway", .heartbeat = heartbeat, .faults = faults));
    return 1; /* there is nothing to poll */
}
