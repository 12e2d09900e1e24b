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

/* An amount of content of stream `number`: what it has, or what it still has room for. SIZE_MAX: no
 * limit. */
struct chat_room {
    size_t bytes, items;
    unsigned number;
};

void chat_batch_fini(struct chat_batch *b, struct chat_lines *lines);
/* Rendered text, which is joined with a text before it up to `most` bytes; 0: any. */
void chat_batch_add_text(struct chat_batch *b, const char *text, size_t len, size_t most);
/* A line that waits already keeps its place. It is written in its state at the time of sending. */
void chat_batch_add_line(struct chat_batch *b, struct chat_lines *lines, size_t line);
/* Moves the first n items to the end of `to`. */
void chat_batch_move(struct chat_batch *to, struct chat_batch *from, struct chat_lines *lines,
                     size_t n, size_t most);
/* Puts the items of `first` in front of those of `b`. */
void chat_batch_take_back(struct chat_batch *b, struct chat_batch *first, struct chat_lines *lines,
                          size_t most);
/* Only lines, or only texts, remain. */
void chat_batch_drop(struct chat_batch *b, struct chat_lines *lines, bool texts);
void chat_batch_clear(struct chat_batch *b, struct chat_lines *lines);

/* Number of leading items that fit into the stream. */
size_t chat_batch_count_fitting(const struct chat_batch *b, const struct chat_lines *lines,
                                struct chat_room room);
/* Bytes and items that the batch needs of the stream. */
struct chat_room chat_batch_size(const struct chat_batch *b, const struct chat_lines *lines,
                                 unsigned number);
bool chat_batch_has_text(const struct chat_batch *b);

/* The items as connectors get them, in the arena; running lines as `end` says. */
const struct tc_stream_item *chat_batch_export(const struct chat_batch *b,
                                               const struct chat_lines *lines, unsigned number,
                                               enum chat_line_end end, int64_t now_ms,
                                               struct arena *arena);

#endif
