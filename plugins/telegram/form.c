/* SPDX-License-Identifier: MIT
 * Owns how a request of the agent looks: its message, and its buttons. What the agent says of what
 * it wants to do is set as code, so that nothing in it can pass for words of ours, or be pressed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

/* In UTF-16 units; together with our own words, less than a message holds. */
#define SUBJECT_MAX 2000
#define MORE_MAX 700
#define WORDS_MAX 300
#define PROMPT_MAX 700
#define OPTION_MAX 100

#define OPTIONS 10 /* that get a button */
#define QUESTIONS 6
#define DATA_MAX 64 /* of a button, as the service has it */
#define LABEL_MAX 60
#define HAND "✋ " /* of what can be answered */

static const struct {
    const char *kind, *title;
} titles[] = {{"approval", "Approval needed"},
              {"ask", "Question"},
              {"credential", "Credential needed"},
              {"input", "Input needed"},
              {NULL, "Answer needed"}};

static const char *title_of(const char *kind)
{
    size_t i = 0;
    while (titles[i].kind && (!kind || strcmp(titles[i].kind, kind) != 0))
        i++;
    return titles[i].title;
}

bool form_is_question(const char *text, bool *approval)
{
    if (strncmp(text, HAND, sizeof HAND - 1) != 0)
        return false;
    text += sizeof HAND - 1;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        const size_t n = strlen(titles[i].title);
        *approval = i == 0;
        if (strncmp(text, titles[i].title, n) == 0 && (text[n] == '\n' || !text[n]))
            return true;
    }
    return false;
}

void form_time(char *out, size_t cap, int64_t ms)
{
    const int64_t s = (ms + 500) / 1000;
    if (s < 120)
        snprintf(out, cap, "%" PRId64 " s", s);
    else if (s < 7200)
        snprintf(out, cap, "%" PRId64 " min", (s + 30) / 60);
    else
        snprintf(out, cap, "%" PRId64 " h", (s + 1800) / 3600);
}

const char *form_label(const json_t *option)
{
    const char *const label = call_str(option, "label");
    return label ? label : json_string_value(option);
}

/* ---- what is shown of it ---- */

void form_set_text(json_t *about, const char *key, const char *text, size_t most)
{
    char cut_key[32];
    size_t cut = 0;
    char *const shown = text && *text ? message_spell(text, most, &cut) : NULL;
    if (!shown)
        return;
    json_object_set_new(about, key, json_string(shown));
    snprintf(cut_key, sizeof cut_key, "%s_cut", key);
    if (cut)
        json_object_set_new(about, cut_key, json_integer((json_int_t)cut));
    free(shown);
}

static bool is_said(const struct tc_request *ev, const char *value)
{
    return value && ((ev->subject && strcmp(value, ev->subject) == 0) ||
                     (ev->message && strcmp(value, ev->message) == 0));
}

