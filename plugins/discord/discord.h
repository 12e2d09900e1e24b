/* SPDX-License-Identifier: MIT
 * The connector discord: what its files share. It describes Discord's API v10 to the chat engine of
 * the host, and receives events from Discord's gateway. All code of an instance runs on its thread.
 */
#ifndef DISCORD_H
#define DISCORD_H

#include <turncast/json.h>
#include <turncast/plugin.h>

struct discord_conf {
    const char *token, *webhook, *public_key, *api_base, *channel;
    bool message_content;
};

struct discord {
    char user[24], app[24]; /* own ids; "" until known */
    json_t *session;        /* session of the gateway: id, url, and seq of the last received
                               event */
    unsigned resumes;       /* sent in a row without success */
    json_t *channels;       /* maps the id of a channel to the id of its parent if it is a thread,
                               or ""; null: requested */
};

#define DISCORD_API "{option:api_base}"
/* Instance-wide rate: Discord takes 50 requests per second of a bot. */
#define DISCORD_RATE_ALL 1u
/* Lane of the responses to a press or command, with its id. */
#define DISCORD_PRESS_LANE "press:%s"
#define DISCORD_FORM_INPUTS 5u /* maximum number of inputs of a modal */

static inline struct discord *discord_state(const struct tc_turn *turn)
{
    return turn->inst->state;
}

/* ---- discord_request.c ---- */

/* The Authorization and User-Agent headers of every request of the bot. */
extern const struct tc_header discord_headers[2];
/* An operation of the chat engine as a request. */
int discord_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
/* Sends a GET request for a path of the API. */
int discord_get(struct tc_turn *lobby, const char *path, const char *lane, const char *tag);
/* ---- discord_reply.c ---- */

extern const struct tc_error_rule discord_errors[];
int discord_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                 struct tc_result *result);

/* ---- discord_gateway.c ---- */

/* IDENTIFY has succeeded: connect, unless that has been done. */
int discord_gateway_start(struct tc_turn *lobby, const struct tc_result *identity);
int discord_gateway_handle_frame(struct tc_turn *lobby, const struct tc_frame *frame);
void discord_gateway_read_url(struct tc_turn *lobby, const struct tc_reply *reply);
/* Closes the connection and resumes later, so that Discord sends the events again that are not
 * admitted. */
void discord_gateway_rewind(struct tc_turn *lobby);
/* ---- discord_history.c ---- */

int discord_history_request(struct tc_turn *lobby, const struct tc_target *where, const char *after,
                            const char *key);
void discord_history_read(struct tc_turn *lobby, const char *key, const struct tc_reply *reply);

/* ---- discord_event.c ---- */

/* A dispatched event as one of tc_feed; NULL: it brings nothing. */
const char *discord_event_receive(struct tc_turn *lobby, const char *type, json_t *data);
/* Processes an event, unless it must wait until its channel is known. */
enum tc_feed_step discord_event_handle(struct tc_turn *lobby, const char *event,
                                       const struct tc_target *where);
/* The reply to a question about a channel, which events wait for. */
void discord_event_handle_channel(struct tc_turn *lobby, const char *channel,
                                  const struct tc_reply *reply);
/* channel: Discord's description of the channel; NULL: none. */
void discord_event_store_channel(struct tc_turn *lobby, const char *id, const json_t *channel);
/* Where an event belongs. */
struct tc_target discord_target_of(struct tc_turn *lobby, const json_t *event, const char *message,
                                   const char *user);
const char *discord_name_of(const json_t *member, const json_t *user);

/* ---- discord_interaction.c ---- */

/* Answers an interaction of the gateway. False: nothing follows from it. */
bool discord_interaction_answer(struct tc_turn *lobby, const json_t *event);
/* Executes an interaction. False: it could not be stored. */
bool discord_interaction_handle(struct tc_turn *lobby, const json_t *event);
/* A request to the route of the instance. */
int discord_interaction_hit(struct tc_turn *lobby, const struct tc_hit *hit,
                            struct tc_answer *answer);

/* ---- discord_form.c ---- */

/* The response that opens the form of a button. */
const char *discord_form_open(struct tc_turn *lobby, const char *data,
                              const struct tc_field *fields, size_t count);
/* Returns the values of a form, as tc_chat_action.filled. */
const char *discord_form_read(struct tc_turn *lobby, const json_t *data);

#endif
