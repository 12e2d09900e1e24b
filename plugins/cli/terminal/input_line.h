/* SPDX-License-Identifier: MIT
 * Input line behind a label. */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "terminal.h"

struct prompt {
    bool drawn;
    bool secret; /* do not show the typed text */
    char label[200];
    char text[2048]; /* typed text of len bytes */
    size_t len;
};

/* Result of a key: the input continues, was entered, or was cancelled. */
enum prompt_key { PROMPT_MORE, PROMPT_ENTER, PROMPT_ESCAPE };

/* Starts an empty line; prompt_draw draws it. */
void prompt_set(struct prompt *p, const char *label, bool secret);
/* Whether nothing is typed. */
void prompt_clear(struct prompt *p);
void prompt_draw(struct prompt *p, struct term *t);
/* Removes it from the screen, before other output. */
void prompt_hide(struct prompt *p, struct term *t);
/* Ends it; the text stays on the screen. */
void prompt_leave(struct prompt *p, struct term *t);
enum prompt_key prompt_type(struct prompt *p, char key);

#endif
