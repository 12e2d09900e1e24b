/* SPDX-License-Identifier: MIT
 * Answers of people to request cards: presses, reactions and replies. The host decides who may
 * answer, and whether the request is still open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"
#include "text/sentence/texts.h"

#define TICKET_MAX 32
#define WHAT_MAX 24

/* One action of a person on one card. */
struct chat_answer {
    struct chat *chat;
    struct chat_card *card; /* NULL: the card belongs to an earlier process, or is closed */
    const char *ticket;
    const char *user, *name;
    const struct tc_target *target; /* chat and thread of the action */
    const char *topic;
    const char *filled; /* tc_chat_action.answers */
    const char *text;   /* text for the person, or NULL */
    enum tc_accepted how;
    bool counts;   /* accepted completely or in part */
    bool approves; /* the card asks for yes or no; only when `card` is NULL */
};

/* ---- deciding ---- */

static void chat_answer_decide(struct chat_answer *a, const char *choice, const char *text,
                               const char *answers)
{
    struct tc_receipt receipt = {0};
    a->how = tc_answer(a->chat->inst->lobby,
                       TC_DECISION(.ticket = a->ticket, .choice = choice, .text = text,
                                   .answers = answers, .user = a->user, .name = a->name,
                                   .chat = a->target->chat, .thread = a->topic),
                       &receipt);
    a->counts = a->how == TC_COMMAND;
    a->text = receipt.answer;
}

static void chat_answer_show_draft(struct chat_answer *a, const struct chat_draft *d)
{
    free(a->card->viewer);
    a->card->viewer = xstrdup(d->user);
    chat_cards_update(a->chat, a->card);
}

/* Stores the answer to one of several questions; the last answer submits all of them. */
static void chat_answer_continue_draft(struct chat_answer *a, struct chat_draft *d)
{
    a->counts = true;
    a->how = TC_COMMAND;
    if (!chat_draft_is_complete(a->card, d)) {
        chat_answer_show_draft(a, d);
        return;
    }
    char *const answers = chat_draft_write(a->card, d);
    chat_answer_decide(a, "answer", NULL, answers);
    free(answers);
    chat_draft_drop(d);
    if (!a->counts && a->how != TC_KNOWN)
        chat_answer_show_draft(a, d);
}

static void choose_option(struct chat_answer *a, size_t at, size_t option)
{
    struct chat_draft *const d = chat_draft_get(a->card, a->user);
    const json_t *const question = chat_draft_question(a->card, d);
    const char *const label =
        chat_card_option_label(json_array_get(json_object_get(question, "options"), option));
    if (d->at != at) { /* the card shows the draft of another person */
        chat_answer_show_draft(a, d);
        a->text = texts_get(TEXT_CARD_CHANGED);
    } else if (!label) {
        a->text = texts_get(TEXT_REQUEST_NO_CHOICE);
    } else if (chat_card_is_single(a->card)) {
        chat_answer_decide(a, "answer", label, NULL);
    } else if (chat_draft_is_multi(question)) {
        chat_draft_tick(d, label);
        a->counts = true;
        a->how = TC_COMMAND;
        chat_answer_show_draft(a, d);
    } else {
        chat_draft_answer(a->card, d, label);
        chat_answer_continue_draft(a, d);
    }
}

static void chat_answer_finish_choice(struct chat_answer *a)
{
    struct chat_draft *const d = chat_draft_get(a->card, a->user);
    if (chat_draft_answer(a->card, d, NULL))
        chat_answer_continue_draft(a, d);
    else
        a->text = texts_get(TEXT_CARD_NONE_CHOSEN);
}

/* ---- presses ---- */

/* Submits a form. If no open card is known here, the host decides. */
static void chat_answer_submit_form(struct chat_answer *a)
{
    const bool is_open =
        a->card && !a->card->decided && chat_card_has_form(a->card, &a->chat->table);
    struct chat_filled f = chat_card_read_answers(is_open ? a->card : NULL, a->filled);
    const bool some = json_object_size(f.answers) > 0;
    char *const answers = some ? alloc_check(json_dumps(f.answers, JSON_COMPACT), 1) : NULL;
    if (f.complete)
        chat_answer_decide(a, "answer", f.text, answers);
    else
        a->text = texts_get(TEXT_CARD_FILL_IN);
    free(answers);
    chat_filled_fini(&f);
}

