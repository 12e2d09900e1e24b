/* SPDX-License-Identifier: MIT
 * Queue of requests, and the meaning of keys. */
#include "question_dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/cli_words.h"

#define LOOK_EVERY_MS 50

static const struct key {
    char key;
    const char *choice;
    enum cli_word label;
} keys[] = {
    {'a', "allow", CLI_WORD_KEY_ALLOW},           {'t', "allow_turn", CLI_WORD_KEY_TURN},
    {'s', "allow_session", CLI_WORD_KEY_SESSION}, {'w', "allow_always", CLI_WORD_KEY_ALWAYS},
    {'g', "allow_agent", CLI_WORD_KEY_AGENT},     {'d', "deny", CLI_WORD_KEY_DENY},
    {'x', "deny_stop", CLI_WORD_KEY_STOP},
};
#define N_KEYS (sizeof keys / sizeof *keys)

void question_dialog_init(struct question_dialog *a, bool seen)
{
    if (seen)
        keyboard_open(&a->keyboard);
    else
        a->keyboard.fd = -1;
}

static void drop_questions(struct question_dialog *a)
{
    json_decref(a->questions);
    json_decref(a->answers);
    a->questions = a->answers = NULL;
    a->question = 0;
}

void question_dialog_fini(struct question_dialog *a, struct term *t)
{
    prompt_hide(&a->prompt, t);
    keyboard_close(&a->keyboard);
    drop_questions(a);
}

/* The next request starts when it is shown, and takes the keyboard again. */
static void question_dialog_close_first(struct question_dialog *a)
{
    keyboard_release(&a->keyboard);
    drop_questions(a);
    prompt_set(&a->prompt, "", false);
    a->step = ASK_NEW;
}

/* ---- display ---- */

static void set_keys(struct question_dialog *a, const struct term *t)
{
    char label[sizeof a->prompt.label] = "";
    size_t len = 0;
    for (size_t i = 0; i < N_KEYS; i++)
        if (terminal_request_offers(a->first, keys[i].choice))
            len += (size_t)snprintf(label + len, sizeof label - len, "%s  ",
                                    cli_word(t, keys[i].label));
    a->step = ASK_KEY;
    prompt_set(&a->prompt, label, false);
}

static void set_reason(struct question_dialog *a, const struct term *t, const char *choice)
{
    a->step = ASK_REASON;
    a->choice = choice;
    prompt_set(&a->prompt, cli_word(t, CLI_WORD_REASON), false);
}

static const json_t *question(const struct question_dialog *a)
{
    return json_array_get(a->questions, a->question);
}

static void set_question(struct question_dialog *a, struct term *t)
{
    char label[96] = "> ";
    const json_t *const q = question(a);
    const size_t n = json_array_size(json_object_get(q, "options"));
    const bool multi = json_is_true(json_object_get(q, "multi"));
    terminal_request_put_question(q, t);
    if (n > 0)
        snprintf(label, sizeof label, "%s (1-%zu)%s",
                 cli_word(t, multi ? CLI_WORD_ENTER_NUMBERS : CLI_WORD_ENTER_NUMBER), n,
                 cli_word(t, CLI_WORD_OR_ANSWER));
    a->step = ASK_QUESTION;
    prompt_set(&a->prompt, label, false);
}

static void question_dialog_begin(struct question_dialog *a, struct term *t)
{
    const struct terminal_request *const r = a->first;
    a->questions = r->questions ? json_loads(r->questions, 0, NULL) : NULL;
    a->answers = json_object();
    terminal_request_put(r, t);
    if (!terminal_request_offers(r, "answer")) {
        set_keys(a, t);
    } else if (json_array_size(a->questions) > 0) {
        set_question(a, t);
    } else {
        a->step = ASK_TEXT;
        prompt_set(&a->prompt, "> ", strcmp(r->kind, "credential") == 0);
    }
}

void question_dialog_hide(struct question_dialog *a, struct term *t)
{
    prompt_hide(&a->prompt, t);
}

/* In the background the terminal belongs to another process: shows no prompt. */
void question_dialog_show(struct question_dialog *a, struct term *t)
{
    if (!a->first || a->step == ASK_SENT || a->prompt.drawn)
        return;
    if (!keyboard_is_ours(&a->keyboard))
        return;
    if (a->step == ASK_NEW)
        question_dialog_begin(a, t);
    if (!a->keyboard.grabbed)
        keyboard_grab(&a->keyboard);
    prompt_draw(&a->prompt, t);
}

