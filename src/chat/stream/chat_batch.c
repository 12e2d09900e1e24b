/* SPDX-License-Identifier: MIT
 * Implements chat_batch.h. */
#include "chat/stream/chat_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"

void chat_batch_fini(struct chat_batch *b, struct chat_lines *lines)
{
    chat_batch_clear(b, lines);
    buf_fini(&b->text);
    free(b->items);
    *b = (struct chat_batch){0};
}

/* ---- adding ---- */

static void chat_batch_add_item(struct chat_batch *b, const struct chat_batch_item *item)
{
    b->items = alloc_grow(b->items, b->count, &b->cap, sizeof *b->items);
    b->items[b->count++] = *item;
}

void chat_batch_add_text(struct chat_batch *b, const char *text, size_t len, size_t most)
{
    struct chat_batch_item *const last = b->count ? &b->items[b->count - 1] : NULL;
    if (len == 0)
        return;
    const size_t from = b->text.len;
    buf_add(&b->text, text, len);
    if (last && last->len && last->from + last->len == from && (!most || last->len + len <= most))
        last->len += len;
    else
        chat_batch_add_item(b, &(struct chat_batch_item){.from = from, .len = len});
}

void chat_batch_add_line(struct chat_batch *b, struct chat_lines *lines, size_t line)
{
    ASSERT(line < lines->count);
    for (size_t i = 0; i < b->count; i++)
        if (!b->items[i].len && b->items[i].line == line)
            return;
    chat_batch_add_item(b, &(struct chat_batch_item){.line = line});
    lines->list[line].held++;
}

/* ---- removing ---- */

static void chat_batch_release_line(struct chat_lines *lines, const struct chat_batch_item *item)
{
    if (item->len)
        return;
    ASSERT(lines->list[item->line].held > 0);
    lines->list[item->line].held--;
}

/* Sets the number of items; the text is freed with the last item. */
static void chat_batch_set_count(struct chat_batch *b, size_t count)
{
    b->count = count;
    if (count == 0)
        buf_reset(&b->text);
}

void chat_batch_move(struct chat_batch *to, struct chat_batch *from, struct chat_lines *lines,
                     size_t n, size_t most)
{
    ASSERT(n <= from->count);
    for (size_t i = 0; i < n; i++) {
        const struct chat_batch_item item = from->items[i];
        if (item.len)
            chat_batch_add_text(to, from->text.p + item.from, item.len, most);
        else
            chat_batch_add_line(to, lines, item.line);
        chat_batch_release_line(lines, &item);
    }
    if (n)
        memmove(from->items, from->items + n, (from->count - n) * sizeof *from->items);
    chat_batch_set_count(from, from->count - n);
}

void chat_batch_return_items(struct chat_batch *b, struct chat_batch *first,
                             struct chat_lines *lines, size_t most)
{
    chat_batch_move(first, b, lines, b->count, most);
    const struct chat_batch empty = *b;
    *b = *first;
    *first = empty;
}

void chat_batch_drop(struct chat_batch *b, struct chat_lines *lines, bool texts)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        if ((b->items[i].len > 0) == texts)
            chat_batch_release_line(lines, &b->items[i]);
        else
            b->items[n++] = b->items[i];
    }
    chat_batch_set_count(b, n);
}

void chat_batch_clear(struct chat_batch *b, struct chat_lines *lines)
{
    chat_batch_drop(b, lines, true);
    chat_batch_drop(b, lines, false);
}

/* ---- sizes ---- */

/* Returns the size of an item; of a line that the stream already has, only the growth counts. */
static struct chat_room chat_batch_size_of(const struct chat_batch_item *item,
                                           const struct chat_lines *lines, unsigned number)
{
    if (item->len)
        return (struct chat_room){.bytes = item->len, .items = 1};
    const struct chat_line *const line = &lines->list[item->line];
    const bool is_new = line->shown_in != number;
    const size_t size = chat_line_size(line), before = is_new ? 0 : line->counted;
    return (struct chat_room){.bytes = size > before ? size - before : 0, .items = is_new};
}

size_t chat_batch_count_fitting(const struct chat_batch *b, const struct chat_lines *lines,
                                struct chat_room room)
{
    size_t n = 0;
    for (; n < b->count; n++) {
        const struct chat_room more = chat_batch_size_of(&b->items[n], lines, room.number);
        if (more.bytes > room.bytes || more.items > room.items)
            break;
        room.bytes -= more.bytes;
        room.items -= more.items;
    }
    return n;
}

struct chat_room chat_batch_size(const struct chat_batch *b, const struct chat_lines *lines,
                                 unsigned number)
{
    struct chat_room sum = {.number = number};
    for (size_t i = 0; i < b->count; i++) {
        const struct chat_room more = chat_batch_size_of(&b->items[i], lines, number);
        sum.bytes += more.bytes;
        sum.items += more.items;
    }
    return sum;
}

bool chat_batch_has_text(const struct chat_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].len)
            return true;
    return false;
}

/* ---- reading ---- */

const struct tc_stream_item *chat_batch_export(const struct chat_batch *b,
                                               const struct chat_lines *lines, unsigned number,
                                               enum chat_line_end end, int64_t now_ms,
                                               struct arena *arena)
{
    struct tc_stream_item *const items = arena_alloc(arena, (b->count + 1) * sizeof *items);
    struct tc_tool_line *const out = arena_alloc(arena, (b->count + 1) * sizeof *out);
    for (size_t i = 0; i < b->count; i++) {
        const struct chat_batch_item *const item = &b->items[i];
        items[i] = (struct tc_stream_item){0};
        if (item->len) {
            items[i].text = arena_strndup(arena, b->text.p + item->from, item->len);
            continue;
        }
        out[i] = chat_line_export(&lines->list[item->line], number, end, now_ms, arena);
        items[i].line = &out[i];
    }
    return items;
}
