/* SPDX-License-Identifier: MIT
 * The Events API, interactions and slash commands: signed requests to the host's HTTP server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slack_inbound.h"

/* ---- signature ---- */

static bool is_signed(struct tc_turn *lobby, const struct tc_hit *hit)
{
    return tc_is_signed(lobby, hit,
                        TC_SIGNATURE(.key = "signing_secret", .time = "X-Slack-Request-Timestamp",
                                     .value = "X-Slack-Signature", .before = "v0:", .between = ":",
                                     .prefix = "v0="));
}

/* ---- forms ---- */

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *const at = c ? strchr(digits, c | 0x20) : NULL;
    return at && (c < '0' || c > '9' ? c >= 'A' : true) ? (int)(at - digits) : -1;
}

static json_t *decode(const char *p, size_t n)
{
    char *const out = malloc(n + 1);
    size_t len = 0;
    for (size_t i = 0; out && i < n; i++) {
        const bool escape = p[i] == '%' && n - i > 2 && hex(p[i + 1]) >= 0 && hex(p[i + 2]) >= 0;
        out[len++] = escape ? (char)(hex(p[i + 1]) * 16 + hex(p[i + 2])) : p[i] == '+' ? ' ' : p[i];
        i += escape ? 2 : 0;
    }
    json_t *const json = out ? json_stringn(out, len) : NULL;
    free(out);
    return json;
}

/* The fields of a form as an object. */
static json_t *read_form(const char *body)
{
    json_t *const form = json_object();
    for (const char *p = body; *p;) {
        const size_t n = strcspn(p, "&"), name = strcspn(p, "=&");
        if (name < n) {
            json_t *const key = decode(p, name);
            if (json_string_length(key) > 0)
                json_object_set_new(form, json_string_value(key),
                                    decode(p + name + 1, n - name - 1));
            json_decref(key);
        }
        p += n + (p[n] == '&');
    }
    return form;
}

/* ---- requests ---- */

/* Slack verifies the address. */
static void prove(struct tc_turn *lobby, const json_t *json, struct tc_answer *answer)
{
    struct slack *const s = state_of(lobby);
    const char *const challenge = tc_member_text(json, "challenge");
    snprintf(s->challenge, sizeof s->challenge, "%s", challenge ? challenge : "");
    answer->content_type = "text/plain";
    answer->body = s->challenge;
}

/* Slack sends an event that is not accepted again: at once, after a minute, after five. */
static void slack_hook_handle_event(struct tc_turn *lobby, const json_t *json,
                                    struct tc_answer *answer)
{
    const char *const type = tc_member_text(json, "type");
    if (!type)
        answer->status = 400;
    else if (strcmp(type, "url_verification") == 0)
        prove(lobby, json, answer);
    else if (!slack_event_handle(lobby, json))
        answer->status = 503;
}

/* A press is delivered once, and cannot be repeated if it was not stored; a command gets an error
 * text. */
static void slack_hook_handle_form(struct tc_turn *lobby, const json_t *form,
                                   struct tc_answer *answer)
{
    const char *const payload = tc_member_text(form, "payload");
    json_t *const json = payload ? json_loads(payload, 0, NULL) : NULL;
    if (json)
        slack_action_handle(lobby, json);
    else if (!tc_member_text(form, "command"))
        answer->status = 400;
    else if (!slack_command_handle(lobby, form))
        answer->status = 503;
    json_decref(json);
}

int slack_hook_handle(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    const struct slack_conf *const conf = lobby->inst->conf;
    *answer = (struct tc_answer){.status = 200};
    if (!conf->signing_secret || strcmp(hit->method, "POST") != 0) {
        answer->status = 405;
    } else if (!is_signed(lobby, hit)) {
        answer->status = 401;
    } else {
        json_t *const json = json_loadb(hit->body, hit->body_len, 0, NULL);
        json_t *const form = json ? NULL : read_form(hit->body);
        if (json)
            slack_hook_handle_event(lobby, json, answer);
        else
            slack_hook_handle_form(lobby, form, answer);
        json_decref(json);
        json_decref(form);
    }
    return 0;
}
