/* SPDX-License-Identifier: MIT
 * One turn: connects line splitter, translator, attempt gate, guard, result and dispatch. The owner
 * of the agent's stream (executor, replay) feeds bytes. Loop thread only.
 *
 * The attempt gate: an error in the stream, and the outcome, usage and done after it, are held back
 * until it is known that no other attempt follows (turn_release_gated, turn_end_attempt). A final
 * passes at once, because no attempt follows a final. */
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
    enum language language; /* language of the host's texts in the events of the turn */
    bool resumed;           /* the turn continues after a restart of the host, and connectors have
                               received a part of it */
    bool follows;           /* the answer is delivered although background work continues: further
                               turns follow */
    /* Called with the outcome (final or error) before any recipient gets it, with all events of the
     * same piece of output counted in the result; or NULL. The outcome and later events are held
     * back until turn_confirm_outcome, which may be called in this callback. */
    void (*commit)(void *ctx, const struct event *outcome);
    /* Or NULL: sees each request before anybody does, and may change expires_ms, choices, to and
     * blocking of an open one. It must not feed the turn. */
    void (*request)(void *ctx, struct tc_request *request);
    /* NULL: the stream is one turn. Otherwise the stream is one attempt, no turn is recorded
     * (commit is NULL), and at the beginning of each turn this callback decides whether the turn is
     * delivered; `number` is the number of the turn, from 1. The functions of the turn then refer
     * to the newest turn; during this call, to the previous turn. The callback must not feed the
     * turn. */
    bool (*several)(void *ctx, uint64_t number);
    void (*started)(void *ctx); /* called once, when the start has been delivered; or NULL */
    void *ctx;                  /* context of all callbacks */
};

/* Copies what it keeps of the spec, but for the dialect; borrows d. */
struct turn *turn_new(struct dispatch *d, const struct turn_spec *spec);
/* Bytes of the stream, in any pieces. Returns how many were read: n, but for turn_stop_at_outcome.
 */
size_t turn_feed(struct turn *t, const char *p, size_t n);
/* From now on, stops reading after the line that gives the outcome. */
void turn_stop_at_outcome(struct turn *t);
/* Call before the first turn_feed: continues the stream of an earlier turn, whose ownership passes
 * to this turn. `by_agent`: the agent started this turn itself. */
void turn_continue_stream(struct turn *t, struct agent_stream *s, bool by_agent);
/* Ends the turn with its current outcome, like turn_end_attempt, and detaches the stream, which
 * continues without the turn. Returns the stream, owned by the caller. */
struct agent_stream *turn_detach_stream(struct turn *t);
/* Ends the input of this attempt: processes a last line without newline, and an answer that is held
 * because of background work. Optional before turn_end_attempt, for callers that need the outcome
 * first. */
void turn_feed_eof(struct turn *t);
/* Whether the agent works on in the background behind an answer, which is held until that is over.
 */
enum dialect_work turn_work(const struct turn *t);
/* Ends the wait for background work: the held answer is the outcome. */
void turn_settle(struct turn *t);
/* Whether the agent still works after the outcome (turn_spec.follows). */
bool turn_has_background_work(const struct turn *t);
/* Called when no more input is available at the moment. With `several`, a turn that has its outcome
 * ends, unless it is suspended; later events of it are dropped. */
void turn_pause(struct turn *t);
/* Called when no other attempt follows: delivers the events that were held back; from now on no
 * events are held back. */
void turn_release_gated(struct turn *t);
/* Called when the stream of this attempt has ended. With `retry` (the reason, for people), the turn
 * continues: held-back events are dropped, a notice{retry} is delivered, and a new translator reads
 * the stream of the next attempt. Without `retry`, the turn ends: outcome, usage, done. A held-back
 * error is ignored if the host ended the stream (timeout, cancel, shutdown). */
void turn_end_attempt(struct turn *t, struct stream_end_info *end, const char *retry);
/* Each whole line is shown to `fn` before it is translated, until it is NULL: who drives the agent
 * answers it. */
void turn_set_line_cb(struct turn *t, void (*fn)(void *ctx, const char *line, size_t len),
                      void *ctx);
/* Returns the agent's own id of a request that was delivered as `request_id`; it may not be unique
 * in the turn. Owned by the caller. NULL: the request belongs to an earlier attempt. */
char *turn_agent_request_id(const struct turn *t, const char *request_id);
/* Delivers the decision on an open request (request_id, decision, answers, by; the other members
 * are filled in). Does nothing if the request is not open. */
void turn_resolve_request(struct turn *t, const struct tc_request *resolved);
/* Delivers a notice of the host (still working…). */
void turn_emit_notice(struct turn *t, const char *level, const char *code, const char *text);
/* Delivers a notice to operators only. */
void turn_emit_operator_notice(struct turn *t, const char *level, const char *code,
                               const char *text);
/* Whether the outcome of the attempt has been read (final delivered, or its error or done held
 * back). */
bool turn_has_outcome(const struct turn *t);
/* The agent waits for a person, who can answer. */
bool turn_has_open_request(const struct turn *t);
/* Returns the held-back error, which the retry rules check; or NULL. Borrowed, valid until the
 * attempt ends. */
const struct tc_error *turn_gated_error(const struct turn *t);
/* Appends a note to the message of the error held back. Without one it does nothing. */
void turn_annotate_error(struct turn *t, const char *note);
/* Name of the first tool of this attempt whose call may have had side effects (it was not declared
 * read-only), or NULL. Borrowed, until the next attempt. */
const char *turn_acting_tool(const struct turn *t);
/* Called when the outcome has been recorded: delivers it and all events that waited for it. */
void turn_confirm_outcome(struct turn *t);
/* Whether no event waits for turn_confirm_outcome. */
bool turn_is_flushed(const struct turn *t);
/* Returns the turn's handle of dispatch. Borrowed. */
struct dispatch_turn *turn_get_dispatch(const struct turn *t);
/* Called when the host ends the stream itself (timeout, shutdown): a later outcome in the stream is
 * ignored. */
void turn_ignore_outcome(struct turn *t);
/* The agent's session as the stream named it, "" while it has not. Borrowed. */
const char *turn_session_id(const struct turn *t);
/* Before the first turn_feed: turn_spent of the turn before in this conversation, or NULL. */
void turn_set_spent(struct turn *t, const char *text);
/* Returns the running totals of the agent's session, to be stored for the next turn. NULL: the
 * agent reported none. Borrowed. */
const char *turn_spent(const struct turn *t);
const char *turn_id(const struct turn *t);
enum language turn_language(const struct turn *t);
const struct dialect *turn_dialect(const struct turn *t);
/* No dialect has recognised a line of the stream, and none was named. */
bool turn_is_unmatched(const struct turn *t);
const struct turn_result *turn_get_result(const struct turn *t);
int64_t turn_elapsed_ms(const struct turn *t);
/* Detaches a turn without outcome, which the host continues after its next start. No event is
 * delivered. Only turn_free may follow. */
void turn_detach(struct turn *t);
/* Frees the turn. A turn that has not ended is ended with the error host_shutdown, and held-back
 * events are delivered. */
void turn_free(struct turn *t);

#endif
