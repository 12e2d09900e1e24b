/* SPDX-License-Identifier: MIT
 * Progress message and typing indicator of a turn: creates, edits and leaves the message. */
#include <string.h>

#include "base/hash.h"
#include "base/sys/clock.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_delivery.h"
#include "text/sentence/texts.h"

#define EDIT_MS 1200
#define EDIT_MAX_MS 60000
#define TYPING_MS 5000
#define TYPING_EARLY_MS 500
#define TYPING_LONG_MS 10000 /* an indicator that is visible for longer must be removed */
#define TYPING_TTL_MS 600000 /* maximum time of the typing indicator after the last event */
/* A turn that ends within this time after a stop gets no reply about it. */
#define STOP_MS 2000
#define DRAFT_BEAT_MS 20000 /* a draft is visible for 30 s */

static void chat_live_move(struct chat_turn *t, enum chat_live_event event)
{
    t->live.state = chat_live_next(t->live.state, event);
}

static void chat_live_copy_id(char out[CHAT_ID_MAX], const char *id)
{
    const size_t n = id ? strlen(id) : 0;
    if (n < CHAT_ID_MAX)
        memcpy(out, id ? id : "", n + 1);
    else
        *out = '\0';
}

/* ---- when ---- */

static int64_t beat_interval(const struct chat_turn *t, int64_t now)
{
    const int64_t elapsed = now - t->live.began_ms;
    return elapsed < 120000 ? 10000 : elapsed < 600000 ? 30000 : 60000;
}

/* Returns the interval between edits, which is doubled after each edit_count edits. */
static int64_t edit_interval(const struct chat_turn *t)
{
    const struct tc_chat *const table = &t->chat->table;
    int64_t ms = t->target.group && table->edit_group_ms ? table->edit_group_ms
                 : table->edit_ms                        ? table->edit_ms
                                                         : EDIT_MS;
    for (unsigned n = t->live.edits;
         table->edit_count && n >= table->edit_count && ms < EDIT_MAX_MS; n -= table->edit_count)
        ms *= 2;
    return ms < EDIT_MAX_MS ? ms : EDIT_MAX_MS;
}

static bool chat_live_can_show(const struct chat *c)
{
    return c->options.progress && chat_can(c, TC_OP_POST) && chat_can(c, TC_OP_EDIT);
}

/* Drafts are used until a message has been created. */
static bool uses_drafts(const struct chat_turn *t)
{
    const struct chat *const c = t->chat;
    return c->drafts && chat_can(c, TC_OP_DRAFT) && !t->target.group &&
           t->live.state == CHAT_LIVE_HIDDEN && t->live.creates == 0;
}

static int64_t chat_live_draft_due_ms(const struct chat_turn *t)
{
    const struct chat_live *const l = &t->live;
    return l->dirty ? l->edited_ms + edit_interval(t) : l->beat_ms + DRAFT_BEAT_MS;
}

/* Returns the time at which the message must be created or changed; INT64_MAX: not needed. */
static int64_t chat_live_show_due_ms(const struct chat_turn *t, int64_t now)
{
    const struct chat_live *const l = &t->live;
    if (!chat_live_can_show(t->chat) || !t->view.visible || chat_native_is_active(t) ||
        t->stream.stopped)
        return INT64_MAX;
    if (uses_drafts(t) && l->drafted)
        return chat_live_draft_due_ms(t);
    if (l->state == CHAT_LIVE_HIDDEN && l->creates == 0)
        return l->began_ms + t->chat->options.progress_after_ms;
    if (l->state == CHAT_LIVE_HIDDEN && l->adapted)
        return l->edited_ms + edit_interval(t);
    if (l->state == CHAT_LIVE_HIDDEN)
        return l->beat_ms + beat_interval(t, now);
    if (l->state != CHAT_LIVE_SHOWN)
        return INT64_MAX;
    return l->dirty ? l->edited_ms + edit_interval(t) : l->beat_ms + beat_interval(t, now);
}

static int64_t typing_interval(const struct chat *c)
{
    const int64_t ms = c->table.typing_ms ? c->table.typing_ms : TYPING_MS;
    return ms > 2 * TYPING_EARLY_MS ? ms - TYPING_EARLY_MS : ms;
}

/* Whether the indicator is visible for so long that it must be updated when the phase of the turn
 * changes, and removed at the end. */
static bool chat_live_is_typing_long(const struct chat *c)
{
    return c->table.typing_ms > TYPING_LONG_MS;
}

