/* SPDX-License-Identifier: MIT
 * The members of a turn: for turn.c and turn_accessors.c only. */
#ifndef CORE_TURN_TURN_INTERNAL_H
#define CORE_TURN_TURN_INTERNAL_H

#include "core/turn/turn.h"
#include "core/turn/turn_state.h"
#include "core/turn/usage_delta.h"
#include "turn/guard.h"

/* Held-back events of one attempt: the first of each kind (error, final, usage, done). */
#define HELD_MAX 4

/* Callbacks of the owner (turn_spec). */
struct turn_owner {
    void (*commit)(void *ctx, const struct event *outcome); /* or NULL */
    void (*request)(void *ctx, struct tc_request *request); /* or NULL */
    bool (*several)(void *ctx, uint64_t number);            /* or NULL */
    void (*started)(void *ctx);                             /* NULL: it has been called */
    void *ctx;
    enum language language; /* language of the host's texts in its events */
    bool resumed;           /* they have seen a part of the turn before */
};

/* State of recording the outcome. The outcome is passed to `commit` after all events of the same
 * piece of output, so that its usage is recorded with it. */
struct turn_commit {
    unsigned deferred; /* calls that may still feed the guard */
    bool due;          /* the first event of `kept` has not been passed to `commit` yet */
};

struct turn {
    struct agent_stream *stream; /* NULL: the next turn has it */
    struct guard guard;
    struct turn_result result;
    struct dispatch_turn *cast;
    struct shared_event *gated[HELD_MAX]; /* in the order of the stream */
    size_t n_gated;
    enum turn_state state;
    struct turn_owner owner;
    struct dispatch *dispatch;
    struct visibility visibility;
    uint64_t number; /* number of the turn in its stream, from 1 */
    bool feeding;
    void (*watch)(void *ctx, const char *line, size_t len); /* or NULL */
    void *watch_ctx;
    struct shared_event **kept; /* from the outcome on, until it is committed */
    size_t n_kept;
    struct turn_commit commit;
    const struct dialect *dialect;
    char *id, *task, *agent;
    struct spent spent;
    char *acting_tool; /* name of a tool of this attempt that may have had side effects; or NULL */
    int64_t began_ms, ended_ms;
    unsigned attempt; /* from 1 */
    bool abandoned;   /* the stream's outcome does not count */
    bool by_agent;    /* the agent started the turn itself */
    bool follows;     /* see turn_spec */
    bool stops;       /* reads nothing behind the outcome */
};

/* Whether the outcome is being recorded; further events wait until it is. */
static inline bool turn_waits_for_commit(const struct turn *t)
{
    return t->state == TURN_COMMITTING || t->state == TURN_CLOSING;
}

static inline bool turn_has_ended(const struct turn *t)
{
    return t->state == TURN_CLOSING || t->state == TURN_ENDED;
}

#endif
