/* SPDX-License-Identifier: MIT
 * Text and buttons of a card. The agent's own texts are set as code, so that they cannot look like
 * texts of the host. */
#include <stdio.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "chat/card/chat_card.h"
#include "chat/operation/chat_target.h"
#include "chat/show/chat_text.h"
#include "text/sentence/texts.h"

#define PROMPT_MAX 700
#define WORDS_MAX 300
#define OPTION_MAX 100
#define OPTIONS_MAX 10
#define LABEL_MAX 60

static const struct {
    const char *kind;
    enum text_id title;
} titles[] = {{"approval", TEXT_CARD_APPROVAL},
              {"ask", TEXT_CARD_QUESTION},
              {"credential", TEXT_CARD_CREDENTIAL},
              {"input", TEXT_CARD_INPUT},
              {NULL, TEXT_CARD_OTHER}};

#define HAND "✋" /* first character of a card that can be answered */

static bool is_first_line(const char *text, const char *title)
{
    const size_t n = strlen(title);
    return strncmp(text, title, n) == 0 && (!text[n] || text[n] == '\n');
}

/* Compares with the text in every language, because the language of the instance may have
 * changed. */
bool chat_card_is_text(const char *text, bool *approval)
{
    const size_t hand = strlen(HAND " ");
    if (strncmp(text, HAND " ", hand) != 0)
        return false;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        for (unsigned language = 0; language < LANGUAGE_COUNT; language++) {
            *approval = i == 0;
            if (is_first_line(text + hand, texts_get_in((enum language)language, titles[i].title)))
                return true;
        }
    return false;
}

static const char *chat_card_find_title(const char *kind)
{
    size_t i = 0;
    while (titles[i].kind && (!kind || strcmp(titles[i].kind, kind) != 0))
        i++;
    return texts_get(titles[i].title);
}

/* Writes a waiting time, rounded. */
static void add_wait(struct buf *out, int64_t ms)
{
    const int64_t s = (ms + 500) / 1000;
    if (s < 120)
        texts_append(out, TEXT_TIME_SECONDS, TEXT_VALUES(TEXT_INT("s", s)));
    else if (s < 7200)
        texts_append(out, TEXT_TIME_ABOUT_MINUTES, TEXT_VALUES(TEXT_INT("min", (s + 30) / 60)));
    else
        texts_append(out, TEXT_TIME_ABOUT_HOURS, TEXT_VALUES(TEXT_INT("h", (s + 1800) / 3600)));
}

/* Writes a sentence with the placeholder {time}. */
static void write_wait(struct buf *out, enum text_id id, int64_t ms)
{
    CLEANUP_BUF struct buf time = {0};
    add_wait(&time, ms);
    texts_append(out, id, TEXT_VALUES(TEXT_STR("time", time.p)));
}

/* ---- parts of the text ---- */

static void write_words(struct buf *out, const char *lead, const char *text, size_t most)
{
    char cut[PROMPT_MAX + 8];
    if (!text || !*text)
        return;
    const size_t n = utf8_truncated_len(text, strlen(text), most);
    snprintf(cut, sizeof cut, "%.*s", (int)n, text);
    buf_add_str(out, lead);
    chat_text_escape(out, cut);
    buf_add_str(out, text[n] ? "…" : "");
}

static void write_code(struct buf *out, const json_t *about, const char *key)
{
    const char *const text = chat_json_text(about, key);
    if (!text)
        return;
    buf_add_str(out, out->p[out->len - 1] == '\n' ? "\n" : "\\\n");
    chat_text_add_code(out, text, WORDS_MAX);
}

/* is_whole: the complete text has been sent before. */
static void write_block(struct buf *out, const json_t *about, const char *key, bool is_whole)
{
    char cut_key[32];
    const char *const text = chat_json_text(about, key);
    if (!text)
        return;
    buf_add_char(out, '\n');
    chat_text_add_block(out, text, strlen(text));
    snprintf(cut_key, sizeof cut_key, "%s_cut", key);
    const int64_t cut = chat_json_int(about, cut_key);
    if (!cut)
        return;
    buf_add_char(out, '\n');
    texts_append(out, is_whole ? TEXT_CARD_CUT_WHOLE : TEXT_CARD_CUT,
                 TEXT_VALUES(TEXT_INT("n", cut)));
    buf_add_char(out, '\n');
}

static void write_answer(struct buf *out, const json_t *answer)
{
    size_t i;
    const json_t *one;
    if (json_is_string(answer))
        write_words(out, "\\\n→ ", json_string_value(answer), WORDS_MAX);
    json_array_foreach(answer, i, one)
        write_words(out, i ? ", " : "\\\n→ ", json_string_value(one), OPTION_MAX);
}

static void write_options(struct buf *out, const json_t *question, const struct tc_chat *table)
{
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        if (i == OPTIONS_MAX)
            break;
        if (chat_card_has_buttons(table->input))
            write_words(out, "\\\n• ", chat_card_option_label(option), OPTION_MAX);
        else {
            buf_printf(out, "\\\n%zu\\. ", i + 1);
            write_words(out, "", chat_card_option_label(option), OPTION_MAX);
        }
        write_words(out, " – ", chat_json_text(option, "description"), OPTION_MAX);
    }
}

