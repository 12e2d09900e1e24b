/* SPDX-License-Identifier: MIT
 * Entry points of the chat engine: events, replies and timers of an instance. */
#include "chat/chat_engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/versioned.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"
#include "event/json/json_reader.h"
#include "text/sentence/texts.h"

#define SIGNS_OFF_AFTER 3
#define SIGNS_OFF_MS 600000
#define LOCKED_HOLD_MS 300000
/* Minimum duration of a pause of the instance whose reason is shown by the status. */
#define TOLD_HOLD_MS 60000
#define MOVES_MAX 10000

/* ---- life ---- */

/* Value of an option of the plugin whose name is in the table. */
static const char *table_option(const struct chat *c, const char *key)
{
    return key ? c->hooks.option(c->hooks.ctx, key) : NULL;
}

static void set_table(struct chat *c, const struct tc_chat *table)
{
    versioned_copy(&c->table, sizeof c->table, table);
    c->drafts = table_option(c, c->table.draft_option) != NULL;
    c->streams = !c->table.stream.option || table_option(c, c->table.stream.option);
    c->source = table_option(c, c->table.source_option) != NULL;
}

struct chat *chat_new(struct tc_instance *inst, const struct tc_plugin *extended,
                      const struct tc_chat *table, const struct chat_hooks *hooks)
{
    struct chat *const c = xcalloc(1, sizeof *c);
    c->inst = inst;
    c->hooks = *hooks;
    set_table(c, table);
    c->options = chat_options_read(extended, inst->conf);
    c->moved = json_object();
    LIST_INIT(&c->turns);
    chat_card_list_init(&c->cards);
    TAILQ_INIT(&c->parcels.list);
    c->parcels.done = json_array();
    c->feed.queue = json_array();
    return c;
}

void chat_free(struct chat *c)
{
    if (!c)
        return;
    ASSERT(LIST_EMPTY(&c->turns));
    chat_card_list_fini(&c->cards);
    chat_files_free(c);
    chat_feed_free(c);
    chat_gap_free(c);
    json_decref(c->moved);
    json_decref(c->form);
    arena_fini(&c->scratch);
    free(c->receiving.self);
    free(c->receiving.cursor);
    free(c);
}

void chat_begin(struct chat *c)
{
    chat_gap_begin(c);
    chat_receive_begin(c);
    chat_cards_begin(c);
    chat_files_begin(c);
}

void chat_replace_table(struct chat *c, const struct tc_chat *table)
{
    set_table(c, table);
    c->unsupported = 0;
    chat_receive_identify(c);
}

void chat_end_callback(struct chat *c)
{
    json_decref(c->form);
    c->form = NULL;
    arena_reset(&c->scratch);
}

/* ---- turns ---- */

struct tc_target chat_copy_target(struct tc_turn *turn, const struct tc_target *t)
{
    return (struct tc_target){
        .chat = t->chat ? tc_keep(turn, t->chat) : NULL,
        .thread = t->thread ? tc_keep(turn, t->thread) : NULL,
        .message = t->message ? tc_keep(turn, t->message) : NULL,
        .user = t->user ? tc_keep(turn, t->user) : NULL,
        .more = t->more ? tc_keep(turn, t->more) : NULL,
        .group = t->group,
    };
}

/* Moves the turn to the new id of its chat. Ids of threads and messages of the old id are no longer
 * valid. */
static void move_turn(struct chat_turn *t)
{
    const char *const now = t->target.chat ? chat_find_moved(t->chat, t->target.chat) : NULL;
    if (now == t->target.chat)
        return;
    t->target.chat = tc_keep(t->turn, now);
    t->target.thread = t->target.message = NULL;
}

const char *chat_find_moved(const struct chat *c, const char *chat)
{
    const char *const now = json_string_value(json_object_get(c->moved, chat));
    return now ? now : chat;
}

void chat_record_move(struct chat *c, const char *from, const char *to)
{
    struct chat_turn *t;
    if (strcmp(from, to) == 0 || json_object_size(c->moved) >= MOVES_MAX)
        return;
    json_object_set_new(c->moved, from, json_string(to));
    json_object_del(c->moved, to);
    chat_card_move_chat(&c->cards, from, to);
    LIST_FOREACH (t, &c->turns, entry)
        move_turn(t);
}

