/* SPDX-License-Identifier: MIT
 * Texts and lines that wait to be appended to a native stream, in order, with their sizes. Pure. */
#ifndef CHAT_STREAM_CHAT_BATCH_H
#define CHAT_STREAM_CHAT_BATCH_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "chat/stream/chat_lines.h"

struct chat_batch_item {
    size_t from, len; /* of the text; len 0: a line */
    size_t line;      /* index in the lines of the turn */
};

/* An all-zero struct is valid and empty. */
struct chat_batch {
    struct buf text;
    struct chat_batch_item *items; /* owned */
    size_t count, cap;
};

/* Amount of content of stream `number`: its size, or its remaining room. SIZE_MAX: no limit. */
struct chat_room {
    size_t bytes, items;
    unsigned number;
};

void chat_batch_fini(struct chat_batch *b, struct chat_lines *lines);
/* Adds rendered text, which is joined with a preceding text up to `most` bytes; 0: any size. */
void chat_batch_add_text(struct chat_batch *b, const char *text, size_t len, size_t most);
/* Adds a line; a line that is already in the batch keeps its place. It is written in its state at
 * the time of sending. */
void chat_batch_add_line(struct chat_batch *b, struct chat_lines *lines, size_t line);
/* Moves the first n items to the end of `to`. */
void chat_batch_move(struct chat_batch *to, struct chat_batch *from, struct chat_lines *lines,
                     size_t n, size_t most);
/* Puts the items of `first` in front of those of `b`. */
void chat_batch_return_items(struct chat_batch *b, struct chat_batch *first,
                             struct chat_lines *lines, size_t most);
/* Removes all items except lines, or except texts. */
void chat_batch_drop(struct chat_batch *b, struct chat_lines *lines, bool texts);
void chat_batch_clear(struct chat_batch *b, struct chat_lines *lines);

/* Returns the number of leading items that fit into the stream. */
size_t chat_batch_count_fitting(const struct chat_batch *b, const struct chat_lines *lines,
                                struct chat_room room);
/* Returns the bytes and items that the batch needs in the stream. */
struct chat_room chat_batch_size(const struct chat_batch *b, const struct chat_lines *lines,
                                 unsigned number);
bool chat_batch_has_text(const struct chat_batch *b);

/* Returns the items for connectors, in the arena; `end` defines how running lines are written. */
const struct tc_stream_item *chat_batch_export(const struct chat_batch *b,
                                               const struct chat_lines *lines, unsigned number,
                                               enum chat_line_end end, int64_t now_ms,
                                               struct arena *arena);

#endif
