/* SPDX-License-Identifier: MIT
 * Request cards: the request of an agent, the places where it is shown, and the choices of each
 * person so far. Data only; chat_cards.c sends the messages. One thread. */
#ifndef CHAT_CARD_CHAT_CARD_H
#define CHAT_CARD_CHAT_CARD_H

#include <jansson.h>
#include <sys/queue.h>
#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "chat/card/chat_place_state.h"
#include "chat/operation/chat_recent.h"

#define CHAT_PLACES 8       /* maximum number of places of one card */
#define CHAT_DRAFTS 8       /* maximum number of people who choose at the same time */
#define CHAT_BUTTON_DATA 60 /* bytes */

struct chat_place {
    struct tc_target to; /* strings of `target` */
    json_t *target;
    char *message; /* id of the message; NULL: not yet known, or never created */
    enum chat_place_state state;
    bool stale; /* the card has changed since the edit in flight */
};

/* The choices of one person so far, on a card with several questions or several choices. */
struct chat_draft {
    char *user;
    size_t at;       /* index of the current question */
    json_t *answers; /* answers to the earlier questions; then the selected options of the current
                        one */
};

struct chat_card {
    TAILQ_ENTRY(chat_card) entry;
    char *turn, *request;
    char *ticket;    /* NULL: this instance cannot answer the request */
    json_t *about;   /* the content of the card, see chat_card_describe */
    char *decided;   /* decision in words; NULL: open */
    json_t *answers; /* answers of the decision; or NULL */
    size_t place_count, draft_count;
    struct chat_place places[CHAT_PLACES];
    struct chat_draft drafts[CHAT_DRAFTS];
    char *viewer;   /* person whose draft is shown; or NULL */
    unsigned edits; /* number of edits in all places */
};

struct chat_cards {
    TAILQ_HEAD(chat_card_list, chat_card) list;
    struct chat_recent shown; /* places where a card was shown, see chat_card_was_shown */
};

void chat_card_list_init(struct chat_cards *cards);
void chat_card_list_fini(struct chat_cards *cards);
/* Adds a card; takes over `about`. */
struct chat_card *chat_card_add(struct chat_cards *cards, const char *turn, const char *request,
                                const char *ticket, json_t *about);
void chat_card_remove(struct chat_cards *cards, struct chat_card *card);
/* Returns NULL if the card is unknown. */
struct chat_card *chat_card_find(const struct chat_cards *cards, const char *turn,
                                 const char *request);
struct chat_card *chat_card_find_ticket(const struct chat_cards *cards, const char *ticket);
/* Finds the card by a message that shows it; *place is the place of the message. */
struct chat_card *chat_card_find_message(const struct chat_cards *cards, const char *chat,
                                         const char *message, struct chat_place **place);
/* Adds a place and copies the target. NULL: the card has CHAT_PLACES already. */
struct chat_place *chat_card_add_place(struct chat_card *card, const struct tc_target *to);
/* Notes that the card is shown in the place; message NULL: its id is not known. */
void chat_card_deliver(struct chat_cards *cards, struct chat_place *place, const char *message);
/* Whether the place is in the chat and thread of `at`. A message outside of threads is the
 * beginning of its own thread. */
bool chat_place_is_at(const struct chat_place *place, const struct tc_target *at);
/* Whether a card was recently shown in the place, open or closed. */
bool chat_card_was_shown(const struct chat_cards *cards, const struct tc_target *at);
/* Applies a new id of a chat; ids of threads and messages of the old id are removed. */
void chat_card_move_chat(struct chat_cards *cards, const char *from, const char *to);

/* ---- chat_card_about.c ---- */

/* Describes a request as JSON that is stored and shown; owned by the caller. room: capacity of a
 * message; 0: no limit. */
json_t *chat_card_describe(const struct tc_turn *turn, const struct tc_request *ev, size_t room);
/* Returns the description with less text, for the memory of the turn. grade: 0 to CHAT_CARD_GRADES
 * - 1. */
