/* SPDX-License-Identifier: MIT
 * What the files of the Telegram connector share: options and the state of the instance. */
#ifndef TELEGRAM_H
#define TELEGRAM_H

#include <jansson.h>
#include <turncast/plugin.h>

struct telegram_conf {
    const char *token, *api_base;
    int64_t chat;
    const char *webhook, *webhook_secret;
    bool rich, draft;
};

/* Bits of the rates in telegram.c. */
enum { TELEGRAM_PACE_PRIVATE = 1, TELEGRAM_PACE_GROUP = 2, TELEGRAM_PACE_ALL = 4 };

struct inbox;

struct telegram {
    char *username; /* NULL: the token has not been accepted yet */
    int64_t self;   /* own user id */
    int64_t offset; /* all updates before it are on disk; 0: not known */
    bool heard;     /* the poll before has been answered well: the next one may last */
    bool unhooked;  /* a webhook that was in the way has been removed */
    unsigned conflicts;
    struct inbox *inbox; /* updates that wait for their files */
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

/* An operation of the chat engine as a request. */
int telegram_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
/* URL of a method of the Bot API. */
const char *telegram_url(struct tc_turn *turn, const char *method);
/* Takes the JSON over; text until the callback ends. NULL: no memory. */
const char *telegram_text(struct tc_turn *turn, json_t *json);
/* A request of the connector itself, in no order with others. Body and tag are taken over. */
int telegram_call(struct tc_turn *lobby, const char *method, json_t *body, json_t *tag);
/* A number in JSON, or 0. */
int64_t telegram_int(const json_t *o, const char *key);
const char *telegram_str(const json_t *o, const char *key);

/* ---- telegram_poll.c ---- */

bool telegram_is_root(const char *url);
/* Body of the next getUpdates. */
json_t *telegram_poll_body(struct tc_turn *lobby, const struct tc_op *op);
int telegram_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                  struct tc_result *result);
int telegram_ready(struct tc_turn *lobby, const struct tc_result *identity);
int telegram_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);
/* 429 to a request of the connector itself: again when the service says so. */
bool telegram_waits(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_verdict *v);

/* ---- menu.c ---- */

/* The commands that Telegram offers as one types. */
void menu_publish(struct tc_turn *lobby);
/* The words that a command of the menu stands for; other text as it is. */
const char *menu_spell(struct tc_turn *lobby, const char *text);

/* ---- update.c ---- */

enum taken { TAKEN, TAKEN_LATER, TAKEN_NOT };

/* One update. LATER: it waits for its files; NOT: it has to come again. */
enum taken update_take(struct tc_turn *lobby, const json_t *update);
/* Passes a message on; `note` says which files are missing. */
enum taken update_submit(struct tc_turn *lobby, const json_t *update, const json_t *files,
                         const char *note);
/* Whether it speaks to the bot: all does in a private chat. */
bool update_is_addressed(struct tc_turn *lobby, const json_t *message);

/* ---- inbox.c ---- */

/* It has a file. */
bool inbox_wants(const json_t *message);
enum taken inbox_add(struct tc_turn *lobby, const json_t *update);
/* Whether that update waits; *done: it waited, and is on disk. */
bool inbox_has(const struct telegram *s, int64_t update_id, bool *done);
/* The lowest that waits, or 0. */
int64_t inbox_lowest(const struct telegram *s);
/* An update that is on disk while one before it waits. */
void inbox_note(struct telegram *s, int64_t update_id);
void inbox_forget_below(struct telegram *s, int64_t offset);
int inbox_wake(struct tc_turn *lobby);
/* The reply to a request for a file: its place, or its content. */
void inbox_take_reply(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v);
void inbox_free(struct telegram *s);

#endif