/* Parses the data of a button of a card: "a:TICKET:CHOICE". */
static bool chat_answer_parse_data(const char *data, char ticket[TICKET_MAX + 1],
                                   char what[WHAT_MAX + 1])
{
    int n = 0;
    return sscanf(data, "a:%32[A-Za-z0-9_-]:%24[a-z0-9_.]%n", ticket, what, &n) == 2 && n > 0 &&
           !data[n];
}

/* The message of a card was sent again because its first copy was not confirmed: buttons of the
 * first copy are valid, too. */
static void chat_answer_accept_copied_card(struct chat_answer *a)
{
    struct chat_place *place;
    const char *const message = a->target->message;
    if (!a->card || !message ||
        chat_card_find_message(&a->chat->cards, a->target->chat, message, &place))
        return;
    for (size_t i = 0; i < a->card->place_count; i++) {
        place = &a->card->places[i];
        if (strcmp(place->to.chat, a->target->chat) != 0 || !place->message)
            continue;
        const struct tc_target to = place->to;
        struct chat_place *const other = chat_card_add_place(a->card, &to);
        if (!other)
            return;
        chat_card_deliver(&a->chat->cards, other, message);
        other->state = chat_place_next(other->state, CHAT_PLACE_ON_DELIVER);
        return;
    }
}

static bool chat_answer_is_shown_in_chat(const struct chat_card *card, const char *chat)
{
    for (size_t i = 0; i < card->place_count; i++)
        if (strcmp(card->places[i].to.chat, chat) == 0)
            return true;
    return false;
}

/* Sets the thread of the card if the service does not name it: the host needs the place to decide
 * whether the person may answer. */
static void chat_answer_complete_topic(struct chat_answer *a)
{
    const char *const message = a->target->message;
    for (size_t i = 0; a->card && !a->topic && i < a->card->place_count; i++) {
        const struct chat_place *const place = &a->card->places[i];
        const bool same = message && place->message && strcmp(place->message, message) == 0;
        if (same && strcmp(place->to.chat, a->target->chat) == 0)
            a->topic = place->to.thread;
    }
}

static void chat_answer_handle_press(struct chat_answer *a, const char *what)
{
    size_t at = 0, option = 0;
    int n = 0;
    const bool chosen = sscanf(what, "o%2zu.%2zu%n", &at, &option, &n) == 2 && !what[n];
    const bool done = strcmp(what, "done") == 0;
    const bool asks =
        a->card && !a->card->decided && json_object_get(a->card->about, "questions") != NULL;
    chat_answer_accept_copied_card(a);
    chat_answer_complete_topic(a);
    if (strcmp(what, "answer") == 0)
        chat_answer_submit_form(a);
    else if (!chosen && !done)
        chat_answer_decide(a, what, NULL, NULL);
    else if (!asks)
        chat_answer_decide(a, "answer", NULL, NULL); /* the host knows the text for the person */
    else if (chosen)
        choose_option(a, at, option);
    else
        chat_answer_finish_choice(a);
}

/* Finds the card to which a reaction or a reply belongs. */
static bool find_by_message(struct chat_answer *a, const char *message)
{
    struct chat_place *place;
    if (message)
        a->card = chat_card_find_message(&a->chat->cards, a->target->chat, message, &place);
    if (a->card && !a->topic)
        a->topic = place->to.thread;
    a->ticket = a->card ? a->card->ticket : NULL;
    return a->ticket != NULL;
}

static bool chat_answer_handle_reaction(struct chat_answer *a, const struct tc_chat_action *action)
{
    const bool allows = action->reaction == TC_REACTION_ALLOW;
    if ((!allows && action->reaction != TC_REACTION_DENY) ||
        !find_by_message(a, action->target.message) || !chat_card_is_approval(a->card))
        return false;
    chat_answer_decide(a, allows ? "allow" : "deny", NULL, NULL);
    return true;
}

