/* SPDX-License-Identifier: MIT
 * Lifecycle of request cards: posts a card to its places, updates it while a person chooses, and
 * closes it with the decision, which removes the buttons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"
#include "text/sentence/texts.h"

#define EXPIRES_MS (30 * 60 * 1000)
#define SHOWN_KEY "chat.shown"
#define MEMORY_BYTES ((size_t)3300) /* all cards of a turn; the memory of a turn has 4 KiB */

static void chat_cards_move(struct chat_place *place, enum chat_place_event event)
{
    place->state = chat_place_next(place->state, event);
}

/* ---- the list ---- */

void chat_cards_begin(struct chat *c)
{
    chat_recent_read(&c->cards.shown, tc_load(c->inst, SHOWN_KEY));
}

/* Stores the places of cards, so that the next process recognises a word such as "deny:" there as
 * an answer, not as a message to the agent. */
static void chat_cards_store_shown(struct chat *c)
{
    char *const text = chat_recent_write(&c->cards.shown);
    tc_store(c->inst, SHOWN_KEY, text);
    free(text);
}

unsigned chat_cards_waiting(const struct chat_cards *cards, const char *turn)
{
    unsigned n = 0;
    const struct chat_card *card;
    TAILQ_FOREACH(card, &cards->list, entry)
    n += card->ticket && !card->decided && strcmp(card->turn, turn) == 0;
    return n;
}

static bool is_settled(const struct chat_card *card)
{
    for (size_t i = 0; i < card->place_count; i++)
        if (card->places[i].state != CHAT_PLACE_CLOSED)
            return false;
    return card->decided != NULL;
}

static void chat_cards_remove_settled(struct chat_cards *cards)
{
    struct chat_card *card, *next;
    for (card = TAILQ_FIRST(&cards->list); card; card = next) {
        next = TAILQ_NEXT(card, entry);
        if (is_settled(card))
            chat_card_remove(cards, card);
    }
}

void chat_cards_remove_of_turn(struct chat_cards *cards, const char *turn)
{
    struct chat_card *card, *next;
    for (card = TAILQ_FIRST(&cards->list); card; card = next) {
        next = TAILQ_NEXT(card, entry);
        if (strcmp(card->turn, turn) == 0)
            chat_card_remove(cards, card);
    }
}

/* ---- messages ---- */

/* The place comes first, because the id of a request may be any text. */
static const char *slot_of(struct chat *c, const struct chat_card *card,
                           const struct chat_place *place)
{
    return arena_sprintf(&c->scratch, CHAT_SLOT_CARD ":%td:%s", place - card->places,
                         card->request);
}

/* Draws the card into a record; the caller owns the buttons and the fields. */
static bool chat_cards_draw(struct chat *c, const struct chat_card *card,
                            const struct chat_place *place, struct chat_record *r)
{
    CLEANUP_BUF struct buf text = {0};
    chat_card_write(&text, card, &c->table);
    r->role = TC_ROLE_CARD;
    r->slot = slot_of(c, card, place);
    r->target = place->to;
    r->buttons = chat_card_buttons(card, &c->table);
    r->fields = c->table.input == TC_INPUT_FIELDS ? chat_card_fields(card, &c->table) : NULL;
    return chat_render_one(c, r, text.p, 0);
}

static int64_t chat_cards_expiry_ms(const struct chat_card *card)
{
    const int64_t wait_ms = chat_json_int(card->about, "wait_ms");
    return chat_unix_ms() + (wait_ms > 0 ? wait_ms : EXPIRES_MS);
}

static int chat_cards_post(struct chat *c, struct tc_turn *turn, const struct chat_card *card,
                           struct chat_place *place)
{
    struct chat_record r = {.op = TC_OP_POST,
                            .state = CHAT_POSTING,
                            .since_ms = chat_unix_ms(),
                            .until_ms = chat_cards_expiry_ms(card)};
    const int rc = chat_cards_draw(c, card, place, &r) ? chat_send(c, turn, &r, NULL) : -1;
    json_decref(r.buttons);
    json_decref(r.fields);
    if (rc < 0)
        chat_cards_move(place, CHAT_PLACE_ON_FAIL);
    return rc;
}

