/* SPDX-License-Identifier: MIT
 * Enforces the guarantees of <turncast/plugin.h> for any input: order, pairing, uniqueness, and one
 * outcome for every turn. A pure state machine between translator and visibility; its memory does
 * not grow with the stream. */
#ifndef TURN_GUARD_H
#define TURN_GUARD_H

#include <stdint.h>

#include "dialect/dialect.h"
#include "turn/kept_text.h"
#include "turn/open_items.h"

struct guard_stats {
    uint64_t late;       /* events dropped after the outcome */
    uint64_t duplicates; /* dropped duplicates: finals, errors, usages, calls, results, requests,
                          * steps */
    uint64_t unmatched;  /* progress of closed tools, ends of steps that were not open */
};

struct guard {
    void (*emit)(void *ctx, struct event *ev); /* next stage; drafts like dialect_out.emit */
    void *ctx;
    const char *src;            /* borrowed: dialect name */
    const char *correlation_id; /* borrowed */
    char *session_id;           /* owned: newest session in the stream, or NULL */
    double (*now)(void);        /* wall clock; tests replace it */
    double read_at;             /* arrival time of the current input; negative: read the clock */
    uint64_t seq;
    uint64_t nameless; /* number of ids made for calls and requests without one */
    enum guard_outcome { GUARD_OPEN, GUARD_FINAL, GUARD_ERROR } outcome;
    bool started, usage_told, done;
    bool error_noted, duplicate_noted;        /* kinds of events emitted once after the outcome */
    struct open_items tools, steps, requests; /* open and closed items */
    struct kept kept;                         /* answer of a stopped turn */
    bool resumes;                             /* see guard_may_resume */
    /* Held events, or NULL; held_final: of a suspended run that may be resumed. */
    struct shared_event *held_done, *held_usage, *held_final;
    struct guard_stats stats;
};

/* Borrows the strings. */
void guard_init(struct guard *g, const char *src, const char *correlation_id,
                void (*emit)(void *ctx, struct event *ev), void *ctx);
void guard_fini(struct guard *g);

/* Takes a draft of the translator (and may change it: meta is filled in) and emits zero or more
 * events.
 *
 * final and error pass at once; every open call, step and request is closed before them. A dialect
 * whose turn ends suspended emits done before final: then requests stay open. done is held until
 * guard_end, so that it means the agent has exited; usage{turn} is held until the outcome.
 *
 * The first final or error is the outcome. An error after a final becomes a notice, further ones
 * count as duplicates. An event of a sub-agent (meta agent or parent_id is set) is never the
 * outcome: its final becomes a message, its error a notice, its usage{turn} a usage{call}, its
 * start a notice.
 *
 * A result of an unknown call invents the call; a repeated call becomes progress; calls and
 * requests without an id get one. After the outcome only notices and usage{turn} pass. */
void guard_feed(struct guard *g, struct event *ev);
/* Reads the clock once: events until guard_thaw_clock get this time, because they were read
 * together. */
void guard_freeze_clock(struct guard *g);
void guard_thaw_clock(struct guard *g);
/* The stream has ended (end may be NULL: STREAM_EOF): emits the missing outcome, then usage,
 * notices and done. Idempotent. */
void guard_end(struct guard *g, const struct stream_end_info *end);
/* Whether the stream has reported its end: an outcome was emitted, or its done is held. */
bool guard_has_outcome(const struct guard *g);
/* The stream may continue with a run that it reported as suspended: that ending is then discarded,
 * a second start becomes a notice{resumed}, and the turn ends with the resumed run. */
void guard_may_resume(struct guard *g);
/* Whether the run is suspended and may be resumed. */
bool guard_is_suspended(const struct guard *g);
/* Whether a request is open: the agent waits for a person. */
bool guard_has_open_request(const struct guard *g);

#endif