static int64_t chat_live_typing_due_ms(const struct chat_turn *t, int64_t now)
{
    const struct chat *const c = t->chat;
    const bool changed = chat_live_is_typing_long(c) && t->live.typed != chat_view_phase(&t->view);
    if (!chat_can(c, TC_OP_TYPING) || now - t->view.active_ms >= TYPING_TTL_MS ||
        (chat_native_is_whole(t) && t->stream.message[0])) /* the stream itself shows the phase */
        return INT64_MAX;
    const int64_t due =
        t->live.typing_ms && !changed ? t->live.typing_ms + typing_interval(c) : now;
    return due > c->signs_off_until_ms ? due : c->signs_off_until_ms;
}

static int64_t chat_live_stop_due_ms(const struct chat_turn *t)
{
    return t->stopper.chat ? t->stop_due_ms : INT64_MAX;
}

static void chat_live_schedule(struct chat_turn *t)
{
    const int64_t now = clock_mono_ms();
    const int64_t all[] = {chat_live_show_due_ms(t, now), chat_live_typing_due_ms(t, now),
                           chat_native_due_ms(t), chat_live_stop_due_ms(t)};
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        due = all[i] < due ? all[i] : due;
    const int64_t ms = t->over || due == INT64_MAX ? -1 : due > now ? due - now : 1;
    t->chat->hooks.wake(t->chat->hooks.ctx, t->turn, ms);
}

/* ---- operations ---- */

static void send_typing(struct chat_turn *t, bool off)
{
    const struct chat_record r = {.op = TC_OP_TYPING,
                                  .slot = CHAT_SLOT_SIGN,
                                  .target = t->target,
                                  .generation = t->live.edits,
                                  .off = off};
    chat_live_send_view(t, &r, (struct chat_send_extra){0});
}

static void chat_live_start_typing(struct chat_turn *t, int64_t now)
{
    t->live.typing_ms = now;
    t->live.typed = chat_view_phase(&t->view);
    send_typing(t, false);
}

void chat_live_send_view(struct chat_turn *t, const struct chat_record *r,
                         struct chat_send_extra extra)
{
    struct tc_tool_line lines[CHAT_VIEW_LINES];
    const struct tc_view view =
        chat_view_export(&t->view, clock_mono_ms(), t->chat->options.thinking, lines);
    extra.view = &view;
    chat_send(t->chat, t->turn, r, &extra);
}

/* Removes an indicator that would remain visible after the outcome. */
static void stop_typing(struct chat_turn *t)
{
    if (chat_live_is_typing_long(t->chat) && t->live.typing_ms && chat_can(t->chat, TC_OP_TYPING))
        send_typing(t, true);
    t->live.typing_ms = 0;
}

/* Writes the current progress message into the record. False: it has not changed. */
static bool chat_live_render_view(struct chat_turn *t, int64_t now, struct tc_view *view,
                                  struct tc_tool_line *lines, struct chat_record *r)
{
    CLEANUP_BUF struct buf text = {0};
    *view = chat_view_export(&t->view, now, t->chat->options.thinking, lines);
    chat_view_write(&text, view);
    const uint64_t hash = hash_bytes(HASH_START, text.p, text.len);
    if (hash == t->live.shown || !chat_render_one(t->chat, r, text.p, 0))
        return false;
    t->live.shown = hash;
    r->role = TC_ROLE_LIVE;
    r->silent = true;
    r->omit = t->live.omit;
    r->target = t->target;
    return true;
}

/* The message certainly does not exist. */
static void chat_live_handle_not_created(struct chat_turn *t)
{
    t->live.uncertain = t->live.doubted = false;
    t->live.shown = 0;
    chat_live_move(t, CHAT_LIVE_ON_REFUSE);
    chat_memory_write(t);
}

/* Sends a create. The memory says so on disk before the request is sent; otherwise the next process
 * would not find the message. */
static void chat_live_create(struct chat_turn *t, struct chat_record *r, const struct tc_view *view,
                             int64_t now)
{
    struct chat_live *const l = &t->live;
    if (l->state == CHAT_LIVE_SHOWN)
        memcpy(l->old, l->message, sizeof l->old);
    l->message[0] = '\0';
    l->uncertain = true;
    l->doubted = l->adapted = false;
    l->creates++;
    l->created_ms = now;
    l->made_ms = chat_unix_ms();
    chat_live_move(t, CHAT_LIVE_ON_CREATE);
    chat_memory_write(t);
    r->op = TC_OP_POST;
    r->slot = CHAT_SLOT_LIVE;
    r->generation = l->creates;
    if (chat_send(t->chat, t->turn, r, &(struct chat_send_extra){.view = view}) < 0)
        chat_live_handle_not_created(t);
}

