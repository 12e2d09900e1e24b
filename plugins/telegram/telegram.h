/* SPDX-License-Identifier: MIT
 * Shared by the files of the Telegram connector: options and the state of the instance. */
#ifndef TELEGRAM_H
#define TELEGRAM_H

#include <turncast/json.h>
#include <turncast/plugin.h>

struct telegram_conf {
    const char *token, *api_base;
    int64_t chat;
    const char *webhook, *webhook_secret;
    bool rich, draft;
};

/* Bits of the rates in telegram.c. */
enum { TELEGRAM_PACE_PRIVATE = 1, TELEGRAM_PACE_GROUP = 2, TELEGRAM_PACE_ALL = 4 };

struct telegram {
    char *username; /* NULL: the token was not verified yet */
    int64_t self;   /* own user id */
    bool heard;     /* the previous poll succeeded: the next one may be long */
    bool unhooked;  /* a conflicting webhook was removed */
    unsigned conflicts;
};

static inline struct telegram *state_of(const struct tc_turn *turn)
{
    return turn->inst->state;
}

static inline const struct telegram_conf *conf_of(const struct tc_turn *turn)
{
    return turn->inst->conf;
}

/* ---- telegram_request.c ---- */

/* Converts an operation of the chat engine to a request. */
int telegram_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
/* URL of a method of the Bot API. */
const char *telegram_url(struct tc_turn *turn, const char *method);
/* A request of the connector itself, without order. Takes ownership of the body; or NULL. */
int telegram_call(struct tc_turn *lobby, const char *method, json_t *body);

/* ---- telegram_poll.c ---- */

/* Body of the next getUpdates. */
json_t *telegram_poll_body(struct tc_turn *lobby, const struct tc_op *op);
int telegram_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                  struct tc_result *result);
int telegram_ready(struct tc_turn *lobby, const struct tc_result *identity);
int telegram_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);

/* ---- update.c ---- */

/* Passes an update on. False: not on disk; it must be delivered again. */
bool update_handle(struct tc_turn *lobby, const json_t *update);
/* Body of setMyCommands. */
json_t *update_menu(const struct tc_op *op);

/* ---- file.c ---- */

/* The file of a message, valid until the message is freed; *note: why it cannot be downloaded, or
 * NULL. False: no file. */
bool file_read(struct tc_turn *lobby, const json_t *message, struct tc_chat_file *file,
               const char **note);
/* TC_OP_FETCH. */
int file_request(struct tc_turn *lobby, const struct tc_op *op, struct tc_http *http);
/* The reply to getFile. */
void file_read_place(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_result *result);

#endif
