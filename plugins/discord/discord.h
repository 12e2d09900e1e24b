/* SPDX-License-Identifier: MIT
 * The connector discord: what its files share. It describes Discord's API v10 to the chat engine of
 * the host, and receives events from Discord's gateway. All code of an instance runs on its thread.
 */
#ifndef DISCORD_H
#define DISCORD_H

#include <jansson.h>
#include <turncast/plugin.h>

struct discord_conf {
    const char *token, *webhook, *public_key, *api_base, *channel;
    bool message_content;
};

#define DISCORD_TOKENS_MAX 100

struct discord {
    char user[24], app[24];              /* own ids; "" until known */
    json_t *session;                     /* see discord_session.c */
    int64_t seq;                         /* of the last event received; negative: none */
    unsigned resumes;                    /* sent in a row without success */
    json_t *queue;                       /* events that are not admitted yet, in order */
    json_t *channels;                    /* id: id of the parent of a thread, or "" */
    char tokens[DISCORD_TOKENS_MAX][24]; /* ids of interactions whose token the host keeps */
    unsigned token_count;                /* of all, also of those whose place was used again */
    unsigned pages;                      /* of history that were asked for */
};

#define DISCORD_API "{option:api_base}"
/* Instance-wide rate: Discord takes 50 requests per second of a bot. */
#define DISCORD_RATE_ALL 1u
#define DISCORD_FORM_INPUTS 5u /* of a modal */

static inline struct discord *discord_state(const struct tc_turn *turn)
{
    return turn->inst->state;
}

/* ---- discord_request.c ---- */

/* The Authorization and User-Agent headers of every request of the bot. */
extern const struct tc_header discord_headers[2];
/* An operation of the chat engine as a request. */
int discord_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
/* Asks for what is at a path of the API. */
int discord_get(struct tc_turn *lobby, const char *path, const char *lane, const char *tag);
/* Lane of the responses to a press or command with this ID. */
const char *discord_press_lane(struct tc_turn *turn, const char *id);

/* ---- discord_reply.c ---- */

extern const struct tc_error_rule discord_errors[];
int discord_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                 struct tc_result *result);

/* ---- discord_gateway.c ---- */

/* IDENTIFY has succeeded: connect, unless that has been done. */
int discord_gateway_start(struct tc_turn *lobby, const struct tc_result *identity);
int discord_gateway_take_frame(struct tc_turn *lobby, const struct tc_frame *frame);
void discord_gateway_take_url(struct tc_turn *lobby, const struct tc_reply *reply);
/* Closes the connection and resumes later, so that Discord sends the events again that are not
 * admitted. */
void discord_gateway_rewind(struct tc_turn *lobby);

/* ---- discord_session.c ---- */

int discord_session_load(struct tc_instance *inst);
/* Writes the session to disk, if it has changed. */
void discord_session_store(struct tc_turn *lobby);
/* A new session, of READY. The history of the time between the sessions has to be read. */
void discord_session_begin(struct tc_turn *lobby, const json_t *ready);
/* Notes that all events that were received are admitted, unless some are still waiting. */
void discord_session_admit(struct tc_turn *lobby);
/* The next connection begins a new session. */
void discord_session_drop(struct tc_turn *lobby);
/* Counts `more` sessions that are begun now. Returns the number of those that were begun within a
 * day, by earlier processes, too. */
int64_t discord_session_starts(struct tc_turn *lobby, int more);

/* ---- discord_history.c ---- */

/* A message was taken: the history of its channel is read from there. */
void discord_history_note(struct tc_turn *lobby, const json_t *message);
/* Asks for the messages of all known channels that came while there was no session. */
void discord_history_read(struct tc_turn *lobby);
void discord_history_take(struct tc_turn *lobby, const char *channel, const struct tc_reply *reply);
/* No event waits any more: the history has been read, unless pages of it are on their way. */
void discord_history_end(struct tc_turn *lobby);

/* ---- discord_event.c ---- */

/* A dispatched event. It is admitted when nothing before it waits for a channel. */
void discord_event_take(struct tc_turn *lobby, const char *type, json_t *data);
/* The reply to a question about a channel, which events wait for. */
void discord_event_take_channel(struct tc_turn *lobby, const char *channel,
                                const struct tc_reply *reply);

/* Hands over the events that wait, up to one whose channel is not known yet. */
void discord_event_drain(struct tc_turn *lobby);
/* channel: what Discord tells of it; NULL: nothing. */
void discord_note_channel(struct tc_turn *lobby, const char *id, const json_t *channel);
/* Where an event belongs. */
struct tc_target discord_target_of(struct tc_turn *lobby, const json_t *event, const char *message,
                                   const char *user);
const char *discord_name_of(const json_t *member, const json_t *user);

/* ---- discord_interaction.c ---- */

/* Answers an interaction of the gateway. False: nothing follows from it. */
bool discord_interaction_answer(struct tc_turn *lobby, const json_t *event);
/* Does what it asks for. False: that could not be stored. */
bool discord_interaction_take(struct tc_turn *lobby, const json_t *event);
/* A request to the route of the instance. */
int discord_interaction_hit(struct tc_turn *lobby, const struct tc_hit *hit,
                            struct tc_answer *answer);

/* ---- discord_form.c ---- */

/* The response that opens the form of a button. */
const char *discord_form_open(struct tc_turn *lobby, const char *data,
                              const struct tc_field *fields, size_t count);
/* What was filled in, as tc_chat_action.filled. */
const char *discord_form_read(struct tc_turn *lobby, const json_t *data);

/* A member of a JSON object: a string, or NULL. */
static inline const char *discord_text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* A member of a JSON object: an integer; 0 if it is none. */
static inline int64_t discord_number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

#endif
