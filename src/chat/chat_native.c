/* SPDX-License-Identifier: MIT
 * Native streams of a turn: begins a stream when there is content, appends to it while the turn
 * runs, ends it before the limits of the service, and ends it with the outcome or before it. One
 * request at a time is in flight. */
#include <string.h>

#include "base/invariant.h"
#include "base/sys/clock.h"
#include "chat/chat_internal.h"

#define PACE_MS 1000
#define BEAT_MS 30000
#define JOIN_BYTES ((size_t)3000)     /* maximum size of one item, if the service has no limit */
#define WAITING_MAX ((size_t)1 << 20) /* maximum size of waiting text */
#define BREAK "\n\n"                  /* between two texts */

void chat_native_move(struct chat_turn *t, enum chat_native_event event)
{
    t->stream.state = chat_native_next(t->stream.state, event);
}

bool chat_native_is_active(const struct chat_turn *t)
{
    return t->stream.state != CHAT_NATIVE_OFF && t->stream.state != CHAT_NATIVE_CLOSED;
}

static bool chat_native_is_busy(const struct chat_native *s)
{
    return s->state == CHAT_NATIVE_BEGINNING || s->state == CHAT_NATIVE_APPENDING ||
           s->state == CHAT_NATIVE_LEAVING;
}

/* ---- limits ---- */

static size_t chat_native_limit_or_max(size_t limit)
{
    return limit ? limit : SIZE_MAX;
}

static size_t chat_native_smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t chat_native_remaining(size_t limit, size_t used)
{
    return used < limit ? limit - used : 0;
}

/* Returns the room of the open stream, or (next) of the following stream. */
static struct chat_room chat_native_get_room(const struct chat_turn *t, bool next)
{
    const struct tc_stream *const table = &t->chat->table.stream;
    const struct chat_native *const s = &t->stream;
    const size_t bytes = chat_native_limit_or_max(table->bytes),
                 items = chat_native_limit_or_max(table->items);
    if (next)
        return (struct chat_room){bytes, items, s->number + 1};
    return (struct chat_room){chat_native_remaining(bytes, s->given.bytes),
                              chat_native_remaining(items, s->given.items), s->number};
}

static void chat_native_subtract_room(struct chat_room *room, const struct chat_turn *t,
                                      const struct chat_batch *b)
{
    const struct chat_room size = chat_batch_size(b, &t->stream.lines, t->stream.number);
    room->bytes = chat_native_remaining(room->bytes, size.bytes);
    room->items = chat_native_remaining(room->items, size.items);
}

size_t chat_native_item_bytes(const struct chat_turn *t)
{
    const struct tc_chat_text *const text = &t->chat->table.stream.text;
    /* bytes are at least as many as units */
    const size_t most = chat_native_smaller_size(chat_native_limit_or_max(text->units),
                                                 chat_native_limit_or_max(text->bytes));
    const size_t whole = chat_native_limit_or_max(t->chat->table.stream.bytes);
    return chat_native_smaller_size(most == SIZE_MAX ? JOIN_BYTES : most, whole);
}

static bool chat_native_has_reached_age(const struct chat_turn *t, int64_t now)
{
    const int64_t age = t->chat->table.stream.age_ms;
    return age && now - t->stream.begun_ms >= age;
}

/* ---- items that wait ---- */

static size_t chat_native_subtract_break(size_t limit)
{
    return limit > 2 * strlen(BREAK) ? limit - strlen(BREAK) : limit;
}

/* Renders Markdown as items. An empty line follows each item except the last; with goes_on, also
 * the last. A form with elements needs no empty lines. */
static void chat_native_render(const struct chat_turn *t, struct chat_batch *b,
                               const char *markdown, size_t len, bool goes_on)
{
    const struct tc_chat *const table = &t->chat->table;
    const struct tc_chat_text *const limits = &table->stream.text;
    const size_t bytes = chat_native_smaller_size(chat_native_limit_or_max(limits->bytes),
                                                  chat_native_limit_or_max(table->stream.bytes));
    const struct tc_text text = {.size = sizeof text,
                                 .markdown = markdown,
                                 .len = len,
                                 .form = limits->form,
                                 .flags = limits->flags,
                                 .units = chat_native_subtract_break(limits->units),
                                 .bytes = bytes == SIZE_MAX ? 0 : chat_native_subtract_break(bytes),
                                 .unit = table->unit};
    size_t count = 0;
    const struct text_piece *const pieces =
        text_pieces_render(&t->chat->scratch, &text, 0, false, &count);
    for (size_t i = 0; pieces && i < count; i++) {
        const bool breaks = limits->form != TC_HTML && (goes_on || i + 1 < count);
        const char *const one =
            arena_sprintf(&t->chat->scratch, "%s%s", pieces[i].text, breaks ? BREAK : "");
        chat_batch_add_text(b, one, strlen(one), chat_native_item_bytes(t));
    }
}

