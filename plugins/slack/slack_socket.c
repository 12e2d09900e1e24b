/* SPDX-License-Identifier: MIT
 * Socket Mode: one connection that lives, the next one opened before it is given up. */
#include <string.h>

#include "slack_inbound.h"
#include "slack_operation.h"

#define BACKOFF_MS 2000
#define BACKOFF_MAX_MS 20000 /* and up to half of it more */
#define HELLO_MS 15000       /* a connection that has not said hello by then is given up */

static struct slack_socket *socket_of(struct tc_turn *lobby)
{
    return &state_of(lobby)->socket;
}

static void socket_stop(struct tc_turn *lobby, const char *why)
{
    struct slack_socket *s = socket_of(lobby);
    if (!s->stopped)
        tc_log(lobby->inst, TC_ERR,
               "Socket Mode stopped permanently: %s; no messages are received; fix app_token and "
               "restart the instance",
               why);
    s->stopped = true;
    s->waiting = false;
    tc_wake(lobby, -1);
}

static void socket_ask(struct tc_turn *lobby)
{
    struct slack_socket *s = socket_of(lobby);
    struct tc_http http = {.size = sizeof http, .priority = TC_P_REQUEST, .tag = "open"};
    if (s->stopped || s->asking || s->next)
        return;
    s->waiting = false;
    s->asking = slack_call(lobby, CONNECTIONS_OPEN, json_object(), &http) == 0 &&
                tc_http(lobby, &http) == 0;
}

static void ask_later(struct tc_turn *lobby)
{
    struct slack_socket *s = socket_of(lobby);
    if (s->stopped || s->asking || s->next || s->waiting)
        return;
    const unsigned doubled = s->failures < 4 ? s->failures : 4;
    const int64_t doubling = BACKOFF_MS << doubled;
    const int64_t ms = doubling < BACKOFF_MAX_MS ? doubling : BACKOFF_MAX_MS;
    s->failures++;
    s->waiting = true;
    tc_wake(lobby, tc_random(lobby, ms, ms + ms / 2));
}

/* Called again after each pause: a connection that is there stays. */
void slack_socket_start(struct tc_turn *lobby)
{
    const struct slack_socket *s = socket_of(lobby);
    if (!s->current && !s->waiting)
        socket_ask(lobby);
}

/* A refusal that does not end by itself. */
static bool is_fatal(const char *error)
{
    for (const struct tc_error_rule *rule = slack_errors;
         rule->kind != TC_RESULT_DONE || rule->text; rule++)
        if (rule->text && strstr(error, rule->text))
            return rule->kind == TC_RESULT_UNAUTHORIZED || rule->kind == TC_RESULT_UNSUPPORTED;
    return false;
}

static void refuse(struct tc_turn *lobby, const char *error, struct tc_verdict *v)
{
    socket_stop(lobby, error);
    *v = (struct tc_verdict){.next = TC_NEXT_FAIL,
                             .scope = TC_HOLD_INSTANCE,
                             .reason =
                                 tc_sprint(lobby, "app token rejected by the service (%s)", error)};
}

static void open_url(struct tc_turn *lobby, const char *url, const char *error)
{
    struct slack_socket *s = socket_of(lobby);
    const int64_t id = url ? tc_socket_open(lobby->inst, TC_SOCKET(.url = url)) : -1;
    if (id > 0) {
        s->next = id;
        tc_wake(lobby, HELLO_MS);
        return;
    }
    if (s->failures == 0)
        tc_log(lobby->inst, TC_WARN, "cannot open the Socket Mode connection: %s; retrying",
               *error ? error : "unexpected response from Slack");
    ask_later(lobby);
}

int slack_socket_take_reply(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    if (r->status == 429 && r->outcome == TC_REJECTED)
        return 0; /* the host asks again when it may */
    json_t *json = json_loadb(r->body, r->body_len, 0, NULL);
    const char *refused = slack_text_at(json, "error"), *error = refused ? refused : r->error;
    socket_of(lobby)->asking = false;
    *v = (struct tc_verdict){.next = TC_NEXT_DONE};
    if (refused && is_fatal(refused))
        refuse(lobby, tc_sprint(lobby, "%s", refused), v);
    else
        open_url(lobby, slack_text_at(json, "url"), error);
    json_decref(json);
    return 0;
}

