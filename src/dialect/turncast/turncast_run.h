/* SPDX-License-Identifier: MIT
 * Dialect of a turn that another host runs: its events are canonical lines; decisions, messages
 * and cancellations for it are sent as JSON lines:
 *
 *   {"do":"answer","request_id":ID,"decision":"allow"|"deny"|"answered","reason":TEXT,"args":{…},
 *    "answers":{…},"remember":BOOL,"interrupt":BOOL}
 *   {"do":"cancel"}
 *   {"do":"message","id":ID,"text":TEXT}    for the turn while it runs
 *   {"do":"withdraw","id":ID}               such a message
 *
 * The fate of a message comes between the events, as a notice that nobody is shown, with the id as
 * its text: message_taken (it is part of the turn) or message_refused.
 *
 * The other host gets the prompt in another way. Not in the table of dialects, because no program
 * uses it. Pure. */
#ifndef DIALECT_TURNCAST_TURNCAST_RUN_H
#define DIALECT_TURNCAST_TURNCAST_RUN_H

#include "dialect/dialect.h"

extern const struct dialect dialect_turncast_run;
extern const struct dialect_input turncast_run_input;

/* Parses the line of an answer; texts are in the arena. -1: invalid. */
int turncast_run_read_answer(struct str line, struct arena *a, struct dialect_answer *answer);
/* A message for the running turn, or its withdrawal. */
struct turncast_run_message {
    const char *id;
    const char *text; /* NULL: it is withdrawn */
    size_t len;
};
/* Parses such a line; texts are in the arena. -1: another one. */
int turncast_run_read_message(struct str line, struct arena *a, struct turncast_run_message *m);

#define TURNCAST_RUN_TAKEN "message_taken"
#define TURNCAST_RUN_REFUSED "message_refused"
/* Whether a notice of that code tells the fate of a message. */
bool turncast_run_is_fate(const char *code);
/* Whether the line asks for an interrupt. */
bool turncast_run_is_cancel(struct str line);

#endif
