/* SPDX-License-Identifier: MIT
 * Handles the results of requests of native streams. */
#include <string.h>

#include "base/sys/clock.h"
#include "chat/chat_internal.h"

/* Number of refusals after which the turn is shown by a message that is edited. */
#define STRIKES_MAX 3
#define CHAT_SLOT_REMOVE CHAT_SLOT_CLOSE ":remove"

/* ---- items that were sent ---- */

static void chat_native_count_line(struct chat_native *s, struct chat_line *line)
{
    const size_t size = chat_line_size(line),
                 before = line->shown_in == s->number ? line->counted : 0;
    s->given.items += line->shown_in != s->number;
    s->given.bytes += size > before ? size - before : 0;
    line->shown_in = s->number;
    line->counted = size;
    line->told = line->sending;
}

/* Records that the service has confirmed the request in flight. */
static void chat_native_record_confirmed(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    s->strikes = 0;
    s->said.confirmed = s->said.sending;
    chat_native_whole_record_confirmed(t);
    s->said.shown |= s->said.told > 0 && chat_batch_has_text(&s->flight);
    for (size_t i = 0; i < s->flight.count; i++) {
        const struct chat_batch_item *const item = &s->flight.items[i];
        if (!item->len) {
            chat_native_count_line(s, &s->lines.list[item->line]);
            continue;
        }
        s->given.items++;
        s->given.bytes += item->len;
    }
    chat_batch_clear(&s->flight, &s->lines);
}

/* Moves items that were certainly not shown to the beginning of the next request. */
static void chat_native_requeue_flight(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    chat_batch_return_items(&s->next, &s->flight, &s->lines, chat_native_item_bytes(t));
}

/* Notes that the stream is no longer open: running lines continue in the next one. */
static void chat_native_clear_message(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    s->message[0] = '\0';
    chat_native_add_running_lines(t, &s->next, 0);
    chat_memory_write(t);
}

/* ---- failures ---- */

/* Handles a stop by a person: no more items are sent to the stream, and the turn is cancelled. */
static void chat_native_stop(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    struct tc_receipt receipt = {0};
    s->stopped = s->incomplete = true;
    s->message[0] = '\0';
    chat_batch_clear(&s->flight, &s->lines);
    chat_native_abandon(t);
    chat_memory_write(t);
    if (t->target.user &&
        tc_cancel(t->chat->inst->lobby, t->turn->id, t->target.user, &receipt) == TC_COMMAND)
        t->view.phase = TC_PHASE_STOPPING;
    chat_live_update(t, false);
}

/* Prepares the next stream after the service has refused the items or ended the stream: the items
 * come first in the next request. */
static void chat_native_requeue_items(struct chat_turn *t, enum tc_result_kind kind)
{
    struct chat_native *const s = &t->stream;
    chat_native_requeue_flight(t);
    if ((kind == TC_RESULT_MESSAGE_GONE || kind == TC_RESULT_STREAM_OVER) && !s->message[0])
        chat_native_clear_message(t);
    /* also after BAD_FORMAT: a stream with lines cannot continue without lines */
    s->full = s->message[0] != '\0';
    if (kind == TC_RESULT_BAD_FORMAT) {
        s->plain = true;
        chat_batch_drop(&s->next, &s->lines, false);
    }
    if (++s->strikes >= STRIKES_MAX)
        chat_native_abandon(t);
}

/* Handles any other refusal: this turn is shown by edits, and so is every turn if the service does
 * not support streams. */
static void chat_native_end_streaming(struct chat_turn *t, const struct chat_record *r,
                                      const struct chat_result *result)
{
    const enum tc_result_kind kind = result->result.kind;
    struct chat *const c = t->chat;
    chat_batch_clear(&t->stream.flight, &t->stream.lines);
    if (kind == TC_RESULT_UNSUPPORTED ||
        (kind == TC_RESULT_REFUSED && r->op == TC_OP_STREAM_BEGIN)) {
        if (chat_can(c, TC_OP_STREAM_BEGIN))
            tc_log(c->inst, TC_INFO,
                   "native streams are off until the next start: %s; editing one message instead",
                   result->result.reason ? result->result.reason : "refused");
        c->unsupported |= TC_CAN(TC_OP_STREAM_BEGIN);
    }
    chat_native_abandon(t);
}

