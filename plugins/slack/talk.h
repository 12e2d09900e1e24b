/* SPDX-License-Identifier: MIT
 * The threads the bot takes part in, as far as this process has seen them, and the turn that runs
 * in each. */
#ifndef SLACK_TALK_H
#define SLACK_TALK_H

#include <stdbool.h>

#define TALKS_MAX 512 /* the oldest is forgotten */

struct talk {
    char lane[72]; /* channel:thread */
    char turn[72]; /* "": none runs */
};

struct talks {
    struct talk list[TALKS_MAX];
    unsigned next;
};

bool talk_knows(const struct talks *t, const char *lane);
/* Notes the thread, with the turn that runs there, or (NULL) without one. */
void talk_note(struct talks *t, const char *lane, const char *turn);
/* The turn no longer runs. */
void talk_end(struct talks *t, const char *lane, const char *turn);
/* The turn that runs there, or NULL. */
const char *talk_turn(const struct talks *t, const char *lane);

#endif