static void chat_live_edit(struct chat_turn *t, struct chat_record *r, const struct tc_view *view)
{
    r->op = TC_OP_EDIT;
    r->slot = CHAT_SLOT_LIVE ":edit";
    r->message = t->live.message;
    r->generation = ++t->live.edits;
    chat_live_move(t, CHAT_LIVE_ON_EDIT);
    if (chat_send(t->chat, t->turn, r, &(struct chat_send_extra){.view = view}) < 0)
        chat_live_move(t, CHAT_LIVE_ON_EDITED);
}

static void send_draft(struct chat_turn *t, struct chat_record *r, const struct tc_view *view)
{
    r->op = TC_OP_DRAFT;
    r->slot = CHAT_SLOT_LIVE ":draft";
    r->generation = ++t->live.edits;
    t->live.drafted = true;
    chat_send(t->chat, t->turn, r, &(struct chat_send_extra){.view = view});
}

static bool is_too_old(const struct chat_turn *t, int64_t now)
{
    const int64_t age = t->chat->table.edit_age_ms;
    return age && now - t->live.created_ms >= age;
}

static void chat_live_show(struct chat_turn *t, int64_t now)
{
    struct tc_tool_line lines[CHAT_VIEW_LINES];
    struct tc_view view;
    struct chat_record r = {0};
    t->live.dirty = false;
    t->live.beat_ms = t->live.edited_ms = now;
    if (!chat_live_render_view(t, now, &view, lines, &r))
        return;
    if (uses_drafts(t)) {
        send_draft(t, &r, &view);
        return;
    }
    json_t *const buttons = chat_turn_button(t, CHAT_PRESS_STOP, TEXT_CHAT_STOP_BUTTON);
    r.buttons = buttons;
    if (t->live.state == CHAT_LIVE_SHOWN && !is_too_old(t, now))
        chat_live_edit(t, &r, &view);
    else
        chat_live_create(t, &r, &view, now);
    json_decref(buttons);
}

/* ---- start and end ---- */

void chat_live_update(struct chat_turn *t, bool visible)
{
    if (t->over)
        return;
    t->live.dirty |= visible;
    if (t->live.typing_ms && t->live.typed != chat_view_phase(&t->view) &&
        clock_mono_ms() >= chat_live_typing_due_ms(t, clock_mono_ms()))
        chat_live_start_typing(t, clock_mono_ms());
    chat_live_schedule(t);
}

void chat_live_record_stop(struct chat_turn *t, const struct tc_target *message)
{
    t->stopper = chat_copy_target(t->turn, message);
    t->stop_due_ms = clock_mono_ms() + STOP_MS;
    t->view.phase = TC_PHASE_STOPPING;
    chat_live_update(t, true);
}

static void chat_live_reply_to_stop(struct chat_turn *t)
{
    chat_reply(t->chat, t->chat->inst->lobby, &t->stopper, texts_get(TEXT_STOPPING));
    t->stopper.chat = NULL;
}

void chat_live_wake(struct chat_turn *t)
{
    const int64_t now = clock_mono_ms();
    if (t->over)
        return;
    if (now >= chat_live_typing_due_ms(t, now))
        chat_live_start_typing(t, now);
    chat_native_wake(t, now);
    if (now >= chat_live_show_due_ms(t, now))
        chat_live_show(t, now);
    if (now >= chat_live_stop_due_ms(t))
        chat_live_reply_to_stop(t);
    chat_live_schedule(t);
}

void chat_live_close(struct chat_turn *t)
{
    t->over = true;
    stop_typing(t);
    chat_live_move(t, CHAT_LIVE_ON_CLOSE);
    chat_live_schedule(t);
}

const char *chat_live_message_id(const struct chat_turn *t)
{
    return t->live.used || !t->live.message[0] ? NULL : t->live.message;
}

int64_t chat_live_late_ms(const struct chat_turn *t)
{
    const struct chat_live *const l = &t->live;
    const int64_t since = clock_mono_ms() - l->doubt_ms;
    if (!l->began)
        return CHAT_LATE_MS;
    return l->doubt_ms && since < CHAT_LATE_MS ? CHAT_LATE_MS - since : 0;
}

void chat_live_mark_used(struct chat_turn *t)
{
    t->live.used = true;
    t->live.message[0] = '\0';
    chat_memory_write(t);
}