/* The arguments that are not in the subject: a person decides on all of them. */
static void read_args(json_t *about, const struct tc_request *ev)
{
    json_t *const args = ev->args && !ev->questions ? json_loads(ev->args, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    char *text = NULL;
    size_t size = 0;
    FILE *const to = open_memstream(&text, &size);
    json_object_foreach(args, key, value)
    {
        const char *const said = json_string_value(value);
        char *const other = said ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        if (to && !is_said(ev, said))
            fprintf(to, "%s%s: %s", ftell(to) ? "\n" : "", key, said ? said : other ? other : "");
        free(other);
    }
    if (to)
        fclose(to);
    form_set_text(about, "more", text, ev->subject ? MORE_MAX : SUBJECT_MAX);
    free(text);
    json_decref(args);
}

static void read_list(json_t *about, const char *key, const char *text, size_t most)
{
    json_t *const list = text ? json_loads(text, 0, NULL) : NULL;
    while (json_array_size(list) > most)
        json_array_remove(list, most);
    if (json_array_size(list) > 0)
        json_object_set(about, key, list);
    json_decref(list);
}

json_t *form_read(const struct tc_turn *turn, const struct tc_request *ev)
{
    json_t *const about = json_pack("{s:s}", "kind", ev->kind);
    const int64_t wait_ms = ev->expires_ms - (int64_t)(ev->meta->ts * 1000);
    form_set_text(about, "tool", ev->tool, WORDS_MAX);
    form_set_text(about, "subject", ev->preview ? ev->preview : ev->subject, SUBJECT_MAX);
    form_set_text(about, "reason", ev->reason, WORDS_MAX);
    form_set_text(about, "message", ev->message, WORDS_MAX);
    if (!ev->preview)
        read_args(about, ev);
    else if (call_int(about, "subject_cut"))
        json_object_set_new(about, "whole", json_true());
    read_list(about, "questions", ev->questions, QUESTIONS);
    read_list(about, "choices", ev->choices, OPTIONS);
    if (ev->expires_ms > 0 && wait_ms > 0)
        json_object_set_new(about, "wait_ms", json_integer(wait_ms));
    if (ev->to)
        json_object_set_new(about, "context",
                            json_sprintf("%s%s%s", turn->agent, turn->conversation ? " in " : "",
                                         turn->conversation ? turn->conversation : ""));
    return about;
}

/* ---- its message ---- */

static void add_text(struct message *m, const char *lead, const char *text, size_t most)
{
    size_t cut = 0;
    char *const shown = text && *text ? message_spell(text, most, &cut) : NULL;
    if (!shown)
        return;
    message_add(m, lead);
    message_add(m, shown);
    message_add(m, cut ? "…" : "");
    free(shown);
}

/* more: where the rest of it is. */
static void add_code(struct message *m, const json_t *about, const char *key, const char *type,
                     const char *more)
{
    char cut_key[32];
    const char *const text = call_str(about, key);
    if (!text)
        return;
    message_add(m, "\n");
    message_mark(m, type, text);
    snprintf(cut_key, sizeof cut_key, "%s_cut", key);
    const int64_t cut = call_int(about, cut_key);
    if (cut)
        message_add(m, tc_sprint(m->turn, "\n… %" PRId64 " more character%s not shown%s", cut,
                                 cut == 1 ? "" : "s", more));
}

static void add_answer(struct message *m, const json_t *answer)
{
    size_t i;
    const json_t *one;
    if (json_is_string(answer))
        add_text(m, "\n→ ", json_string_value(answer), WORDS_MAX);
    json_array_foreach(answer, i, one)
        add_text(m, i ? ", " : "\n→ ", json_string_value(one), OPTION_MAX);
}

static void add_options(struct message *m, const json_t *question)
{
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        if (i == OPTIONS)
            break;
        add_text(m, "\n• ", form_label(option), OPTION_MAX);
        add_text(m, " – ", call_str(option, "description"), OPTION_MAX);
    }
}

/* The earlier questions with their answers, and the current question. */
static void add_questions(struct message *m, const struct telegram_question *q,
                          const struct draft *d)
{
    const json_t *const questions = json_object_get(q->about, "questions");
    const size_t count = json_array_size(questions), at = d ? d->at : 0;
    size_t i;
    const json_t *question;
    json_array_foreach(questions, i, question)
    {
        const char *const id = call_str(question, "id");
        const bool now = !q->decided && i == at;
        if (!q->decided && i > at)
            break;
        if (now && count > 1)
            message_add(m, tc_sprint(m->turn, "\n\nQuestion %zu of %zu", i + 1, count));
        add_text(m, "\n", call_str(question, "prompt"), now ? PROMPT_MAX : WORDS_MAX);
        if (now)
            add_options(m, question);
        else if (q->decided)
            add_answer(m, id ? json_object_get(q->answers, id) : NULL);
        else
            add_answer(m, json_array_get(d->answers, i));
    }
}

