/* SPDX-License-Identifier: MIT
 * A doc in pieces that each fit one message of a service, as rendered there. Pure.
 *
 * Pieces are ranges of the doc; what reaches over a cut (a style, a quote, a fence with its
 * language) is closed and opened again by rendering. Between two pieces only white space is left
 * out: all of it, but in code no more than the one newline and what is blank at the end. A cut is
 * made at the end of a block, else at a blank line, a line, a sentence, a blank; not in a link, in
 * inline code, behind the marker of an item. What is longer than a message by itself is cut between
 * graphemes. */
#ifndef TEXT_RENDER_SPLIT_H
#define TEXT_RENDER_SPLIT_H

#include "base/arena.h"
#include "text/render/render.h"

#define SPLIT_BUDGET_MIN 128 /* units and bytes: a smaller budget is taken as this */
#define SPLIT_ENTITIES_MIN 8

struct split {
    const struct doc_range *pieces; /* none is empty */
    size_t count;
};

struct split split_doc(struct arena *a, const struct doc *d, const struct render_target *target);

#endif
