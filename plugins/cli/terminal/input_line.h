/* SPDX-License-Identifier: MIT
 * The line in which a person types an answer, behind a label. */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "terminal.h"

struct prompt {
    bool drawn;
    bool secret; /* what is typed is not shown */
    char label[200];
    char text[2048]; /* typed so far, len bytes */
    size_t len;
};

/* Result of a key: the text goes on, was entered, or was cancelled. */
enum prompt_key { PROMPT_MORE, PROMPT_ENTER, PROMPT_ESCAPE };

/* Another one, with nothing typed; it is drawn by prompt_draw. */
void prompt_set(struct prompt *p, const char *label, bool secret);
/* Nothing is typed. */
void prompt_clear(struct prompt *p);
void prompt_draw(struct prompt *p, struct term *t);
/* Takes it away, before anything else is written. */
void prompt_hide(struct prompt *p, struct term *t);
/* Takes it away with what stands there left as it is. */
void prompt_leave(struct prompt *p, struct term *t);
enum prompt_key prompt_type(struct prompt *p, char key);

#endif
