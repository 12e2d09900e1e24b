/* SPDX-License-Identifier: MIT
 * State of the codex-rollout dialect (files below ~/.codex/sessions), shared by its files:
 * codex_rollout.c the lines, the turns of a session and how they end, codex_rollout_item.c
 * messages, reasoning and tools.
 *
 * The file contains most data twice: as events for display (event_msg) and as input of the model
 * (response_item). Messages and reasoning are taken from the events, and from the other family only
 * if a session has no such events; calls are taken from the family with their arguments, results
 * from the first record. */
#ifndef DIALECT_CODEX_ROLLOUT_CODEX_ROLLOUT_H
#define DIALECT_CODEX_ROLLOUT_CODEX_ROLLOUT_H

#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

struct codex_rollout {
    /* State of the session. */
    struct buf thread, provider, model;
    bool has_turns;    /* it marks starts and ends of turns; old releases do not */
    bool has_messages; /* it has events for messages */
    bool has_thoughts; /* it has events for reasoning */
    bool has_records;  /* it has records of usage */
    /* State of the turn. */
    struct buf id;            /* or empty */
    struct buf context;       /* JSON object for the start, or empty */
    struct buf answer;        /* the newest message, unless a tool followed it */
    struct buf answer_id;     /* and its id */
    struct buf total;         /* JSON: totals of the last record */
    struct prestart early;    /* lines before the start */
    struct open_calls open;   /* calls that wait for their results */
    struct open_calls closed; /* calls with a result */
    struct usage_totals tally;
    bool asked; /* a message of the user was read */
    bool started, ended;
};

/* Members of a line; payload is the object with the data. */
struct codex_rollout_line {
    struct codex_rollout *c;
    const struct dialect_sink *out;
    struct str self, type, payload, kind; /* kind: type of the payload */
    struct str item;                      /* type of a completed item */
};

/* codex_rollout.c */
char *codex_rollout_text(const struct codex_rollout_line *l, struct str value);
/* Emits the start, once. task: the user's message, or NULL. */
void codex_rollout_start(const struct codex_rollout_line *l, const char *task);

/* codex_rollout_item.c: each returns whether the line is of its kind. */
bool codex_rollout_handle_event(const struct codex_rollout_line *l);
bool codex_rollout_handle_item(const struct codex_rollout_line *l);
bool codex_rollout_handle_response(const struct codex_rollout_line *l);

#endif
