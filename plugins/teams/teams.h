/* SPDX-License-Identifier: MIT
 * Shared by the files of the connector teams, which describes Microsoft Teams, as the Bot Framework
 * offers it to bots, to the chat service of the host; all code of an instance runs on its
 * thread. ⏎ */
#ifndef TEAMS_H
#define TEAMS_H

#include <turncast/json.h>
#include <turncast/plugin.h>

struct teams_conf {
    const char *app_id, *app_password, *tenant, *conversation, *webhook;
    const char *service_url, *login_url, *openid_url;
    bool stream;
    int64_t file_bytes;
};

struct teams {
    int64_t token_s;       /* when the access token was renewed, in seconds since 1970; 0: never */
    bool token_failed;     /* the last token request was refused */
    bool token_asked;      /* a token request is pending */
    const char *press;     /* id of the press being processed; or NULL */
    char press_text[2048]; /* its result text */
};

static inline struct teams *teams_state(const struct tc_turn *turn)
{
    return turn->inst->state;
}

static inline const struct teams_conf *teams_conf(const struct tc_turn *turn)
{
    return turn->inst->conf;
}

/* Bits of the plugin's rates: all requests to a conversation, and those of its streams. */
enum { TEAMS_RATES = 15, TEAMS_STREAM_RATE = 16, TEAMS_TYPING_RATE = 32 };

/* ---- teams_token.c ---- */

/* The Authorization header of every request to the service, with a token kept by the host. */
extern const struct tc_header teams_bearer[1];
#define TEAMS_TOKEN_FORM                                                                           \
    "grant_type=client_credentials&client_id={option:app_id}"                                      \
    "&client_secret={option:app_password}&scope=https%3A%2F%2Fapi.botframework.com%2F.default"
/* The request for a token. */
int teams_token_request(struct tc_turn *turn, struct tc_http *http);
/* Stores the token of a reply and renews it before it expires. False: the reply has none. */
bool teams_token_read(struct tc_turn *lobby, const struct tc_reply *reply);
/* Requests a new token. False: the present one is new, or is being renewed. */
bool teams_token_renew(struct tc_turn *lobby);
void teams_token_on_reply(struct tc_turn *lobby, const struct tc_reply *reply);

/* ---- teams_activity.c ---- */

/* Processes an action of a person, and fills in the response. */
int teams_activity_on_hit(struct tc_turn *lobby, const struct tc_hit *hit,
                          struct tc_answer *answer);

/* ---- teams_url.c ---- */

/* Whether the URL belongs to the service, to which the token may be sent. */
bool teams_url_is_service(struct tc_turn *turn, const char *url);
/* The URL of a file or image in the form for tc_http; NULL: must not be fetched. */
const char *teams_url_of_file(struct tc_turn *turn, const char *url);
/* The URL of a conversation's activities, or of one activity (id, or NULL); NULL: a service to
 * which the token must not be sent. */
const char *teams_url(struct tc_turn *turn, const struct tc_op *op, const char *id);

/* ---- teams_message.c ---- */

/* The bot as the sender; NULL: omitted, because the service knows it. */
json_t *teams_message_sender(struct tc_turn *turn, const struct tc_op *op);
/* Body of a new or edited message. */
json_t *teams_message(struct tc_turn *turn, const struct tc_op *op);
/* Text of a card as an attachment, without buttons. */
json_t *teams_message_card(json_t *body);
/* The text as elements of a card: one per line, shown verbatim. */
json_t *teams_message_lines(struct tc_turn *turn, const char *plain);

/* ---- teams_form.c ---- */

/* Appends the inputs for the fields of a card. */
void teams_form_add(struct tc_turn *turn, json_t *elements, const struct tc_op *op);

/* ---- teams_request.c ---- */

int teams_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);

/* ---- teams_reply.c ---- */

extern const struct tc_error_rule teams_errors[];
int teams_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
               struct tc_result *result);

/* ---- teams_webhook.c ---- */

int teams_webhook_on_final(struct tc_turn *turn, const struct tc_final *ev);
int teams_webhook_on_error(struct tc_turn *turn, const struct tc_error *ev);

#endif
