/* SPDX-License-Identifier: MIT
 * What an answer of the Web API means: HTTP 200 with "ok":false is Slack's normal way to fail. */
#ifndef SLACK_FAULT_H
#define SLACK_FAULT_H

#include <jansson.h>

#include <turncast/plugin.h>

enum fault_kind {
    FAULT_NONE,      /* done */
    FAULT_TRANSIENT, /* surely not done; later it may be */
    FAULT_DOUBT,     /* may have been done */
    FAULT_PAYLOAD,   /* another form of the same may be taken */
    FAULT_MESSAGE,   /* the message or stream it is about is no longer what it was */
    FAULT_TARGET,    /* nothing can be shown there */
    FAULT_SCOPE,     /* this method is not for this app */
    FAULT_AUTH,      /* nothing is, with this token */
    FAULT_OTHER,     /* refused, for a reason not in the table */
    FAULT_DROPPED,   /* never tried, and will not be */
};

struct fault {
    enum fault_kind kind;
    const char *error; /* Slack's word for it, or the host's line; "" */
    json_t *json;      /* the answer, or NULL */
};

/* Reads the answer; fault_fini frees it. One at a time: `error` is the instance's. */
struct fault fault_read(struct tc_turn *turn, const struct tc_reply *reply);
void fault_fini(struct fault *f);
#define FAULT_CLEANUP __attribute__((__cleanup__(fault_fini)))

/* The verdict where nothing better is known. An answer that says that the token is refused holds
 * the whole instance and is logged once; for `optional` methods a missing scope is no such. */
void fault_judge(struct tc_turn *turn, const struct fault *f, const struct tc_reply *reply,
                 bool optional, struct tc_verdict *v);
/* The words for a token that is refused, for a verdict. Valid as long as the instance's next. */
const char *fault_refusal(struct tc_turn *turn, const struct fault *f, const char *token);
bool fault_is(const struct fault *f, const char *error);
/* Nothing more comes of this request. */
bool fault_is_end(const struct tc_verdict *v);
/* The durable request that takes the place of this one was sent, or (`failed`) was not. */
void fault_replaced(struct tc_verdict *v, int failed, const char *reason);

#endif
