/* SPDX-License-Identifier: MIT
 * A doc in pieces that each fit one message of a service, as rendered there. Pure.
 *
 * Pieces are ranges of the doc; rendering closes a span that extends over a cut (a style, a quote,
 * a fence with its language) and opens it again. Only white space is dropped between two pieces:
 * all of it, but in code only one newline and trailing blanks. Cuts are placed at the end of a
 * block, otherwise at a blank line, a line, a sentence or a blank; not in a link, in inline code,
 * or behind the marker of an item. A longer unit is cut between graphemes. */
#ifndef TEXT_RENDER_SPLIT_H
#define TEXT_RENDER_SPLIT_H

#include "base/arena.h"
#include "text/render/render.h"

#define SPLIT_BUDGET_MIN 128 /* units and bytes: minimum budget */
#define SPLIT_ENTITIES_MIN 8

struct split {
    const struct doc_range *pieces; /* no piece is empty */
    size_t count;
};

struct split split_doc(struct arena *a, const struct doc *d, const struct render_target *target);

#endif
