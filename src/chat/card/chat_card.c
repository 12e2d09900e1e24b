/* SPDX-License-Identifier: MIT
 * The list of cards and their places. */
#include "chat/card/chat_card.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chat/operation/chat_target.h"

void chat_card_list_init(struct chat_cards *cards)
{
    cards->shown = (struct chat_recent){0};
    TAILQ_INIT(&cards->list);
}

static void free_place(struct chat_place *place)
{
    json_decref(place->target);
    free(place->message);
}

static void free_card(struct chat_card *card)
{
    for (size_t i = 0; i < card->place_count; i++)
        free_place(&card->places[i]);
    for (size_t i = 0; i < card->draft_count; i++) {
        json_decref(card->drafts[i].answers);
        free(card->drafts[i].user);
    }
    json_decref(card->about);
    json_decref(card->answers);
    free(card->turn);
    free(card->request);
    free(card->ticket);
    free(card->decided);
    free(card->viewer);
    free(card);
}

void chat_card_remove(struct chat_cards *cards, struct chat_card *card)
{
    TAILQ_REMOVE(&cards->list, card, entry);
    free_card(card);
}

void chat_card_list_fini(struct chat_cards *cards)
{
    while (!TAILQ_EMPTY(&cards->list))
        chat_card_remove(cards, TAILQ_FIRST(&cards->list));
}

struct chat_card *chat_card_add(struct chat_cards *cards, const char *turn, const char *request,
                                const char *ticket, json_t *about)
{
    struct chat_card *const card = xcalloc(1, sizeof *card);
    card->about = about;
    card->turn = xstrdup(turn);
    card->request = xstrdup(request);
    card->ticket = xstrdup(ticket);
    TAILQ_INSERT_TAIL(&cards->list, card, entry);
    return card;
}

struct chat_card *chat_card_find(const struct chat_cards *cards, const char *turn,
                                 const char *request)
{
    struct chat_card *card;
    TAILQ_FOREACH(card, &cards->list, entry)
    if (strcmp(card->turn, turn) == 0 && strcmp(card->request, request) == 0)
        break;
    return card;
}

struct chat_card *chat_card_find_ticket(const struct chat_cards *cards, const char *ticket)
{
    struct chat_card *card;
    TAILQ_FOREACH(card, &cards->list, entry)
    if (card->ticket && strcmp(card->ticket, ticket) == 0)
        break;
    return card;
}

struct chat_card *chat_card_find_message(const struct chat_cards *cards, const char *chat,
                                         const char *message, struct chat_place **place)
{
    struct chat_card *card;
    TAILQ_FOREACH(card, &cards->list, entry)
    for (size_t i = 0; i < card->place_count; i++) {
        *place = &card->places[i];
        if ((*place)->message && strcmp((*place)->message, message) == 0 &&
            strcmp((*place)->to.chat, chat) == 0)
            return card;
    }
    *place = NULL;
    return NULL;
}

struct chat_place *chat_card_add_place(struct chat_card *card, const struct tc_target *to)
{
    if (card->place_count == CHAT_PLACES)
        return NULL;
    struct chat_place *const place = &card->places[card->place_count++];
    *place = (struct chat_place){.target = chat_target_to_json(to)};
    place->to = chat_target_from_json(place->target);
    return place;
}

void chat_card_move_chat(struct chat_cards *cards, const char *from, const char *to)
{
    struct chat_card *card;
    TAILQ_FOREACH(card, &cards->list, entry)
    for (size_t i = 0; i < card->place_count; i++) {
        struct chat_place *const place = &card->places[i];
        if (strcmp(place->to.chat, from) != 0)
            continue;
        json_object_set_new(place->target, "chat", json_string(to));
        json_object_del(place->target, "thread");
        json_object_del(place->target, "message");
        place->to = chat_target_from_json(place->target);
    }
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Returns the thread in which replies to the card are written. */
static const char *chat_place_thread(const struct chat_place *place)
{
    return place->to.thread ? place->to.thread : place->message;
}

void chat_card_deliver(struct chat_cards *cards, struct chat_place *place, const char *message)
{
    free(place->message);
    place->message = xstrdup(message);
    if (!message)
        return;
    chat_recent_add(&cards->shown, chat_recent_hash(place->to.chat, chat_place_thread(place)), 0);
    if (!place->to.thread)
        chat_recent_add(&cards->shown, chat_recent_hash(place->to.chat, NULL), 0);
}

bool chat_place_is_at(const struct chat_place *place, const struct tc_target *at)
{
    return place->message && strcmp(place->to.chat, at->chat) == 0 &&
           (is_same_text(place->to.thread, at->thread) ||
            is_same_text(chat_place_thread(place), at->thread));
}

bool chat_card_was_shown(const struct chat_cards *cards, const struct tc_target *at)
{
    return chat_recent_has(&cards->shown, chat_recent_hash(at->chat, at->thread), 0);
}