struct chat_turn *chat_turn_new(struct chat *c, struct tc_turn *turn)
{
    struct chat_turn *const t = xcalloc(1, sizeof *t);
    json_t *const route = turn->route ? json_loads(turn->route, 0, NULL) : NULL;
    struct tc_target target = chat_target_from_json(route);
    if (!turn->route)
        target = (struct tc_target){.chat = table_option(c, c->table.chat_option), .group = true};
    t->chat = c;
    t->turn = turn;
    t->target = chat_copy_target(turn, &target);
    move_turn(t);
    json_decref(route);
    chat_view_init(&t->view, clock_mono_ms());
    LIST_INSERT_HEAD(&c->turns, t, entry);
    chat_memory_read(t);
    return t;
}

void chat_turn_free(struct chat_turn *t)
{
    if (!t)
        return;
    LIST_REMOVE(t, entry);
    chat_native_fini(t);
    if (!chat_find_turn(t->chat, t->turn->id)) /* it may have been opened again */
        chat_cards_remove_of_turn(&t->chat->cards, t->turn->id);
    free(t);
}

struct chat_turn *chat_find_turn(struct chat *c, const char *id)
{
    struct chat_turn *t;
    LIST_FOREACH (t, &c->turns, entry)
        if (strcmp(t->turn->id, id) == 0)
            break;
    return t;
}

/* ---- events ---- */

static bool chat_engine_was_stopped(const struct event *ev)
{
    const char *const x = ev->meta.x;
    return x && str_is(json_reader_pointer((struct str){x, strlen(x)}, "/reason"), "\"cancelled\"");
}

static int chat_engine_handle_final(struct chat_turn *t, const struct event *ev)
{
    const struct tc_final *const f = &ev->u.final;
    if (!chat_engine_was_stopped(ev))
        return chat_outcome_send(t, f->text, f->text_len, 0);
    const char *const stopped = texts_get(TEXT_CHAT_STOPPED);
    const char *const text =
        f->text_len ? arena_sprintf(&t->chat->scratch, "%s\n\n_%s_", f->text, stopped) : stopped;
    return chat_outcome_send(t, text, strlen(text), 0);
}

/* A turn that was started in a chat can be repeated, because the host has its message. */
static bool chat_engine_may_retry(const struct chat_turn *t, const struct tc_error *ev)
{
    return t->turn->route && (!ev->code || strcmp(ev->code, "cancelled") != 0);
}

static int chat_engine_handle_error(struct chat_turn *t, const struct event *ev)
{
    CLEANUP_BUF struct buf text = {0};
    const struct chat *const c = t->chat;
    const bool may = chat_engine_may_retry(t, &ev->u.error);
    json_t *const button = may && c->options.retry
                               ? chat_turn_button(t, CHAT_PRESS_RETRY, TEXT_CHAT_RETRY_BUTTON)
                               : NULL;
    buf_printf(&text, "⚠ %s", ev->u.error.message);
    if (may && !button && c->table.command) {
        buf_add_char(&text, '\n');
        texts_append(&text, TEXT_CHAT_RETRY, TEXT_VALUES(TEXT_STR("mark", c->table.command)));
    }
    const int rc = chat_outcome_send_error(t, text.p, text.len, button);
    json_decref(button);
    return rc;
}

/* Ends the display of the running turn. */
static void close_turn(struct chat_turn *t)
{
    chat_cards_end_turn(t);
    chat_native_end_silence(t, clock_mono_ms());
    chat_live_close(t);
}

/* Ends the stream after the outcome has been sent with the result rc, which is returned. */
static int close_stream(struct chat_turn *t, int rc)
{
    chat_native_close(t);
    return rc;
}

/* The card is sent before the next items of the stream. */
static int chat_engine_handle_request(struct chat_turn *t, const struct event *ev, int64_t now)
{
    t->view.active_ms = now;
    const int rc = chat_cards_handle_request(t, &ev->u.request);
    chat_native_handle_event(t, ev, now);
    chat_live_update(t, false);
    return rc;
}

