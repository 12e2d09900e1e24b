/* SPDX-License-Identifier: MIT
 * Request cards: what an agent asks for, where it is shown, and what each person has chosen so far.
 * Data only; what is sent is decided by chat_cards.c. One thread. */
#ifndef CHAT_CARD_CHAT_CARD_H
#define CHAT_CARD_CHAT_CARD_H

#include <jansson.h>
#include <sys/queue.h>
#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "chat/card/chat_place_state.h"
#include "chat/operation/chat_recent.h"

#define CHAT_PLACES 8       /* of one card */
#define CHAT_DRAFTS 8       /* people who choose at the same time */
#define CHAT_BUTTON_DATA 60 /* bytes */

struct chat_place {
    struct tc_target to; /* strings of `target` */
    json_t *target;
    char *message; /* id; NULL: not there yet, or never */
    enum chat_place_state state;
    bool stale; /* the card has changed since the edit that is under way */
};

/* The choices of one person so far, on a card with several questions or several choices. */
struct chat_draft {
    char *user;
    size_t at;       /* the question that is asked now */
    json_t *answers; /* of the earlier questions; then the ticked options of this one */
};

struct chat_card {
    TAILQ_ENTRY(chat_card) entry;
    char *turn, *request;
    char *ticket;    /* NULL: cannot be answered here */
    json_t *about;   /* the content of the card, see chat_card_describe */
    char *decided;   /* in words; NULL: open */
    json_t *answers; /* of the decision; or NULL */
    size_t place_count, draft_count;
    struct chat_place places[CHAT_PLACES];
    struct chat_draft drafts[CHAT_DRAFTS];
    char *viewer;   /* whose draft is shown; or NULL */
    unsigned edits; /* of all its places */
};

struct chat_cards {
    TAILQ_HEAD(chat_card_list, chat_card) list;
    struct chat_recent shown; /* places where a card was shown, see chat_card_was_shown */
};

void chat_card_list_init(struct chat_cards *cards);
void chat_card_list_fini(struct chat_cards *cards);
/* A new card; takes over `about`. */
struct chat_card *chat_card_add(struct chat_cards *cards, const char *turn, const char *request,
                                const char *ticket, json_t *about);
void chat_card_remove(struct chat_cards *cards, struct chat_card *card);
/* NULL: there is none. */
struct chat_card *chat_card_find(const struct chat_cards *cards, const char *turn,
                                 const char *request);
struct chat_card *chat_card_find_ticket(const struct chat_cards *cards, const char *ticket);
/* Finds the card by a message that shows it; *place is the place of the message. */
struct chat_card *chat_card_find_message(const struct chat_cards *cards, const char *chat,
                                         const char *message, struct chat_place **place);
/* NULL: there is no room. Copies the target. */
struct chat_place *chat_card_add_place(struct chat_card *card, const struct tc_target *to);
/* The card is shown in the place; message NULL: its id is not known. */
void chat_card_deliver(struct chat_cards *cards, struct chat_place *place, const char *message);
/* Whether the place is in the chat and thread of `at`. A message outside of threads begins one. */
bool chat_place_is_at(const struct chat_place *place, const struct tc_target *at);
/* Whether a card was shown there lately, open or not. */
bool chat_card_was_shown(const struct chat_cards *cards, const struct tc_target *at);
/* A chat has another id; ids of threads and messages that belonged to the old one are forgotten. */
void chat_card_move_chat(struct chat_cards *cards, const char *from, const char *to);

/* ---- chat_card_about.c ---- */

/* What a request is about, as JSON that is kept and shown; owned by the caller. room: what a
 * message holds; 0: no limit. */
json_t *chat_card_describe(const struct tc_turn *turn, const struct tc_request *ev, size_t room);
/* The same with less text, for the memory of the turn. grade: 0 to CHAT_CARD_GRADES - 1. */
json_t *chat_card_shorten(const json_t *about, unsigned grade);
#define CHAT_CARD_GRADES 4
bool chat_card_is_approval(const struct chat_card *card);
/* Label of an option, which is a text or an object. Or NULL. */
const char *chat_card_option_label(const json_t *option);
/* The same of a choice of a request; those that the host offers are in the language in use. */
const char *chat_card_choice_label(const json_t *choice);
/* Whether the card has one question without a choice of several options: a text can answer it. */
bool chat_card_is_single(const struct chat_card *card);

/* ---- chat_card_text.c ---- */

/* Markdown of the card, as the service lets people answer. */
void chat_card_write(struct buf *out, const struct chat_card *card, const struct tc_chat *table);
/* Buttons as in a record; NULL: none. Owned by the caller. */
json_t *chat_card_buttons(const struct chat_card *card, const struct tc_chat *table);
/* Whether that is the text of a card that can be answered; *approval: by yes or no. */
bool chat_card_is_text(const char *text, bool *approval);
/* Writes the decision in words. */
void chat_card_write_decision(struct buf *out, const struct chat_card *card,
                              const struct tc_request *ev);

/* ---- chat_form.c ---- */

/* Whether people press buttons there. */
bool chat_card_has_buttons(enum tc_input input);
/* Whether a form of the service collects the answers to the card. */
bool chat_card_has_form(const struct chat_card *card, const struct tc_chat *table);
/* Fields as in a record, of an open card with a form; NULL: none. Owned by the caller. */
json_t *chat_card_fields(const struct chat_card *card, const struct tc_chat *table);

/* The answers that a person has filled in. `answers` is never NULL, and has no member for an empty
 * field. */
struct chat_filled {
    json_t *answers;  /* id of the question: text or array of texts */
    const char *text; /* of a request without questions; or NULL */
    bool complete;
    json_t *owner; /* of text */
};

/* Reads tc_chat_action.answers, which may be NULL and is checked. card NULL: the questions are not
 * known, so any answers count as complete. Followed by chat_filled_fini. */
struct chat_filled chat_card_read_answers(const struct chat_card *card, const char *answers);
void chat_filled_fini(struct chat_filled *f);

/* ---- chat_inputs.c ---- */

/* The inputs for fields, see tc_chat_inputs. */
const struct tc_form_input *chat_inputs_make(struct arena *arena, const struct tc_field *fields,
                                             size_t count, size_t inputs_max, size_t options_max,
                                             size_t *n);
/* The fields of a record, as far as answers need them. Owned by the caller, as the answers are. */
json_t *chat_inputs_pack(const json_t *fields);
/* The answers, as in tc_chat_action.answers, in what was filled in; form: fields, packed or not. */
json_t *chat_inputs_read(const json_t *form, json_t *filled);

/* ---- chat_draft.c ---- */

struct chat_draft *chat_draft_of(struct chat_card *card, const char *user);
/* The draft that is shown; NULL: none. */
const struct chat_draft *chat_draft_viewed(const struct chat_card *card);
void chat_draft_drop(struct chat_draft *d);
/* The question that a draft is at; NULL: all are answered. d NULL: the first question. */
const json_t *chat_draft_question(const struct chat_card *card, const struct chat_draft *d);
bool chat_draft_is_multi(const json_t *question);
bool chat_draft_is_ticked(const struct chat_draft *d, const char *label);
void chat_draft_tick(struct chat_draft *d, const char *label);
/* Answers the current question by the text, or (NULL) by the ticked options. False: no option is
 * ticked. */
bool chat_draft_answer(const struct chat_card *card, struct chat_draft *d, const char *text);
bool chat_draft_is_complete(const struct chat_card *card, const struct chat_draft *d);
/* JSON object for tc_decision.answers; owned by the caller (free). */
char *chat_draft_write(const struct chat_card *card, const struct chat_draft *d);

#endif
