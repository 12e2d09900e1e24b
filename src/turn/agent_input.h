/* SPDX-License-Identifier: MIT
 * One dialog with an agent: its dialect's input half, over one attempt. Pure: what is to be written
 * to the agent's stdin is appended to a buffer. */
#ifndef TURN_AGENT_INPUT_H
#define TURN_AGENT_INPUT_H

#include "base/attr.h"
#include "dialect/dialect.h"

/* All zero is one with nobody. */
struct dialog {
    const struct dialect_input *input; /* NULL: plain text, then end of file */
    void *state;
};

/* Ends the one before. Borrows the dialect (NULL: none). */
void dialog_begin(struct dialog *d, const struct dialect *dialect,
                  const struct dialect_prompt *prompt, struct buf *out);
void dialog_end(struct dialog *d);
/* Whether it can take another message now, behind the end of a turn; which is then appended. */
bool dialog_goes_on(const struct dialog *d);
void dialog_next(struct dialog *d, const struct dialect_prompt *prompt, struct buf *out);
/* A message for the turn that runs. */
enum dialect_steer dialog_steer(struct dialog *d, struct buf *out, const char *id, struct str text);
/* The next of these that is settled; DIALECT_UNSETTLED: none. */
enum dialect_settled dialog_settled(struct dialog *d, char id[DIALECT_STEER_ID]);
/* Asks the agent to drop one of them. False: it cannot be asked, or does not have it. */
bool dialog_withdraw(struct dialog *d, struct buf *out, const char *id);
/* A line of the agent, before it is translated. */
void dialog_line(struct dialog *d, struct buf *out, const char *line, size_t len);
/* Whether requests of this dialect can be answered at all. */
bool dialog_answers(const struct dialect *dialect);
/* -1: the agent does not wait for it. */
int dialog_answer(struct dialog *d, struct buf *out,
                  const struct dialect_answer *answer) MUST_CHECK;
/* Whether the agent waits for an answer to that request. */
bool dialog_waits(const struct dialog *d, const char *request_id);
/* Nothing is appended: a signal has to do. */
void dialog_interrupt(struct dialog *d, struct buf *out);
/* The outcome has been read. */
void dialog_leave(struct dialog *d, struct buf *out);
/* Whether stdin stays open behind the message; behind an interrupt. */
bool dialog_keeps_open(const struct dialog *d);
bool dialog_waits_for_end(const struct dialog *d);

#endif
