/* SPDX-License-Identifier: MIT
 * Owns what is seen of a turn while it runs: typing, and one progress message, made once and
 * edited until the outcome comes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define TYPING_MS 4000
#define TYPING_TTL_MS 600000 /* after the last event */
#define EDIT_MS 1000
#define TYPING_AGE_MS 900 /* not sent later: it would be seen behind the outcome */
#define TYPING_TIMEOUT_MS 5000
#define TIMEOUT_MS 15000
#define BEAT_MS 10000
#define DRAFT_BEAT_MS 20000 /* a draft is shown for 30 s */

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool as_draft(const struct tc_turn *turn)
{
    const struct live *const l = turn->state;
    return conf_of(turn)->draft && !state_of(turn)->no_draft && !l->to.group && !l->message;
}

/* ---- typing ---- */

static bool is_typing(const struct live *l, int64_t now)
{
    return now - l->active_ms < TYPING_TTL_MS;
}

static void type(struct tc_turn *turn, int64_t now)
{
    struct live *const l = turn->state;
    json_t *const body = call_body(turn, &l->to);
    if (l->to.general)
        json_object_set_new(body, "message_thread_id", json_integer(1));
    json_object_set_new(body, "action", json_string("typing"));
    l->typing_ms = now;
    call_send(turn, &(struct telegram_call){.method = "sendChatAction",
                                            .body = body,
                                            .tag = call_tag("typing"),
                                            .to = &l->to,
                                            .apart = true,
                                            .priority = TC_P_LIVE,
                                            .flags = TC_IDEMPOTENT,
                                            .key = "typing",
                                            .timeout_ms = TYPING_TIMEOUT_MS,
                                            .max_age_ms = TYPING_AGE_MS});
}

int live_on_typed(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                  struct tc_verdict *v)
{
    (void)tag;
    struct answer a = answer_read(reply);
    /* Only a pause that Telegram asks for is kept; else the next one is due soon anyway. */
    if (!answer_rule(turn, &a, v))
        v->next = TC_NEXT_DONE;
    answer_free(&a);
    return 0;
}

/* ---- the progress message ---- */

static json_t *message_body(struct tc_turn *turn, const struct message *m)
{
    struct live *const l = turn->state;
    json_t *const body = call_body(turn, &l->to);
    message_put(m, body, l->plain);
    json_object_set_new(body, "link_preview_options", json_pack("{s:b}", "is_disabled", 1));
    json_object_set_new(body, "reply_markup", button_stop(turn));
    return body;
}

static uint64_t hash_of(const struct message *m)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < m->len; i++)
        h = (h ^ (unsigned char)m->text[i]) * UINT64_C(1099511628211);
    return h ^ json_array_size(m->entities);
}

static void create(struct tc_turn *turn, const struct message *m)
{
    struct live *const l = turn->state;
    json_t *const body = message_body(turn, m);
    json_object_set_new(body, "disable_notification", json_true());
    if (l->to.message)
        json_object_set_new(body, "reply_parameters",
                            json_pack("{s:I, s:b}", "message_id", (json_int_t)l->to.message,
                                      "allow_sending_without_reply", 1));
    l->creating = true;
    call_send(turn, &(struct telegram_call){.method = "sendMessage",
                                            .body = body,
                                            .tag = call_tag("create"),
                                            .to = &l->to,
                                            .paced = true,
                                            .priority = TC_P_LIVE,
                                            .key = "progress",
                                            .timeout_ms = TIMEOUT_MS});
}

static void edit(struct tc_turn *turn, const struct message *m)
{
    struct live *const l = turn->state;
    json_t *const body = message_body(turn, m);
    json_object_del(body, "message_thread_id");
    json_object_set_new(body, "message_id", json_integer(l->message));
    call_send(turn, &(struct telegram_call){.method = "editMessageText",
                                            .body = body,
                                            .tag = call_tag("edit"),
                                            .to = &l->to,
                                            .paced = true,
                                            .priority = TC_P_LIVE,
                                            .flags = TC_IDEMPOTENT,
                                            .key = "progress",
                                            .timeout_ms = TIMEOUT_MS});
}

