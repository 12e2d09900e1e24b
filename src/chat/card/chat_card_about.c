/* SPDX-License-Identifier: MIT
 * Describes a request for its card, shortened to size limits, with invisible characters escaped. */
#include <string.h>

#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "chat/card/chat_card.h"
#include "chat/operation/chat_target.h"
#include "chat/show/chat_text.h"
#include "event/json/json_value.h"
#include "text/sentence/texts.h"
#include "text/text_reveal.h"

/* Limits in bytes; together with the host's own text, they are less than a message. */
#define SUBJECT_MAX ((size_t)2000)
#define MORE_MAX ((size_t)700)
#define WORDS_MAX 300
#define HEADER_MAX 60
#define QUESTIONS_MAX 12
#define OPTIONS_MAX 10

const char *chat_card_option_label(const json_t *option)
{
    const char *const label = chat_json_text(option, "label");
    return label ? label : json_string_value(option);
}

const char *chat_card_choice_label(const json_t *choice)
{
    static const enum text_id own[] = {TEXT_CHOICE_ALLOW,  TEXT_CHOICE_ALLOW_SESSION,
                                       TEXT_CHOICE_ALWAYS, TEXT_CHOICE_DENY,
                                       TEXT_CHOICE_ANSWER, TEXT_CHOICE_DECLINE};
    const char *const label = chat_card_option_label(choice);
    for (size_t i = 0; label && i < sizeof own / sizeof *own; i++)
        if (strcmp(label, texts_get_in(LANGUAGE_EN, own[i])) == 0)
            return texts_get(own[i]);
    return label;
}

bool chat_card_is_approval(const struct chat_card *card)
{
    const char *const kind = chat_json_text(card->about, "kind");
    return kind && strcmp(kind, "approval") == 0;
}

bool chat_card_is_single(const struct chat_card *card)
{
    const json_t *const questions = json_object_get(card->about, "questions");
    return json_array_size(questions) == 1 && !chat_draft_is_multi(json_array_get(questions, 0));
}

/* Stores the text, and under KEY_cut the number of omitted characters. */
static void set_text(json_t *about, const char *key, const char *text, size_t most)
{
    CLEANUP_BUF struct buf shown = {0}, cut_key = {0};
    if (!text || !*text)
        return;
    text_reveal_text(&shown, text, strlen(text));
    const size_t fit = utf8_truncated_len(shown.p, shown.len, most);
    const size_t cut = utf8_count(shown.p + fit, shown.len - fit);
    json_object_set_new(about, key, json_stringn(shown.p, fit));
    buf_printf(&cut_key, "%s_cut", key);
    if (cut)
        json_object_set_new(about, cut_key.p, json_integer((json_int_t)cut));
}

static bool chat_card_repeats_text(const struct tc_request *ev, const char *value)
{
    return value && ((ev->subject && strcmp(value, ev->subject) == 0) ||
                     (ev->message && strcmp(value, ev->message) == 0));
}

/* Stores the arguments that are not in the subject, because a person decides on all of them. */
static void set_arguments(json_t *about, const struct tc_request *ev, size_t most)
{
    json_t *const args = ev->args && !ev->questions ? json_loads(ev->args, 0, NULL) : NULL;
    CLEANUP_BUF struct buf text = {0};
    const char *key;
    json_t *value;
    json_object_foreach(args, key, value)
    {
        const char *const said = json_string_value(value);
        char *const other = said ? NULL : json_value_text(value);
        if (!chat_card_repeats_text(ev, said))
            buf_printf(&text, "%s%s: %s", text.len ? "\n" : "", key,
                       said    ? said
                       : other ? other
                               : "");
        free(other);
    }
    set_text(about, "more", text.p, most);
    json_decref(args);
}

static void chat_card_set_limited_list(json_t *about, const char *key, const char *text,
                                       size_t most)
{
    json_t *const list = text ? json_loads(text, 0, NULL) : NULL;
    while (json_array_size(list) > most)
        json_array_remove(list, most);
    if (json_array_size(list) > 0)
        json_object_set(about, key, list);
    json_decref(list);
}

static size_t chat_card_apply_limit(size_t most, size_t limit)
{
    return limit && limit < most ? limit : most;
}

json_t *chat_card_describe(const struct tc_turn *turn, const struct tc_request *ev, size_t room)
{
    const size_t subject = chat_card_apply_limit(SUBJECT_MAX, room / 2);
    json_t *const about = json_pack("{s:s}", "kind", ev->kind);
    const int64_t wait_ms = ev->expires_ms - (int64_t)(ev->meta->ts * 1000);
    set_text(about, "tool", ev->tool, WORDS_MAX);
    set_text(about, "subject", ev->preview ? ev->preview : ev->subject, subject);
    set_text(about, "reason", ev->reason, WORDS_MAX);
    set_text(about, "message", ev->message, WORDS_MAX);
    if (!ev->preview)
        set_arguments(about, ev, ev->subject ? chat_card_apply_limit(MORE_MAX, room / 6) : subject);
    chat_card_set_limited_list(about, "questions", ev->questions, QUESTIONS_MAX);
    chat_card_set_limited_list(about, "choices", ev->choices, OPTIONS_MAX);
    if (ev->expires_ms > 0 && wait_ms > 0)
        json_object_set_new(about, "wait_ms", json_integer(wait_ms));
    if (ev->to) /* shown in other chats: the card names the agent and the conversation */
        json_object_set_new(about, "context",
                            json_sprintf("%s%s%s", turn->agent, turn->conversation ? " in " : "",
                                         turn->conversation ? turn->conversation : ""));
    return about;
}

/* Copies the questions without descriptions of the options. */
static json_t *chat_card_shorten_questions(const json_t *questions, size_t most)
{
    json_t *const all = json_array();
    size_t i, k;
    const json_t *question, *option;
    json_array_foreach(questions, i, question)
    {
        json_t *const one = json_object(), *const options = json_array();
        set_text(one, "prompt", chat_json_text(question, "prompt"), most);
        json_object_set(one, "id", json_object_get(question, "id"));
        set_text(one, "header", chat_json_text(question, "header"), HEADER_MAX);
        if (chat_draft_is_multi(question))
            json_object_set_new(one, "multi", json_true());
        json_array_foreach(json_object_get(question, "options"), k, option)
        {
            const char *const label = chat_card_option_label(option);
            json_array_append_new(options, json_string(label ? label : ""));
        }
        json_object_set_new(one, "options", options);
        json_array_append_new(all, one);
    }
    return all;
}

json_t *chat_card_shorten(const json_t *about, unsigned grade)
{
    static const size_t texts[CHAT_CARD_GRADES] = {600, 150, 40, 40};
    const json_t *const questions = json_object_get(about, "questions");
    static const char *const whole[] = {"kind", "wait_ms", "choices", "subject_cut", "whole"};
    json_t *const kept = json_object();
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        json_object_set(kept, whole[i], json_object_get(about, whole[i]));
    set_text(kept, "tool", chat_json_text(about, "tool"), 60);
    set_text(kept, "subject", chat_json_text(about, "subject"), texts[grade]);
    if (questions && grade < CHAT_CARD_GRADES - 1)
        json_object_set_new(kept, "questions",
                            chat_card_shorten_questions(questions, texts[grade]));
    return kept;
}