/* The turn will be opened again, here or by another process, with what is stored of it. */
static bool chat_engine_is_suspended(const struct chat_turn *t, const struct event *ev)
{
    const char *const reason = ev->u.done.reason;
    return !t->over && reason && strcmp(reason, "suspended") == 0;
}

int chat_turn_handle_event(struct chat_turn *t, const struct event *ev)
{
    const bool thinking = t->chat->options.thinking;
    const int64_t now = clock_mono_ms();
    switch ((int)ev->kind) {
    case TC_START:
        chat_live_begin(t);
        return 0;
    case TC_REQUEST:
        return chat_engine_handle_request(t, ev, now);
    case TC_FINAL:
        close_turn(t);
        return close_stream(t, chat_engine_handle_final(t, ev));
    case TC_ERROR:
        close_turn(t);
        return close_stream(t, chat_engine_handle_error(t, ev));
    case TC_DONE:
        if (chat_engine_is_suspended(t, ev))
            return 0;
        close_turn(t);
        return close_stream(t, 0);
    default:
        chat_native_handle_event(t, ev, now);
        chat_live_update(t, chat_view_update(&t->view, ev, now, thinking));
        return 0;
    }
}

void chat_turn_wake(struct chat_turn *t)
{
    chat_live_wake(t);
}

void chat_wake(struct chat *c)
{
    chat_files_wake(c);
}

/* ---- replies ---- */

/* Handles the result of a typing indicator or a reaction, which are tried once. After three
 * consecutive failures they pause, so that a method that fails does not fill the log; an operation
 * that the service does not support is switched off until the next start. */
static void chat_engine_handle_sign(struct chat *c, const struct chat_record *r,
                                    const struct chat_result *result, struct tc_verdict *v)
{
    const enum tc_result_kind kind = result->result.kind;
    const bool waits = kind == TC_RESULT_RETRY && result->result.hold_ms;
    v->next = waits || kind == TC_RESULT_UNAUTHORIZED ? TC_NEXT_AGAIN : TC_NEXT_DONE;
    if (kind == TC_RESULT_UNSUPPORTED) {
        c->unsupported |= TC_CAN(r->op);
        tc_log(c->inst, TC_INFO, "cannot show %s: %s; none are shown until the next start",
               r->op == TC_OP_REACT ? "reactions" : "signs of a running turn",
               result->result.reason ? result->result.reason : "no reason given");
    }
    if (v->next == TC_NEXT_DONE && kind != TC_RESULT_DONE && kind != TC_RESULT_IN_DOUBT &&
        r->summary)
        chat_reply(c, c->inst->lobby, &r->target, r->summary);
    c->sign_failures = kind == TC_RESULT_DONE ? 0 : c->sign_failures + 1;
    if (c->sign_failures < SIGNS_OFF_AFTER)
        return;
    c->sign_failures = 0;
    c->signs_off_until_ms = clock_mono_ms() + SIGNS_OFF_MS;
}

/* Classifies the reply of the service, and lets the plugin correct the result. */
static struct chat_result chat_engine_read_result(struct chat *c, struct tc_turn *turn,
                                                  const struct chat_record *r,
                                                  const struct tc_reply *reply)
{
    struct chat_result result = chat_result_read(&c->table.reply, r->op, reply, &c->scratch);
    const struct tc_op op = chat_make_op(c, turn, r);
    chat_result_add_details(&result, &c->table.reply, c->table.error_details, reply, &c->scratch);
    chat_result_add_words(&result, c->table.error_words, reply, &c->scratch);
    if (c->table.read && reply->outcome != TC_NOT_SENT &&
        c->table.read(turn, &op, reply, &result.result) != 0)
        result.result.kind = TC_RESULT_IN_DOUBT;
    if ((unsigned)result.result.kind >= TC_RESULTS)
        result.result.kind = TC_RESULT_REFUSED;
    return result;
}

/* Applies the effects of a result on other operations: the time to wait, and rejected
 * credentials. */
