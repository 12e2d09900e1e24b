/* SPDX-License-Identifier: MIT
 * What the agent waits for a person for, as a message of its own that is edited when it is over. */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "fault.h"
#include "message.h"
#include "route.h"
#include "slack.h"
#include "text.h"

#define ARGS_BYTES 1500
#define OPTIONS_MAX 20

static struct question *find(struct tc_turn *turn, const char *id)
{
    struct questions *q = &cast_of(turn)->questions;
    for (size_t i = 0; i < QUESTIONS_MAX; i++)
        if (strncmp(q->list[i].id, id, sizeof q->list[i].id - 1) == 0)
            return &q->list[i];
    return NULL;
}

static const char *kind_title(const struct tc_request *ev)
{
    static const char *const titles[][2] = {{"approval", "Approval needed"},
                                            {"ask", "A question"},
                                            {"credential", "A credential is needed"},
                                            {"input", "Input is needed"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], ev->kind) == 0)
            return titles[i][1];
    return "An answer is needed";
}

static const char *add_options(struct tc_turn *turn, const char *text, const json_t *question)
{
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        const char *label = json_string_value(option);
        if (!label)
            label = json_string_value(json_object_get(option, "label"));
        if (label && i < OPTIONS_MAX)
            text = tc_sprint(turn, "%s\n- %.200s", text, label);
    }
    return text;
}

static const char *add_questions(struct tc_turn *turn, const char *text, const char *questions)
{
    json_auto_t *list = questions ? json_loads(questions, 0, NULL) : NULL;
    size_t i;
    const json_t *question;
    json_array_foreach(list, i, question)
    {
        const char *prompt = json_string_value(json_object_get(question, "prompt"));
        if (prompt && i < QUESTIONS_MAX)
            text = add_options(turn, tc_sprint(turn, "%s\n\n%.1000s\n", text, prompt), question);
    }
    return text;
}

/* As Markdown. */
static const char *text_of(struct tc_turn *turn, const struct tc_request *ev)
{
    const char *text = tc_sprint(turn, "**%s**", kind_title(ev));
    if (ev->tool)
        text = tc_sprint(turn, "%s: `%.80s`", text, ev->tool);
    if (ev->subject)
        text = tc_sprint(turn, "%s\n\n%.300s", text, ev->subject);
    if (ev->message)
        text = tc_sprint(turn, "%s\n\n%.1000s", text, ev->message);
    if (ev->reason)
        text = tc_sprint(turn, "%s\n\n%.500s", text, ev->reason);
    if (ev->args)
        text = tc_sprint(turn, "%s\n\n````json\n%.*s%s\n````", text, ARGS_BYTES, ev->args,
                         strlen(ev->args) > ARGS_BYTES ? "\xe2\x80\xa6" : "");
    return add_questions(turn, text, ev->questions);
}

static void open_question(struct tc_turn *turn, const struct tc_request *ev)
{
    const struct route *r = route_of(turn);
    const char *text = text_of(turn, ev);
    size_t count = 0;
    const struct tc_piece *pieces = text ? message_pieces(turn, text, 0, &count) : NULL;
    struct question *q = find(turn, "");
    if (!pieces || count == 0)
        return;
    if (q) {
        *q = (struct question){0};
        snprintf(q->id, sizeof q->id, "%s", ev->request_id);
        snprintf(q->title, sizeof q->title, "%s", kind_title(ev));
    }
    const struct call how = {
        .tag = call_tag(turn, "question", json_pack("{s:s}", "id", ev->request_id)),
        .lane = r->lane,
        .priority = TC_P_REQUEST,
        .max_age_ms = 30 * 60 * 1000};
    call_json(turn, POST_MESSAGE, message_body(turn, r, &pieces[0]), &how);
}

static const char *decision_words(const struct tc_request *ev)
{
    static const char *const words[][2] = {{"allow", "allowed"},
                                           {"deny", "denied"},
                                           {"answered", "answered"},
                                           {"cancelled", "cancelled"},
                                           {"timeout", "nobody answered in time"}};
    for (size_t i = 0; ev->decision && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], ev->decision) == 0)
            return words[i][1];
    return "over";
}

/* Its message says how it ended; nothing else of it is left. */
static void edit(struct tc_turn *turn, struct question *q)
{
    const struct route *r = route_of(turn);
    const char *text = tc_sprint(turn, "*%s*: %s", q->title, q->after);
    const struct call how = {.tag = "answered",
                             .lane = r->lane,
                             .priority = TC_P_NOTICE,
                             .flags = TC_IDEMPOTENT,
                             .max_age_ms = 10 * 60 * 1000};
    json_t *body = json_pack("{s:s, s:s, s:s, s:[{s:s, s:{s:s, s:s}}]}", "channel", r->channel,
                             "ts", q->ts, "text", text, "blocks", "type", "section", "text", "type",
                             "mrkdwn", "text", text);
    call_json(turn, UPDATE, body, &how);
    q->id[0] = '\0';
}

void question_show(struct tc_turn *turn, const struct tc_request *ev)
{
    if (strcmp(ev->state, "open") == 0) {
        open_question(turn, ev);
        return;
    }
    struct question *q = *ev->request_id ? find(turn, ev->request_id) : NULL;
    if (!q)
        return;
    q->after = decision_words(ev);
    if (q->ts[0])
        edit(turn, q);
}

int question_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, false, v);
    if (!fault_is_end(v))
        return 0;
    json_auto_t *data = answer_data(r);
    const char *id = json_string_value(json_object_get(data, "id"));
    const char *ts = json_string_value(json_object_get(f.json, "ts"));
    struct question *q = id && *id ? find(turn, id) : NULL;
    if (!q)
        return 0;
    if (f.kind != FAULT_NONE || !ts) {
        q->id[0] = '\0';
        return 0;
    }
    snprintf(q->ts, sizeof q->ts, "%s", ts);
    if (q->after)
        edit(turn, q);
    return 0;
}

int question_on_edit(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    return 0;
}
