/* SPDX-License-Identifier: MIT
 * Renders Markdown as messages of a service, as connectors request (struct tc_text). Pure. */
#ifndef TEXT_RENDER_TEXT_PIECES_H
#define TEXT_RENDER_TEXT_PIECES_H

#include <turncast/plugin.h>

#include "base/arena.h"

struct text_piece {
    const char *text; /* in the form of the service; never empty */
    size_t len;
    const char *entities; /* TC_TELEGRAM: a JSON array; else NULL */
    const char *plain;    /* the same without formatting; NULL: not requested, or identical */
};

/* Describes an error in the request; NULL: none. */
const char *text_pieces_find_fault(const struct tc_text *text);
/* Renders a valid request; drops pieces without visible text. most: limit of pieces; 0: all. In the
 * arena; NULL: nothing is visible. */
const struct text_piece *text_pieces_render(struct arena *arena, const struct tc_text *text,
                                            size_t most, bool wants_plain, size_t *count);

#endif