int slack_socket_wake(struct tc_turn *lobby)
{
    struct slack_socket *s = socket_of(lobby);
    if (s->waiting)
        socket_ask(lobby);
    else if (s->next)
        tc_socket_close(lobby->inst, s->next); /* CLOSED will come */
    return 0;
}

static void acknowledge(struct tc_turn *lobby, int64_t socket, const char *envelope)
{
    const char *text = tc_json(lobby, "{s:s}", "envelope_id", envelope);
    if (text)
        tc_socket_send(lobby->inst, socket, text, strlen(text));
}

static void hello(struct tc_turn *lobby, int64_t socket)
{
    struct slack_socket *s = socket_of(lobby);
    if (socket != s->next)
        return;
    if (s->current)
        tc_socket_close(lobby->inst, s->current);
    if (s->left)
        tc_socket_close(lobby->inst, s->left);
    if (s->failures > 0 || !s->current)
        tc_log(lobby->inst, TC_INFO, "connected");
    *s = (struct slack_socket){.current = socket};
    tc_wake(lobby, -1);
}

/* Slack will close this one: the next first. */
static void refresh(struct tc_turn *lobby, int64_t socket, const char *reason)
{
    struct slack_socket *s = socket_of(lobby);
    if (strcmp(reason, "link_disabled") == 0) {
        socket_stop(lobby, reason);
        tc_socket_close(lobby->inst, socket);
        return;
    }
    if (socket == s->current) {
        if (s->left)
            tc_socket_close(lobby->inst, s->left);
        s->left = socket;
        s->current = 0;
    }
    if (strcmp(reason, "too_many_websockets") == 0)
        ask_later(lobby);
    else
        socket_ask(lobby);
}

/* A press comes once, and has to be acknowledged in three seconds: before it is dealt with. */
static void envelope(struct tc_turn *lobby, int64_t socket, const json_t *json, const char *type)
{
    const char *id = slack_text_at(json, "envelope_id");
    const json_t *payload = json_object_get(json, "payload");
    const bool press = strcmp(type, "interactive") == 0;
    if (!id)
        return;
    const bool kept = strcmp(type, "events_api") == 0       ? slack_event_take(lobby, payload)
                      : strcmp(type, "slash_commands") == 0 ? slack_command_take(lobby, payload)
                                                            : true;
    if (kept)
        acknowledge(lobby, socket, id);
    if (press)
        slack_action_take(lobby, payload);
}

static void read_text(struct tc_turn *lobby, const struct tc_frame *frame)
{
    json_auto_t *json = json_loadb(frame->text, frame->len, 0, NULL);
    const char *type = slack_text_at(json, "type");
    const char *reason = slack_text_at(json, "reason");
    if (!type)
        return;
    if (strcmp(type, "hello") == 0)
        hello(lobby, frame->socket);
    else if (strcmp(type, "disconnect") == 0)
        refresh(lobby, frame->socket, reason ? reason : "");
    else
        envelope(lobby, frame->socket, json, type);
}

static void closed(struct tc_turn *lobby, const struct tc_frame *frame)
{
    struct slack_socket *s = socket_of(lobby);
    if (frame->socket == s->left) {
        s->left = 0;
        return;
    }
    if (frame->socket != s->current && frame->socket != s->next)
        return;
    if (frame->socket == s->current)
        s->current = 0;
    else
        s->next = 0;
    if (!s->stopped && s->failures == 0)
        tc_log(lobby->inst, TC_WARN, "Socket Mode connection lost: %s; reconnecting", frame->text);
    ask_later(lobby);
}

int slack_socket_take_frame(struct tc_turn *lobby, const struct tc_frame *frame)
{
    if (frame->event == TC_SOCKET_TEXT)
        read_text(lobby, frame);
    else if (frame->event == TC_SOCKET_CLOSED)
        closed(lobby, frame);
    return 0;
}
