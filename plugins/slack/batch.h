/* SPDX-License-Identifier: MIT
 * What waits to be appended to a stream: text and cards in the order they came. */
#ifndef SLACK_BATCH_H
#define SLACK_BATCH_H

#include <jansson.h>
#include <stddef.h>

#include <turncast/plugin.h>

#include "grow.h"

struct batch_item {
    size_t from, len; /* of the text; len 0: a card */
    size_t task;      /* index in the tasks of the turn */
};

struct batch {
    struct text text;
    struct batch_item *items; /* memory of the turn */
    size_t count, cap;
};

/* Each -1: no memory. */
int batch_add_text(struct tc_turn *turn, struct batch *b, const char *p, size_t n);
/* A card that waits already keeps its place: it is written as it is when it is sent. */
int batch_add_task(struct tc_turn *turn, struct batch *b, size_t task);
/* Moves the first n items to the end of `to`. */
int batch_move(struct tc_turn *turn, struct batch *to, struct batch *from, size_t n);
/* How many of the first items a message has room for. */
size_t batch_fitting(struct tc_turn *turn, const struct batch *b, size_t size, size_t blocks);
void batch_clear(struct batch *b);
/* As Slack seems to count: bytes of text, and of cards as task_size. */
size_t batch_size(struct tc_turn *turn, const struct batch *b);

/* As chunks; running cards as `left`, see task_chunk. */
json_t *batch_chunks(struct tc_turn *turn, const struct batch *b, const char *left);
/* Only the text. */
json_t *batch_markdown(const struct batch *b);

#endif
