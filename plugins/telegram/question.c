/* SPDX-License-Identifier: MIT
 * Owns the requests of the agent that people see: a message for each place where one is asked,
 * which rings, and in the end says how it was decided, and has no buttons any more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define EXPIRES_MS (30 * 60 * 1000)

/* ---- which there are ---- */

struct telegram_question *question_find(const struct telegram *s, const char *turn, const char *id)
{
    struct telegram_question *q = s->questions;
    while (q && (strcmp(q->turn, turn) != 0 || strcmp(q->id, id) != 0))
        q = q->next;
    return q;
}

struct telegram_question *question_of_ticket(const struct telegram *s, const char *ticket)
{
    struct telegram_question *q = s->questions;
    while (q && (!q->ticket || strcmp(q->ticket, ticket) != 0))
        q = q->next;
    return q;
}

struct telegram_question *question_at(const struct telegram *s, int64_t chat, int64_t message)
{
    for (struct telegram_question *q = s->questions; q; q = q->next)
        for (size_t i = 0; i < q->places; i++)
            if (q->place[i].message == message && route_chat_now(s, q->place[i].to.chat) == chat)
                return q;
    return NULL;
}

static void free_question(struct telegram_question *q)
{
    for (size_t i = 0; i < q->drafts; i++)
        json_decref(q->draft[i].answers);
    json_decref(q->about);
    json_decref(q->answers);
    free(q->turn);
    free(q->id);
    free(q->ticket);
    free(q->decided);
    free(q);
}

struct telegram_question *question_add(struct telegram *s, const char *turn, const char *id,
                                       const char *ticket, json_t *about)
{
    struct telegram_question *const q = calloc(1, sizeof *q);
    if (!q) {
        json_decref(about);
        return NULL;
    }
    q->about = about;
    q->turn = strdup(turn);
    q->id = strdup(id);
    q->ticket = ticket ? strdup(ticket) : NULL;
    if (!q->turn || !q->id || (ticket && !q->ticket)) {
        free_question(q);
        return NULL;
    }
    struct telegram_question **end = &s->questions;
    while (*end)
        end = &(*end)->next;
    return *end = q;
}

struct telegram_place *question_add_place(struct telegram_question *q, const struct target *to)
{
    if (q->places == PLACES)
        return NULL;
    struct telegram_place *const p = &q->place[q->places++];
    *p = (struct telegram_place){.to = *to};
    return p;
}

void question_free(struct telegram *s)
{
    while (s->questions) {
        struct telegram_question *const q = s->questions;
        s->questions = q->next;
        free_question(q);
    }
}

size_t question_waiting(const struct tc_turn *turn)
{
    size_t n = 0;
    for (const struct telegram_question *q = state_of(turn)->questions; q; q = q->next)
        n += q->ticket && !q->decided && strcmp(q->turn, turn->id) == 0;
    return n;
}

/* A decided request is freed when none of its messages is in flight. */
static void forget_settled(struct telegram *s)
{
    for (struct telegram_question **at = &s->questions; *at;) {
        struct telegram_question *const q = *at;
        bool settled = q->decided != NULL;
        for (size_t i = 0; i < q->places; i++)
            settled &= !q->place[i].pending;
        if (!settled) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        free_question(q);
    }
}

/* ---- asking ---- */

/* INSTANCE:CHAT[:THREAD] of this instance, or INSTANCE: where the turn is shown. */
static bool read_place(const struct tc_turn *turn, const char *text, struct target *to)
{
    const struct live *const l = turn->state;
    const size_t n = strlen(turn->inst->name);
    long long chat = 0, thread = 0;
    if (!text || strncmp(text, turn->inst->name, n) != 0)
        return false;
    if (!text[n])
        *to = l->to;
    else if (sscanf(text + n, ":%lld:%lld", &chat, &thread) >= 1)
        *to = (struct target){.chat = chat, .thread = thread, .group = chat < 0};
    return to->chat != 0;
}

