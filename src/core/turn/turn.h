/* SPDX-License-Identifier: MIT
 * One turn: lines, translator, attempt gate, guard, result and dispatch joined. Whoever has bytes
 * of an agent's stream (executor, replay) feeds it. Loop thread only.
 *
 * The attempt gate: an error that the stream tells, and the outcome, usage and done behind it, are
 * held back until it is known that no other attempt follows (turn_flush_held, turn_end_attempt). A
 * final passes at once: after it nothing is tried again. */
#ifndef CORE_TURN_TURN_H
#define CORE_TURN_TURN_H

#include "conf/conf.h"
#include "core/dispatch/dispatch.h"
#include "core/turn/agent_stream.h"
#include "core/turn/turn_result.h"
#include "dialect/dialect.h"

struct turn;

struct turn_spec {
    const struct dialect *dialect; /* or NULL: found from the stream's first lines */
    const char *agent;             /* name, or NULL */
    const char *conversation;      /* or NULL */
    const char *id;                /* correlation id, or NULL: a new random one */
    const char *task; /* the user's message, for start.task when the stream has none; or NULL */
    const char *submitter, *route, *instances; /* see dispatch_turn_spec */
    struct visibility visibility;              /* resolved */
    int64_t max_line;
    enum language language; /* of what the host says in the events of the turn */
    bool resumed;           /* an earlier life of the host has told a part of it */
    bool follows;           /* an answer is told although work is open behind it: turns follow */
    /* Or NULL: told the outcome (final or error) before anybody is, with all that the agent sent in
     * the same piece counted in the result. It and what follows are held back until
     * turn_confirm_outcome, which may be called from here. */
    void (*commit)(void *ctx, const struct event *outcome);
    /* Or NULL: sees each request before anybody does, and may change expires_ms, choices, to and
     * blocking of an open one. It must not feed the turn. */
    void (*request)(void *ctx, struct tc_request *request);
    /* Or NULL: the stream is one turn. Else it is one attempt, nothing is recorded (commit is
     * NULL), and each turn of the stream begins with a question whether it is told to anybody;
     * `number` counts from 1. What the turn functions say is then of the newest one: of the turn
     * before it, while this is called. It must not feed the turn. */
    bool (*several)(void *ctx, uint64_t number);
    void (*started)(void *ctx); /* or NULL: called once, when the start has been told */
    void *ctx;                  /* of all of them */
};

/* Copies what it keeps of the spec, but for the dialect; borrows d. */
struct turn *turn_new(struct dispatch *d, const struct turn_spec *spec);
/* Bytes of the stream, in any pieces. Returns how many were read: n, but for turn_stop_at_outcome.
 */
size_t turn_feed(struct turn *t, const char *p, size_t n);
/* From now on, stops reading after the line that gives the outcome. */
void turn_stop_at_outcome(struct turn *t);
/* Before the first turn_feed: reads on in the stream of an earlier turn, which becomes the turn's.
 * `by_agent`: nobody has asked for this turn, the agent began it by itself. */
void turn_continue_stream(struct turn *t, struct agent_stream *s, bool by_agent);
/* The turn ends with the outcome that it has, as by turn_end_attempt, and its stream goes on
 * without it. Returns that, owned. */
struct agent_stream *turn_leave_stream(struct turn *t);
/* No more bytes come in this attempt: a last line without newline counts now, and an answer that is
 * held behind background work. Optional before turn_end_attempt, for who must know the outcome
 * first. */
void turn_feed_eof(struct turn *t);
/* Whether the agent works on in the background behind an answer, which is held until that is over.
 */
enum dialect_work turn_work(const struct turn *t);
/* Ends the wait for background work: the held answer is the outcome. */
void turn_settle(struct turn *t);
/* Whether the agent still works after the outcome (turn_spec.follows). */
bool turn_leaves_work(const struct turn *t);
/* Nothing comes for the time being. With `several`, a turn that has its outcome ends, unless it is
 * suspended; what still comes of it is not told. */