static void draft(struct tc_turn *turn, const struct message *m)
{
    struct live *const l = turn->state;
    json_t *const body = call_body(turn, &l->to);
    message_put(m, body, l->plain);
    json_object_set_new(body, "draft_id", json_integer(l->to.message ? l->to.message : 1));
    call_send(turn, &(struct telegram_call){.method = "sendMessageDraft",
                                            .body = body,
                                            .tag = call_tag("draft"),
                                            .to = &l->to,
                                            .paced = true,
                                            .priority = TC_P_LIVE,
                                            .flags = TC_IDEMPOTENT,
                                            .key = "progress",
                                            .timeout_ms = TIMEOUT_MS});
}

/* When the message has to be made or changed; INT64_MAX: not. */
static int64_t show_due(const struct tc_turn *turn)
{
    const struct live *const l = turn->state;
    if (!l->visible || l->creating || l->lost)
        return INT64_MAX;
    if (l->beat_ms == 0)
        return l->began_ms + conf_of(turn)->progress_after_ms;
    return l->dirty || (!l->message && !as_draft(turn))
               ? l->edited_ms + EDIT_MS
               : l->beat_ms + (l->message ? BEAT_MS : DRAFT_BEAT_MS);
}

static void live_show(struct tc_turn *turn, int64_t now)
{
    struct live *const l = turn->state;
    struct message m;
    message_init(&m, turn);
    chips_show(turn, &m);
    const uint64_t hash = hash_of(&m);
    l->dirty = false;
    l->beat_ms = l->edited_ms = now;
    if (hash != l->shown) {
        l->shown = hash;
        if (as_draft(turn))
            draft(turn, &m);
        else if (l->message)
            edit(turn, &m);
        else
            create(turn, &m);
    }
    message_fini(&m);
}

/* ---- the life of it ---- */

static void live_schedule(struct tc_turn *turn)
{
    const struct live *const l = turn->state;
    const int64_t now = call_now_ms();
    const int64_t typing = is_typing(l, now) ? l->typing_ms + TYPING_MS : INT64_MAX;
    const int64_t due = sooner(typing, show_due(turn));
    tc_wake(turn, due == INT64_MAX ? -1 : due > now ? due - now : 1);
}

void live_begin(struct tc_turn *turn)
{
    struct live *const l = turn->state;
    l->to = route_read(turn);
    l->began_ms = l->active_ms = call_now_ms();
    l->fresh = true;
    json_t *const memory = turn->memory ? json_loads(turn->memory, 0, NULL) : NULL;
    l->message = call_int(memory, "message");
    json_decref(memory);
    if (l->message)
        l->doubt_ms = l->began_ms; /* the process before this one may have had an edit in flight */
    memory_read(turn);
    l->over = l->to.chat == 0;
    if (l->over)
        return;
    type(turn, l->began_ms);
    live_schedule(turn);
}

void live_touch(struct tc_turn *turn, bool visible)
{
    struct live *const l = turn->state;
    if (l->over)
        return;
    l->active_ms = call_now_ms();
    l->visible |= visible;
    l->dirty |= visible;
    live_schedule(turn);
}

void live_wake(struct tc_turn *turn)
{
    struct live *const l = turn->state;
    const int64_t now = call_now_ms();
    if (l->over)
        return;
    if (is_typing(l, now) && now - l->typing_ms >= TYPING_MS)
        type(turn, now);
    if (now >= show_due(turn))
        live_show(turn, now);
    live_schedule(turn);
}

void live_end(struct tc_turn *turn)
{
    struct live *const l = turn->state;
    l->over = true;
    tc_wake(turn, -1);
    button_forget(state_of(turn), turn->id);
}