static void chat_engine_apply_result(struct chat *c, const struct tc_reply *reply,
                                     const struct chat_result *result, struct tc_verdict *v)
{
    const struct tc_result *const r = &result->result;
    if (r->kind == TC_RESULT_UNAUTHORIZED) {
        chat_receive_lock(c, r->reason);
        v->hold_ms = LOCKED_HOLD_MS;
        v->scope = TC_HOLD_INSTANCE;
        v->reason = arena_sprintf(&c->scratch, "the service refuses the credentials (%s)",
                                  r->reason ? r->reason : "no reason given");
    } else if (r->hold_ms > 0) {
        v->hold_ms = r->hold_ms;
        v->scope = r->scope;
        if (r->scope == TC_HOLD_INSTANCE && r->hold_ms >= TOLD_HOLD_MS)
            v->reason = r->reason;
    }
    if (r->kind == TC_RESULT_RETRY && reply->status == 429)
        v->scope = r->scope; /* the host has read the duration from the header */
    if (r->kind == TC_RESULT_RETRY || r->kind == TC_RESULT_UNAUTHORIZED)
        v->next = TC_NEXT_AGAIN;
}

static void chat_engine_handle_next_step(struct chat *c, struct chat_turn *t, struct chat_record *r,
                                         const struct chat_result *result,
                                         const struct tc_reply *reply, struct tc_verdict *v)
{
    r->step++;
    r->cursor = result->result.cursor;
    v->next = TC_NEXT_DONE;
    if (t && t->over && r->op == TC_OP_TYPING && !r->off)
        return; /* the typing indicator would remain after the outcome */
    const struct chat_send_extra extra = chat_content_of(reply->http);
    if (t && (r->op == TC_OP_TYPING || chat_record_is_slot(r, CHAT_SLOT_LIVE)))
        chat_live_send_view(t, r, extra);
    else
        chat_send(c, t ? t->turn : c->inst->lobby, r, &extra);
}

static void chat_engine_drop_card(struct chat_turn *t, const struct chat_record *r,
                                  struct tc_verdict *v)
{
    v->next = TC_NEXT_DONE;
    chat_cards_handle_drop(t, r);
}

static void chat_engine_handle_turn_result(struct chat_turn *t, struct chat_record *r,
                                           const struct chat_result *result,
                                           const struct tc_reply *reply, struct tc_verdict *v)
{
    if (chat_record_is_slot(r, CHAT_SLOT_STREAM) || chat_record_is_slot(r, CHAT_SLOT_CLOSE))
        chat_native_handle_result(t, r, result, v);
    else if (chat_record_is_slot(r, CHAT_SLOT_LIVE) && !r->last)
        chat_live_handle_result(t, r, result, v);
    else if (chat_record_is_slot(r, CHAT_SLOT_LIVE) || chat_record_is_slot(r, CHAT_SLOT_CLEAN) ||
             chat_record_is_slot(r, CHAT_SLOT_CONFIRM))
        chat_outcome_handle_clean_result(t, r, result, v);
    else if (chat_record_is_slot(r, CHAT_SLOT_CARD) && r->op == TC_OP_EDIT)
        chat_cards_handle_edit(t, r, result, v);
    else if (chat_record_is_slot(r, CHAT_SLOT_CARD) && result->result.kind != TC_RESULT_DONE &&
             chat_cards_is_decided(t, r))
        chat_engine_drop_card(t, r, v);
    else if (chat_record_is_slot(r, CHAT_SLOT_ANSWER) || chat_record_is_slot(r, CHAT_SLOT_CARD) ||
             chat_record_is_slot(r, CHAT_SLOT_WHOLE))
        chat_outcome_handle_result(t, r, result, reply, v);
    else if (chat_record_is_slot(r, CHAT_SLOT_LOSS) && result->result.kind == TC_RESULT_IN_DOUBT)
        v->next = TC_NEXT_AGAIN;
    else
        v->next = v->next == TC_NEXT_AGAIN ? TC_NEXT_AGAIN : TC_NEXT_DONE;
}

