/* SPDX-License-Identifier: MIT
 * The native stream of a turn: begun when there is something to show, appended to while it lives,
 * begun anew before Slack ends it. Only what can no longer change is appended. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "fault.h"
#include "progress.h"
#include "pulse.h"
#include "shown.h"
#include "slack.h"
#include "text.h"

#define START_MS 1500       /* shorter turns show their answer only */
#define PACE_MS 1000        /* between two requests of a stream */
#define AGE_MS 240000       /* Slack ends a stream after about 300 s */
#define SIZE_MAX_BYTES 9000 /* Slack was seen to refuse from 10,600 on, cards and all */
#define BLOCKS_MAX 45       /* of 50 */
#define STRIKES_MAX 3       /* then the turn is shown by a message that is edited */

static const char goes_on[] = " \xe2\x80\x94 continued below"; /* — */

static struct slack_stream *stream_of(struct tc_turn *turn)
{
    return &cast_of(turn)->stream;
}

static bool is_streaming(struct tc_turn *turn)
{
    const struct cast *cast = cast_of(turn);
    return cast->surface == SURFACE_STREAM && !cast->over;
}

/* ---- what waits */

void stream_text(struct tc_turn *turn, const char *p, size_t n)
{
    if (!is_streaming(turn))
        return;
    if (batch_add_text(turn, &stream_of(turn)->next, p, n))
        stream_of(turn)->broken = true;
    stream_pump(turn);
}

void stream_task(struct tc_turn *turn, struct slack_task *t)
{
    if (!is_streaming(turn) || stream_of(turn)->plain)
        return;
    batch_add_task(turn, &stream_of(turn)->next, (size_t)(t - cast_of(turn)->tasks.list));
    stream_pump(turn);
}

/* Back in front of what came since. */
static void take_back(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    if (batch_move(turn, &s->flight, &s->next, s->next.count))
        s->broken = true;
    const struct batch empty = s->next;
    s->next = s->flight;
    s->flight = empty;
    batch_clear(&s->flight);
}

static void drop(struct batch *b, bool texts)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++)
        if ((b->items[i].len > 0) != texts)
            b->items[n++] = b->items[i];
    b->count = n;
}

static size_t room(size_t have, size_t max)
{
    return have < max ? max - have : 0;
}

/* What waits is shown by the end of the stream, or not at all: the end has to be taken. */
static void drop_what_does_not_fit(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    const size_t size = room(s->size + batch_size(turn, &s->flight), SIZE_MAX_BYTES);
    const size_t blocks = room(s->blocks + s->flight.count, BLOCKS_MAX);
    if (batch_fitting(turn, &s->next, size, blocks) == s->next.count)
        return;
    drop(&s->next, true);
    s->next.count = batch_fitting(turn, &s->next, size, blocks);
}

/* ---- requests */

/* Slack ends 20 streams a minute: five at once, then one in three seconds. */
#define STOP_MS 3000
#define STOP_BURST_MS (5 * STOP_MS)

static void count_stop(struct tc_turn *turn)
{
    struct slack_state *state = state_of(turn);
    const int64_t now = pulse_now();
    state->stops_ms = (state->stops_ms > now ? state->stops_ms : now) + STOP_MS;
}

static bool may_stop_soon(struct tc_turn *turn)
{
    return state_of(turn)->stops_ms + STOP_MS - pulse_now() <= STOP_BURST_MS;
}

static struct slack_call call_of(struct tc_turn *turn, const char *tag)
{
    return (struct slack_call){
        .tag = tag, .lane = cast_of(turn)->route.lane, .priority = TC_P_LIVE};
}

static void add_content(struct tc_turn *turn, json_t *body, const char *left)
{
    const struct slack_stream *s = stream_of(turn);
    if (s->plain)
        json_object_set_new(body, "markdown_text", batch_markdown(&s->flight));
    else
        json_object_set_new(body, "chunks", batch_chunks(turn, &s->flight, left));
}