static void write_progress(struct buf *out, size_t n, size_t count)
{
    texts_append(out, TEXT_CARD_QUESTION_OF,
                 TEXT_VALUES(TEXT_INT("n", n), TEXT_INT("count", count)));
    buf_add_str(out, "\\\n");
}

/* Writes all questions; the form has the options. */
static void write_form_questions(struct buf *out, const json_t *questions)
{
    const size_t most = json_array_size(questions) > 1 ? WORDS_MAX : PROMPT_MAX;
    size_t i;
    const json_t *question;
    json_array_foreach(questions, i, question)
    {
        write_words(out, "\n\n", chat_json_text(question, "prompt"), most);
    }
}

/* Writes the earlier questions with their answers, and the current question. */
static void write_questions(struct buf *out, const struct chat_card *card,
                            const struct tc_chat *table)
{
    const struct chat_draft *const d = chat_draft_get_viewed(card);
    const json_t *const questions = json_object_get(card->about, "questions");
    const size_t count = json_array_size(questions), at = d ? d->at : 0;
    size_t i;
    const json_t *question;
    json_array_foreach(questions, i, question)
    {
        const char *const id = chat_json_text(question, "id");
        const bool now = !card->decided && i == at;
        if (!card->decided && i > at)
            break;
        buf_add_str(out, "\n\n");
        if (now && count > 1)
            write_progress(out, i + 1, count);
        write_words(out, "", chat_json_text(question, "prompt"), now ? PROMPT_MAX : WORDS_MAX);
        if (now)
            write_options(out, question, table);
        else if (card->decided)
            write_answer(out, id ? json_object_get(card->answers, id) : NULL);
        else
            write_answer(out, json_array_get(d->answers, i));
    }
}

/* ---- what a person can do ---- */

static void write_choices(struct buf *out, const struct chat_card *card)
{
    size_t i;
    const json_t *choice;
    json_array_foreach(json_object_get(card->about, "choices"), i, choice)
    {
        buf_printf(out, "%s%zu\\. ", i ? "  " : "\n\n", i + 1);
        write_words(out, "", chat_card_choice_label(choice), OPTION_MAX);
    }
}

static enum text_id chat_card_find_hint(const struct chat_card *card, const struct tc_chat *table)
{
    const enum tc_input input = table->input;
    const json_t *const question = chat_draft_question(card, chat_draft_get_viewed(card));
    const bool options = json_array_size(json_object_get(question, "options")) > 0;
    const bool presses = chat_card_has_buttons(input);
    const bool several = json_array_size(json_object_get(card->about, "questions")) > 1;
    if (input == TC_INPUT_FIELDS)
        return chat_card_is_approval(card) ? TEXT_CARD_HINT_DENY_WORD : TEXT_CARD_HINT_ANSWER_WORD;
    if (chat_card_is_approval(card))
        return presses                       ? TEXT_CARD_HINT_DENY
               : input == TC_INPUT_REACTIONS ? TEXT_CARD_HINT_REACT
                                             : TEXT_CARD_HINT_NUMBER;
    if (chat_card_has_form(card, table)) /* a text can answer one question only */
        return several ? TEXT_CARD_HINT_FORM : TEXT_CARD_HINT_ANSWER;
    if (options)
        return presses ? TEXT_CARD_HINT_OWN : TEXT_CARD_HINT_NUMBER_OR_OWN;
    return TEXT_CARD_HINT_ANSWER;
}

static void write_hints(struct buf *out, const struct chat_card *card, const struct tc_chat *table)
{
    const int64_t wait_ms = chat_json_int(card->about, "wait_ms");
    if (!chat_card_has_buttons(table->input) && chat_card_is_approval(card))
        write_choices(out, card);
    buf_add_str(out, "\n\n");
    buf_add_str(out, texts_get(chat_card_find_hint(card, table)));
    if (wait_ms > 0)
        write_wait(out, TEXT_CARD_HINT_WAIT, wait_ms);
}

void chat_card_write(struct buf *out, const struct chat_card *card, const struct tc_chat *table)
{
    const json_t *const about = card->about;
    buf_printf(out, "%s **%s**", card->ticket ? HAND : "❓",
               chat_card_find_title(chat_json_text(about, "kind")));
    write_code(out, about, "context");
    write_code(out, about, "tool");
    write_block(out, about, "subject", chat_json_true(about, "whole"));
    write_block(out, about, "more", false);
    write_code(out, about, "reason");
    write_code(out, about, "message");
    if (!card->decided && chat_card_has_form(card, table))
        write_form_questions(out, json_object_get(about, "questions"));
    else
        write_questions(out, card, table);
    if (card->decided)
        write_words(out, "\n\n→ ", card->decided, PROMPT_MAX);
    else if (card->ticket)
        write_hints(out, card, table);
    buf_add_char(out, '\n');
}

/* ---- how it was decided ---- */

