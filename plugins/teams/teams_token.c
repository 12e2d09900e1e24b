/* SPDX-License-Identifier: MIT
 * The access token for the connector service: requested with the client secret, stored by the host
 * as a secret, and renewed before it expires. Neither requests nor files contain it in clear. */
#include <string.h>
#include <time.h>

#include "teams.h"

#define TOKEN_EARLY_S 300    /* time before its expiry at which a token is renewed */
#define TOKEN_LEAST_S 60     /* a younger token is not renewed */
#define TOKEN_AGAIN_MS 30000 /* delay after a failure */
#define TOKEN_TIMEOUT_MS 15000

const struct tc_header teams_bearer[1] = {{"Authorization", "Bearer {secret:token}"}};

int teams_token_request(struct tc_turn *turn, struct tc_http *http)
{
    http->method = "POST";
    http->url = tc_sprint(turn, "{option:login_url}/%s/oauth2/v2.0/token",
                          tc_quote(turn, teams_conf(turn)->tenant));
    http->content_type = "application/x-www-form-urlencoded";
    http->body = TEAMS_TOKEN_FORM;
    http->flags |= TC_FILL_BODY;
    return http->url ? 0 : -1;
}

bool teams_token_read(struct tc_turn *lobby, const struct tc_reply *reply)
{
    json_t *const json =
        reply->outcome == TC_OK ? json_loadb(reply->body, reply->body_len, 0, NULL) : NULL;
    const char *const token = tc_member_text(json, "access_token");
    const json_int_t lasts = json_integer_value(json_object_get(json, "expires_in"));
    const bool good = token && tc_secret(lobby->inst, "token", token) == 0;
    if (good) {
        teams_state(lobby)->token_s = (int64_t)time(NULL);
        teams_state(lobby)->token_failed = false;
        const int64_t left =
            lasts > 2 * TOKEN_EARLY_S && lasts < 2 * 86400 ? lasts - TOKEN_EARLY_S : TOKEN_EARLY_S;
        tc_wake(lobby, left * 1000);
    }
    json_decref(json);
    return good;
}

bool teams_token_renew(struct tc_turn *lobby)
{
    struct teams *const s = teams_state(lobby);
    struct tc_http http = {.size = sizeof http,
                           .tag = "token",
                           .timeout_ms = TOKEN_TIMEOUT_MS,
                           .max_age_ms = TOKEN_TIMEOUT_MS};
    if (!s->token_asked && (int64_t)time(NULL) - s->token_s >= TOKEN_LEAST_S)
        s->token_asked = teams_token_request(lobby, &http) == 0 && tc_http(lobby, &http) == 0;
    return s->token_asked && !s->token_failed;
}

/* After a refusal, the chat engine requests a token, too, and reports the error. */
void teams_token_on_reply(struct tc_turn *lobby, const struct tc_reply *reply)
{
    struct teams *const s = teams_state(lobby);
    s->token_asked = false;
    if (teams_token_read(lobby, reply))
        return;
    if (!s->token_failed)
        tc_log(lobby->inst, TC_WARN, "cannot renew the access token: %s; retrying",
               *reply->error ? reply->error : "the response has none");
    s->token_failed = true;
    tc_wake(lobby, TOKEN_AGAIN_MS);
}