static json_t *start_body(struct tc_turn *turn)
{
    const struct route *r = &cast_of(turn)->route;
    json_t *body = json_pack("{s:s, s:s}", "channel", r->channel, "thread_ts", r->thread);
    if (r->channel[0] != 'D' && r->user && r->team) {
        json_object_set_new(body, "recipient_user_id", json_string(r->user));
        json_object_set_new(body, "recipient_team_id", json_string(r->team));
    }
    if (!stream_of(turn)->plain)
        json_object_set_new(body, "task_display_mode", json_string("timeline"));
    return body;
}

static json_t *stream_body(struct tc_turn *turn, const char *ts)
{
    return json_pack("{s:s, s:s}", "channel", cast_of(turn)->route.channel, "ts", ts);
}

/* What the request under way tells of each card. */
static void note_details(struct tc_turn *turn)
{
    const struct batch *b = &stream_of(turn)->flight;
    for (size_t i = 0; i < b->count; i++) {
        struct slack_task *t = &cast_of(turn)->tasks.list[b->items[i].task];
        if (b->items[i].len == 0)
            t->sending = t->details_len;
    }
}

static void begin_message(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    s->begin_ms = pulse_now();
    s->number++;
    s->size = s->blocks = 0;
    s->full = false;
}

static void send_flight(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    const bool open = s->ts[0] != '\0';
    const struct slack_call how = call_of(turn, open ? "append" : "start");
    if (!open)
        begin_message(turn);
    json_t *body = open ? stream_body(turn, s->ts) : start_body(turn);
    add_content(turn, body, NULL);
    note_details(turn);
    s->busy = true;
    s->sent_ms = pulse_now();
    if (call_json(turn, open ? APPEND_STREAM : START_STREAM, body, &how)) {
        s->busy = false;
        s->broken = true;
        batch_clear(&s->flight);
    }
}

/* Cards that still run get new ones in the next message. */
static void carry_running_cards(struct tc_turn *turn)
{
    struct tasks *tasks = &cast_of(turn)->tasks;
    for (struct slack_task *t = NULL; (t = task_after(tasks, t));)
        if (t->state == TASK_RUNNING)
            batch_add_task(turn, &stream_of(turn)->next, (size_t)(t - tasks->list));
}

static json_t *running_cards(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    json_t *chunks = json_array();
    for (struct slack_task *t = NULL; (t = task_after(&cast->tasks, t));)
        if (t->state == TASK_RUNNING && t->shown_in == cast->stream.number)
            json_array_append_new(chunks, task_chunk(turn, t, goes_on));
    return chunks;
}

static void leave(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    const struct slack_call how = call_of(turn, "leave");
    json_t *body = stream_body(turn, s->ts), *cards = s->plain ? NULL : running_cards(turn);
    if (json_array_size(cards) > 0)
        json_object_set(body, "chunks", cards);
    json_decref(cards);
    count_stop(turn);
    s->busy = s->leaving = true;
    if (call_json(turn, STOP_STREAM, body, &how))
        s->busy = s->leaving = false;
}

void stream_pump(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    if (!is_streaming(turn) || s->busy)
        return;
    if (s->ts[0])
        pulse_wake_at(turn, s->begin_ms + AGE_MS);
    if (s->next.count == 0)
        return;
    const int64_t now = pulse_now();
    const int64_t paced = s->sent_ms ? s->sent_ms + PACE_MS : 0;
    const int64_t begin = s->number > 0 ? 0 : cast_of(turn)->begin_ms + START_MS;
    const int64_t due = paced > begin ? paced : begin;
    if (now < due) {
        pulse_wake_at(turn, due);
        return;
    }
    const bool fresh = s->ts[0] == '\0';
    const size_t n =
        batch_fitting(turn, &s->next, fresh ? SIZE_MAX_BYTES : room(s->size, SIZE_MAX_BYTES),
                      fresh ? BLOCKS_MAX : room(s->blocks, BLOCKS_MAX));
    if (!fresh && (n == 0 || s->full || now - s->begin_ms >= AGE_MS)) {
        leave(turn);
        return;
    }
    if (batch_move(turn, &s->flight, &s->next, n))
        s->broken = true;
    send_flight(turn);
}

