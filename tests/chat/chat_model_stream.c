/* SPDX-License-Identifier: MIT
 * The native streams of a turn that t_chat_model explores. The answer has two halves: the first is
 * appended while the turn runs, the second comes with the end of the stream. */
#include "chat/chat_model.h"

/* ---- the end ---- */

void model_move_stream(struct world *w, enum chat_native_event event)
{
    w->stream = (uint8_t)chat_native_next((enum chat_native_state)w->stream, event);
}

/* The stream has shown the beginning of the answer, or it is ended without the answer. */
void model_end_streams(const struct explored *e, struct world *w)
{
    const bool open = w->stream == CHAT_NATIVE_OPEN || w->stream == CHAT_NATIVE_APPENDING;
    const bool beside = w->flight == FLIGHT_APPEND;
    if (open && !w->incomplete && !w->full && !w->stream_gone) {
        w->row_state = CHAT_ENDING;
        w->row_streamed = 1;
        w->row_stream = w->stream_id;
        w->row_append = beside && !e->setup.no_beside;
        w->row_halves = w->told ? SECOND_HALF : BOTH_HALVES;
    } else {
        w->close[0] = w->began ? w->stream_id : w->stream_memory;
    }
    w->stream_id = w->stream_memory = 0;
    model_move_stream(w, CHAT_NATIVE_ON_CLOSE);
}

void model_send_whole(struct world *w, const struct chat_record *r, enum tc_result_kind kind,
                      bool no_mark)
{
    if ((kind != TC_RESULT_DONE || w->row_state == CHAT_PROBING) && kind != TC_RESULT_MESSAGE_GONE)
        w->close[0] = w->row_stream;
    w->row_state = CHAT_POSTING;
    w->row_marked = r->tried.marked && !no_mark;
    w->row_streamed = w->row_append = w->row_halves = w->row_stream = w->row_doubts = 0;
}

/* ---- native streams ---- */

static void forget_stream(struct world *w)
{
    w->stream_id = w->stream_memory = 0;
}

/* The begin or the append under way has a result, which may come after the outcome. */
static void begun(struct explored *e, struct world *w, uint8_t id)
{
    w->flight = FLIGHT_NONE;
    w->shown[id - 1].known = 1;
    model_move_stream(w, CHAT_NATIVE_ON_BEGUN);
    if (w->ended)
        w->close[0] = id;
    else
        w->stream_id = w->stream_memory = id;
    if (e->setup.no_memory)
        w->stream_memory = 0;
    model_add_world(e, w);
}

static void appended(struct explored *e, struct world *w)
{
    w->flight = FLIGHT_NONE;
    w->append = CHAT_SHOWN_ALL + 1;
    w->confirmed = 1;
    model_move_stream(w, CHAT_NATIVE_ON_APPENDED);
    model_add_world(e, w);
}

static void flight_lost(struct explored *e, struct world *w)
{
    const bool appends = w->flight == FLIGHT_APPEND;
    w->flight = FLIGHT_NONE;
    w->incomplete = !e->setup.no_incomplete;
    w->append = CHAT_SHOWN_UNKNOWN + 1;
    w->append_doubt |= appends && w->ended;
    w->doubts = (uint8_t)(w->doubts + (appends && w->ended));
    model_move_stream(w, CHAT_NATIVE_ON_LOSE);
    model_add_world(e, w);
}

/* Items that were refused come first in the next request. */
static void flight_refused(struct explored *e, struct world *w, bool gone)
{
    const bool appends = w->flight == FLIGHT_APPEND;
    w->flight = FLIGHT_NONE;
    w->append = CHAT_SHOWN_LESS + 1;
    model_move_stream(w, gone ? CHAT_NATIVE_ON_GONE : CHAT_NATIVE_ON_REFUSE);
    if (!w->ended) {
        w->told = 0;
        w->full = appends && !gone;
        if (gone)
            forget_stream(w);
    }
    model_add_world(e, w);
}

