/* SPDX-License-Identifier: MIT
 * A call of Slack's Web API: its URL, its token, its pace. */
#ifndef SLACK_CALL_H
#define SLACK_CALL_H

#include <jansson.h>

#include <turncast/plugin.h>

enum method {
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
};

extern const struct tc_rate call_rates[];

/* How a call differs from the plain one. */
struct slack_call {
    const char *tag; /* a word of the table in slack.c, then a blank and data of its own */
    const char *lane;
    enum tc_priority priority;
    uint32_t flags;
    const char *key;
    int64_t max_age_ms, delay_ms;
};

/* Sends a JSON body, which it takes over; as tc_http. */
int call_json(struct tc_turn *turn, enum method m, json_t *body, const struct slack_call *how);
/* A method that reads: the query is written already. */
int call_get(struct tc_turn *turn, enum method m, const char *query, const struct slack_call *how);
/* A tag: the word and the object as compact text; takes the object over. Of the callback. */
const char *call_tag(struct tc_turn *turn, const char *word, json_t *data);
/* Compact text of a value, which it takes over. Of the callback. NULL: no memory. */
const char *call_dump(struct tc_turn *turn, json_t *value);
/* How long "https://host:port" of a URL is. 0: it has no such beginning. */
size_t call_origin(const char *url);
/* A URL at the server of api_base as tc_http takes it, or NULL: it is elsewhere. Of the callback.
 */
const char *call_own(struct tc_turn *turn, const char *url);
/* Percent-encoded. Of the callback. */
const char *call_quote(struct tc_turn *turn, const char *raw);

#endif