/* Sends an edit with the current state of the card; without buttons if it is decided. */
static void chat_cards_edit(struct chat *c, struct tc_turn *turn, struct chat_card *card,
                            struct chat_place *place)
{
    struct chat_record r = {.op = TC_OP_EDIT, .message = place->message};
    place->stale = false;
    r.generation = ++card->edits;
    r.last = card->decided != NULL;
    const bool can = chat_can(c, TC_OP_EDIT) && chat_cards_draw(c, card, place, &r);
    if (!can || chat_send(c, turn, &r, NULL) < 0)
        chat_cards_move(place, CHAT_PLACE_ON_UPDATED);
    json_decref(r.buttons);
    json_decref(r.fields);
}

static void close_place(struct chat *c, struct tc_turn *turn, struct chat_card *card,
                        struct chat_place *place)
{
    const enum chat_place_state before = place->state;
    chat_cards_move(place, CHAT_PLACE_ON_CLOSE);
    if (place->state == CHAT_PLACE_CLOSING && before != CHAT_PLACE_CLOSING)
        chat_cards_edit(c, turn, card, place);
}

static void close_card(struct chat *c, struct tc_turn *turn, struct chat_card *card,
                       const char *decided)
{
    card->decided = xstrdup(decided);
    for (size_t i = 0; i < card->place_count; i++)
        close_place(c, turn, card, &card->places[i]);
}

void chat_cards_update(struct chat *c, struct chat_card *card)
{
    const struct chat_turn *const t = chat_find_turn(c, card->turn);
    if (!t)
        return;
    for (size_t i = 0; i < card->place_count; i++) {
        struct chat_place *const place = &card->places[i];
        place->stale = true;
        if (place->state != CHAT_PLACE_OPEN)
            continue;
        chat_cards_move(place, CHAT_PLACE_ON_UPDATE);
        chat_cards_edit(c, t->turn, card, place);
    }
}

/* ---- where a card is shown ---- */

/* Parses INSTANCE:CHAT[:THREAD] for this instance; INSTANCE alone means the place where the turn is
 * shown. */
static struct tc_target chat_cards_read_place(const struct chat_turn *t, const char *text)
{
    const char *const name = t->chat->inst->name;
    const size_t n = strlen(name);
    if (!text || strncmp(text, name, n) != 0 || (text[n] && text[n] != ':'))
        return (struct tc_target){0};
    if (!text[n])
        return t->target;
    char *const chat = arena_strdup(&t->chat->scratch, text + n + 1);
    char *const thread = t->chat->table.colon_ids ? NULL : strchr(chat, ':');
    if (thread)
        *thread = '\0';
    return (struct tc_target){.chat = chat_find_moved(t->chat, chat),
                              .thread = thread ? thread + 1 : NULL,
                              .group = true};
}

static bool chat_cards_has_place(const struct chat_card *card, const struct tc_target *to)
{
    for (size_t i = 0; i < card->place_count; i++) {
        const struct tc_target *const p = &card->places[i].to;
        const bool same_thread =
            p->thread && to->thread ? strcmp(p->thread, to->thread) == 0 : p->thread == to->thread;
        if (strcmp(p->chat, to->chat) == 0 && same_thread)
            return true;
    }
    return false;
}

static void chat_cards_choose_places(const struct chat_turn *t, struct chat_card *card,
                                     const struct tc_request *ev)
{
    json_t *const list = ev->to ? json_loads(ev->to, 0, NULL) : NULL;
    const json_t *one;
    size_t i;
    if (!ev->to && t->target.chat)
        chat_card_add_place(card, &t->target);
    json_array_foreach(list, i, one)
    {
        const struct tc_target to = chat_cards_read_place(t, json_string_value(one));
        if (to.chat && !chat_cards_has_place(card, &to))
            chat_card_add_place(card, &to);
    }
    json_decref(list);
}

/* ---- events ---- */

static size_t chat_cards_text_limit(const struct chat *c)
{
    const struct tc_chat_text *const limits = &c->table.text[TC_ROLE_CARD];
    return limits->units && (!limits->bytes || limits->units < limits->bytes) ? limits->units
                                                                              : limits->bytes;
}

/* Shows a card for an open request. A request that nobody may decide is not shown. A request that
 * is delivered again after a restart of the instance already has its card. */