void model_step_flight(struct explored *e, const struct world *w)
{
    struct world n = *w, refused = *w;
    const bool begins = w->flight == FLIGHT_BEGIN;
    const uint8_t at = w->ended ? w->row_stream : w->stream_id;
    const struct late_op op = {
        .how = begins ? OP_CREATE : OP_APPEND,
        .at = begins ? 0 : at,
        .key = w->begins,
        .what = {.kind = STREAM_MESSAGE, .open = 1, .halves = begins ? 0 : FIRST_HALF}};
    if (!w->flight)
        return;
    if (!begins && !model_is_open(w, at)) {
        flight_refused(e, &n, true);
        return;
    }
    model_add_killed(e, w);
    model_lose(e, w, &op, flight_lost);
    if (w->faults) {
        refused.faults--;
        flight_refused(e, &refused, false);
    }
    model_arrive(e, &n, &op);
    model_add_killed(e, &n);
    if (begins)
        begun(e, &n, n.count);
    else
        appended(e, &n);
}

static void step_send(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (w->stream == CHAT_NATIVE_OFF && w->began)
        model_move_stream(&n, CHAT_NATIVE_ON_START);
    else if (w->stream == CHAT_NATIVE_NONE && w->begins < STREAMS) {
        n.begins++;
        n.full = 0;
        n.flight = FLIGHT_BEGIN;
        model_move_stream(&n, CHAT_NATIVE_ON_BEGIN);
    } else if (w->stream == CHAT_NATIVE_OPEN && !w->told && !w->full) {
        n.told = 1;
        n.flight = FLIGHT_APPEND;
        model_move_stream(&n, CHAT_NATIVE_ON_APPEND);
    } else {
        return;
    }
    model_add_world(e, &n);
}

/* The reply to the end of a stream that is left was lost: it is ended once more, durably. */
static void leave_lost(struct explored *e, struct world *w)
{
    w->close[1] = w->stream_id;
    w->stream_gone |= w->confirmed && !e->setup.no_gone;
    forget_stream(w);
    model_add_world(e, w);
}

static void step_leave(struct explored *e, const struct world *w)
{
    struct world n = *w;
    const struct late_op op = {.how = OP_END, .at = w->stream_id};
    if (w->stream != CHAT_NATIVE_OPEN || w->begins >= STREAMS || w->close[1])
        return;
    model_move_stream(&n, CHAT_NATIVE_ON_LEAVE);
    model_move_stream(&n, CHAT_NATIVE_ON_LEFT);
    model_lose(e, &n, &op, leave_lost);
    if (!model_is_open(w, w->stream_id) && !e->setup.no_gone)
        n.stream_gone |= n.confirmed;
    model_arrive(e, &n, &op);
    forget_stream(&n);
    model_add_world(e, &n);
}

void model_step_streams(struct explored *e, const struct world *w)
{
    struct world n = *w;
    step_send(e, w);
    step_leave(e, w);
    if (w->stream == CHAT_NATIVE_OPEN && w->faults) { /* a person deletes it */
        n.faults--;
        n.shown[n.stream_id - 1] = (struct shown){0};
        model_add_world(e, &n);
    }
    n = *w;
    model_end_turn(e, &n);
    model_add_world(e, &n);
}

void model_step_ending(struct explored *e, const struct world *w)
{
    struct world n = *w;
    const struct late_op op = {
        .how = OP_END, .at = w->row_stream, .what = {.halves = w->row_halves, .keyed = 1}};
    if (w->flight) /* the lane keeps the order */
        return;
    if (!model_is_open(w, w->row_stream)) {
        model_take(e, w, TC_RESULT_MESSAGE_GONE, false);
        return;
    }
    model_arrive(e, &n, &op);
    model_take(e, &n, TC_RESULT_DONE, false);
    model_lose(e, w, &op, model_take_lost);
    model_lose(e, w, &op, model_take_unclear);
    if (w->faults) {
        struct world refused = *w;
        refused.faults--;
        model_take(e, &refused, TC_RESULT_REFUSED, false);
    }
    for (int way = 0; w->kills && way < 2; way++) {
        struct world killed = way ? n : *w;
        model_kill_host(e, &killed);
        model_take(e, &killed, TC_RESULT_IN_DOUBT, false);
    }
}

void model_step_close(struct explored *e, const struct world *w)
{
    for (int i = 0; i < 2; i++) {
        struct world n = *w;
        if (w->row || w->flight || !w->close[i])
            continue;
        model_append(&n, w->close[i], &(struct shown){0}, true);
        n.close[i] = 0;
        model_add_world(e, &n);
    }
}

bool model_is_streamed(const struct world *w)
{
    for (uint8_t i = 0; i < w->count; i++)
        if (w->shown[i].keyed)
            return true;
    return false;
}