/* Texts of decisions of a person; by: with the name of the person. */
static const struct {
    const char *decision;
    enum text_id alone, by;
} decisions[] = {{"allow", TEXT_CARD_ALLOWED, TEXT_CARD_ALLOWED_BY},
                 {"deny", TEXT_CARD_DENIED, TEXT_CARD_DENIED_BY},
                 {"answered", TEXT_CARD_ANSWERED, TEXT_CARD_ANSWERED_BY}};

static bool write_person(struct buf *out, const struct tc_request *ev, const char *decision)
{
    const bool by = ev->by && *ev->by;
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        if (strcmp(decision, decisions[i].decision) != 0)
            continue;
        texts_append(out, by ? decisions[i].by : decisions[i].alone,
                     TEXT_VALUES(TEXT_STR("by", by ? ev->by : "")));
        return true;
    }
    return false;
}

void chat_card_write_decision(struct buf *out, const struct chat_card *card,
                              const struct tc_request *ev)
{
    const char *const d = ev->decision ? ev->decision : "";
    const int64_t wait_ms = chat_json_int(card->about, "wait_ms");
    const bool by_agent = ev->by && *ev->by && strcmp(ev->by, "host") != 0;
    if (write_person(out, ev, d)) {
        if (strcmp(d, "deny") == 0 && ev->reason)
            buf_printf(out, ": %s", ev->reason);
    } else if (strcmp(d, "cancelled") == 0)
        texts_append(out, by_agent ? TEXT_CARD_WITHDRAWN : TEXT_CARD_ENDED, NULL);
    else if (strcmp(d, "timeout") == 0 && wait_ms > 0)
        write_wait(out, TEXT_CARD_EXPIRED_AFTER, wait_ms);
    else
        texts_append(out, strcmp(d, "timeout") == 0 ? TEXT_CARD_EXPIRED : TEXT_CARD_CLOSED, NULL);
}

/* ---- buttons ---- */

static void add_button(json_t *buttons, const struct chat_card *card, const char *what,
                       const char *label, enum tc_style style)
{
    char data[CHAT_BUTTON_DATA + 1], text[LABEL_MAX + 4];
    const size_t fit = utf8_truncated_len(label, strlen(label), LABEL_MAX);
    const int n = snprintf(data, sizeof data, "a:%s:%s", card->ticket, what);
    snprintf(text, sizeof text, "%.*s%s", (int)fit, label, label[fit] ? "…" : "");
    if (n <= CHAT_BUTTON_DATA && text[strspn(text, " ")])
        json_array_append_new(buttons, json_pack("[s, s, i, b]", data, text, (int)style,
                                                 strcmp(what, "allow_always") == 0));
}

static void add_option_buttons(json_t *buttons, const struct chat_card *card)
{
    const struct chat_draft *const d = chat_draft_get_viewed(card);
    const json_t *const question = chat_draft_question(card, d), *option;
    const bool multi = chat_draft_is_multi(question);
    size_t i;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        const char *const label = chat_card_option_label(option);
        char what[48], text[2 * OPTION_MAX];
        if (!label || i == OPTIONS_MAX)
            continue;
        snprintf(what, sizeof what, "o%zu.%zu", d ? d->at : 0, i);
        snprintf(text, sizeof text, "%s%.100s",
                 !multi                                ? ""
                 : d && chat_draft_is_ticked(d, label) ? "☑ "
                                                       : "☐ ",
                 label);
        add_button(buttons, card, what, text, TC_STYLE_PLAIN);
    }
    if (multi && i > 0)
        add_button(buttons, card, "done", texts_get(TEXT_CARD_DONE), TC_STYLE_PRIMARY);
}

static enum tc_style chat_card_style(const char *choice)
{
    return strcmp(choice, "allow") == 0    ? TC_STYLE_GOOD
           : strcmp(choice, "deny") == 0   ? TC_STYLE_BAD
           : strcmp(choice, "answer") == 0 ? TC_STYLE_PRIMARY
                                           : TC_STYLE_PLAIN;
}

/* Adds the buttons of the choices. Without a form, the buttons of the options replace the choice
 * "answer". */
static void add_choice_buttons(json_t *buttons, const struct chat_card *card, bool has_form)
{
    size_t i;
    const json_t *choice;
    json_array_foreach(json_object_get(card->about, "choices"), i, choice)
    {
        const char *const id = chat_json_text(choice, "id");
        const char *const label = chat_card_choice_label(choice);
        if (id && (has_form || strcmp(id, "answer") != 0))
            add_button(buttons, card, id, label ? label : id, chat_card_style(id));
    }
}

json_t *chat_card_buttons(const struct chat_card *card, const struct tc_chat *table)
{
    const bool has_form = chat_card_has_form(card, table);
    if (!card->ticket || card->decided || !chat_card_has_buttons(table->input))
        return NULL;
    json_t *const buttons = json_array();
    if (!chat_card_is_approval(card) && !has_form)
        add_option_buttons(buttons, card);
    add_choice_buttons(buttons, card, has_form);
    while (table->buttons && json_array_size(buttons) > table->buttons)
        json_array_remove(buttons, table->buttons - 1); /* remove other choices: the harmless choice
                                                           is the last one */
    return buttons;
}
