/* SPDX-License-Identifier: MIT
 * Divides a line among its parts. */
#include "call_line.h"

#include <string.h>

#include "call_preview.h"

#define PREVIEW_MIN 4 /* columns; with less room, no preview is shown */

const struct call_line call_line_running = {.symbol = "▶", .ascii = ">", .look = LOOK_CYAN};
const struct call_line call_line_ok = {.symbol = "✓", .ascii = "+", .look = LOOK_GREEN};
const struct call_line call_line_failed = {.symbol = "✗", .ascii = "x", .look = LOOK_RED};

void call_line_put(struct term *t, const struct call_line *c, unsigned columns)
{
    const char *const name = preview_name(c->name);
    term_look(t, c->look);
    term_put(t, t->ascii ? c->ascii : c->symbol, 1);
    term_look(t, LOOK_PLAIN);
    term_put(t, " ", 1);
    term_look(t, LOOK_BOLD);
    term_phrase(t, name, strlen(name), columns / 3);
    term_look(t, LOOK_PLAIN);
    const unsigned after = c->note ? (unsigned)strlen(c->note) + 3 : 0;
    const unsigned used = t->column + after + 2;
    if (*c->preview && (columns == 0 || columns > used + PREVIEW_MIN)) {
        term_put(t, ": ", 2);
        term_phrase(t, c->preview, strlen(c->preview), columns ? columns - used : 0);
    }
    if (!c->note || (columns && t->column + after > columns))
        return;
    term_look(t, LOOK_DIM);
    term_put(t, " (", 2);
    term_put(t, c->note, (unsigned)strlen(c->note));
    term_put(t, ")", 1);
    term_look(t, LOOK_PLAIN);
}
