/* SPDX-License-Identifier: MIT
 * Requests on the terminal: shows the open requests of all turns, one after the other, reads the
 * answer to the first, and passes decisions to the host. Never blocks: reads the keyboard when
 * question_dialog_wake is called. */
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

struct question_dialog {
    struct keyboard keyboard;
    struct prompt prompt;
    struct terminal_request *first;
    enum ask_step step;
    json_t *questions, *answers; /* owned by the first request; or NULL */
    size_t question;             /* index of the current question */
    const char *choice;          /* ASK_REASON: kind of denial */
};

/* Has a keyboard only if a person sees the output. */
void question_dialog_init(struct question_dialog *a, bool seen);
void question_dialog_fini(struct question_dialog *a, struct term *t);
/* False: cannot be asked here, or only when the host is in the foreground again. */
bool question_dialog_open(struct question_dialog *a, struct tc_turn *turn,
                          const struct tc_request *ev);
/* Removes a decided request, or all requests of an ended turn (id NULL). */
void question_dialog_forget(struct question_dialog *a, struct term *t, const struct tc_turn *turn,
                            const char *id);
/* Call these before and after other output. */
void question_dialog_hide(struct question_dialog *a, struct term *t);
void question_dialog_show(struct question_dialog *a, struct term *t);
/* Processes typed input. */
void question_dialog_wake(struct question_dialog *a, struct term *t);
/* Milliseconds until question_dialog_wake must be called; -1: no request. */
int64_t question_dialog_next_check_ms(const struct question_dialog *a);
/* Whether the last line is its prompt. */
bool question_dialog_is_shown(const struct question_dialog *a);

#endif