/* Returns the fields of the open card whose form the button opens or submits; NULL: the button has
 * no form. Owned by the caller. */
static json_t *fields_of_button(const struct chat *c, const struct tc_chat_action *action)
{
    char ticket[TICKET_MAX + 1], what[WHAT_MAX + 1];
    const bool opens = action->data && chat_answer_parse_data(action->data, ticket, what) &&
                       strcmp(what, "answer") == 0;
    const struct chat_card *const card = opens ? chat_card_find_ticket(&c->cards, ticket) : NULL;
    return card && chat_answer_is_shown_in_chat(card, action->target.chat)
               ? chat_card_fields(card, &c->table)
               : NULL;
}

const char *chat_cards_read_filled(struct chat *c, const struct tc_chat_action *action)
{
    json_t *const form =
        action->form ? json_loads(action->form, 0, NULL) : fields_of_button(c, action);
    json_t *const filled = json_loads(action->filled, 0, NULL);
    json_t *const answers = form && filled ? chat_inputs_read(form, filled) : NULL;
    char *const text = answers ? json_dumps(answers, JSON_COMPACT) : NULL;
    const char *const kept = text ? arena_strdup(&c->scratch, text) : NULL;
    free(text);
    json_decref(answers);
    json_decref(filled);
    json_decref(form);
    return kept;
}

const struct tc_field *chat_open_form(struct chat *c, const struct tc_chat_action *action,
                                      size_t *count)
{
    json_decref(c->form);
    c->form = c->table.input == TC_INPUT_DIALOG ? fields_of_button(c, action) : NULL;
    *count = json_array_size(c->form);
    return *count ? chat_read_fields(c, c->form) : NULL;
}

bool chat_cards_handle_action(struct chat *c, const struct tc_chat_action *action,
                              enum tc_accepted *how, const char **text, bool *alert)
{
    char ticket[TICKET_MAX + 1], what[WHAT_MAX + 1];
    struct chat_answer a = {.chat = c,
                            .user = action->user,
                            .name = action->name,
                            .target = &action->target,
                            .topic = action->topic,
                            .filled = action->answers,
                            .how = TC_DENIED};
    if (action->data) {
        if (!chat_answer_parse_data(action->data, ticket, what))
            return false;
        a.ticket = ticket;
        a.card = chat_card_find_ticket(&c->cards, ticket);
        if (a.card && !chat_answer_is_shown_in_chat(a.card, action->target.chat))
            return false;
        chat_answer_handle_press(&a, what);
        *alert = a.text && !a.counts;
    } else if (!chat_answer_handle_reaction(&a, action)) {
        return false;
    }
    *how = a.how;
    *text = a.text;
    return true;
}

/* ---- messages ---- */

/* A reply that is a command is executed and does not answer the request. */
static bool is_command(const char *text)
{
    return text[0] == '/' || text[0] == '!' || strcasecmp(text, "stop") == 0;
}

/* Returns the index of the entry that the text names by number or label; -1: none. has_choices: the
 * list contains choices, whose labels may be shown in another language. */
static int find_entry(const json_t *list, const char *text, bool has_choices)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    size_t i;
    const json_t *one;
    if (end != text && !end[strspn(end, ". )")] && number >= 1 && number <= json_array_size(list))
        return (int)number - 1;
    json_array_foreach(list, i, one)
    {
        const char *const label = chat_card_option_label(one);
        const char *const shown = has_choices ? chat_card_choice_label(one) : label;
        if (label && (strcasecmp(label, text) == 0 || strcasecmp(shown, text) == 0))
            return (int)i;
    }
    return -1;
}

