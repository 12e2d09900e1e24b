/* SPDX-License-Identifier: MIT
 * Requests on the terminal: shows the open requests of all turns, one after the other, reads the
 * answer to the first, and passes decisions to the host. Never blocks: reads the keyboard when
 * ask_wake is called. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "terminal/input_line.h"
#include "terminal/keyboard.h"
#include "terminal_request.h"

/* Step of the first waiting request. */
enum ask_step {
    ASK_NEW,      /* not shown yet */
    ASK_KEY,      /* waiting for a single key */
    ASK_REASON,   /* typing the reason of a denial */
    ASK_QUESTION, /* typing the answer to a question */
    ASK_TEXT,     /* typing an answer */
    ASK_SENT,     /* decided; waiting for the host */
};

struct ask {
    struct keyboard keyboard;
    struct prompt prompt;
    struct terminal_request *first;
    enum ask_step step;
    json_t *questions, *answers; /* owned by the first request; or NULL */
    size_t question;             /* index of the current question */
    const char *choice;          /* ASK_REASON: kind of denial */
};

/* Has a keyboard only if a person sees the output. */
void ask_init(struct ask *a, bool seen);
void ask_fini(struct ask *a, struct term *t);
/* False: cannot be asked here, or only when the host is in the foreground again. */
bool ask_open(struct ask *a, struct tc_turn *turn, const struct tc_request *ev);
/* Removes a decided request, or all requests of an ended turn (id NULL). */
void ask_forget(struct ask *a, struct term *t, const struct tc_turn *turn, const char *id);
/* Call these before and after other output. */
void ask_hide(struct ask *a, struct term *t);
void ask_show(struct ask *a, struct term *t);
/* Processes typed input. */
void ask_wake(struct ask *a, struct term *t);
/* Milliseconds until ask_wake must be called; -1: no request. */
int64_t ask_next_look_ms(const struct ask *a);
/* Whether the last line is its prompt. */
bool ask_is_shown(const struct ask *a);

#endif