/* ---- decisions ---- */

static void dialog_show_message(struct term *t, const char *text)
{
    term_break(t);
    term_look(t, LOOK_YELLOW);
    term_put(t, "! ", 2);
    term_phrase(t, text, strlen(text), 0);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

/* If the host rejects the answer, the request is shown again, unless it is already closed. */
static void decide(struct question_dialog *a, struct term *t, const char *choice, const char *text)
{
    struct tc_receipt receipt = {0};
    struct terminal_request *const r = a->first;
    const char *const name = getenv("LOGNAME");
    char *const answers =
        json_object_size(a->answers) ? json_dumps(a->answers, JSON_COMPACT) : NULL;
    const enum tc_accepted accepted = tc_answer(
        r->turn->inst->lobby,
        TC_DECISION(.ticket = r->ticket, .choice = choice, .text = text, .user = "terminal",
                    .name = name && *name ? name : NULL, .chat = "terminal",
                    .answers = strcmp(choice, "answer") == 0 ? answers : NULL),
        &receipt);
    free(answers);
    question_dialog_close_first(a);
    if (accepted == TC_COMMAND) {
        a->step = ASK_SENT;
        return;
    }
    dialog_show_message(t, receipt.answer);
    if (accepted == TC_KNOWN)
        a->first = r->next;
}

static void press(struct question_dialog *a, struct term *t, char key)
{
    size_t i = 0;
    while (i < N_KEYS && (keys[i].key != key || !terminal_request_offers(a->first, keys[i].choice)))
        i++;
    if (i == N_KEYS)
        return;
    prompt_hide(&a->prompt, t);
    if (strncmp(keys[i].choice, "deny", 4) != 0) {
        decide(a, t, keys[i].choice, NULL);
        return;
    }
    set_reason(a, t, keys[i].choice);
}

/* ---- input ---- */

static bool is_numbers(const char *typed)
{
    return strspn(typed, "0123456789, ") == strlen(typed) && strpbrk(typed, "0123456789");
}

/* "1, 3": the texts of these options; NULL: a number is invalid. */
static json_t *pick_options(const json_t *q, const char *typed)
{
    json_t *const picked = json_array();
    for (const char *at = typed + strspn(typed, ", "); *at; at += strspn(at, ", ")) {
        char *end;
        const char *const option = terminal_request_option(q, strtoul(at, &end, 10));
        if (!option) {
            json_decref(picked);
            return NULL;
        }
        json_array_append_new(picked, json_string(option));
        at = end;
    }
    return picked;
}

/* Numbers select options; other text is the answer. NULL: not an answer to this question. */
static json_t *read_answer(const json_t *q, const char *typed)
{
    const bool multi = json_is_true(json_object_get(q, "multi"));
    const bool numbers = json_array_size(json_object_get(q, "options")) > 0 && is_numbers(typed);
    json_t *const picked = numbers ? pick_options(q, typed) : json_pack("[s]", typed);
    if (multi || (picked && json_array_size(picked) == 1)) {
        json_t *const answer = multi ? json_incref(picked) : json_incref(json_array_get(picked, 0));
        json_decref(picked);
        return answer;
    }
    json_decref(picked);
    return NULL;
}

static void refuse(struct question_dialog *a, struct term *t, const char *why)
{
    prompt_leave(&a->prompt, t);
    dialog_show_message(t, why);
    prompt_clear(&a->prompt);
}

static void answer_question(struct question_dialog *a, struct term *t)
{
    const json_t *const q = question(a);
    json_t *const answer = read_answer(q, a->prompt.text);
    const char *const id = json_string_value(json_object_get(q, "id"));
    if (!answer) {
        refuse(a, t, cli_word(t, CLI_WORD_NO_OPTION));
        return;
    }
    json_object_set_new(a->answers, id ? id : "", answer);
    prompt_leave(&a->prompt, t);
    if (++a->question == json_array_size(a->questions)) {
        decide(a, t, "answer", NULL);
        return;
    }
    keyboard_release(&a->keyboard);
    set_question(a, t);
}

static void question_dialog_enter(struct question_dialog *a, struct term *t)
{
    char text[sizeof a->prompt.text];
    snprintf(text, sizeof text, "%s", a->prompt.text);
    json_t *const valid = json_string(text);
    json_decref(valid);
    if (!valid) {
        refuse(a, t, cli_word(t, CLI_WORD_NO_UTF8));
    } else if (a->step == ASK_REASON) {
        prompt_leave(&a->prompt, t);
        decide(a, t, a->choice, *text ? text : NULL);
    } else if (*text && a->step == ASK_QUESTION) {
        answer_question(a, t);
    } else if (*text) {
        prompt_leave(&a->prompt, t);
        decide(a, t, "answer", text);
    }
    explicit_bzero(text, sizeof text);
}

/* Esc leaves the reason, then clears the typed text, then denies the request. */
static void escape(struct question_dialog *a, struct term *t)
{
    prompt_hide(&a->prompt, t);
    if (a->step == ASK_REASON && terminal_request_offers(a->first, "answer")) {
        drop_questions(a);
        a->step = ASK_NEW;
    } else if (a->step == ASK_REASON) {
        set_keys(a, t);
    } else if (a->prompt.len > 0) {
        prompt_clear(&a->prompt);
    } else if (terminal_request_offers(a->first, "deny")) {
        set_reason(a, t, "deny");
    }
}

static void type_text(struct question_dialog *a, struct term *t, char key)
{
    switch (prompt_type(&a->prompt, key)) {
    case PROMPT_ENTER:
        question_dialog_enter(a, t);
        break;
    case PROMPT_ESCAPE:
        escape(a, t);
        break;
    case PROMPT_MORE:
        break;
    }
}

/* Length of the sequence of an arrow or another special key; 0: none. */
static size_t sequence_length(const char *keys_typed, size_t n)
{
    if (n < 2 || keys_typed[0] != '\033')
        return 0;
    size_t len = 2;
    if (keys_typed[1] == '[')
        while (len < n && (unsigned char)keys_typed[len++] < 0x40)
            ;
    else if (keys_typed[1] == 'O' && n > 2)
        len = 3;
    return len;
}

/* False: the rest of the input was not meant for the current request. */
static bool question_dialog_handle_key(struct question_dialog *a, struct term *t, char key)
{
    const int signo = keyboard_signal(&a->keyboard, key);
    if (signo) {
        prompt_hide(&a->prompt, t);
        term_flush(t);
        keyboard_send(&a->keyboard, signo);
        return false;
    }
    if (a->step == ASK_KEY)
        press(a, t, key);
    else
        type_text(a, t, key);
    return a->keyboard.grabbed;
}

static void question_dialog_handle_keys(struct question_dialog *a, struct term *t)
{
    char typed[256];
    const size_t n = keyboard_read(&a->keyboard, typed, sizeof typed);
    for (size_t at = 0, len; at < n; at += len) {
        len = sequence_length(typed + at, n - at);
        if (len)
            continue;
        len = 1;
        if (!question_dialog_handle_key(a, t, typed[at]))
            break;
    }
    explicit_bzero(typed, sizeof typed);
    if (n > 0 && a->prompt.drawn && t->cursor)
        prompt_draw(&a->prompt, t);
}

/* ---- events of the host ---- */

int64_t question_dialog_next_check_ms(const struct question_dialog *a)
{
    return a->first && a->keyboard.fd >= 0 ? LOOK_EVERY_MS : -1;
}

bool question_dialog_is_shown(const struct question_dialog *a)
{
    return a->prompt.drawn;
}

void question_dialog_wake(struct question_dialog *a, struct term *t)
{
    if (!keyboard_is_ours(&a->keyboard)) {
        a->keyboard.grabbed = a->prompt.drawn = false; /* the shell sets the terminal modes */
    } else if (a->first) {
        question_dialog_show(a, t);
        if (a->keyboard.grabbed)
            question_dialog_handle_keys(a, t);
        question_dialog_show(a, t);
    }
}

bool question_dialog_open(struct question_dialog *a, struct tc_turn *turn,
                          const struct tc_request *ev)
{
    struct terminal_request *const r = a->keyboard.fd >= 0 ? terminal_request_new(turn, ev) : NULL;
    if (!r)
        return false;
    struct terminal_request **end = &a->first;
    while (*end)
        end = &(*end)->next;
    *end = r;
    return keyboard_is_ours(&a->keyboard);
}

void question_dialog_forget(struct question_dialog *a, struct term *t, const struct tc_turn *turn,
                            const char *id)
{
    const struct terminal_request *const first = a->first;
    for (struct terminal_request **at = &a->first; *at;) {
        const struct terminal_request *const r = *at;
        if (r->turn == turn && (!id || strcmp(r->id, id) == 0))
            *at = r->next;
        else
            at = &(*at)->next;
    }
    if (a->first == first)
        return;
    prompt_hide(&a->prompt, t);
    question_dialog_close_first(a);
}
