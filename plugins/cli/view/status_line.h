/* SPDX-License-Identifier: MIT
 * The live region of the terminal: the end of the text that is being written, the tool calls that
 * run, and one line with a spinner, what goes on, the time, tokens and cost. */
#ifndef CLI_STATUS_LINE_H
#define CLI_STATUS_LINE_H

#include "turn_view.h"

#define STATUS_EVERY_MS 100 /* at most 10 redraws a second */

struct status_line {
    int64_t drawn_ms; /* when; 0: never */
    unsigned frame;   /* of the spinner */
};

/* Draws it, if it is time to, for the turn that began last of those that run (`turns`). */
void status_line_draw(struct status_line *s, struct term *t, const struct view *turns);

#endif
