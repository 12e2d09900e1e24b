/* SPDX-License-Identifier: MIT
 * The host's side of a dialog with an agent, without a process: the output of the host for each
 * line of the agent. In the lines of either side ' stands for ", so that JSON reads well in C. */
#ifndef TESTS_DIALECT_TALKING_H
#define TESTS_DIALECT_TALKING_H

#include "turn/agent_input.h"

struct talking {
    struct agent_input dialog;
    struct buf said; /* output of the host for the last line */
};

/* Each returns the output of the host without the last newline; "" if there is none. */
const char *talking_begin(struct talking *t, const char *dialect,
                          const struct dialect_prompt *prompt);
const char *talking_hear(struct talking *t, const char *line);
const char *talking_interrupt(struct talking *t);
/* Returns "refused" if the agent does not wait for this answer. */
const char *talking_answer(struct talking *t, const struct dialect_answer *answer);
void talking_fini(struct talking *t);

/* Does the last output consist of lines of JSON objects? */
bool talking_is_json(const struct talking *t);
/* Feeds lines of the dialect, damaged at random and in random order, for `rounds` rounds; returns
 * how often the output was not JSON. */
unsigned talking_spoil(const char *dialect, const char *const *lines, unsigned rounds);

#endif