static int open_card(struct chat_turn *t, const struct tc_request *ev)
{
    struct chat *const c = t->chat;
    if ((!ev->choices && !ev->blocking) || chat_card_find(&c->cards, t->turn->id, ev->request_id))
        return 0;
    const char *const ticket = ev->choices ? tc_ticket(t->turn, ev->request_id) : NULL;
    struct chat_card *const card =
        chat_card_add(&c->cards, t->turn->id, ev->request_id, ticket,
                      chat_card_describe(t->turn, ev, chat_cards_text_limit(c)));
    chat_cards_choose_places(t, card, ev);
    if (chat_whole_send(t, card, ev, chat_cards_expiry_ms(card)))
        json_object_set_new(card->about, "whole", json_true());
    int rc = 0;
    for (size_t i = 0; i < card->place_count; i++)
        rc |= chat_cards_post(c, t->turn, card, &card->places[i]);
    chat_memory_write(t);
    return rc;
}

static void chat_cards_decide(struct chat_turn *t, const struct tc_request *ev)
{
    struct chat *const c = t->chat;
    struct chat_card *const card = chat_card_find(&c->cards, t->turn->id, ev->request_id);
    CLEANUP_BUF struct buf words = {0};
    if (!card || card->decided)
        return;
    card->answers = ev->answers ? json_loads(ev->answers, 0, NULL) : NULL;
    chat_card_write_decision(&words, card, ev);
    close_card(c, t->turn, card, words.p);
    chat_cards_remove_settled(&c->cards);
    chat_memory_write(t);
}

int chat_cards_handle_request(struct chat_turn *t, const struct tc_request *ev)
{
    const unsigned before = t->view.waiting;
    int rc = 0;
    if (strcmp(ev->state, "open") == 0)
        rc = open_card(t, ev);
    else
        chat_cards_decide(t, ev);
    t->view.waiting = chat_cards_waiting(&t->chat->cards, t->turn->id);
    t->view.visible |= t->view.waiting > 0;
    chat_live_update(t, t->view.waiting != before);
    return rc;
}

void chat_cards_end_turn(struct chat_turn *t)
{
    bool any = false;
    struct chat_card *card;
    TAILQ_FOREACH(card, &t->chat->cards.list, entry)
    if (!card->decided && strcmp(card->turn, t->turn->id) == 0) {
        close_card(t->chat, t->turn, card, texts_get(TEXT_CARD_ENDED));
        any = true;
    }
    chat_cards_remove_settled(&t->chat->cards);
    if (any)
        chat_memory_write(t);
}

/* ---- results ---- */

static struct chat_card *chat_cards_find_slot(struct chat_turn *t, const struct chat_record *r,
                                              struct chat_place **place)
{
    size_t n = 0;
    int end = 0;
    struct chat_card *card = NULL;
    *place = NULL;
    if (sscanf(r->slot, CHAT_SLOT_CARD ":%zu:%n", &n, &end) == 1 && end > 0)
        card = chat_card_find(&t->chat->cards, t->turn->id, r->slot + end);
    if (card && n < card->place_count)
        *place = &card->places[n];
    return *place ? card : NULL;
}

void chat_cards_handle_delivery(struct chat_turn *t, const struct chat_record *r,
                                const char *message)
{
    struct chat_place *place;
    struct chat_card *const card = chat_cards_find_slot(t, r, &place);
    if (!card || place->state != CHAT_PLACE_POSTING)
        return;
    chat_card_deliver(&t->chat->cards, place, message ? message : r->message);
    chat_cards_store_shown(t->chat);
    chat_cards_move(place, place->message ? CHAT_PLACE_ON_DELIVER : CHAT_PLACE_ON_FAIL);
    if (card->decided)
        close_place(t->chat, t->turn, card, place);
    chat_cards_remove_settled(&t->chat->cards);
    chat_memory_write(t);
}

void chat_cards_handle_drop(struct chat_turn *t, const struct chat_record *r)
{
    struct chat_place *place;
    if (!chat_cards_find_slot(t, r, &place))
        return;
    if (place->state == CHAT_PLACE_POSTING)
        chat_cards_move(place, CHAT_PLACE_ON_FAIL);
    else if (r->op == TC_OP_EDIT && place->state != CHAT_PLACE_OPEN)
        chat_cards_move(place, CHAT_PLACE_ON_UPDATED);
    chat_cards_remove_settled(&t->chat->cards);
}

bool chat_cards_is_decided(struct chat_turn *t, const struct chat_record *r)
{
    struct chat_place *place;
    const struct chat_card *const card = chat_cards_find_slot(t, r, &place);
    return card && card->decided;
}

