/* SPDX-License-Identifier: MIT
 * Whether a turn runs, as Slack shows it beside the messages: the status of an agent's session, or
 * of an assistant's thread, or a reaction to the question. */
#ifndef SLACK_STATUS_H
#define SLACK_STATUS_H

#include <stdbool.h>

#include <turncast/plugin.h>

enum status_way { STATUS_SESSION, STATUS_THREAD, STATUS_REACTION, STATUS_NONE };
enum status_now { STATUS_UNSET, STATUS_PROCESSING, STATUS_SUSPENDED, STATUS_ACTIVE };

struct status {
    enum status_now now; /* the one wanted last */
};

void status_set(struct tc_turn *turn, enum status_now now);
/* What Slack forgets after two minutes is told again. */
void status_refresh(struct tc_turn *turn);
int status_on_set(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

/* A reaction to a message of a person; what became of it is of no interest. False: the app may give
 * none. */
bool status_react(struct tc_turn *lobby, const char *channel, const char *ts, const char *name);
int status_on_react(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);

#endif