static void answer_approval(struct chat_answer *a, const char *text)
{
    const json_t *const choices = json_object_get(a->card->about, "choices");
    const bool lists = !chat_card_has_buttons(a->chat->table.input);
    const int n = lists ? find_entry(choices, text, true) : -1;
    const char *const choice =
        n >= 0 ? chat_json_text(json_array_get(choices, (size_t)n), "id") : NULL;
    if (choice)
        chat_answer_decide(a, choice, NULL, NULL);
    else
        chat_answer_decide(a, "deny", strncasecmp(text, "deny:", 5) == 0 ? text + 5 : text, NULL);
}

static void answer_questions(struct chat_answer *a, const char *text)
{
    struct chat_draft *const d = chat_draft_get(a->card, a->user);
    const json_t *const options = json_object_get(chat_draft_question(a->card, d), "options");
    const int n =
        chat_card_has_buttons(a->chat->table.input) ? -1 : find_entry(options, text, false);
    const char *const label =
        n >= 0 ? chat_card_option_label(json_array_get(options, (size_t)n)) : text;
    if (chat_card_is_single(a->card)) {
        chat_answer_decide(a, "answer", label, NULL);
        return;
    }
    chat_draft_answer(a->card, d, label);
    chat_answer_continue_draft(a, d);
}

static void chat_answer_handle_text(struct chat_answer *a, const char *text)
{
    const bool asks =
        a->card && !a->card->decided && json_object_get(a->card->about, "questions") != NULL;
    if (!a->card)
        chat_answer_decide(a, a->approves ? "deny" : "answer", text, NULL);
    else if (chat_card_is_approval(a->card))
        answer_approval(a, text);
    else if (asks && !chat_card_has_form(a->card, &a->chat->table))
        answer_questions(a, text);
    else
        chat_answer_decide(a, "answer", text, NULL);
}

/* Returns the text after "WORD:"; NULL: the text begins differently. */
static const char *chat_answer_text_after_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    if (strncasecmp(text, word, n) != 0 || text[n] != ':')
        return NULL;
    return text + n + 1 + strspn(text + n + 1, " \t\r\n");
}

static bool begins_with_word(const char *text)
{
    return chat_answer_text_after_word(text, "answer") || chat_answer_text_after_word(text, "deny");
}

/* "answer: TEXT" or "deny: REASON". */
static void chat_answer_handle_word_reply(struct chat_answer *a, const char *text)
{
    const char *const answer = chat_answer_text_after_word(text, "answer"),
                      *const why = chat_answer_text_after_word(text, "deny");
    if (why)
        chat_answer_decide(a, "deny", *why ? why : NULL, NULL);
    else if (!*answer)
        a->text = texts_get(TEXT_CARD_NO_TEXT);
    else if (chat_card_is_approval(a->card))
        chat_answer_decide(a, "answer", answer, NULL);
    else
        chat_answer_handle_text(a, answer);
}

/* If there are no buttons, a short text that names a choice answers the only open card of the
 * conversation, even if the text is not a reply. */
static bool chat_answer_names_choice(struct chat_answer *a, const struct tc_chat_message *m)
{
    struct chat_card *card, *only = NULL;
    if (chat_card_has_buttons(a->chat->table.input) || m->reply_to || m->file_count)
        return false;
    TAILQ_FOREACH(card, &a->chat->cards.list, entry)
    if (card->ticket && !card->decided && chat_answer_is_shown_in_chat(card, m->target.chat)) {
        if (only)
            return false;
        only = card;
    }
    if (!only || find_entry(json_object_get(only->about, "choices"), m->text, true) < 0)
        return false;
    a->card = only;
    a->ticket = only->ticket;
    return true;
}

/* Whether the message replies to a card that is closed or belongs to an earlier process. Such a
 * card is recognised by its text, and its ticket by its buttons, if the service includes them. The
 * reply is never passed to the agent as a message. */
static bool is_old_card(struct chat_answer *a, const struct tc_chat_message *m, char *ticket)
{
    char what[WHAT_MAX + 1];
    if (!m->reply_text || !chat_card_is_text(m->reply_text, &a->approves))
        return false;
    if (!m->reply_data || !chat_answer_parse_data(m->reply_data, ticket, what))
        return true;
    a->card = chat_card_find_ticket(&a->chat->cards, ticket);
    if (!a->card || chat_answer_is_shown_in_chat(a->card, m->target.chat))
        a->ticket = ticket;
    return true;
}