/* Sends a refused edit again without formatting, so that at least the buttons are removed. */
static bool retry_edit(struct chat_turn *t, struct chat_record *r, enum tc_result_kind kind)
{
    const bool refused = kind == TC_RESULT_BAD_FORMAT || kind == TC_RESULT_REFUSED ||
                         kind == TC_RESULT_TOO_LONG || kind == TC_RESULT_EMPTY;
    if (!refused || r->omit & TC_OMIT_FORMAT)
        return false;
    r->omit |= TC_OMIT_FORMAT;
    r->generation += 100000; /* distinct from the numbers of other edits */
    return chat_send(t->chat, t->turn, r, NULL) == 0;
}

void chat_cards_handle_edit(struct chat_turn *t, struct chat_record *r,
                            const struct chat_result *result, struct tc_verdict *v)
{
    struct chat_place *place;
    const enum tc_result_kind kind = result->result.kind;
    struct chat_card *const card = chat_cards_find_slot(t, r, &place);
    const bool newer = card && !r->last && (card->decided || place->stale);
    if (!newer &&
        (kind == TC_RESULT_IN_DOUBT || kind == TC_RESULT_RETRY || kind == TC_RESULT_UNAUTHORIZED)) {
        v->next = TC_NEXT_AGAIN; /* an edit can be repeated safely */
        return;
    }
    v->next = TC_NEXT_DONE;
    if (!newer && retry_edit(t, r, kind))
        return;
    if (!card || (place->state == CHAT_PLACE_CLOSING && !r->last))
        return;
    chat_cards_move(place, CHAT_PLACE_ON_UPDATED);
    if (place->state == CHAT_PLACE_OPEN && place->stale)
        chat_cards_update(t->chat, card);
    chat_cards_remove_settled(&t->chat->cards);
}

/* ---- memory ---- */

static json_t *write_places(const struct chat_card *card)
{
    json_t *const places = json_array();
    for (size_t i = 0; i < card->place_count; i++) {
        const struct chat_place *const p = &card->places[i];
        json_array_append_new(places, json_pack("{s:O, s:s?}", "to", p->target, "m", p->message));
    }
    return places;
}

static json_t *chat_cards_write_open(const struct chat_cards *cards, const char *turn,
                                     unsigned grade)
{
    json_t *const list = json_array();
    const struct chat_card *card;
    TAILQ_FOREACH(card, &cards->list, entry)
    if (!card->decided && strcmp(card->turn, turn) == 0)
        json_array_append_new(list, json_pack("{s:s, s:s?, s:o, s:o}", "id", card->request,
                                              "ticket", card->ticket, "about",
                                              chat_card_shorten(card->about, grade), "places",
                                              write_places(card)));
    return list;
}

static bool chat_cards_fits_memory(const json_t *list)
{
    char *const text = alloc_check(json_dumps(list, JSON_COMPACT), 1);
    const bool yes = strlen(text) < MEMORY_BYTES;
    free(text);
    return yes;
}

/* Shortens the texts of cards until they fit into the memory of the turn. If even the shortest
 * texts do not fit, the oldest cards are omitted, and their buttons remain if the process ends
 * now. */
json_t *chat_cards_write(const struct chat_cards *cards, const char *turn)
{
    json_t *list = chat_cards_write_open(cards, turn, 0);
    for (unsigned grade = 1; grade < CHAT_CARD_GRADES && !chat_cards_fits_memory(list); grade++) {
        json_decref(list);
        list = chat_cards_write_open(cards, turn, grade);
    }
    while (json_array_size(list) > 0 && !chat_cards_fits_memory(list))
        json_array_remove(list, 0);
    return list;
}

static void chat_cards_read_places(struct chat_cards *cards, struct chat_card *card,
                                   const json_t *places)
{
    size_t i;
    const json_t *one;
    json_array_foreach(places, i, one)
    {
        const struct tc_target to = chat_target_from_json(json_object_get(one, "to"));
        struct chat_place *const p = to.chat ? chat_card_add_place(card, &to) : NULL;
        const char *const message = chat_json_text(one, "m");
        if (p && message) {
            chat_card_deliver(cards, p, message);
            chat_cards_move(p, CHAT_PLACE_ON_DELIVER);
        }
    }
}

void chat_cards_read(struct chat_cards *cards, const char *turn, const json_t *list)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        const char *const id = chat_json_text(one, "id");
        json_t *const about = json_object_get(one, "about");
        if (!id || !json_is_object(about) || chat_card_find(cards, turn, id))
            continue;
        struct chat_card *const card =
            chat_card_add(cards, turn, id, chat_json_text(one, "ticket"), json_incref(about));
        chat_cards_read_places(cards, card, json_object_get(one, "places"));
    }
}
