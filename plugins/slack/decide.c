/* SPDX-License-Identifier: MIT
 * The answers of people to requests: by the buttons, or by a reply in the thread. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "call.h"
#include "decide.h"
#include "fault.h"
#include "form.h"
#include "slack.h"
#include "text.h"

#define TOLD_MAX_AGE_MS 60000

static const char *decide_text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

struct person {
    const char *user, *name, *channel, *thread; /* name, thread: "" when not known */
};

/* Only that person sees it. */
static void whisper(struct tc_turn *lobby, const struct person *p, const char *markdown)
{
    const char *text = text_mrkdwn(lobby, markdown, strlen(markdown), 0, 3000);
    const struct slack_call how = {.tag = "whisper",
                                   .lane = tc_sprint(lobby, "whisper:%s", p->user),
                                   .priority = TC_P_REQUEST,
                                   .max_age_ms = TOLD_MAX_AGE_MS};
    call_json(lobby, POST_EPHEMERAL,
              json_pack("{s:s, s:s, s:s, s:s*}", "channel", p->channel, "user", p->user, "text",
                        text, "thread_ts", or_null(p->thread)),
              &how);
}

int decide_on_told(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(lobby, r);
    fault_judge(lobby, &f, r, true, v);
    return 0;
}

/* An answer that counts is shown to everybody by the event that follows. */
static void decide(struct tc_turn *lobby, const struct person *p, const struct tc_decision *d)
{
    struct tc_receipt receipt = {0};
    if (tc_answer(lobby, d, &receipt) != TC_COMMAND)
        whisper(lobby, p, receipt.answer);
}

/* ---- buttons */

static struct person who_pressed(const json_t *payload)
{
    const json_t *user = json_object_get(payload, "user");
    const json_t *container = json_object_get(payload, "container");
    const char *channel = decide_text_at(json_object_get(payload, "channel"), "id");
    const char *name = decide_text_at(user, "name");
    return (struct person){.user = decide_text_at(user, "id"),
                           .name = *name ? name : decide_text_at(user, "username"),
                           .channel = *channel ? channel : decide_text_at(container, "channel_id"),
                           .thread = decide_text_at(container, "thread_ts")};
}

static void press(struct tc_turn *lobby, const struct person *p, const char *ticket,
                  const char *choice, const json_t *payload)
{
    const bool fills = strcmp(choice, "answer") == 0;
    struct form_filled filled = fills ? form_read(payload) : (struct form_filled){0};
    const bool some = json_object_size(filled.answers) > 0;
    if (fills && (filled.missing || (!some && !filled.text))) {
        whisper(lobby, p, "Please answer every question first.");
        json_decref(filled.answers);
        return;
    }
    json_t *answers = some ? json_incref(filled.answers) : NULL;
    decide(lobby, p,
           TC_DECISION(.ticket = ticket, .choice = choice, .text = filled.text,
                       .answers = answers ? call_dump(lobby, answers) : NULL, .user = p->user,
                       .name = or_null(p->name), .chat = p->channel, .thread = or_null(p->thread)));
    json_decref(filled.answers);
}

bool decide_press(struct tc_turn *lobby, const json_t *payload, const json_t *action)
{
    const struct person p = who_pressed(payload);
    const char *id = decide_text_at(action, "action_id");
    char ticket[64], choice[64];
    if (strncmp(id, FORM_CHOOSE, strlen(FORM_CHOOSE)) != 0 ||
        !form_read_choice(decide_text_at(action, "value"), ticket, choice) ||
        strcmp(id + strlen(FORM_CHOOSE), choice) != 0 || !*p.user || !*p.channel)
        return false;
    press(lobby, &p, ticket, choice, payload);
    return true;
}

/* ---- replies */

/* What follows "WORD:", or NULL. */
static const char *after_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    if (strncasecmp(text, word, n) != 0 || text[n] != ':')
        return NULL;
    return text + n + 1 + strspn(text + n + 1, " \t\r\n");
}

bool decide_reply(struct tc_turn *lobby, const json_t *message)
{
    struct slack_asked *asked = &state_of(lobby)->asked;
    const char *text = decide_text_at(message, "text"), *ts = decide_text_at(message, "ts");
    const char *answer = after_word(text, "answer"), *why = after_word(text, "deny");
    struct person p = {.user = decide_text_at(message, "user"),
                       .name = "",
                       .channel = decide_text_at(message, "channel"),
                       .thread = decide_text_at(message, "thread")};
    const struct asked_place *one;
    size_t open;
    if ((!answer && !why) || !asked_find(asked, p.channel, p.thread, &one, &open))
        return false;
    if (strcmp(asked->reply, ts) == 0) /* as a message and as a mention */
        return true;
    snprintf(asked->reply, sizeof asked->reply, "%s", ts);
    if (open != 1) {
        whisper(lobby, &p,
                open == 0 ? "No request is open in this thread."
                          : "Several requests are open in this thread. Please use the buttons.");
        return true;
    }
    decide(lobby, &p,
           TC_DECISION(.ticket = one->ticket, .choice = answer ? "answer" : "deny",
                       .text = or_null(answer ? answer : why), .user = p.user, .chat = p.channel,
                       .thread = one->rooted ? NULL : p.thread));
    return true;
}