/* Replies to the person, unless the person may not submit messages in this chat. */
static void chat_answer_send_reply(const struct chat_answer *a, const struct tc_chat_message *m)
{
    struct chat *const c = a->chat;
    if (a->how == TC_NOT_KEPT)
        return; /* the service delivers the message again */
    if (a->counts && chat_can(c, TC_OP_REACT))
        chat_react(c, c->inst->lobby, &m->target, TC_REACTION_TAKEN, NULL);
    else if (a->text &&
             (a->how != TC_DENIED || tc_may_submit(c->inst->lobby, m->user, m->target.chat)))
        chat_reply(c, c->inst->lobby, &m->target, a->text);
}

/* ---- messages that are no replies ---- */

/* Counts the open cards in the place of the message; the last one becomes the card of the
 * answer. */
static unsigned chat_answer_find_open(struct chat_answer *a, const struct tc_target *at)
{
    unsigned n = 0;
    struct chat_card *card;
    TAILQ_FOREACH(card, &a->chat->cards.list, entry)
    for (size_t i = 0; card->ticket && !card->decided && i < card->place_count; i++) {
        if (!chat_place_is_at(&card->places[i], at))
            continue;
        a->card = card;
        a->ticket = card->ticket;
        a->topic = card->places[i].to.thread;
        n++;
        break;
    }
    return n;
}

/* Whether the message has already been accepted: some services deliver a message twice, as a
 * message and as a mention. */
static bool chat_answer_is_duplicate(const struct chat *c, const struct tc_chat_message *m)
{
    return chat_recent_has(&c->taken, chat_recent_hash(m->target.chat, m->id), 0);
}

static bool chat_answer_handle_word(struct chat_answer *a, const struct tc_chat_message *m,
                                    enum tc_accepted *how)
{
    struct chat *const c = a->chat;
    if (m->addressed == TC_ADDRESSED_NO || !begins_with_word(m->text) ||
        !chat_card_was_shown(&c->cards, &m->target))
        return false;
    *how = TC_KNOWN;
    if (chat_answer_is_duplicate(c, m))
        return true;
    const unsigned open = chat_answer_find_open(a, &m->target);
    if (open == 1)
        chat_answer_handle_word_reply(a, m->text);
    else
        a->text = texts_get(open ? TEXT_CARD_SEVERAL : TEXT_CARD_NONE_OPEN);
    chat_answer_send_reply(a, m);
    *how = a->how == TC_NOT_KEPT ? TC_NOT_KEPT : TC_COMMAND;
    if (*how == TC_COMMAND)
        chat_recent_add(&c->taken, chat_recent_hash(m->target.chat, m->id), 0);
    return true;
}

bool chat_cards_handle_reply(struct chat *c, const struct tc_chat_message *m, enum tc_accepted *how)
{
    struct chat_answer a = {.chat = c,
                            .user = m->user,
                            .name = m->name,
                            .target = &m->target,
                            .topic = m->topic,
                            .how = TC_DENIED};
    char ticket[TICKET_MAX + 1];
    if (!m->text || is_command(m->text))
        return false;
    if (!find_by_message(&a, m->reply_to) && !chat_answer_names_choice(&a, m) &&
        !is_old_card(&a, m, ticket))
        return chat_answer_handle_word(&a, m, how);
    if (!*m->text)
        a.text = texts_get(TEXT_CARD_NO_TEXT);
    else if (a.card && begins_with_word(m->text))
        chat_answer_handle_word_reply(&a, m->text);
    else if (a.ticket)
        chat_answer_handle_text(&a, m->text);
    else
        a.text = texts_get(TEXT_REQUEST_CLOSED);
    chat_answer_send_reply(&a, m);
    *how = a.how == TC_NOT_KEPT ? TC_NOT_KEPT : TC_COMMAND;
    return true;
}
