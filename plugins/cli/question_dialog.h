/* SPDX-License-Identifier: MIT
 * What is asked at the terminal: the open requests of all turns, one after the other, what is typed
 * about the first of them, and what was decided on its way to the host. Nothing waits: the keyboard
 * is looked at when ask_wake is called. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "terminal/input_line.h"
#include "terminal/keyboard.h"
#include "terminal_request.h"

/* Step of the first waiting request. */
enum ask_step {
    ASK_NEW,      /* it has not been written yet */
    ASK_KEY,      /* one key decides */
    ASK_REASON,   /* why not is typed */
    ASK_QUESTION, /* an answer is typed to one of its questions */
    ASK_TEXT,     /* an answer is typed */
    ASK_SENT,     /* it is decided; the host tells what came of it */
};

struct ask {
    struct keyboard keyboard;
    struct prompt prompt;
    struct terminal_request *first;
    enum ask_step step;
    json_t *questions, *answers; /* of the first; or NULL */
    size_t question;             /* the one that is asked */
    const char *choice;          /* ASK_REASON: what the reason is for */
};

/* With a keyboard only where a person sees what is written. */
void ask_init(struct ask *a, bool seen);
void ask_fini(struct ask *a, struct term *t);
/* False: it cannot be asked here, or only when the host is in the foreground again. */
bool ask_open(struct ask *a, struct tc_turn *turn, const struct tc_request *ev);
/* Removes a request that was decided, or whose turn is over (id NULL: all of the turn). */
void ask_forget(struct ask *a, struct term *t, const struct tc_turn *turn, const char *id);
/* Before and after anything else is written. */
void ask_hide(struct ask *a, struct term *t);
void ask_show(struct ask *a, struct term *t);
/* Sees to what was typed. */
void ask_wake(struct ask *a, struct term *t);
/* When ask_wake is to be called, in milliseconds; -1: nothing is asked. */
int64_t ask_next_look_ms(const struct ask *a);
/* The last line is its prompt. */
bool ask_is_shown(const struct ask *a);

#endif
