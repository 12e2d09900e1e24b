/* SPDX-License-Identifier: MIT
 * The Events API: signed requests to the host's HTTP server. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "event.h"
#include "hook.h"
#include "sign.h"
#include "slack.h"

static const char *header(const struct tc_hit *hit, const char *name)
{
    for (size_t i = 0; i < hit->header_count; i++)
        if (strcasecmp(hit->headers[i].name, name) == 0)
            return hit->headers[i].value;
    return NULL;
}

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c | 0x20) : NULL;
    return at && (c < '0' || c > '9' ? c >= 'A' : true) ? (int)(at - digits) : -1;
}

/* The field of a form, decoded; the caller frees it. NULL: it is not there. */
static char *form_field(const char *body, const char *name)
{
    const size_t n = strlen(name);
    const char *p = body;
    while (p && !(strncmp(p, name, n) == 0 && p[n] == '='))
        p = (p = strchr(p, '&')) ? p + 1 : NULL;
    char *out = p ? malloc(strlen(p) + 1) : NULL;
    size_t len = 0;
    if (!out)
        return NULL;
    for (p += n + 1; *p && *p != '&'; p++) {
        if (*p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            out[len++] = (char)(hex(p[1]) * 16 + hex(p[2]));
            p += 2;
        } else {
            out[len++] = *p == '+' ? ' ' : *p;
        }
    }
    out[len] = '\0';
    return out;
}

/* Slack asks whether this is the right address. */
static void prove(struct tc_turn *lobby, const json_t *json, struct tc_answer *answer)
{
    struct slack_state *s = state_of(lobby);
    const char *challenge = json_string_value(json_object_get(json, "challenge"));
    snprintf(s->challenge, sizeof s->challenge, "%s", challenge ? challenge : "");
    answer->content_type = "text/plain";
    answer->body = s->challenge;
}

static void take_json(struct tc_turn *lobby, const json_t *json, struct tc_answer *answer)
{
    const char *type = json_string_value(json_object_get(json, "type"));
    if (!type) {
        answer->status = 400;
        return;
    }
    if (strcmp(type, "url_verification") == 0) {
        prove(lobby, json, answer);
        return;
    }
    /* Slack sends it again: at once, after a minute, after five. */
    if (event_take(lobby, json, &(struct event_source){0}) != EVENT_TAKEN)
        answer->status = 503;
}

int hook_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    const struct slack_conf *conf = lobby->inst->conf;
    *answer = (struct tc_answer){.status = 200};
    if (!conf->signing_secret || strcmp(hit->method, "POST") != 0) {
        answer->status = 405;
        return 0;
    }
    const struct sign_request signed_request = {
        .timestamp = header(hit, "X-Slack-Request-Timestamp"),
        .signature = header(hit, "X-Slack-Signature"),
        .body = hit->body,
        .len = hit->body_len,
    };
    if (!sign_check(lobby, conf->signing_secret, &signed_request, time(NULL))) {
        answer->status = 401;
        return 0;
    }
    char *payload = form_field(hit->body, "payload");
    json_auto_t *json =
        payload ? json_loads(payload, 0, NULL) : json_loadb(hit->body, hit->body_len, 0, NULL);
    if (payload && json)
        event_take_action(lobby, json);
    else
        take_json(lobby, json, answer);
    free(payload);
    return 0;
}
