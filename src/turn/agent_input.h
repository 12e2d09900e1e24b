/* SPDX-License-Identifier: MIT
 * Input side of a dialect for one attempt: encodes prompt, protocol replies, answers and
 * interrupts. Appends the bytes for the agent's stdin to a buffer. Pure. */
#ifndef TURN_AGENT_INPUT_H
#define TURN_AGENT_INPUT_H

#include "base/attr.h"
#include "dialect/dialect.h"

/* A struct of zeros has no dialect. */
struct agent_input {
    const struct dialect_input *input; /* NULL: plain text, then end of file */
    void *state;
};

/* Ends the previous attempt. Borrows the dialect (NULL: none). */
void agent_input_begin(struct agent_input *d, const struct dialect *dialect,
                       const struct dialect_prompt *prompt, struct buf *out);
void agent_input_end(struct agent_input *d);
/* Whether the agent accepts another message after the end of a turn; appends it then. */
bool agent_input_goes_on(const struct agent_input *d);
void agent_input_next(struct agent_input *d, const struct dialect_prompt *prompt, struct buf *out);
/* Appends a message for the running turn. */
enum dialect_steer agent_input_steer(struct agent_input *d, struct buf *out, const char *id,
                                     struct str text);
/* The next of these messages whose fate is known; DIALECT_UNSETTLED: none. */
enum dialect_settled agent_input_settled(struct agent_input *d, char id[DIALECT_STEER_ID]);
/* Asks the agent to drop a message. False: it cannot be asked, or does not have the message. */
bool agent_input_withdraw(struct agent_input *d, struct buf *out, const char *id);
/* Takes a line of the agent before it is translated. */
void agent_input_handle_line(struct agent_input *d, struct buf *out, const char *line, size_t len);
/* Whether requests of this dialect can be answered. */
bool agent_input_can_answer(const struct dialect *dialect);
/* -1: the agent does not wait for this answer. */
int agent_input_answer(struct agent_input *d, struct buf *out,
                       const struct dialect_answer *answer) MUST_CHECK;
/* Whether the agent waits for an answer to that request. */
bool agent_input_waits(const struct agent_input *d, const char *request_id);
/* Whether a person who allows that request may change its arguments. */
bool agent_input_takes_args(const struct agent_input *d, const char *request_id);
/* If nothing is appended, the caller must send a signal. */
void agent_input_interrupt(struct agent_input *d, struct buf *out);
/* The outcome has been read. */
void agent_input_finish(struct agent_input *d, struct buf *out);
/* Whether stdin stays open after the message; after an interrupt. */
bool agent_input_keeps_stdin(const struct agent_input *d);
bool agent_input_waits_for_eof(const struct agent_input *d);

#endif