int64_t live_message(const struct tc_turn *turn, const json_t *tag)
{
    const struct live *const l = turn->state;
    if (l->used)
        return 0;
    if (l->message)
        return l->message;
    json_t *const memory = turn->memory ? json_loads(turn->memory, 0, NULL) : NULL;
    const int64_t kept = call_int(memory, "message");
    const bool known = memory != NULL;
    json_decref(memory);
    return known ? kept : call_int(tag, "p");
}

/* A process that did not begin the turn does not know what the one before it had in flight. */
bool live_may_come_late(const struct tc_turn *turn)
{
    const struct live *const l = turn->state;
    return !l->began_ms || (l->doubt_ms && call_now_ms() - l->doubt_ms < LATE_MS);
}

void live_use(struct tc_turn *turn)
{
    struct live *const l = turn->state;
    l->used = true;
    l->message = 0;
    memory_keep(turn);
}

/* ---- what came of it ---- */

/* It is tried again, another way. */
static void try_again(struct tc_turn *turn)
{
    struct live *const l = turn->state;
    l->shown = 0;
    l->dirty = true;
    if (!l->over)
        live_schedule(turn);
}

static void on_refusal(struct tc_turn *turn, const struct answer *a)
{
    struct live *const l = turn->state;
    const enum refusal r = a->refusal;
    l->creating = false;
    if (r == REFUSED_SAME)
        return;
    if (r == REFUSED_MESSAGE) {
        l->message = 0;
    } else if (r == REFUSED_ENTITIES && !l->plain) {
        l->plain = true;
    } else if (r == REFUSED_THREAD && l->to.thread) {
        l->to.thread = 0;
    } else if (r == REFUSED_REPLY && l->to.message) {
        l->to.message = 0;
    } else if (r == REFUSED_MOVED && a->moved_to) {
        route_moved(state_of(turn), l->to.chat, a->moved_to);
        l->message = 0;
    } else {
        l->lost = true;
    }
    try_again(turn);
}

int live_on_created(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                    struct tc_verdict *v)
{
    (void)tag;
    struct live *const l = turn->state;
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_OK) {
        l->creating = false;
        l->message = call_int(a.result, "message_id");
        l->lost = l->message == 0;
        if (l->message)
            memory_keep(turn);
    } else if (reply->outcome == TC_AMBIGUOUS) {
        /* It may be there. Another one would be a second message. */
        l->lost = true;
        l->creating = false;
        v->next = TC_NEXT_DONE;
    } else if (reply->outcome == TC_DROPPED) {
        l->creating = false;
        l->shown = 0;
    } else if (reply->outcome == TC_REJECTED && !answer_rule(turn, &a, v)) {
        v->next = TC_NEXT_DONE;
        on_refusal(turn, &a);
    }
    answer_free(&a);
    if (!l->over)
        live_schedule(turn);
    return 0;
}

int live_on_edited(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                   struct tc_verdict *v)
{
    (void)tag;
    struct live *const l = turn->state;
    struct answer a = answer_read(reply);
    if (a.in_doubt)
        l->doubt_ms = call_now_ms();
    if (reply->outcome == TC_REJECTED && !answer_rule(turn, &a, v)) {
        v->next = TC_NEXT_DONE;
        on_refusal(turn, &a);
    } else if (reply->outcome == TC_DROPPED && !l->dirty) {
        l->shown = 0;
    }
    answer_free(&a);
    return 0;
}

int live_on_draft(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                  struct tc_verdict *v)
{
    (void)tag;
    struct telegram *const s = state_of(turn);
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_REJECTED && a.refusal != REFUSED_FLOOD) {
        /* A server, or a chat, without drafts: a message then, for good. */
        s->no_draft = true;
        v->next = TC_NEXT_DONE;
        try_again(turn);
    } else if (reply->outcome == TC_REJECTED) {
        answer_rule(turn, &a, v);
    }
    answer_free(&a);
    return 0;
}