static bool is_place(const struct telegram_question *q, const struct target *to)
{
    for (size_t i = 0; i < q->places; i++)
        if (q->place[i].to.chat == to->chat && q->place[i].to.thread == to->thread)
            return true;
    return false;
}

static void choose_places(const struct tc_turn *turn, struct telegram_question *q,
                          const struct tc_request *ev)
{
    const struct live *const l = turn->state;
    json_t *const list = ev->to ? json_loads(ev->to, 0, NULL) : NULL;
    const json_t *one;
    size_t i;
    if (!ev->to && l->to.chat)
        question_add_place(q, &l->to);
    json_array_foreach(list, i, one)
    {
        struct target to = {0};
        if (read_place(turn, json_string_value(one), &to) && !is_place(q, &to))
            question_add_place(q, &to);
    }
    json_decref(list);
}

static int64_t max_age(const struct telegram_question *q)
{
    const int64_t wait_ms = call_int(q->about, "wait_ms");
    return wait_ms > 0 ? wait_ms : EXPIRES_MS;
}

static int ask_at(struct tc_turn *turn, const struct telegram_question *q, struct telegram_place *p)
{
    struct message m;
    message_init(&m, turn);
    form_show(&m, q);
    json_t *const body = final_body(turn, &p->to, 0), *const tag = call_tag("ask");
    message_put(&m, body, false);
    message_fini(&m);
    json_object_set_new(body, "reply_markup", form_keyboard(q));
    json_object_set_new(tag, "id", json_string(q->id));
    json_object_set_new(tag, "n", json_integer(p - q->place));
    p->pending = true;
    return call_send(turn, &(struct telegram_call){.method = "sendMessage",
                                                   .body = body,
                                                   .tag = tag,
                                                   .to = &p->to,
                                                   .paced = true,
                                                   .priority = TC_P_REQUEST,
                                                   .flags = TC_DURABLE,
                                                   .max_age_ms = max_age(q)});
}

/* Told again after a restart of the instance, it is there already. What needs nobody's decision is
 * not shown. */
static int open_one(struct tc_turn *turn, const struct tc_request *ev)
{
    struct telegram *const s = state_of(turn);
    if ((!ev->choices && !ev->blocking) || question_find(s, turn->id, ev->request_id))
        return 0;
    const char *const ticket = ev->choices ? tc_ticket(turn, ev->request_id) : NULL;
    struct telegram_question *const q =
        question_add(s, turn->id, ev->request_id, ticket, form_read(turn, ev));
    if (!q)
        return -1;
    choose_places(turn, q, ev);
    const bool whole = json_is_true(json_object_get(q->about, "whole"));
    int rc = 0;
    for (size_t i = 0; i < q->places; i++) {
        if (whole)
            whole_send(turn, &q->place[i].to, ev->preview, max_age(q));
        rc |= ask_at(turn, q, &q->place[i]);
    }
    memory_keep(turn);
    return rc;
}

/* ---- the decision ---- */

/* Edits have neither topic nor what they reply to. */
static json_t *edit_body(struct tc_turn *turn, const struct telegram_question *q,
                         const struct telegram_place *p)
{
    struct message m;
    json_t *const body = call_body(turn, &p->to);
    message_init(&m, turn);
    form_show(&m, q);
    message_put(&m, body, false);
    message_fini(&m);
    json_object_del(body, "message_thread_id");
    json_object_set_new(body, "message_id", json_integer(p->message));
    json_object_set_new(body, "link_preview_options", json_pack("{s:b}", "is_disabled", 1));
    json_object_set_new(body, "reply_markup", form_keyboard(q));
    return body;
}

static void send_edit(struct tc_turn *turn, const struct target *to, const char *method,
                      json_t *body, json_t *tag, uint32_t flags)
{
    call_send(turn, &(struct telegram_call){.method = method,
                                            .body = body,
                                            .tag = tag,
                                            .to = to,
                                            .paced = true,
                                            .priority = TC_P_REQUEST,
                                            .flags = flags | TC_IDEMPOTENT});
}

