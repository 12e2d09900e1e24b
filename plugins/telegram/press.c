/* SPDX-License-Identifier: MIT
 * Owns the answers of people to requests: presses of buttons, and replies to the messages. The host
 * decides who may answer, and whether the request is still open. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "telegram.h"

#define TICKET_MAX 32
#define WHAT_MAX 24
#define OVER "This request is already closed."

/* A press, or a reply, of one person at one question. */
struct act {
    struct tc_turn *lobby;
    const char *ticket;
    struct telegram_question *q; /* NULL: it is of an earlier life, or over */
    const json_t *from;
    int64_t chat, thread;
    const char *text; /* what that person is told, or NULL */
    bool alert;       /* it is to be confirmed */
    enum tc_accepted result;
    bool counts; /* it was taken, or a part of it */
};

/* ---- deciding ---- */

/* tc_answer takes milliseconds, because it waits for the loop only. So the outcome can be in the
 * one answer that Telegram allows to a press. */
static void press_decide(struct act *a, const char *choice, const char *text, const char *answers)
{
    struct tc_receipt receipt = {0};
    a->result = tc_answer(
        a->lobby,
        TC_DECISION(.ticket = a->ticket, .choice = choice, .text = text, .answers = answers,
                    .user = tc_sprint(a->lobby, "%" PRId64, call_int(a->from, "id")),
                    .name = call_str(a->from, "first_name"),
                    .chat = tc_sprint(a->lobby, "%" PRId64, a->chat),
                    .thread = a->thread ? tc_sprint(a->lobby, "%" PRId64, a->thread) : NULL),
        &receipt);
    a->counts = a->result == TC_COMMAND;
    a->alert = !a->counts;
    a->text = receipt.answer;
}

/* Takes the answer to one of several questions; the last one sends all of them. */
static void go_on(struct act *a, struct draft *d)
{
    struct telegram_question *const q = a->q;
    a->counts = true;
    q->viewer = d->user;
    if (!draft_is_complete(q, d)) {
        question_show(a->lobby, q);
        return;
    }
    char *const answers = draft_write(q, d);
    press_decide(a, "answer", NULL, answers);
    free(answers);
    draft_drop(d);
    if (!a->counts && a->result != TC_KNOWN)
        question_show(a->lobby, q);
}

static bool is_single(const struct telegram_question *q)
{
    const json_t *const questions = json_object_get(q->about, "questions");
    return json_array_size(questions) == 1 && !draft_is_multi(json_array_get(questions, 0));
}

static void say(struct act *a, const char *text)
{
    a->text = text;
    a->alert = true;
}

static void press_option(struct act *a, size_t at, size_t option)
{
    struct telegram_question *const q = a->q;
    struct draft *const d = draft_of(q, call_int(a->from, "id"));
    const json_t *const question = draft_question(q, d);
    const char *const label =
        form_label(json_array_get(json_object_get(question, "options"), option));
    if (d->at != at) { /* what they see is somebody else's */
        q->viewer = d->user;
        question_show(a->lobby, q);
        say(a, "The question has changed. Please choose again.");
    } else if (!label) {
        say(a, "This choice is not available for this request.");
    } else if (is_single(q)) {
        press_decide(a, "answer", label, NULL);
    } else if (draft_is_multi(question)) {
        draft_tick(d, label);
        q->viewer = d->user;
        a->counts = true;
        question_show(a->lobby, q);
    } else {
        draft_answer(q, d, label);
        go_on(a, d);
    }
}

static void press_done(struct act *a)
{
    struct draft *const d = draft_of(a->q, call_int(a->from, "id"));
    if (draft_answer(a->q, d, NULL))
        go_on(a, d);
    else
        say(a, "Select at least one option, or reply to the message.");
}

/* ---- presses ---- */

/* The data of a button of a question: "a:TICKET:WHAT". */
static bool read_data(const char *data, char ticket[TICKET_MAX + 1], char what[WHAT_MAX + 1])
{
    int n = 0;
    return sscanf(data, "a:%32[A-Za-z0-9_-]:%24[a-z0-9_.]%n", ticket, what, &n) == 2 && n > 0 &&
           !data[n];
}

static const struct telegram_place *
place_in(const struct telegram *s, const struct telegram_question *q, int64_t chat, int64_t message)
{
    const struct telegram_place *any = NULL;
    for (size_t i = 0; i < q->places; i++) {
        const struct telegram_place *const p = &q->place[i];
        if (p->to.chat != chat && route_chat_now(s, p->to.chat) != chat)
            continue;
        any = p;
        if (p->message == message)
            return p;
    }
    return any;
}

/* A message whose sending was not confirmed was sent again: the first one is valid, too. */
static void adopt(struct telegram_question *q, const struct telegram_place *p, int64_t message)
{
    if (p->message == message || p->pending || !message)
        return;
    const struct target to = p->to;
    struct telegram_place *const other = question_add_place(q, &to);
    if (other)
        other->message = message;
}

/* Finds the place of the request; false: it was not asked in that chat. */
static bool locate(struct act *a, const json_t *chat, const json_t *message)
{
    const struct telegram *const s = state_of(a->lobby);
    const int64_t id = call_int(message, "message_id");
    a->chat = call_int(chat, "id");
    if (json_is_true(json_object_get(message, "is_topic_message")))
        a->thread = call_int(message, "message_thread_id");
    if (!a->q)
        return a->chat != 0;
    const struct telegram_place *const p = place_in(s, a->q, a->chat, id);
    if (!p)
        return false;
    a->thread = p->to.thread;
    adopt(a->q, p, id);
    return true;
}