static void chat_engine_handle_move(struct chat *c, struct tc_turn *turn, struct chat_record *r,
                                    const struct chat_result *result)
{
    if (result->result.kind != TC_RESULT_CHAT_MOVED || !result->result.chat || !r->target.chat)
        return;
    chat_record_move(c, r->target.chat, result->result.chat);
    if (!chat_record_is_slot(r, CHAT_SLOT_REPLY) || r->tried.moved)
        return;
    r->tried.moved = true;
    r->target.chat = result->result.chat;
    r->omit |= TC_OMIT_REPLY | TC_OMIT_THREAD;
    chat_send(c, turn, r, NULL);
}

static void chat_engine_handle_result(struct chat *c, struct chat_turn *t, struct chat_record *r,
                                      const struct tc_reply *reply, struct tc_verdict *v)
{
    struct tc_turn *const turn = t ? t->turn : c->inst->lobby;
    const struct chat_result result = chat_engine_read_result(c, turn, r, reply);
    if (!chat_record_is_slot(r, CHAT_SLOT_POLL) || result.result.kind == TC_RESULT_UNAUTHORIZED)
        chat_engine_apply_result(c, reply, &result, v);
    chat_engine_handle_move(c, turn, r, &result);
    if (chat_record_is_slot(r, CHAT_SLOT_IDENTIFY)) {
        v->next = result.result.kind == TC_RESULT_UNAUTHORIZED ? TC_NEXT_FAIL : TC_NEXT_DONE;
        chat_receive_handle_identity(c, &result);
    } else if (chat_record_is_slot(r, CHAT_SLOT_POLL) &&
               result.result.kind != TC_RESULT_NEXT_STEP) {
        v->next = TC_NEXT_DONE;
        chat_receive_handle_poll(c, &result);
    } else if (chat_record_is_slot(r, CHAT_SLOT_FETCH)) {
        chat_files_handle_result(c, r, &result, reply, v);
    } else if (chat_record_is_slot(r, CHAT_SLOT_MENU) &&
               result.result.kind != TC_RESULT_NEXT_STEP) {
        chat_menu_handle_result(c, r, &result, v);
    } else if (result.result.kind == TC_RESULT_NEXT_STEP) {
        chat_engine_handle_next_step(c, t, r, &result, reply, v);
    } else if (chat_record_is_slot(r, CHAT_SLOT_SIGN)) {
        chat_engine_handle_sign(c, r, &result, v);
    } else if (t) {
        chat_engine_handle_turn_result(t, r, &result, reply, v);
    } else if (v->next != TC_NEXT_AGAIN) {
        v->next = TC_NEXT_DONE; /* replies to commands and presses are not repeated */
    }
}

static void chat_engine_handle_drop(struct chat_turn *t, const struct chat_record *r,
                                    const struct tc_reply *reply)
{
    if (chat_record_is_slot(r, CHAT_SLOT_STREAM) || chat_record_is_slot(r, CHAT_SLOT_CLOSE))
        chat_native_handle_drop(t, r);
    else if (chat_record_is_slot(r, CHAT_SLOT_LIVE) && !r->last)
        chat_live_handle_drop(t, r);
    else if (chat_record_is_slot(r, CHAT_SLOT_CARD))
        chat_cards_handle_drop(t, r);
    else if (chat_record_is_slot(r, CHAT_SLOT_ANSWER))
        chat_outcome_handle_drop(t, r, reply);
}

bool chat_handle_reply(struct chat *c, struct chat_turn *t, const struct tc_reply *reply,
                       struct tc_verdict *v)
{
    struct chat_record r;
    if (reply->outcome == TC_YOUR_TURN) /* the plugin carries the operation out by itself */
        return false;
    const bool pauses = chat_refusals_count(c, reply, v);
    if (!chat_record_read(&r, reply->tag))
        return pauses;
    if (chat_receive_is_stale(c, &r))
        v->next = TC_NEXT_DONE;
    else if (pauses) /* sent again after the pause */
        v->next = TC_NEXT_AGAIN;
    else if (reply->outcome != TC_DROPPED)
        chat_engine_handle_result(c, t, &r, reply, v);
    else if (t)
        chat_engine_handle_drop(t, &r, reply);
    else if (chat_record_is_slot(&r, CHAT_SLOT_FETCH))
        chat_files_handle_drop(c, &r);
    else
        chat_receive_handle_drop(c, &r, reply->error);
    chat_record_fini(&r);
    return true;
}
