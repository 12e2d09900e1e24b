/* SPDX-License-Identifier: MIT
 * Socket Mode: the host keeps a connection open (tc_link), and opens the next one before Slack
 * closes it. Envelopes are acknowledged when what they bring is on disk. */
#include <string.h>

#include "slack_inbound.h"
#include "slack_operation.h"

static int socket_connect(struct tc_turn *lobby, int status, unsigned unopened)
{
    struct tc_http http = {.size = sizeof http, .priority = TC_P_REQUEST, .tag = "open"};
    (void)status;
    (void)unopened;
    return slack_call(lobby, CONNECTIONS_OPEN, json_object(), &http) == 0 ? tc_http(lobby, &http)
                                                                          : -1;
}

void slack_socket_start(struct tc_turn *lobby)
{
    tc_link_keep(lobby->inst,
                 TC_LINK(.service = "Slack", .connect = socket_connect, .tag = "open",
                         .hello_ms = 15000, .backoff_ms = 3000, .backoff_max_ms = 30000));
}

static void socket_stop(struct tc_turn *lobby, const char *error)
{
    tc_link_stop(lobby, tc_sprint(lobby, "%s (Socket Mode); fix app_token", error));
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

int slack_socket_read_reply(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    if (r->status == 429 && r->outcome == TC_REJECTED)
        return 0; /* the host repeats the request after the demanded pause */
    json_auto_t *json = json_loadb(r->body, r->body_len, 0, NULL);
    const char *const refused = tc_member_text(json, "error");
    const char *const url = tc_member_text(json, "url");
    *v = (struct tc_verdict){.next = TC_NEXT_DONE};
    if (refused)
        v->reason = tc_sprint(lobby, "%s", refused);
    if (refused && is_fatal(refused)) {
        v->next = TC_NEXT_FAIL;
        socket_stop(lobby, refused);
    } else if (url) {
        tc_link_open(lobby, TC_SOCKET(.url = url));
    }
    return 0;
}

/* Slack will close this connection: the next one first. */
static void refresh(struct tc_turn *lobby, const char *reason)
{
    if (strcmp(reason, "link_disabled") == 0)
        socket_stop(lobby, reason);
    else
        state_of(lobby)->is_replacing =
            tc_link_replace(lobby, strcmp(reason, "too_many_websockets") == 0 ? -1 : 0) == 0;
}

/* A press is delivered once, and must be acknowledged within three seconds: before it is
 * processed. */
static void envelope(struct tc_turn *lobby, const json_t *json, const char *type)
{
    const char *const id = tc_member_text(json, "envelope_id");
    const json_t *const payload = json_object_get(json, "payload");
    if (!id)
        return;
    const bool kept = strcmp(type, "events_api") == 0       ? slack_event_handle(lobby, payload)
                      : strcmp(type, "slash_commands") == 0 ? slack_command_handle(lobby, payload)
                                                            : true;
    if (kept)
        tc_link_send(lobby, tc_json(lobby, "{s:s}", "envelope_id", id));
    if (strcmp(type, "interactive") == 0)
        slack_action_handle(lobby, payload);
}

int slack_socket_handle_frame(struct tc_turn *lobby, const struct tc_frame *frame)
{
    json_auto_t *json = json_loadb(frame->text, frame->len, 0, NULL);
    const char *const type = tc_member_text(json, "type");
    const char *const reason = tc_member_text(json, "reason");
    if (!type)
        return 0;
    if (strcmp(type, "hello") == 0) {
        tc_link_ready(lobby, NULL);
        tc_feed_ready(lobby, !state_of(lobby)->is_replacing);
        state_of(lobby)->is_replacing = false;
    } else if (strcmp(type, "disconnect") == 0) {
        refresh(lobby, reason ? reason : "");
    } else {
        envelope(lobby, json, type);
    }
    return 0;
}