void chat_native_add_text(struct chat_turn *t, const char *markdown, size_t len)
{
    struct chat_native *const s = &t->stream;
    if (!chat_native_is_active(t))
        return;
    if (s->next.text.len + len > WAITING_MAX)
        s->incomplete = true;
    else
        chat_native_render(t, &s->next, markdown, len, true);
}

void chat_native_add_line(struct chat_turn *t, const struct chat_line *line)
{
    struct chat_native *const s = &t->stream;
    if (line && chat_native_is_active(t) && !s->plain && !chat_native_whole_add_line(t, line))
        chat_batch_add_line(&s->next, &s->lines, (size_t)(line - s->lines.list));
}

void chat_native_add_running_lines(struct chat_turn *t, struct chat_batch *b, unsigned number)
{
    struct chat_lines *const lines = &t->stream.lines;
    if (chat_native_is_whole(t)) /* running lines are not part of its text */
        return;
    for (struct chat_line *line = NULL;
         !t->stream.plain && (line = chat_lines_next_shown(lines, line));)
        if (line->is.state == TC_LINE_RUNNING && (!number || line->shown_in == number))
            chat_batch_add_line(b, lines, (size_t)(line - lines->list));
}

/* ---- requests ---- */

static struct chat_record stream_record(const struct chat_turn *t, enum tc_op_kind op)
{
    const struct chat_native *const s = &t->stream;
    return (struct chat_record){.op = op,
                                .role = TC_ROLE_LIVE,
                                .slot = CHAT_SLOT_STREAM,
                                .target = t->target,
                                .message = s->message[0] ? s->message : NULL,
                                .omit = s->plain ? TC_OMIT_FORMAT : 0,
                                .generation = s->requests,
                                .silent = true};
}

static int chat_native_send_batch(struct chat_turn *t, struct chat_record *r,
                                  const struct chat_batch *b, enum chat_line_end end)
{
    const struct chat_native *const s = &t->stream;
    const struct chat_send_extra extra = {
        .items =
            chat_batch_export(b, &s->lines, s->number, end, clock_mono_ms(), &t->chat->scratch),
        .item_count = b->count,
        .whole = chat_native_whole_text(t, r->message, b),
        .number = s->sent,
    };
    r->tried.bare = b->count == 0;
    return chat_send(t->chat, t->turn, r, &extra);
}

void chat_native_send_close(struct chat_turn *t, const char *message, const struct chat_batch *b,
                            const char *slot)
{
    struct chat_native *const s = &t->stream;
    struct chat_record r = stream_record(t, TC_OP_STREAM_END);
    r.slot = slot;
    r.message = message;
    r.generation = s->number;
    chat_native_send_batch(t, &r, b, CHAT_LINE_ENDS);
}

void chat_native_close_independently(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    struct chat_batch ends = {0};
    if (!s->message[0])
        return;
    if (!s->full)
        chat_native_add_running_lines(t, &ends, s->number);
    chat_native_send_close(t, s->message, &ends, CHAT_SLOT_CLOSE);
    chat_batch_fini(&ends, &s->lines);
    s->message[0] = '\0';
    chat_memory_write(t);
}

void chat_native_abandon(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    chat_native_move(t, CHAT_NATIVE_ON_GIVE_UP);
    chat_batch_clear(&s->next, &s->lines);
    chat_native_close_independently(t);
    chat_live_update(t, true);
}

/* Records how much of the detail of each line is in the request in flight. */
static void chat_native_record_details(struct chat_native *s)
{
    for (size_t i = 0; i < s->flight.count; i++) {
        struct chat_line *const line = &s->lines.list[s->flight.items[i].line];
        if (!s->flight.items[i].len)
            line->sending = strlen(line->detail);
    }
}

static void chat_native_send_request(struct chat_turn *t, bool opens, int64_t now)
{
    struct chat_native *const s = &t->stream;
    s->requests++;
    s->sent_ms = now;
    if (opens) {
        s->number++;
        s->begun_ms = now;
        s->given = (struct chat_room){0};
        s->full = false;
        s->sent = 0;
        buf_reset(&s->whole);
    }
    if (!s->next.count)
        s->said.sending = s->said.told;
    chat_native_record_details(s);
    struct chat_record r = stream_record(t, opens ? TC_OP_STREAM_BEGIN : TC_OP_STREAM_APPEND);
    chat_native_move(t, opens ? CHAT_NATIVE_ON_BEGIN : CHAT_NATIVE_ON_APPEND);
    const int sent = chat_native_send_batch(t, &r, &s->flight, CHAT_LINE_RUNS);
    s->sent++;
    if (sent == 0)
        return;
    /* the connector cannot express a stream for this target */
    chat_native_move(t, CHAT_NATIVE_ON_REFUSE);
    chat_batch_clear(&s->flight, &s->lines);
    chat_native_abandon(t);
}

