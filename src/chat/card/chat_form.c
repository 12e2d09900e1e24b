/* SPDX-License-Identifier: MIT
 * Forms: the fields for the questions of a request, and the answers that a person has filled in,
 * which are checked. */
#include <string.h>

#include "base/bytes/utf8.h"
#include "chat/card/chat_card.h"
#include "chat/operation/chat_target.h"
#include "text/sentence/texts.h"
#include "text/text_reveal.h"

#define LABEL_MAX 60
#define ABOUT_MAX 100
/* Bytes; longer options are omitted, because a form returns the complete text of an option. */
#define OPTION_MAX 500
#define OPTIONS_MAX 50
#define BLANKS " \t\r\n"

bool chat_card_has_buttons(enum tc_input input)
{
    return input == TC_INPUT_BUTTONS || input == TC_INPUT_FIELDS || input == TC_INPUT_DIALOG;
}

/* If a form must be opened by a button, a single question with one selectable option is answered by
 * the buttons of the options instead. */
static bool chat_form_is_wanted(const struct chat_card *card, enum tc_input input)
{
    const json_t *const options = json_object_get(chat_draft_question(card, NULL), "options");
    return input == TC_INPUT_FIELDS ||
           (input == TC_INPUT_DIALOG &&
            !(chat_card_is_single(card) && json_array_size(options) > 0));
}

static bool chat_form_can_answer(const struct chat_card *card)
{
    size_t i;
    const json_t *choice;
    json_array_foreach(json_object_get(card->about, "choices"), i, choice)
    {
        const char *const id = chat_json_text(choice, "id");
        if (id && strcmp(id, "answer") == 0)
            return true;
    }
    return false;
}

bool chat_card_has_form(const struct chat_card *card, const struct tc_chat *table)
{
    const json_t *const questions = json_object_get(card->about, "questions");
    size_t i;
    const json_t *question;
    if (!chat_form_is_wanted(card, table->input) || !card->ticket || chat_card_is_approval(card) ||
        !chat_form_can_answer(card) ||
        (table->fields && json_array_size(questions) > table->fields))
        return false;
    json_array_foreach(questions, i, question)
    {
        const char *const id = chat_json_text(question, "id");
        if (!id || !*id)
            return false;
    }
    return true;
}

/* ---- fields ---- */

/* Returns the text on one line, with invisible characters escaped; NULL: the text is empty. */
static json_t *chat_form_label(const char *text, size_t most)
{
    CLEANUP_BUF struct buf shown = {0};
    if (!text || !text[strspn(text, BLANKS)])
        return json_null();
    text_reveal_line(&shown, text, strlen(text));
    const size_t fit = utf8_truncated_len(shown.p, shown.len, most);
    return json_sprintf("%.*s%s", (int)fit, shown.p, shown.p[fit] ? "…" : "");
}

static json_t *chat_form_options(const json_t *question)
{
    json_t *const options = json_array();
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        const char *const label = chat_card_option_label(option);
        if (label && label[strspn(label, BLANKS)] && strlen(label) <= OPTION_MAX &&
            json_array_size(options) < OPTIONS_MAX)
            json_array_append_new(
                options,
                json_pack("[s, o]", label,
                          chat_form_label(chat_json_text(option, "description"), ABOUT_MAX)));
    }
    return options;
}

json_t *chat_card_fields(const struct chat_card *card, const struct tc_chat *table)
{
    const json_t *const questions = json_object_get(card->about, "questions");
    size_t i;
    const json_t *question;
    if (card->decided || !chat_card_has_form(card, table))
        return NULL;
    json_t *const fields = json_array();
    json_array_foreach(questions, i, question)
    {
        json_array_append_new(
            fields, json_pack("[s, o, b, o]", chat_json_text(question, "id"),
                              chat_form_label(chat_json_text(question, "header"), LABEL_MAX),
                              chat_draft_is_multi(question), chat_form_options(question)));
    }
    if (!questions)
        json_array_append_new(fields, json_pack("[s, n, b, []]", "", false));
    return fields;
}

/* ---- answers ---- */

static bool chat_form_is_filled(const json_t *answer)
{
    const char *const text = json_string_value(answer);
    size_t i;
    const json_t *one;
    if (!json_is_array(answer))
        return text && text[strspn(text, BLANKS)];
    json_array_foreach(answer, i, one)
    {
        if (!chat_form_is_filled(one) || json_is_array(one))
            return false;
    }
    return json_array_size(answer) > 0;
}

static bool chat_form_is_complete(const struct chat_card *card, const struct chat_filled *f)
{
    const json_t *const questions = json_object_get(card->about, "questions");
    size_t i;
    const json_t *question;
    json_array_foreach(questions, i, question)
    {
        if (!json_object_get(f->answers, chat_json_text(question, "id")))
            return false;
    }
    return questions || f->text || json_object_size(f->answers) > 0;
}

struct chat_filled chat_card_read_answers(const struct chat_card *card, const char *answers)
{
    json_t *const given = answers ? json_loads(answers, 0, NULL) : NULL;
    struct chat_filled f = {.answers = json_object()};
    const char *id;
    json_t *answer;
    json_object_foreach(given, id, answer)
    {
        if (chat_form_is_filled(answer) && *id)
            json_object_set(f.answers, id, answer);
        else if (chat_form_is_filled(answer) && json_is_string(answer))
            json_object_set(f.answers, "", answer);
    }
    json_decref(given);
    f.owner = json_object_get(f.answers, "");
    json_incref(f.owner);
    json_object_del(f.answers, "");
    f.text = json_string_value(f.owner);
    f.complete = !card || chat_form_is_complete(card, &f);
    return f;
}

void chat_filled_fini(struct chat_filled *f)
{
    json_decref(f->answers);
    json_decref(f->owner);
}