/* An edit without a keyboard takes the buttons away. */
static void show_decision(struct tc_turn *turn, const struct telegram_question *q,
                          const struct telegram_place *p)
{
    if (p->message)
        send_edit(turn, &p->to, "editMessageText", edit_body(turn, q, p), call_tag("decided"),
                  TC_DURABLE);
}

static void close_one(struct tc_turn *turn, struct telegram_question *q, const char *decided)
{
    q->decided = strdup(decided ? decided : "Closed");
    for (size_t i = 0; q->decided && i < q->places; i++)
        show_decision(turn, q, &q->place[i]);
}

static const char *words_of(struct tc_turn *turn, const struct telegram_question *q,
                            const struct tc_request *ev)
{
    const char *const d = ev->decision ? ev->decision : "";
    const char *const by = ev->by ? tc_sprint(turn, " by %s", ev->by) : "";
    const char *const why = ev->reason;
    const int64_t wait_ms = call_int(q->about, "wait_ms");
    char wait[32];
    if (strcmp(d, "allow") == 0)
        return tc_sprint(turn, "Allowed%s", by);
    if (strcmp(d, "deny") == 0)
        return tc_sprint(turn, "Denied%s%s%s", by, why ? ": " : "", why ? why : "");
    if (strcmp(d, "answered") == 0)
        return tc_sprint(turn, "Answered%s", by);
    if (strcmp(d, "cancelled") == 0)
        return ev->by && strcmp(ev->by, "host") != 0 ? "Withdrawn by the agent"
                                                     : "Cancelled: the turn has ended";
    if (strcmp(d, "timeout") != 0)
        return "Closed";
    form_time(wait, sizeof wait, wait_ms);
    return wait_ms > 0 ? tc_sprint(turn, "Denied: no answer within %s", wait)
                       : "Denied: no answer in time";
}

/* A message that is still in flight is changed when it has arrived. */
static void question_decide(struct tc_turn *turn, const struct tc_request *ev)
{
    struct telegram_question *const q = question_find(state_of(turn), turn->id, ev->request_id);
    if (!q || q->decided)
        return;
    q->answers = ev->answers ? json_loads(ev->answers, 0, NULL) : NULL;
    close_one(turn, q, words_of(turn, q, ev));
    forget_settled(state_of(turn));
    memory_keep(turn);
}

void question_end(struct tc_turn *turn)
{
    bool any = false;
    for (struct telegram_question *q = state_of(turn)->questions; q; q = q->next)
        if (!q->decided && strcmp(q->turn, turn->id) == 0) {
            close_one(turn, q, "Cancelled: the turn has ended");
            any = true;
        }
    forget_settled(state_of(turn));
    if (any)
        memory_keep(turn);
}

int question_on_request(struct tc_turn *turn, const struct tc_request *ev)
{
    const size_t waiting = question_waiting(turn);
    int rc = 0;
    if (strcmp(ev->state, "open") == 0)
        rc = open_one(turn, ev);
    else
        question_decide(turn, ev);
    live_touch(turn, question_waiting(turn) != waiting);
    return rc;
}

/* ---- what came of it ---- */

/* The question of this message has been freed. */
static void disarm(struct tc_turn *turn, const struct tc_reply *reply, int64_t message)
{
    json_t *const sent = json_loadb(reply->http->body, reply->http->body_len, 0, NULL);
    const int64_t chat = call_int(sent, "chat_id");
    const struct target to = {.chat = chat, .group = chat < 0};
    if (message && chat && json_object_get(sent, "reply_markup"))
        send_edit(
            turn, &to, "editMessageReplyMarkup",
            json_pack("{s:I, s:I}", "chat_id", (json_int_t)chat, "message_id", (json_int_t)message),
            call_tag("clear"), TC_DURABLE);
    json_decref(sent);
}

static void on_sent(struct tc_turn *turn, struct telegram_question *q, struct telegram_place *p,
                    const struct answer *a)
{
    const int64_t chat = call_int(json_object_get(a->result, "chat"), "id");
    p->pending = false;
    p->message = call_int(a->result, "message_id");
    if (chat)
        p->to.chat = chat;
    if (q->decided)
        show_decision(turn, q, p);
    forget_settled(state_of(turn));
    memory_keep(turn);
}

