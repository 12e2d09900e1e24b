/* SPDX-License-Identifier: MIT
 * The line of a tool call: a symbol for its state, the tool, its main argument, its duration. */
#ifndef CLI_CALL_LINE_H
#define CLI_CALL_LINE_H

#include "terminal/terminal.h"

struct call_line {
    const char *symbol, *ascii, *look, *name, *preview;
    const char *note; /* in parentheses at the end; or NULL */
};

extern const struct call_line call_line_running, call_line_ok, call_line_failed;

/* At most `columns` wide (0: any); the line is not ended. */
void call_line_put(struct term *t, const struct call_line *c, unsigned columns);

#endif
