/* SPDX-License-Identifier: MIT
 * The live region of the terminal: the end of the text being written, the running tool calls, and a
 * line with a spinner, the activity, time, tokens and cost. */
#ifndef CLI_STATUS_LINE_H
#define CLI_STATUS_LINE_H

#include "turn_view.h"

#define STATUS_EVERY_MS 100 /* at most 10 redraws a second */

struct status_line {
    int64_t drawn_ms; /* time of the last drawing; 0: never */
    unsigned frame;   /* frame of the spinner */
};

/* Draws it, if it is due, for the newest of the running turns (`turns`). */
void status_line_draw(struct status_line *s, struct term *t, const struct view *turns);

#endif
