/* SPDX-License-Identifier: MIT
 * The dialect of a turn that another host runs: its events are canonical lines, and what is decided
 * for it here goes there as one line of JSON each:
 *
 *   {"do":"answer","request_id":ID,"decision":"allow"|"deny"|"answered","reason":TEXT,"args":{…},
 *    "answers":{…},"remember":BOOL,"interrupt":BOOL}
 *   {"do":"cancel"}
 *
 * The other host gets the prompt on another way. Not in the table of dialects: no program speaks
 * it. Pure. */
#ifndef DIALECT_TURNCAST_TURNCAST_RUN_H
#define DIALECT_TURNCAST_TURNCAST_RUN_H

#include "dialect/dialect.h"

extern const struct dialect dialect_turncast_run;
extern const struct dialect_input turncast_run_input;

/* Of an answer's line; the texts are the arena's. -1: it is none. */
int turncast_run_read_answer(struct str line, struct arena *a, struct dialect_answer *answer);
/* The line asks for an interrupt. */
bool turncast_run_is_cancel(struct str line);

#endif
