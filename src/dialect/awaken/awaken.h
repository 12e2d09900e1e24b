/* SPDX-License-Identifier: MIT
 * State of two dialects of one runtime, tirea 0.5 (events in an envelope) and awaken (flat), shared
 * by the files: awaken.c the lines and the run, awaken_tool.c calls, results and suspensions,
 * awaken_activity.c progress and activities. Events have the same members in both, apart from the
 * envelope. */
#ifndef DIALECT_AWAKEN_AWAKEN_H
#define DIALECT_AWAKEN_AWAKEN_H

#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

/* Limit of tools with incremental progress at the same time. */
#define AWAKEN_ACTIVITIES 64
#define AWAKEN_TEXT_MAX ((size_t)8 << 20) /* text of a step, kept as the answer */

/* Progress that arrives field by field: the newest snapshot, until it is complete. */
struct awaken_activity {
    struct buf key;     /* message_id */
    struct buf pending; /* members that were not emitted yet */
    double pending_ts;
    int64_t published; /* updated_at_ms of the last emitted progress */
    uint64_t used;
};

struct awaken {
    struct buf run_id;           /* id of the emitted run; others are nested */
    struct buf message_id, text; /* of the step */
    struct buf relay_error, relay_code;
    bool running, stepping;
    bool over, resumable;  /* state of the newest run */
    bool answered_by_tool; /* a call followed the text */
    int64_t steps;
    struct usage_totals tally;
    struct open_calls open;      /* calls that wait for their results */
    struct open_calls suspended; /* ids of requests, with the calls that they are about */
    struct awaken_activity activities[AWAKEN_ACTIVITIES];
    uint64_t clock; /* counter, to find the least recently used */
};

/* One event. */
struct awaken_event {
    struct awaken *a;
    const struct dialect_sink *out; /* marks common members for id and nesting */
    const char *dialect;
    struct str self;                            /* the line */
    struct str members;                         /* the object with the event's members */
    struct str type;                            /* value */
    struct str run_id, thread_id, seq, step_id; /* members of the envelope */
    bool enveloped;
    bool child; /* id of a nested run */
};

/* A member of the event. */
struct str awaken_value(const struct awaken_event *e, const char *key);
char *awaken_text(const struct awaken_event *e, const char *key);
/* Id of the step's message, or NULL. */
const char *awaken_message_id(const struct awaken_event *e);

/* awaken_tool.c */
void awaken_handle_call_start(const struct awaken_event *e);
void awaken_handle_call_delta(const struct awaken_event *e);
void awaken_handle_call_ready(const struct awaken_event *e);
void awaken_handle_call_output(const struct awaken_event *e);
void awaken_handle_call_done(const struct awaken_event *e);
void awaken_handle_call_resumed(const struct awaken_event *e);

/* awaken_activity.c */
void awaken_handle_activity_snapshot(const struct awaken_event *e);
void awaken_handle_activity_delta(const struct awaken_event *e);
/* Emits kept progress of that key (NULL: all). */
void awaken_settle_activity(struct awaken *a, const struct dialect_sink *out, const char *key);
void awaken_activity_fini(struct awaken_activity *activity);

#endif