static const struct draft *viewed(const struct telegram_question *q)
{
    for (size_t i = 0; i < q->drafts; i++)
        if (q->draft[i].user == q->viewer)
            return &q->draft[i];
    return NULL;
}

static const json_t *question_now(const struct telegram_question *q)
{
    const struct draft *const d = viewed(q);
    return json_array_get(json_object_get(q->about, "questions"), d ? d->at : 0);
}

static bool is_approval(const struct telegram_question *q)
{
    const char *const kind = call_str(q->about, "kind");
    return kind && strcmp(kind, "approval") == 0;
}

static void add_hints(struct message *m, const struct telegram_question *q)
{
    const int64_t wait_ms = call_int(q->about, "wait_ms");
    const bool options = json_array_size(json_object_get(question_now(q), "options")) > 0;
    char wait[32];
    message_add(m, is_approval(q) ? "\n\nReply to this message to deny with a reason."
                   : options      ? "\n\nOr reply to this message with your own answer."
                                  : "\n\nReply to this message with your answer.");
    if (wait_ms <= 0)
        return;
    form_time(wait, sizeof wait, wait_ms);
    message_add(m, tc_sprint(m->turn, " Denied automatically if nobody answers within %s.", wait));
}

void form_show(struct message *m, const struct telegram_question *q)
{
    message_add(m, q->ticket ? HAND : "❓ ");
    message_mark(m, "bold", title_of(call_str(q->about, "kind")));
    add_code(m, q->about, "context", "code", "");
    add_code(m, q->about, "tool", "code", "");
    add_code(m, q->about, "subject", "pre",
             json_object_get(q->about, "whole") ? ": the messages above have the complete text"
                                                : "");
    add_code(m, q->about, "more", "pre", "");
    add_code(m, q->about, "reason", "code", "");
    add_code(m, q->about, "message", "code", "");
    add_questions(m, q, viewed(q));
    if (q->decided)
        add_text(m, "\n\n→ ", q->decided, PROMPT_MAX);
    else if (q->ticket)
        add_hints(m, q);
}

/* ---- its buttons ---- */

static void add_button(json_t *rows, const struct telegram_question *q, const char *what,
                       const char *label)
{
    char data[DATA_MAX + 1], text[LABEL_MAX];
    const int n = snprintf(data, sizeof data, "a:%s:%s", q->ticket, what);
    message_clip(text, sizeof text, label);
    if (n > DATA_MAX || !text[strspn(text, " ")])
        return;
    json_array_append_new(rows, json_pack("[{s:s, s:s}]", "text", text, "callback_data", data));
}

static void add_option_buttons(json_t *rows, const struct telegram_question *q)
{
    const struct draft *const d = viewed(q);
    const json_t *const question = question_now(q), *option;
    const bool multi = draft_is_multi(question);
    size_t i;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        const char *const label = form_label(option);
        char what[32], text[2 * LABEL_MAX];
        if (!label || i == OPTIONS)
            continue;
        snprintf(what, sizeof what, "o%zu.%zu", d ? d->at : 0, i);
        snprintf(text, sizeof text, "%s%.100s",
                 !multi                           ? ""
                 : d && draft_is_ticked(d, label) ? "☑ "
                                                  : "☐ ",
                 label);
        add_button(rows, q, what, text);
    }
    if (multi && i > 0)
        add_button(rows, q, "done", "Done");
}

json_t *form_keyboard(const struct telegram_question *q)
{
    size_t i;
    const json_t *choice;
    if (!q->ticket || q->decided)
        return NULL;
    json_t *const rows = json_array();
    if (!is_approval(q))
        add_option_buttons(rows, q);
    json_array_foreach(json_object_get(q->about, "choices"), i, choice)
    {
        const char *const id = call_str(choice, "id"), *const label = call_str(choice, "label");
        if (id && strcmp(id, "answer") != 0)
            add_button(rows, q, id, label ? label : id);
    }
    return json_pack("{s:o}", "inline_keyboard", rows);
}
