/* SPDX-License-Identifier: MIT
 * Owns what a person sees of the agent's requests: a message that rings, and how it was decided. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define EXPIRES_MS (30 * 60 * 1000)
#define ARGS_MAX 600

static const struct {
    const char *kind, *title;
} titles[] = {{"approval", "Approval needed"},
              {"ask", "A question"},
              {"credential", "A credential is needed"},
              {"input", "Input is needed"}};

static const char *title_of(const char *kind)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i].kind, kind) == 0)
            return titles[i].title;
    return "The agent waits";
}

static void add_line(struct message *m, const char *lead, const char *text)
{
    char line[ARGS_MAX];
    if (!text || !*text)
        return;
    message_clip(line, sizeof line, text);
    message_add(m, "\n");
    message_add(m, lead);
    message_add(m, line);
}

static void add_questions(struct message *m, const char *questions)
{
    json_t *const list = questions ? json_loads(questions, 0, NULL) : NULL;
    const json_t *question, *option;
    size_t i, k;
    json_array_foreach(list, i, question)
    {
        add_line(m, "", call_str(question, "prompt"));
        json_array_foreach(json_object_get(question, "options"), k, option)
        {
            const char *const label = call_str(option, "label");
            add_line(m, "• ", label ? label : json_string_value(option));
        }
    }
    json_decref(list);
}

static void compose(struct message *m, const struct tc_request *ev)
{
    char code[ARGS_MAX];
    message_add(m, "❓ ");
    message_mark(m, "bold", title_of(ev->kind));
    add_line(m, "", ev->tool);
    if (ev->subject && *ev->subject) {
        message_clip(code, sizeof code, ev->subject);
        message_add(m, ev->tool ? ": " : "\n");
        message_mark(m, "code", code);
    }
    add_line(m, "", ev->reason);
    add_line(m, "", ev->message);
    add_questions(m, ev->questions);
    if (ev->args && strcmp(ev->args, "{}") != 0 && strcmp(ev->args, "null") != 0 && !ev->subject) {
        message_clip(code, sizeof code, ev->args);
        message_add(m, "\n");
        message_mark(m, "pre", code);
    }
}

static struct question *find(struct live *l, const char *id)
{
    for (size_t i = 0; i < l->questions; i++)
        if (strcmp(l->question[i].id, id) == 0)
            return &l->question[i];
    return NULL;
}

/* The oldest is forgotten: its message stays as it is. */
static struct question *add(struct live *l, const char *id)
{
    if (l->questions == REQUESTS)
        memmove(l->question, l->question + 1, --l->questions * sizeof *l->question);
    struct question *const q = &l->question[l->questions++];
    *q = (struct question){0};
    message_clip(q->id, sizeof q->id, id);
    return q;
}

static int ask(struct tc_turn *turn, const struct tc_request *ev)
{
    struct live *const l = turn->state;
    struct message m;
    message_init(&m, turn);
    compose(&m, ev);
    struct question *const q = add(l, ev->request_id);
    q->text = tc_keep(turn, m.text);
    json_t *const body = final_body(turn, &l->to, 0), *const tag = call_tag("ask");
    message_put(&m, body, false);
    message_fini(&m);
    json_object_set_new(tag, "id", json_string(q->id));
    return call_send(turn, &(struct call){.method = "sendMessage",
                                          .body = body,
                                          .tag = tag,
                                          .to = &l->to,
                                          .paced = true,
                                          .priority = TC_P_REQUEST,
                                          .flags = TC_DURABLE,
                                          .max_age_ms = EXPIRES_MS});
}

static void show_decision(struct tc_turn *turn, const struct question *q)
{
    struct live *const l = turn->state;
    if (!q->message || !q->text || !q->decided)
        return;
    json_t *const body = call_body(turn, &l->to);
    json_object_del(body, "message_thread_id");
    json_object_set_new(body, "message_id", json_integer(q->message));
    json_object_set_new(body, "text",
                        json_string(tc_sprint(turn, "%s\n\n→ %s", q->text, q->decided)));
    call_send(turn, &(struct call){.method = "editMessageText",
                                   .body = body,
                                   .tag = call_tag("decided"),
                                   .to = &l->to,
                                   .paced = true,
                                   .priority = TC_P_NOTICE,
                                   .flags = TC_IDEMPOTENT,
                                   .max_age_ms = EXPIRES_MS});
}

/* Its message may not be there yet: then it is changed when it is. */
static void decide(struct tc_turn *turn, const struct tc_request *ev)
{
    char id[ID_MAX];
    message_clip(id, sizeof id, ev->request_id);
    struct question *const q = find(turn->state, id);
    if (!q || q->decided)
        return;
    char text[ARGS_MAX];
    message_clip(text, sizeof text,
                 tc_sprint(turn, "%s%s%s", ev->decision ? ev->decision : "over",
                           ev->by ? " by " : "", ev->by ? ev->by : ""));
    q->decided = tc_keep(turn, text);
    show_decision(turn, q);
}

int question_on_request(struct tc_turn *turn, const struct tc_request *ev)
{
    const struct live *const l = turn->state;
    if (l->over)
        return 0;
    live_touch(turn, false);
    if (strcmp(ev->state, "open") == 0)
        return ask(turn, ev);
    decide(turn, ev);
    return 0;
}

int question_on_reply(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v)
{
    const char *const id = call_str(tag, "id");
    struct question *const q = id ? find(turn->state, id) : NULL;
    struct answer a = answer_read(reply);
    if (q && reply->outcome == TC_OK) {
        q->message = call_int(a.result, "message_id");
        show_decision(turn, q);
    }
    if (reply->outcome == TC_REJECTED || reply->outcome == TC_AMBIGUOUS)
        ladder_step(turn, reply, tag, &a, v);
    answer_free(&a);
    return 0;
}