int question_on_asked(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v)
{
    const char *const id = call_str(tag, "id");
    const size_t n = (size_t)call_int(tag, "n");
    struct telegram_question *const q = id ? question_find(state_of(turn), turn->id, id) : NULL;
    struct telegram_place *const p = q && n < q->places ? &q->place[n] : NULL;
    struct answer a = answer_read(reply);
    const bool refused = reply->outcome == TC_REJECTED || a.in_doubt;
    if (a.done && p)
        on_sent(turn, q, p, &a);
    else if (a.done)
        disarm(turn, reply, call_int(a.result, "message_id"));
    else if (refused && q && q->decided)
        v->next = TC_NEXT_DONE; /* too late to ask */
    else if (refused)
        ladder_step(turn, reply, tag, &a, v);
    /* The ladder says why it has nothing left. */
    const bool given_up = reply->outcome == TC_DROPPED || v->next == TC_NEXT_DONE ||
                          (v->next == TC_NEXT_FAIL && (v->reason || !refused));
    if (!a.done && p && given_up) {
        p->pending = false;
        forget_settled(state_of(turn));
    }
    answer_free(&a);
    return 0;
}

/* If the text is rejected, at least the buttons are removed. */
int question_on_decided(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                        struct tc_verdict *v)
{
    (void)tag;
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_REJECTED && !answer_rule(turn, &a, v)) {
        json_t *const sent = json_loadb(reply->http->body, reply->http->body_len, 0, NULL);
        const int64_t chat = call_int(sent, "chat_id");
        const struct target to = {.chat = chat, .group = chat < 0};
        if (a.refusal != REFUSED_SAME && a.refusal != REFUSED_MESSAGE && a.refusal != REFUSED_CHAT)
            send_edit(turn, &to, "editMessageReplyMarkup",
                      json_pack("{s:I, s:I}", "chat_id", (json_int_t)chat, "message_id",
                                (json_int_t)call_int(sent, "message_id")),
                      call_tag("clear"), TC_DURABLE);
        json_decref(sent);
        v->next = TC_NEXT_DONE;
    } else if (a.in_doubt) {
        v->next = TC_NEXT_AGAIN; /* it can be repeated */
    }
    answer_free(&a);
    return 0;
}

/* ---- while it is answered ---- */

static void show_at(struct tc_turn *lobby, const struct telegram_question *q,
                    struct telegram_place *p)
{
    json_t *const tag = call_tag("form");
    json_object_set_new(tag, "t", json_string(q->ticket));
    json_object_set_new(tag, "n", json_integer(p - q->place));
    p->busy = true;
    p->stale = false;
    send_edit(lobby, &p->to, "editMessageText", edit_body(lobby, q, p), tag, 0);
}

/* One edit at a time: after fast presses the last state is shown. */
void question_show(struct tc_turn *lobby, struct telegram_question *q)
{
    for (size_t i = 0; i < q->places; i++) {
        struct telegram_place *const p = &q->place[i];
        p->stale = p->message != 0;
        if (p->stale && !p->busy)
            show_at(lobby, q, p);
    }
}

int question_on_shown(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v)
{
    const char *const ticket = call_str(tag, "t");
    struct telegram_question *const q = ticket ? question_of_ticket(state_of(lobby), ticket) : NULL;
    const size_t n = (size_t)call_int(tag, "n");
    struct telegram_place *const p = q && !q->decided && n < q->places ? &q->place[n] : NULL;
    struct answer a = answer_read(reply);
    const bool waits = reply->outcome == TC_REJECTED && answer_rule(lobby, &a, v);
    if (!p || (reply->outcome == TC_REJECTED && !waits))
        v->next = TC_NEXT_DONE;
    if (p && v->next != TC_NEXT_AGAIN) {
        p->busy = false;
        if (p->stale)
            show_at(lobby, q, p);
    }
    answer_free(&a);
    return 0;
}
