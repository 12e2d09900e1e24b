/* SPDX-License-Identifier: MIT
 * What waits to be appended to a stream: text and cards in the order they came. */
#include <string.h>

#include "batch.h"
#include "slack.h"
#include "text.h"

#define CHUNK_BYTES 3000 /* of the text of one chunk */

static struct batch_item *add_item(struct tc_turn *turn, struct batch *b)
{
    if (b->count == b->cap) {
        const size_t cap = b->cap ? 2 * b->cap : 16;
        struct batch_item *grown = tc_alloc(turn, cap * sizeof *grown);
        if (!grown)
            return NULL;
        if (b->count > 0)
            memcpy(grown, b->items, b->count * sizeof *grown);
        b->items = grown;
        b->cap = cap;
    }
    return &b->items[b->count++];
}

int batch_add_text(struct tc_turn *turn, struct batch *b, const char *p, size_t n)
{
    if (n == 0)
        return 0;
    struct batch_item *last = b->count > 0 ? &b->items[b->count - 1] : NULL;
    if (text_add(turn, &b->text, p, n))
        return -1;
    const size_t from = b->text.len - n;
    if (last && last->len > 0 && last->len + n <= CHUNK_BYTES) {
        last->len += n;
        return 0;
    }
    struct batch_item *item = add_item(turn, b);
    if (!item)
        return -1;
    *item = (struct batch_item){.from = from, .len = n};
    return 0;
}

int batch_add_task(struct tc_turn *turn, struct batch *b, size_t task)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].len == 0 && b->items[i].task == task)
            return 0;
    struct batch_item *item = add_item(turn, b);
    if (!item)
        return -1;
    *item = (struct batch_item){.task = task};
    cast_of(turn)->tasks.list[task].waiting = true;
    return 0;
}

static int move_item(struct tc_turn *turn, struct batch *to, const struct batch *from, size_t i)
{
    const struct batch_item item = from->items[i];
    return item.len > 0 ? batch_add_text(turn, to, from->text.p + item.from, item.len)
                        : batch_add_task(turn, to, item.task);
}

int batch_move(struct tc_turn *turn, struct batch *to, struct batch *from, size_t n)
{
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        rc |= move_item(turn, to, from, i);
    from->count -= n;
    if (from->count == 0)
        batch_clear(from);
    else
        memmove(from->items, from->items + n, from->count * sizeof *from->items);
    return rc;
}

static size_t item_size(struct tc_turn *turn, const struct batch_item *item)
{
    return item->len > 0 ? item->len : task_size(&cast_of(turn)->tasks.list[item->task]);
}

size_t batch_fitting(struct tc_turn *turn, const struct batch *b, size_t size, size_t blocks)
{
    size_t n = 0;
    for (; n < b->count && n < blocks; n++) {
        const size_t more = item_size(turn, &b->items[n]);
        if (more > size)
            break;
        size -= more;
    }
    return n;
}

void batch_clear(struct batch *b)
{
    b->count = 0;
    b->text.len = 0;
}

size_t batch_size(struct tc_turn *turn, const struct batch *b)
{
    size_t size = 0;
    for (size_t i = 0; i < b->count; i++)
        size += item_size(turn, &b->items[i]);
    return size;
}

json_t *batch_chunks(struct tc_turn *turn, const struct batch *b, const char *left)
{
    const struct tasks *tasks = &cast_of(turn)->tasks;
    json_t *chunks = json_array();
    for (size_t i = 0; i < b->count; i++) {
        const struct batch_item *item = &b->items[i];
        json_array_append_new(chunks, item->len > 0
                                          ? json_pack("{s:s, s:s%}", "type", "markdown_text",
                                                      "text", b->text.p + item->from, item->len)
                                          : task_chunk(turn, &tasks->list[item->task], left));
    }
    return chunks;
}

json_t *batch_markdown(const struct batch *b)
{
    size_t first = b->text.len; /* texts stand one behind the other, whatever is between them */
    for (size_t i = b->count; i > 0; i--)
        if (b->items[i - 1].len > 0)
            first = b->items[i - 1].from;
    return json_stringn(b->text.p ? b->text.p + first : "", b->text.len - first);
}