/* ---- recovery ---- */

/* Sends the create again (the service recognises the key), or a search for the message. */
static void chat_live_send_again(struct chat_turn *t, struct chat_record *r, bool search)
{
    r->op = search ? TC_OP_LOOKUP : TC_OP_POST;
    r->slot = CHAT_SLOT_LIVE;
    r->role = TC_ROLE_LIVE;
    r->generation = t->live.creates;
    r->target = t->target;
    r->silent = true;
    t->live.doubted = true;
    chat_live_move(t, search ? CHAT_LIVE_ON_SEARCH : CHAT_LIVE_ON_REPEAT);
    if (chat_send(t->chat, t->turn, r,
                  &(struct chat_send_extra){.delay_ms = search ? CHAT_LATE_MS : 0}) < 0)
        chat_live_move(t, CHAT_LIVE_ON_LOSE);
}

bool chat_live_can_search(const struct chat_turn *t)
{
    const struct tc_chat *const table = &t->chat->table;
    return table->idempotency == TC_IDEMPOTENCY_LOOKUP ||
           (table->idempotency == TC_IDEMPOTENCY_KEY &&
            (!table->idempotency_ms || chat_unix_ms() - t->live.made_ms < table->idempotency_ms));
}

/* Handles a lost reply to the create. */
static void chat_live_handle_lost_create(struct chat_turn *t, struct chat_record *r)
{
    const enum tc_idempotency kind = t->chat->table.idempotency;
    if (!r->text)
        chat_render_one(t->chat, r, texts_get(TEXT_CHAT_WORKING), 0);
    if (t->live.state == CHAT_LIVE_CLOSED || !chat_live_can_search(t))
        chat_live_move(t, CHAT_LIVE_ON_LOSE);
    else
        chat_live_send_again(t, r, kind == TC_IDEMPOTENCY_LOOKUP);
}

/* Continues with the message of an earlier process, or with a message whose creation was in
 * flight. */
static void chat_live_resume(struct chat_turn *t, int64_t now)
{
    struct chat_live *const l = &t->live;
    if (l->message[0]) {
        chat_live_move(t, CHAT_LIVE_ON_CREATED);
        l->created_ms = now;
        l->doubt_ms = now; /* an edit may have been in flight */
        t->view.visible = true;
    } else if (l->uncertain) {
        struct chat_record r = {.target = t->target};
        chat_live_handle_lost_create(t, &r);
    }
}

void chat_live_begin(struct chat_turn *t)
{
    const int64_t now = clock_mono_ms();
    chat_view_init(&t->view, now);
    t->view.waiting = chat_cards_waiting(&t->chat->cards, t->turn->id);
    t->live.began_ms = now;
    t->live.began = true;
    t->over = !t->target.chat;
    if (t->over)
        return;
    chat_live_resume(t, now);
    chat_native_start(t, now);
    if (now >= chat_live_typing_due_ms(t, now))
        chat_live_start_typing(t, now);
    chat_live_schedule(t);
}

/* ---- results ---- */

static void chat_live_remove_old(struct chat_turn *t)
{
    if (!t->live.old[0])
        return;
    if (chat_can(t->chat, TC_OP_DELETE))
        chat_send(t->chat, t->turn,
                  &(struct chat_record){.op = TC_OP_DELETE,
                                        .slot = CHAT_SLOT_CLEAN ":old",
                                        .message = t->live.old,
                                        .generation = t->live.creates,
                                        .target = t->target},
                  NULL);
    t->live.old[0] = '\0';
}

/* The message exists; its id may be unknown. */
static void chat_live_handle_created(struct chat_turn *t, const char *id)
{
    chat_live_copy_id(t->live.message, id);
    t->live.uncertain = !t->live.message[0];
    t->live.doubted = false;
    chat_live_move(t, t->live.message[0] ? CHAT_LIVE_ON_CREATED : CHAT_LIVE_ON_LOSE);
    chat_memory_write(t);
    chat_live_remove_old(t);
}

/* Adapts the next attempt to the refusal. True: the next attempt omits the refused part. */
static bool chat_live_omit_refused_part(struct chat_turn *t, enum tc_result_kind kind)
{
    const unsigned part = kind == TC_RESULT_BAD_FORMAT || kind == TC_RESULT_REFUSED ? TC_OMIT_FORMAT
                          : kind == TC_RESULT_REPLY_GONE                            ? TC_OMIT_REPLY
                          : kind == TC_RESULT_THREAD_GONE                           ? TC_OMIT_THREAD
                                                                                    : 0;
    const bool is_new = part && !(t->live.omit & part);
    t->live.omit |= part;
    return is_new;
}