static void chat_native_send_end(struct chat_turn *t, int64_t now)
{
    struct chat_native *const s = &t->stream;
    struct chat_batch ends = {0};
    s->requests++;
    s->sent_ms = now;
    if (!s->full)
        chat_native_add_running_lines(t, &ends, s->number);
    struct chat_record r = stream_record(t, TC_OP_STREAM_END);
    chat_native_move(t, CHAT_NATIVE_ON_LEAVE);
    const int sent = chat_native_send_batch(t, &r, &ends, CHAT_LINE_CONTINUES);
    chat_batch_fini(&ends, &s->lines);
    if (sent == 0)
        return;
    chat_native_move(t, CHAT_NATIVE_ON_LEFT);
    s->incomplete = true;
    chat_native_abandon(t);
}

/* ---- when ---- */

static int64_t chat_native_pace_ms(const struct chat_turn *t)
{
    return t->chat->table.stream.pace_ms ? t->chat->table.stream.pace_ms : PACE_MS;
}

static int64_t chat_native_request_due(const struct chat_turn *t)
{
    const struct chat_native *const s = &t->stream;
    return s->sent_ms ? s->sent_ms + chat_native_pace_ms(t)
                      : t->live.began_ms + t->chat->options.progress_after_ms;
}

int64_t chat_native_due_ms(const struct chat_turn *t)
{
    const struct chat_native *const s = &t->stream;
    const int64_t age = t->chat->table.stream.age_ms;
    if (!chat_native_is_active(t))
        return INT64_MAX;
    int64_t due = s->beat_ms + BEAT_MS;
    if (chat_native_is_busy(s))
        return due;
    if (s->next.count && chat_native_request_due(t) < due)
        due = chat_native_request_due(t);
    if (s->state == CHAT_NATIVE_OPEN && age && s->begun_ms + age < due)
        due = s->begun_ms + age;
    return due;
}

static void chat_native_pump(struct chat_turn *t, int64_t now)
{
    struct chat_native *const s = &t->stream;
    const bool open = s->state == CHAT_NATIVE_OPEN;
    if (!chat_native_is_active(t) || chat_native_is_busy(s))
        return;
    if (open && chat_native_has_reached_age(t, now)) {
        chat_native_send_end(t, now);
        return;
    }
    if (!s->next.count || now < chat_native_request_due(t))
        return;
    const size_t n = chat_batch_count_fitting(&s->next, &s->lines, chat_native_get_room(t, !open));
    if (open && (n == 0 || s->full)) {
        chat_native_send_end(t, now);
        return;
    }
    chat_batch_move(&s->flight, &s->next, &s->lines, n ? n : 1, chat_native_item_bytes(t));
    chat_native_send_request(t, !open, now);
}

void chat_native_wake(struct chat_turn *t, int64_t now)
{
    struct chat_native *const s = &t->stream;
    if (!chat_native_is_active(t))
        return;
    if (now >= s->beat_ms + BEAT_MS) {
        s->beat_ms = now;
        chat_native_update_running(t, now);
    }
    chat_native_pump(t, now);
}

/* ---- start and end ---- */

static bool uses_streams(const struct chat_turn *t)
{
    const struct chat *const c = t->chat;
    return c->streams && c->options.progress && chat_can(c, TC_OP_STREAM_BEGIN) &&
           chat_can(c, TC_OP_STREAM_APPEND) && chat_can(c, TC_OP_STREAM_END) &&
           !t->live.message[0] && !t->live.uncertain;
}

void chat_native_start(struct chat_turn *t, int64_t now)
{
    t->stream.beat_ms = now;
    t->stream.requests = (unsigned)chat_unix_ms(); /* different from the numbers of an earlier
                                                      process */
    t->stream.incomplete = t->stream.message[0] != '\0';
    chat_native_close_independently(t);
    if (uses_streams(t))
        chat_native_move(t, CHAT_NATIVE_ON_START);
}

void chat_native_fini(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    chat_batch_fini(&s->next, &s->lines);
    chat_batch_fini(&s->flight, &s->lines);
    chat_lines_fini(&s->lines);
    chat_said_fini(&s->said);
    buf_fini(&s->whole);
}

/* ---- the outcome ---- */