/* Handles a begin or an append that was not confirmed. */
static void chat_native_fail(struct chat_turn *t, const struct chat_record *r,
                             const struct chat_result *result)
{
    struct chat_native *const s = &t->stream;
    const enum tc_result_kind kind = result->result.kind;
    const bool appends = r->op == TC_OP_STREAM_APPEND;
    const bool over = appends && kind == TC_RESULT_STREAM_OVER;
    const bool gone =
        over || (appends && (kind == TC_RESULT_MESSAGE_GONE || kind == TC_RESULT_STOPPED));
    chat_native_move(t, gone                         ? CHAT_NATIVE_ON_GONE
                        : kind == TC_RESULT_IN_DOUBT ? CHAT_NATIVE_ON_LOSE
                                                     : CHAT_NATIVE_ON_REFUSE);
    if (gone) {
        s->said.gone |= !over && s->said.shown;
        s->message[0] = '\0';
    }
    switch ((int)kind) {
    case TC_RESULT_STOPPED:
        chat_native_stop(t);
        break;
    case TC_RESULT_MESSAGE_GONE:
    case TC_RESULT_TOO_LONG:
    case TC_RESULT_BAD_FORMAT:
    case TC_RESULT_STREAM_OVER:
        chat_native_requeue_items(t, kind);
        break;
    case TC_RESULT_IN_DOUBT: /* the items may be visible: they are not sent again */
        if (appends && chat_native_is_whole(t)) { /* the next request contains them */
            chat_native_requeue_flight(t);
            break;
        }
        s->incomplete = true;
        chat_batch_clear(&s->flight, &s->lines);
        break;
    default:
        chat_native_end_streaming(t, r, result);
        break;
    }
}

/* ---- results ---- */

/* Handles the result of a begin or an append that arrives after the outcome. */
static void chat_native_result_handle_late_result(struct chat_turn *t, const struct chat_record *r,
                                                  const struct chat_result *result)
{
    static const struct chat_batch nothing;
    struct chat_native *const s = &t->stream;
    const bool done = result->result.kind == TC_RESULT_DONE;
    if (r->op == TC_OP_STREAM_BEGIN && done && result->result.message)
        chat_native_send_close(t, result->result.message, &nothing, CHAT_SLOT_REMOVE);
    s->incomplete |= !done;
    s->missing |= !done && result->result.kind != TC_RESULT_IN_DOUBT;
    chat_batch_clear(&s->flight, &s->lines);
}

static void chat_native_result_handle_begun(struct chat_turn *t, const struct chat_record *r,
                                            const struct chat_result *result)
{
    struct chat_native *const s = &t->stream;
    const char *const id = result->result.message;
    if (result->result.kind != TC_RESULT_DONE) {
        chat_native_fail(t, r, result);
        return;
    }
    if (!id || !*id || strlen(id) >= sizeof s->message) { /* without a valid id, nothing can be
                                                             appended to the stream */
        chat_native_move(t, CHAT_NATIVE_ON_LOSE);
        s->incomplete = true;
        chat_batch_clear(&s->flight, &s->lines);
        return;
    }
    memcpy(s->message, id, strlen(id) + 1);
    chat_native_move(t, CHAT_NATIVE_ON_BEGUN);
    chat_memory_write(t);
    chat_native_record_confirmed(t);
}

static void chat_native_result_handle_appended(struct chat_turn *t, const struct chat_record *r,
                                               const struct chat_result *result)
{
    if (result->result.kind != TC_RESULT_DONE) {
        chat_native_fail(t, r, result);
        return;
    }
    chat_native_move(t, CHAT_NATIVE_ON_APPENDED);
    chat_native_record_confirmed(t);
}

/* Handles an end that was refused because of its items, or whose reply was lost: the stream may
 * still be open. */
static void chat_native_result_handle_left(struct chat_turn *t, const struct chat_record *r,
                                           const struct chat_result *result)
{
    struct chat_native *const s = &t->stream;
    const enum tc_result_kind kind = result->result.kind;
    chat_native_move(t, CHAT_NATIVE_ON_LEFT);
    s->said.gone |= kind != TC_RESULT_DONE && kind != TC_RESULT_STREAM_OVER &&
                    s->said.shown; /* a person may have deleted the message */
    if (kind == TC_RESULT_STOPPED) {
        chat_native_stop(t);
        return;
    }
    if (kind == TC_RESULT_IN_DOUBT ||
        (!r->tried.bare && kind != TC_RESULT_DONE && kind != TC_RESULT_MESSAGE_GONE &&
         kind != TC_RESULT_STREAM_OVER)) {
        s->full = true;
        chat_native_close_independently(t);
    }
    chat_native_clear_message(t);
}

