/* SPDX-License-Identifier: MIT
 * State of the codex-rollout dialect (files below ~/.codex/sessions), shared by its files:
 * codex_rollout.c the lines, the turns of a session and how they end, codex_rollout_item.c
 * messages, reasoning and tools.
 *
 * The file says most things twice: as events for display (event_msg) and as what was sent to the
 * model (response_item). Messages and reasoning are told from the events, and from the other family
 * only in a session that has no events of that sort; calls are told from where their arguments are,
 * results from what comes first. */
#ifndef DIALECT_CODEX_ROLLOUT_CODEX_ROLLOUT_H
#define DIALECT_CODEX_ROLLOUT_CODEX_ROLLOUT_H

#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

struct codex_rollout {
    /* Of the session. */
    struct buf thread, provider, model;
    bool has_turns;    /* it tells where turns begin and end; old releases do not */
    bool has_messages; /* it has events of messages */
    bool has_thoughts; /* it has events of reasoning */
    bool has_records;  /* it has records of usage */
    /* Of the turn. */
    struct buf id;            /* or empty */
    struct buf context;       /* JSON object for the start, or empty */
    struct buf answer;        /* the newest message, unless a tool came behind it */
    struct buf answer_id;     /* and its id */
    struct buf total;         /* JSON: totals as counted last */
    struct prestart early;    /* lines from before the start */
    struct open_calls open;   /* calls that wait for their results */
    struct open_calls closed; /* calls that have one */
    struct usage_totals tally;
    bool asked; /* a message of the user was read */
    bool started, ended;
};

/* A line as values; payload is the object that says what it is about. */
struct codex_rollout_line {
    struct codex_rollout *c;
    const struct dialect_sink *out;
    struct str self, type, payload, kind; /* kind: type of the payload */
    struct str item;                      /* what an item_completed is about */
};

/* codex_rollout.c */
char *codex_rollout_text(const struct codex_rollout_line *l, struct str value);
/* Tells the start, once. task: the user's message, or NULL. */
void codex_rollout_start(const struct codex_rollout_line *l, const char *task);

/* codex_rollout_item.c: each true, or false: it is none of these. */
bool codex_rollout_take_event(const struct codex_rollout_line *l);
bool codex_rollout_take_item(const struct codex_rollout_line *l);
bool codex_rollout_take_response(const struct codex_rollout_line *l);

#endif
