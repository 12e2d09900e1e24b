/* SPDX-License-Identifier: MIT
 * Internal interface of the Slack connector: options, the state of the instance, calls of the Web
 * API. All functions belong to the thread of the instance. */
#ifndef SLACK_H
#define SLACK_H

#include <turncast/json.h>
#include <turncast/plugin.h>

struct slack_conf {
    const char *bot_token, *app_token, *signing_secret, *api_base, *channel;
    bool stream, thinking;
};

/* Ways in which Slack shows that a turn runs; the first one that Slack permits to this app is
 * used. */
enum slack_status_way { SLACK_STATUS_SESSION, SLACK_STATUS_THREAD, SLACK_STATUS_REACTION };

struct slack {
    char user[32];       /* the bot's own id; "" until known */
    char challenge[512]; /* challenge of the last url_verification */
    enum slack_status_way status_way;
    bool status_proven; /* this way has worked once */
    bool is_replacing;  /* the next connection is opened while this one is in use */
};

static inline struct slack *state_of(const struct tc_turn *turn)
{
    return turn->inst->state;
}

/* ---- slack_request.c ---- */

/* The methods that other files name; the whole table is in slack_request.c. */
enum slack_method {
    AUTH_TEST,
    CONNECTIONS_OPEN,
    POST_MESSAGE,
    POST_EPHEMERAL,
    UPDATE,
    DELETE,
    START_STREAM,
    APPEND_STREAM,
    STOP_STREAM,
    SET_SESSION_STATUS,
    SET_THREAD_STATUS,
    ADD_REACTION,
    REMOVE_REACTION,
    REPLIES,
    HISTORY,
    UPLOAD_URL,
    UPLOAD_DONE,
    PUBLISH_VIEW,
};

extern const struct tc_rate slack_rates[];

/* Fills in the URL, token and rate limits of a method, and its body, which is taken over. */
int slack_call(struct tc_turn *turn, enum slack_method method, json_t *body, struct tc_http *http);
/* Fills in the request of a method that reads: a GET with this query. */
int slack_get(struct tc_turn *turn, enum slack_method method, const char *query,
              struct tc_http *http);
/* Plain text as Slack's markup that shows exactly this text; bytes 0: all of it. "": nothing is
 * visible. Until the callback ends. */
const char *slack_escape(struct tc_turn *turn, const char *plain, size_t bytes);

#endif