static void chat_native_result_handle_stream_result(struct chat_turn *t,
                                                    const struct chat_record *r,
                                                    const struct chat_result *result)
{
    if (t->stream.state == CHAT_NATIVE_CLOSED)
        chat_native_result_handle_late_result(t, r, result);
    else if (r->op == TC_OP_STREAM_BEGIN)
        chat_native_result_handle_begun(t, r, result);
    else if (r->op == TC_OP_STREAM_APPEND)
        chat_native_result_handle_appended(t, r, result);
    else
        chat_native_result_handle_left(t, r, result);
}

/* ---- a stream that is ended without an outcome ---- */

/* Deletes the message of an ended stream that shows nothing, as its slot says. */
static void chat_native_remove_closed(struct chat_turn *t, const struct chat_record *r)
{
    if (strcmp(r->slot, CHAT_SLOT_REMOVE) == 0 && chat_can(t->chat, TC_OP_DELETE))
        chat_send(t->chat, t->turn,
                  &(struct chat_record){.op = TC_OP_DELETE,
                                        .slot = CHAT_SLOT_CLEAN ":stream",
                                        .message = r->message,
                                        .target = r->target},
                  NULL);
}

static void chat_native_result_handle_closed(struct chat_turn *t, const struct chat_record *r,
                                             const struct chat_result *result, struct tc_verdict *v)
{
    const enum tc_result_kind kind = result->result.kind;
    const bool refused = kind == TC_RESULT_BAD_FORMAT || kind == TC_RESULT_TOO_LONG ||
                         kind == TC_RESULT_EMPTY || kind == TC_RESULT_REFUSED;
    if (kind == TC_RESULT_IN_DOUBT) {
        v->next = TC_NEXT_AGAIN;
        return;
    }
    if (refused && !r->tried.bare) { /* a second refusal ends the attempts */
        struct chat_record empty = *r;
        empty.tried.bare = true;
        empty.owner = NULL;
        chat_send(t->chat, t->turn, &empty, NULL);
        return;
    }
    chat_native_remove_closed(t, r);
}

/* ---- entry ---- */

/* False: an earlier process has sent the request, or it is no longer in flight. */
static bool chat_native_is_current(const struct chat_turn *t, const struct chat_record *r)
{
    const enum chat_native_state state = t->stream.state;
    return r->generation == t->stream.requests && state != CHAT_NATIVE_OFF &&
           state != CHAT_NATIVE_NONE && state != CHAT_NATIVE_OPEN;
}

void chat_native_handle_result(struct chat_turn *t, struct chat_record *r,
                               const struct chat_result *result, struct tc_verdict *v)
{
    if (v->next == TC_NEXT_AGAIN &&
        (result->result.kind == TC_RESULT_RETRY || result->result.kind == TC_RESULT_UNAUTHORIZED))
        return; /* the host sends the request again, unless the outcome comes first */
    v->next = TC_NEXT_DONE;
    if (chat_record_is_slot(r, CHAT_SLOT_CLOSE))
        chat_native_result_handle_closed(t, r, result, v);
    else if (chat_native_is_current(t, r))
        chat_native_result_handle_stream_result(t, r, result);
    chat_native_wake(t, clock_mono_ms());
    chat_live_update(t, false);
}

/* Handles a dropped request: the outcome has replaced it, or it became too old. */
void chat_native_handle_drop(struct chat_turn *t, const struct chat_record *r)
{
    const struct chat_result dropped = {.result = {.kind = TC_RESULT_RETRY}};
    if (chat_record_is_slot(r, CHAT_SLOT_CLOSE)) {
        chat_native_remove_closed(t, r);
        return;
    }
    if (!chat_native_is_current(t, r))
        return;
    if (t->stream.state == CHAT_NATIVE_CLOSED) {
        chat_native_result_handle_late_result(t, r, &dropped);
    } else if (r->op == TC_OP_STREAM_END) {
        t->stream.full = true;
        t->stream.said.gone |= t->stream.said.shown;
        chat_native_move(t, CHAT_NATIVE_ON_LEFT);
        chat_native_close_independently(t);
        chat_native_clear_message(t);
    } else {
        chat_native_move(t, CHAT_NATIVE_ON_REFUSE);
        chat_native_requeue_flight(t);
    }
    chat_native_wake(t, clock_mono_ms());
    chat_live_update(t, false);
}
