/* SPDX-License-Identifier: MIT
 * The host's side of a dialog with an agent, nothing behind it: what it writes to what it hears. In
 * the lines of either side ' stands for ", so that JSON reads well in C. */
#ifndef TESTS_DIALECT_TALKING_H
#define TESTS_DIALECT_TALKING_H

#include "turn/agent_input.h"

struct talking {
    struct agent_input dialog;
    struct buf said; /* by the host, to what it heard last */
};

/* Each returns what the host says to that, without the newline behind it; "" when nothing. */
const char *talking_begin(struct talking *t, const char *dialect,
                          const struct dialect_prompt *prompt);
const char *talking_hear(struct talking *t, const char *line);
const char *talking_interrupt(struct talking *t);
/* "refused" when the agent does not wait for that. */
const char *talking_answer(struct talking *t, const struct dialect_answer *answer);
void talking_fini(struct talking *t);

/* Whether all that was said last is lines of JSON objects. */
bool talking_is_json(const struct talking *t);
/* Hears lines of such a dialog spoiled at random, and in any order, for so many rounds; returns how
 * often it said something that is no JSON. */
unsigned talking_spoil(const char *dialect, const char *const *lines, unsigned rounds);

#endif