void turn_pause(struct turn *t);
/* No other attempt will follow: what is held back is told, and from now on nothing is. */
void turn_flush_held(struct turn *t);
/* The stream of this attempt is over. With `retry` (why, for people) the turn goes on: what is
 * held back is forgotten, a notice{retry} is told, and a fresh translator reads the next
 * attempt's stream. Without, the turn ends: outcome, usage, done. An error held back does not
 * count when the host ended the stream (timeout, cancel, shutdown). */
void turn_end_attempt(struct turn *t, struct stream_end_info *end, const char *retry);
/* Each whole line is shown to `fn` before it is translated, until it is NULL: who drives the agent
 * answers it. */
void turn_set_line_cb(struct turn *t, void (*fn)(void *ctx, const char *line, size_t len),
                      void *ctx);
/* The agent's own id of a request that was told as `request_id`; it may not be unique in the turn.
 * Owned. NULL: the request is of an earlier attempt. */
char *turn_agent_request_id(const struct turn *t, const char *request_id);
/* Tells the decision on an open request (request_id, decision, answers, by; the rest is known).
 * Does nothing if the request is not open. */
void turn_resolve_request(struct turn *t, const struct tc_request *resolved);
/* Tells the host's own notice (still working…). */
void turn_emit_notice(struct turn *t, const char *level, const char *code, const char *text);
/* The same for operators only. */
void turn_emit_operator_notice(struct turn *t, const char *level, const char *code,
                               const char *text);
/* The outcome of the attempt has been read (final told, or its error or done held back). */
bool turn_has_outcome(const struct turn *t);
/* The agent waits for a person, who can answer. */
bool turn_has_open_request(const struct turn *t);
/* The error held back, or NULL: what the retry rules look at. Borrowed, until the attempt ends. */
const struct tc_error *turn_held_error(const struct turn *t);
/* Appends a note to the message of the error held back. Without one it does nothing. */
void turn_annotate_error(struct turn *t, const char *note);
/* Name of the first tool of this attempt whose call may have had side effects (it was not declared
 * read-only), or NULL. Borrowed, until the next attempt. */
const char *turn_acting_tool(const struct turn *t);
/* The outcome has been recorded: tells it and all events that waited for it. */
void turn_confirm_outcome(struct turn *t);
/* Whether no event waits for turn_confirm_outcome. */
bool turn_is_flushed(const struct turn *t);
/* The turn as dispatch knows it. Borrowed. */
struct dispatch_turn *turn_get_dispatch(const struct turn *t);
/* The host ends the stream for a reason of its own (timeout, shutdown): whatever outcome the
 * stream still tells does not count. */
void turn_ignore_outcome(struct turn *t);
/* The agent's session as the stream named it, "" while it has not. Borrowed. */
const char *turn_session_id(const struct turn *t);
/* Before the first turn_feed: turn_spent of the turn before in this conversation, or NULL. */
void turn_set_spent(struct turn *t, const char *text);
/* The running totals of the agent's session, to be kept for the next turn. NULL: it has told none.
 * Borrowed. */
const char *turn_spent(const struct turn *t);
const char *turn_id(const struct turn *t);
enum language turn_language(const struct turn *t);
const struct dialect *turn_dialect(const struct turn *t);
/* No dialect has recognised a line of the stream, and none was named. */
bool turn_is_unmatched(const struct turn *t);
const struct turn_result *turn_get_result(const struct turn *t);
int64_t turn_elapsed_ms(const struct turn *t);
/* The turn has no outcome yet, and gets none now: the host goes on with it after its next start. No
 * recipient is told anything. Only turn_free may follow. */
void turn_leave(struct turn *t);
/* A turn that was not ended is ended as one the host gave up (host_shutdown); what is held back is
 * told. */
void turn_free(struct turn *t);

#endif
