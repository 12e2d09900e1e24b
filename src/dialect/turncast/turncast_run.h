/* SPDX-License-Identifier: MIT
 * Dialect of a turn that another host runs: its events are canonical lines; decisions and
 * cancellations for it are sent as JSON lines:
 *
 *   {"do":"answer","request_id":ID,"decision":"allow"|"deny"|"answered","reason":TEXT,"args":{…},
 *    "answers":{…},"remember":BOOL,"interrupt":BOOL}
 *   {"do":"cancel"}
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
/* Whether the line asks for an interrupt. */
bool turncast_run_is_cancel(struct str line);

#endif