void stream_check_age(struct tc_turn *turn)
{
    const struct slack_stream *s = stream_of(turn);
    if (is_streaming(turn) && s->ts[0] && !s->busy && pulse_now() - s->begin_ms >= AGE_MS)
        leave(turn);
}

/* ---- the end */

bool stream_can_end_with(struct tc_turn *turn, size_t size)
{
    const struct slack_stream *s = stream_of(turn);
    return is_streaming(turn) && may_stop_soon(turn) && s->ts[0] && !s->leaving && !s->broken &&
           !s->full && pulse_now() - s->begin_ms < AGE_MS &&
           s->size + batch_size(turn, &s->flight) + batch_size(turn, &s->next) + size <=
               SIZE_MAX_BYTES &&
           s->blocks + s->flight.count + s->next.count < BLOCKS_MAX;
}

json_t *stream_end_body(struct tc_turn *turn, const char *rest)
{
    struct slack_stream *s = stream_of(turn);
    json_t *body = stream_body(turn, s->ts);
    count_stop(turn);
    if (rest)
        batch_add_text(turn, &s->next, rest, strlen(rest));
    if (s->next.count > 0 && s->plain)
        json_object_set_new(body, "markdown_text", batch_markdown(&s->next));
    else if (s->next.count > 0)
        json_object_set_new(body, "chunks", batch_chunks(turn, &s->next, ""));
    batch_clear(&s->next);
    return body;
}

static void stream_stop(struct tc_turn *turn, json_t *body, const char *tag)
{
    const struct slack_call how = {.tag = tag,
                                   .lane = cast_of(turn)->route.lane,
                                   .priority = TC_P_NOTICE,
                                   .max_age_ms = AGE_MS};
    call_json(turn, STOP_STREAM, body, &how);
}

void stream_end(struct tc_turn *turn)
{
    struct slack_stream *s = stream_of(turn);
    if (s->ts[0] && !s->leaving) {
        if (s->full)
            batch_clear(&s->next);
        else if (!s->plain)
            carry_running_cards(turn);
        drop_what_does_not_fit(turn);
        stream_stop(turn, stream_end_body(turn, NULL), "end");
    }
    s->ts[0] = '\0';
}

void stream_end_message(struct tc_turn *turn, const char *ts, bool remove)
{
    count_stop(turn);
    stream_stop(turn, stream_body(turn, ts), remove ? "end remove" : "end");
}

/* ---- answers */

static void fall_back_to_edits(struct tc_turn *turn)
{
    cast_of(turn)->surface = SURFACE_EDIT;
    progress_changed(turn);
}

/* Slack's limit for a message was nearer than ours, its chunks are not for this app, or the stream
 * is over. Text that was not taken is not lost: it begins the next try. */
static void mend(struct tc_turn *turn, const struct fault *f)
{
    struct slack_stream *s = stream_of(turn);
    take_back(turn);
    if (++s->strikes > STRIKES_MAX) {
        s->broken = true;
        fall_back_to_edits(turn);
        return;
    }
    if (f->kind == FAULT_MESSAGE) {
        s->ts[0] = '\0';
        carry_running_cards(turn);
    } else {
        s->full = true; /* also where it is no cards any more: a message is of one kind */
    }
    if (fault_is(f, "invalid_chunks")) {
        s->plain = true;
        drop(&s->next, false);
    }
    stream_pump(turn);
}

/* The person stopped what was being written: that is the end of it, and of the turn. */
static void stopped(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    const char *user = cast->route.user;
    cast->surface = SURFACE_NONE;
    cast->stream.ts[0] = '\0';
    cast->stream.broken = true;
    batch_clear(&cast->stream.flight);
    if (user)
        tc_cancel(turn->inst->lobby, turn->id, user, &(struct tc_receipt){0});
}