static void chat_live_handle_create_result(struct chat_turn *t, struct chat_record *r,
                                           const struct chat_result *result)
{
    struct chat_live *const l = &t->live;
    switch ((int)result->result.kind) {
    case TC_RESULT_DONE:
        chat_live_handle_created(t, result->result.message);
        return;
    case TC_RESULT_IN_DOUBT:
        chat_live_handle_lost_create(t, r);
        return;
    default:
        break;
    }
    chat_live_handle_not_created(t);
    l->adapted = chat_live_omit_refused_part(t, result->result.kind) ||
                 result->result.kind == TC_RESULT_CHAT_MOVED;
}

/* Handles the result of a draft: if the service or the chat has no drafts, messages are used from
 * now on. */
static void chat_live_handle_draft_result(struct chat_turn *t, const struct chat_result *result)
{
    const enum tc_result_kind kind = result->result.kind;
    if (kind == TC_RESULT_DONE || kind == TC_RESULT_IN_DOUBT || kind == TC_RESULT_RETRY)
        return;
    t->chat->unsupported |= TC_CAN(TC_OP_DRAFT);
    t->live.shown = 0;
    t->live.dirty = true;
}

static void chat_live_handle_search_result(struct chat_turn *t, struct chat_record *r,
                                           const struct chat_result *result)
{
    if (result->result.kind == TC_RESULT_DONE)
        chat_live_handle_created(t, result->result.message);
    else if (result->result.kind == TC_RESULT_NOT_FOUND)
        chat_live_handle_not_created(t);
    else if (result->result.kind == TC_RESULT_IN_DOUBT)
        chat_live_handle_lost_create(t, r);
    else
        chat_live_move(t, CHAT_LIVE_ON_LOSE);
}

static void chat_live_handle_edit_result(struct chat_turn *t, const struct chat_result *result)
{
    struct chat_live *const l = &t->live;
    const enum tc_result_kind kind = result->result.kind;
    if (kind == TC_RESULT_MESSAGE_GONE || kind == TC_RESULT_CHAT_MOVED) {
        t->view.visible &= !l->gone; /* after a second deletion, no further message is created */
        l->gone = true;
        l->adapted = kind == TC_RESULT_CHAT_MOVED;
        l->message[0] = '\0';
        l->shown = 0;
        chat_live_move(t, CHAT_LIVE_ON_GONE);
        chat_memory_write(t);
        return;
    }
    chat_live_move(t, CHAT_LIVE_ON_EDITED);
    if (kind == TC_RESULT_DONE)
        return;
    l->shown = 0;
    l->dirty = kind == TC_RESULT_IN_DOUBT || chat_live_omit_refused_part(t, kind);
    if (kind == TC_RESULT_IN_DOUBT)
        l->doubt_ms = clock_mono_ms();
}

void chat_live_handle_result(struct chat_turn *t, struct chat_record *r,
                             const struct chat_result *result, struct tc_verdict *v)
{
    const enum tc_result_kind kind = result->result.kind;
    const bool waits = kind == TC_RESULT_RETRY || kind == TC_RESULT_UNAUTHORIZED;
    if (waits && v->next == TC_NEXT_AGAIN)
        return; /* the host sends the request again, unless the outcome comes first */
    v->next = TC_NEXT_DONE;
    if (r->op == TC_OP_DRAFT)
        chat_live_handle_draft_result(t, result);
    else if (r->op == TC_OP_EDIT)
        chat_live_handle_edit_result(t, result);
    else if (r->op == TC_OP_LOOKUP)
        chat_live_handle_search_result(t, r, result);
    else
        chat_live_handle_create_result(t, r, result);
    if (!t->over)
        chat_live_schedule(t);
}

/* Handles a dropped request: a newer edit or the outcome has replaced it, or it became too old. */
void chat_live_handle_drop(struct chat_turn *t, const struct chat_record *r)
{
    t->live.shown = 0;
    if (r->op == TC_OP_EDIT)
        chat_live_move(t, CHAT_LIVE_ON_EDITED);
    else if (r->op != TC_OP_DRAFT && t->live.doubted)
        chat_live_move(t, CHAT_LIVE_ON_LOSE);
    else if (r->op != TC_OP_DRAFT)
        chat_live_handle_not_created(t);
    if (!t->over)
        chat_live_schedule(t);
}
