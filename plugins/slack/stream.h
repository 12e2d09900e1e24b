/* SPDX-License-Identifier: MIT
 * The native stream of a turn: begun when there is something to show, appended to while it lives,
 * begun anew before Slack ends it. Only what can no longer change is appended. */
#ifndef SLACK_STREAM_H
#define SLACK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <turncast/plugin.h>

#include "batch.h"

struct slack_task;
struct fault;

struct slack_stream {
    char ts[32];      /* of its message; "": none is open */
    bool busy;        /* a request is under way: never two */
    bool leaving;     /* that is the end of this message */
    bool broken;      /* it is not certain that all text was shown */
    bool plain;       /* Slack takes no chunks here: text only */
    bool full;        /* Slack found the message too large */
    unsigned strikes; /* failures without a success between */
    unsigned number;  /* of messages */
    int64_t begin_ms, sent_ms;
    size_t size, blocks; /* shown in this message */
    struct batch next, flight;
};

/* Text in Slack's Markdown, or a card, at the end. */
void stream_text(struct tc_turn *turn, const char *p, size_t n);
void stream_task(struct tc_turn *turn, struct slack_task *t);
/* Sends what waits, when it is time. */
void stream_pump(struct tc_turn *turn);
/* Ends the message when it is about to get too old. */
void stream_check_age(struct tc_turn *turn);

/* Whether the stream, which shows all it was given, can soon end with so much more text. */
bool stream_can_end_with(struct tc_turn *turn, size_t size);
/* What ends it, with `rest` (or NULL) as the last text: channel, ts and chunks. */
json_t *stream_end_body(struct tc_turn *turn, const char *rest);
/* Ends it without an answer in it, if there is one. */
void stream_end(struct tc_turn *turn);
/* Ends a message of that ts, left by an earlier process or not needed. */
void stream_end_message(struct tc_turn *turn, const char *ts, bool remove);

int stream_on_start(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int stream_on_append(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int stream_on_leave(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int stream_on_end(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
