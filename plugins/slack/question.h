/* SPDX-License-Identifier: MIT
 * What the agent waits for a person for: messages of their own, with buttons, which say in the end
 * who decided what. What is there outlives the process: see question_pack. */
#ifndef SLACK_QUESTION_H
#define SLACK_QUESTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <turncast/plugin.h>

#define QUESTIONS_MAX 24 /* messages; a request that is asked in several places has several */
#define WAITING_MAX 32

/* One message. */
struct slack_question {
    char id[64];                          /* of the request; "": free */
    char channel[24], thread[32], ts[32]; /* thread "": none; ts "": not known yet */
    char ticket[40];                      /* "": it cannot be answered here */
    char title[80];                       /* fit for Slack */
    const char *about;                    /* JSON of the blocks that stay; of the turn, or NULL */
    const char *after; /* how it ended, while its message is not there; of the turn, or NULL */
};

struct questions {
    struct slack_question list[QUESTIONS_MAX];
    uint64_t waiting[WAITING_MAX]; /* requests that are open, here or elsewhere; 0: free */
    bool recalled;                 /* what an earlier process kept is in the list */
};

void question_show(struct tc_turn *turn, const struct tc_request *ev);
/* Whether the agent waits for somebody. */
bool question_waits(struct tc_turn *turn);
/* What an earlier process has shown is known again. */
void question_recall(struct tc_turn *turn);
/* The turn is over: nothing is open any more. */
void question_end(struct tc_turn *turn);
/* For tc_remember: an array, or NULL: there is nothing. */
json_t *question_pack(struct tc_turn *turn);

/* Its message is there. `data` is that of the post's tag. */
void question_posted(struct tc_turn *turn, const json_t *body, const json_t *data, const char *ts);
/* Posts it again; takes both over. */
int question_repeat(struct tc_turn *turn, json_t *body, json_t *data);
int question_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int question_on_edit(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