json_t *chat_card_shorten(const json_t *about, unsigned grade);
#define CHAT_CARD_GRADES 4
bool chat_card_is_approval(const struct chat_card *card);
/* Returns the label of an option, which is a text or an object; or NULL. */
const char *chat_card_option_label(const json_t *option);
/* Returns the label of a choice of a request; labels of the host are in the current language. */
const char *chat_card_choice_label(const json_t *choice);
/* Whether the card has one question, for which only one option can be selected, so that a text can
 * answer it. */
bool chat_card_is_single(const struct chat_card *card);

/* ---- chat_card_text.c ---- */

/* Writes the Markdown of the card, for the way of answering that the service supports. */
void chat_card_write(struct buf *out, const struct chat_card *card, const struct tc_chat *table);
/* Returns the buttons as in a record; NULL: none. Owned by the caller. */
json_t *chat_card_buttons(const struct chat_card *card, const struct tc_chat *table);
/* Whether the text is that of a card that can be answered; *approval: it asks for yes or no. */
bool chat_card_is_text(const char *text, bool *approval);
/* Writes the decision in words. */
void chat_card_write_decision(struct buf *out, const struct chat_card *card,
                              const struct tc_request *ev);

/* ---- chat_form.c ---- */

/* Whether people answer with buttons. */
bool chat_card_has_buttons(enum tc_input input);
/* Whether a form of the service asks the questions of the card. */
bool chat_card_has_form(const struct chat_card *card, const struct tc_chat *table);
/* Returns the fields of an open card with a form as in a record; NULL: none. Owned by the
 * caller. */
json_t *chat_card_fields(const struct chat_card *card, const struct tc_chat *table);

/* Content of a form. `answers` is never NULL, and has no member for an empty field. */
struct chat_filled {
    json_t *answers;  /* id of the question: text or array of texts */
    const char *text; /* text, for a request without questions; or NULL */
    bool complete;
    json_t *owner; /* of text */
};

/* Reads and checks tc_chat_action.answers, which may be NULL. card NULL: the questions are not
 * known, so that any answers count as complete. Followed by chat_filled_fini. */
struct chat_filled chat_card_read_answers(const struct chat_card *card, const char *answers);
void chat_filled_fini(struct chat_filled *f);

/* ---- chat_inputs.c ---- */

/* Returns the inputs for fields, see tc_chat_inputs. */
const struct tc_form_input *chat_inputs_make(struct arena *arena, const struct tc_field *fields,
                                             size_t count, size_t inputs_max, size_t options_max,
                                             size_t *n);
/* Returns the members of fields that are needed to read answers. Owned by the caller, like the
 * answers. */
json_t *chat_inputs_pack(const json_t *fields);
/* Returns the answers, as in tc_chat_action.answers, from the values of inputs; form: fields,
 * packed or not. */
json_t *chat_inputs_read(const json_t *form, json_t *filled);

/* ---- chat_draft.c ---- */

struct chat_draft *chat_draft_get(struct chat_card *card, const char *user);
/* Returns the draft that is shown; NULL: none. */
const struct chat_draft *chat_draft_get_viewed(const struct chat_card *card);
void chat_draft_drop(struct chat_draft *d);
/* Returns the current question of a draft; NULL: all are answered. d NULL: the first question. */
const json_t *chat_draft_question(const struct chat_card *card, const struct chat_draft *d);
bool chat_draft_is_multi(const json_t *question);
bool chat_draft_is_ticked(const struct chat_draft *d, const char *label);
void chat_draft_tick(struct chat_draft *d, const char *label);
/* Answers the current question by the text, or (NULL) by the selected options. False: no option is
 * selected. */
bool chat_draft_answer(const struct chat_card *card, struct chat_draft *d, const char *text);
bool chat_draft_is_complete(const struct chat_card *card, const struct chat_draft *d);
/* Returns the JSON object for tc_decision.answers; owned by the caller (free). */
char *chat_draft_write(const struct chat_card *card, const struct chat_draft *d);

#endif