const char *chat_native_unsent_answer(const struct chat_turn *t, const char *answer)
{
    const struct chat_native *const s = &t->stream;
    const bool open = s->state == CHAT_NATIVE_OPEN || s->state == CHAT_NATIVE_APPENDING;
    return open && !s->incomplete && !s->full && !chat_native_has_reached_age(t, clock_mono_ms())
               ? chat_said_rest_of_answer(&s->said, answer)
               : NULL;
}

/* Adds the end of each line that runs in the stream, or in the request in flight. */
static void chat_native_add_last_lines(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    chat_native_add_running_lines(t, &s->next, s->number);
    for (size_t i = 0; i < s->flight.count; i++) {
        const struct chat_batch_item *const item = &s->flight.items[i];
        if (!item->len && s->lines.list[item->line].is.state == TC_LINE_RUNNING)
            chat_batch_add_line(&s->next, &s->lines, item->line);
    }
}

/* Drops waiting items beyond the limits of the stream, so that the service accepts the end, with
 * which the other items are sent. */
static void chat_native_drop_excess(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    struct chat_room room = chat_native_get_room(t, false);
    chat_native_subtract_room(&room, t, &s->flight);
    if (chat_batch_count_fitting(&s->next, &s->lines, room) == s->next.count)
        return;
    chat_batch_drop(&s->next, &s->lines, true);
    if (chat_batch_count_fitting(&s->next, &s->lines, room) < s->next.count)
        chat_batch_clear(&s->next, &s->lines);
}

static bool has_room_for(const struct chat_turn *t, const struct chat_batch *last)
{
    const struct chat_native *const s = &t->stream;
    struct chat_room room = chat_native_get_room(t, false);
    const struct chat_room flight = chat_batch_size(&s->flight, &s->lines, s->number);
    const struct chat_room next = chat_batch_size(&s->next, &s->lines, s->number);
    const struct chat_room rest = chat_batch_size(last, &s->lines, s->number);
    return flight.bytes + next.bytes + rest.bytes <= room.bytes &&
           flight.items + next.items + rest.items <= room.items;
}

bool chat_native_end_with(struct chat_turn *t, struct chat_record *r, const char *rest)
{
    struct chat_native *const s = &t->stream;
    struct chat_batch last = {0};
    chat_native_render(t, &last, rest, strlen(rest), false);
    chat_native_add_last_lines(t);
    const bool fits = has_room_for(t, &last);
    if (fits)
        chat_batch_move(&s->next, &last, &s->lines, last.count, chat_native_item_bytes(t));
    chat_batch_fini(&last, &s->lines);
    if (!fits)
        return false;
    r->op = TC_OP_STREAM_END;
    r->state = CHAT_ENDING;
    r->slot = CHAT_SLOT_STREAMED;
    r->message = s->message;
    r->omit = s->plain ? TC_OMIT_FORMAT : 0;
    r->beside.append = !chat_native_is_whole(t) && s->said.told > 0 && !s->said.over &&
                       chat_batch_has_text(&s->flight);
    if (chat_native_send_batch(t, r, &s->next, CHAT_LINE_ENDS) < 0)
        return false;
    chat_batch_clear(&s->next, &s->lines);
    s->message[0] = '\0';
    chat_native_move(t, CHAT_NATIVE_ON_CLOSE);
    chat_memory_write(t);
    return true;
}

void chat_native_close(struct chat_turn *t)
{
    struct chat_native *const s = &t->stream;
    if (s->message[0]) {
        if (s->full || s->state == CHAT_NATIVE_LEAVING || !chat_native_is_active(t))
            chat_batch_clear(&s->next, &s->lines);
        else
            chat_native_add_last_lines(t);
        chat_native_drop_excess(t);
        chat_native_send_close(t, s->message, &s->next, CHAT_SLOT_CLOSE);
        s->message[0] = '\0';
        chat_memory_write(t);
    }
    chat_batch_clear(&s->next, &s->lines);
    chat_native_move(t, CHAT_NATIVE_ON_CLOSE);
}

void chat_native_end_empty(struct chat_turn *t, const struct tc_target *target, const char *message)
{
    struct chat_record r = stream_record(t, TC_OP_STREAM_END);
    r.slot = CHAT_SLOT_CLOSE;
    r.target = *target;
    r.message = message;
    r.generation = t->stream.number;
    chat_send(t->chat, t->turn, &r, NULL);
}

enum chat_delivery_shown chat_native_shown_part(const struct chat_turn *t)
{
    const struct chat_native *const s = &t->stream;
    if (!t->live.began || s->flight.count || (s->incomplete && !s->missing))
        return CHAT_SHOWN_UNKNOWN;
    return s->missing ? CHAT_SHOWN_LESS : CHAT_SHOWN_ALL;
}
