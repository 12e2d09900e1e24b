/* SPDX-License-Identifier: MIT
 * Drafts: the choices of each person on a card with several choices, stored separately, so that a
 * person never submits the choices of another person. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chat/card/chat_card.h"
#include "chat/operation/chat_target.h"

void chat_draft_drop(struct chat_draft *d)
{
    json_decref(d->answers);
    d->answers = json_array();
    d->at = 0;
}

static struct chat_draft *chat_draft_find(const struct chat_card *card, const char *user)
{
    for (size_t i = 0; i < card->draft_count; i++)
        if (strcmp(card->drafts[i].user, user) == 0)
            return (struct chat_draft *)(uintptr_t)&card->drafts[i];
    return NULL;
}

/* Returns the draft of the person; if there are too many, the oldest draft is removed. */
struct chat_draft *chat_draft_get(struct chat_card *card, const char *user)
{
    struct chat_draft *const known = chat_draft_find(card, user);
    if (known)
        return known;
    if (card->draft_count == CHAT_DRAFTS) {
        json_decref(card->drafts[0].answers);
        free(card->drafts[0].user);
        memmove(card->drafts, card->drafts + 1, --card->draft_count * sizeof *card->drafts);
    }
    struct chat_draft *const d = &card->drafts[card->draft_count++];
    *d = (struct chat_draft){.user = xstrdup(user), .answers = json_array()};
    return d;
}

const struct chat_draft *chat_draft_get_viewed(const struct chat_card *card)
{
    return card->viewer ? chat_draft_find(card, card->viewer) : NULL;
}

const json_t *chat_draft_question(const struct chat_card *card, const struct chat_draft *d)
{
    return json_array_get(json_object_get(card->about, "questions"), d ? d->at : 0);
}

bool chat_draft_is_multi(const json_t *question)
{
    return chat_json_true(question, "multi");
}

static size_t chat_draft_find_label(const json_t *list, const char *label)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        const char *const text = json_string_value(one);
        if (text && strcmp(text, label) == 0)
            return i;
    }
    return SIZE_MAX;
}

bool chat_draft_is_ticked(const struct chat_draft *d, const char *label)
{
    return chat_draft_find_label(json_array_get(d->answers, d->at), label) != SIZE_MAX;
}

static json_t *chat_draft_get_answers(struct chat_draft *d)
{
    if (json_array_size(d->answers) == d->at)
        json_array_append_new(d->answers, json_array());
    return json_array_get(d->answers, d->at);
}

void chat_draft_tick(struct chat_draft *d, const char *label)
{
    json_t *const list = chat_draft_get_answers(d);
    const size_t i = chat_draft_find_label(list, label);
    if (i != SIZE_MAX)
        json_array_remove(list, i);
    else
        json_array_append_new(list, json_string(label));
}

bool chat_draft_answer(const struct chat_card *card, struct chat_draft *d, const char *text)
{
    const bool multi = chat_draft_is_multi(chat_draft_question(card, d));
    json_t *const list = multi ? chat_draft_get_answers(d) : NULL;
    if (text)
        json_array_append_new(multi ? list : d->answers, json_string(text));
    if (multi ? json_array_size(list) == 0 : !text)
        return false;
    d->at++;
    return true;
}

bool chat_draft_is_complete(const struct chat_card *card, const struct chat_draft *d)
{
    return d->at >= json_array_size(json_object_get(card->about, "questions"));
}

char *chat_draft_write(const struct chat_card *card, const struct chat_draft *d)
{
    json_t *const all = json_object();
    size_t i;
    const json_t *question;
    json_array_foreach(json_object_get(card->about, "questions"), i, question)
    {
        const char *const id = chat_json_text(question, "id");
        if (id)
            json_object_set(all, id, json_array_get(d->answers, i));
    }
    char *const text = alloc_check(json_dumps(all, JSON_COMPACT), 1);
    json_decref(all);
    return text;
}
