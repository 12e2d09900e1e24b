/* SPDX-License-Identifier: MIT
 * What the agent waits for a person for, as a message of its own that is edited when it is over. */
#ifndef SLACK_QUESTION_H
#define SLACK_QUESTION_H

#include <turncast/plugin.h>

#define QUESTIONS_MAX 8

struct question {
    char id[64]; /* "": free */
    char ts[32]; /* "": not known yet */
    char title[160];
    const char *after; /* what it became before its message was there; static, or NULL */
};

struct questions {
    struct question list[QUESTIONS_MAX];
};

void question_show(struct tc_turn *turn, const struct tc_request *ev);
int question_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int question_on_edit(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