/* A request of the stream was not taken. */
static void failed(struct tc_turn *turn, const struct fault *f)
{
    struct slack_stream *s = stream_of(turn);
    if (fault_is(f, "stopped_by_user")) {
        stopped(turn);
    } else if (f->kind == FAULT_MESSAGE || f->kind == FAULT_PAYLOAD) {
        mend(turn, f);
    } else if (f->kind == FAULT_DOUBT || f->kind == FAULT_DROPPED) {
        s->broken = true; /* it may be there: it is not said again */
        batch_clear(&s->flight);
        stream_pump(turn);
    } else {
        s->broken = true;
        if (f->kind == FAULT_SCOPE)
            state_of(turn)->off.stream = true;
        tc_log(turn->inst, TC_INFO, "native streaming unavailable: %s; editing one message instead",
               f->error);
        fall_back_to_edits(turn);
    }
}

static void shown(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    struct slack_stream *s = &cast->stream;
    s->strikes = 0;
    for (size_t i = 0; i < s->flight.count; i++) {
        const struct batch_item *item = &s->flight.items[i];
        struct slack_task *t = &cast->tasks.list[item->task];
        if (item->len > 0) {
            s->size += item->len;
            s->blocks++;
            continue;
        }
        const bool is_new = t->shown_in != s->number;
        const size_t before = is_new ? 0 : t->counted, now = task_size(t);
        s->size += now > before ? now - before : 0;
        s->blocks += is_new;
        t->shown_in = s->number;
        t->counted = now;
        t->told = t->sending;
    }
    batch_clear(&s->flight);
}

/* A turn that is over before its stream began needs none. */
static void too_late(struct tc_turn *turn, const struct fault *f)
{
    const char *ts = json_string_value(json_object_get(f->json, "ts"));
    cast_of(turn)->stream.broken = true;
    if (f->kind == FAULT_NONE && ts)
        stream_end_message(turn, ts, true);
}

int stream_on_start(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct cast *cast = cast_of(turn);
    struct slack_stream *s = &cast->stream;
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (!fault_is_end(v))
        return 0;
    s->busy = false;
    if (cast->over) {
        too_late(turn, &f);
        return 0;
    }
    const char *ts = json_string_value(json_object_get(f.json, "ts"));
    if (f.kind != FAULT_NONE || !ts) {
        failed(turn, &f);
        return 0;
    }
    snprintf(s->ts, sizeof s->ts, "%s", ts);
    shown_remember(turn);
    shown(turn);
    stream_pump(turn);
    return 0;
}

int stream_on_append(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct cast *cast = cast_of(turn);
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (!fault_is_end(v))
        return 0;
    cast->stream.busy = false;
    if (f.kind == FAULT_NONE) {
        shown(turn);
        stream_pump(turn);
    } else if (cast->over) {
        cast->stream.broken = true;
    } else {
        failed(turn, &f);
    }
    return 0;
}

int stream_on_leave(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct cast *cast = cast_of(turn);
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (!fault_is_end(v))
        return 0;
    cast->stream.busy = cast->stream.leaving = false;
    cast->stream.ts[0] = '\0';
    if (cast->over)
        return 0;
    if (fault_is(&f, "stopped_by_user")) {
        stopped(turn);
        return 0;
    }
    carry_running_cards(turn);
    stream_pump(turn);
    return 0;
}

int stream_on_end(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (!fault_is_end(v))
        return 0;
    json_auto_t *asked = json_loads(r->http->body, 0, NULL);
    const char *ts = json_string_value(json_object_get(asked, "ts"));
    const bool bare = !json_object_get(asked, "chunks") && !json_object_get(asked, "markdown_text");
    if (ts && strcmp(r->tag, "end remove") == 0)
        shown_remove(turn, ts);
    else if (ts && f.kind == FAULT_PAYLOAD && !bare)
        stream_end_message(turn, ts, false); /* else it would go on without end */
    return 0;
}