static void press_question(struct act *a, const char *what)
{
    size_t at = 0, option = 0;
    int n = 0;
    const bool chosen = sscanf(what, "o%2zu.%2zu%n", &at, &option, &n) == 2 && !what[n];
    const bool done = strcmp(what, "done") == 0;
    if (!chosen && !done)
        press_decide(a, what, NULL, NULL);
    else if (!a->q || a->q->decided || !json_object_get(a->q->about, "questions"))
        press_decide(a, "answer", NULL, NULL); /* only the host knows what to say */
    else if (chosen)
        press_option(a, at, option);
    else
        press_done(a);
}

static void refuse(struct act *a, const json_t *from)
{
    struct telegram *const s = state_of(a->lobby);
    if (!s->forged)
        tc_log(a->lobby->inst, TC_WARN,
               "ignored a button press from user %" PRId64
               ": the button was not created by this instance; further ones are not logged",
               call_int(from, "id"));
    s->forged = true;
    a->text = "This button is no longer valid.";
}

static void press_handle(struct act *a, const json_t *query)
{
    const char *const data = call_str(query, "data");
    char ticket[TICKET_MAX + 1], what[WHAT_MAX + 1];
    if (data && strncmp(data, "s:", 2) == 0) {
        a->text = button_pressed(a->lobby, data + 2, call_int(a->from, "id"));
        return;
    }
    if (data && read_data(data, ticket, what)) {
        a->ticket = tc_sprint(a->lobby, "%s", ticket);
        a->q = question_of_ticket(state_of(a->lobby), ticket);
        const json_t *const message = json_object_get(query, "message");
        if (locate(a, json_object_get(message, "chat"), message)) {
            press_question(a, what);
            return;
        }
    }
    refuse(a, a->from);
}

/* Each press gets an answer: the client of the person waits for it. */
void press_take(struct tc_turn *lobby, const json_t *query)
{
    struct act a = {.lobby = lobby, .from = json_object_get(query, "from")};
    const char *const id = call_str(query, "id");
    char text[200];
    if (!id)
        return;
    press_handle(&a, query);
    message_clip(text, sizeof text, a.text ? a.text : "");
    json_t *const body = json_pack("{s:s, s:s}", "callback_query_id", id, "text", text);
    if (a.alert)
        json_object_set_new(body, "show_alert", json_true());
    call_send(lobby, &(struct telegram_call){.method = "answerCallbackQuery",
                                             .body = body,
                                             .tag = call_tag("pressed"),
                                             .priority = TC_P_REQUEST,
                                             .flags = TC_IDEMPOTENT,
                                             .max_age_ms = 15000});
}

/* ---- replies ---- */

/* A reply that is a command is executed, and is no answer to the request. */
static bool is_command(const char *text)
{
    static const char *const commands[] = {"/stop",   "stop",    "!stop",  "/new",  "!new",
                                           "/status", "!status", "/queue", "!queue"};
    const size_t n = strcspn(text, " \n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i]) == n && strncasecmp(commands[i], text, n) == 0)
            return true;
    return false;
}

/* The ticket in the buttons of a message. */
static const char *ticket_in(struct tc_turn *lobby, const json_t *message)
{
    const json_t *const rows =
        json_object_get(json_object_get(message, "reply_markup"), "inline_keyboard");
    const char *const data = call_str(json_array_get(json_array_get(rows, 0), 0), "callback_data");
    char ticket[TICKET_MAX + 1], what[WHAT_MAX + 1];
    return data && read_data(data, ticket, what) ? tc_sprint(lobby, "%s", ticket) : NULL;
}

static void reply_words(struct act *a, bool approval, const char *text)
{
    struct telegram_question *const q = a->q;
    const bool asks = q && !q->decided && json_object_get(q->about, "questions");
    if (approval)
        press_decide(a, "deny", text, NULL);
    else if (!asks || is_single(q))
        press_decide(a, "answer", text, NULL);
    else {
        struct draft *const d = draft_of(q, call_int(a->from, "id"));
        draft_answer(q, d, text);
        go_on(a, d);
    }
}

/* A person who may not submit messages in this chat gets no reply. */
static void tell(struct act *a, const json_t *message)
{
    const char *const user = tc_sprint(a->lobby, "%" PRId64, call_int(a->from, "id"));
    const char *const chat = tc_sprint(a->lobby, "%" PRId64, a->chat);
    if (a->result == TC_NOT_KEPT)
        return; /* it comes again */
    if (a->counts)
        update_react(a->lobby, message, "👌", NULL);
    else if (a->text && (a->result != TC_DENIED || tc_may_submit(a->lobby, user, chat)))
        update_say(a->lobby, message, a->text);
}

bool press_reply(struct tc_turn *lobby, const json_t *message, enum taken *taken)
{
    struct telegram *const s = state_of(lobby);
    const json_t *const to = update_replied_to(message);
    bool approval = false;
    if (!to || call_int(json_object_get(to, "from"), "id") != s->self ||
        !form_is_question(update_text(to), &approval))
        return false;
    const char *const words = update_spoken(lobby, update_text(message));
    if (words && is_command(words))
        return false;
    struct act a = {
        .lobby = lobby, .from = json_object_get(message, "from"), .ticket = ticket_in(lobby, to)};
    const json_t *const chat = json_object_get(message, "chat");
    a.chat = call_int(chat, "id");
    a.q = a.ticket ? question_of_ticket(s, a.ticket)
                   : question_at(s, a.chat, call_int(to, "message_id"));
    if (a.q && !a.ticket)
        a.ticket = a.q->ticket;
    a.result = TC_DENIED;
    a.text = OVER;
    if (a.ticket && locate(&a, chat, to) && words && *words)
        reply_words(&a, approval, words);
    else if (!words || !*words)
        a.text = "Please reply to the message with text.";
    tell(&a, message);
    *taken = a.result == TC_NOT_KEPT ? TAKEN_NOT : TAKEN;
    return true;
}
