/* SPDX-License-Identifier: MIT
 * Owns what people have chosen of a question with several choices, each for themselves: what one
 * hands over is never what another one has chosen. */
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

void draft_drop(struct draft *d)
{
    json_decref(d->answers);
    d->answers = json_array();
    d->at = 0;
}

struct draft *draft_of(struct telegram_question *q, int64_t user)
{
    for (size_t i = 0; i < q->drafts; i++)
        if (q->draft[i].user == user)
            return &q->draft[i];
    if (q->drafts == DRAFTS) {
        json_decref(q->draft[0].answers);
        memmove(q->draft, q->draft + 1, --q->drafts * sizeof *q->draft);
    }
    struct draft *const d = &q->draft[q->drafts++];
    *d = (struct draft){.user = user, .answers = json_array()};
    return d;
}

const json_t *draft_question(const struct telegram_question *q, const struct draft *d)
{
    return json_array_get(json_object_get(q->about, "questions"), d->at);
}

bool draft_is_multi(const json_t *question)
{
    return json_is_true(json_object_get(question, "multi"));
}

static size_t index_of(const json_t *list, const char *label)
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

bool draft_is_ticked(const struct draft *d, const char *label)
{
    return index_of(json_array_get(d->answers, d->at), label) != SIZE_MAX;
}

static json_t *ticked(struct draft *d)
{
    if (json_array_size(d->answers) == d->at)
        json_array_append_new(d->answers, json_array());
    return json_array_get(d->answers, d->at);
}

void draft_tick(struct draft *d, const char *label)
{
    json_t *const list = ticked(d);
    const size_t i = index_of(list, label);
    if (i != SIZE_MAX)
        json_array_remove(list, i);
    else
        json_array_append_new(list, json_string(label));
}

bool draft_answer(const struct telegram_question *q, struct draft *d, const char *text)
{
    if (!draft_is_multi(draft_question(q, d))) {
        if (!text)
            return false;
        json_array_append_new(d->answers, json_string(text));
    } else {
        json_t *const list = ticked(d);
        if (text)
            json_array_append_new(list, json_string(text));
        if (json_array_size(list) == 0)
            return false;
    }
    d->at++;
    return true;
}

bool draft_is_complete(const struct telegram_question *q, const struct draft *d)
{
    return d->at >= json_array_size(json_object_get(q->about, "questions"));
}

char *draft_write(const struct telegram_question *q, const struct draft *d)
{
    json_t *const all = json_object();
    size_t i;
    const json_t *question;
    json_array_foreach(json_object_get(q->about, "questions"), i, question)
    {
        const char *const id = call_str(question, "id");
        if (id)
            json_object_set(all, id, json_array_get(d->answers, i));
    }
    char *const text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    return text;
}
