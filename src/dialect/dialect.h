/* SPDX-License-Identifier: MIT
 * Interface of a dialect: parses the lines of one agent's stream into draft events and, for
 * agents driven over stdin, writes their input. No I/O, no clock, no thread. */
#ifndef DIALECT_DIALECT_H
#define DIALECT_DIALECT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "base/str.h"
#include "event/event.h"

/* Output of a dialect, and its context for one line. */
struct dialect_sink {
    /* Passes a draft to the next stage of the pipeline, which copies it. The dialect sets kind,
     * payload, and the meta fields that its source contains: ts (negative: arrival), session_id,
     * id, agent, parent_id, audience, x. The host sets the others. */
    void (*emit)(void *ctx, struct event *ev);
    void *ctx;
    struct arena *scratch;   /* valid until the line or end call returns */
    double ts;               /* time of the line, for drafts without one; 0: none */
    const char *frame_event; /* name of the line's server-sent event, or NULL */
    bool follows;            /* emit an answer although work is open: further turns follow */
};

static inline void dialect_emit_draft(const struct dialect_sink *out, struct event *ev)
{
    if (ev->meta.ts < 0 && out->ts > 0)
        ev->meta.ts = out->ts;
    out->emit(out->ctx, ev);
}

/* End of a stream, as far as it is known to the host. */
enum stream_end {
    STREAM_EOF,       /* end of input; no process, or one that exited with 0 */
    STREAM_EXIT,      /* the process exited with another status */
    STREAM_SIGNAL,    /* it was killed by a signal that the host did not send */
    STREAM_TIMEOUT,   /* the host ended it: total or inactivity timeout */
    STREAM_CANCELLED, /* the host ended it on request */
    STREAM_SHUTDOWN,  /* the host shuts down */
    STREAM_SPAWN,     /* it could not be started */
};

struct stream_end_info {
    enum stream_end how;
    bool truncated;      /* the last line had no newline and was invalid */
    const char *code;    /* error code for a turn without outcome: agent_exit… (borrowed) */
    const char *message; /* error text for people, including the end of stderr (borrowed) */
};

/* The message for the agent; strings are borrowed. */
struct dialect_prompt {
    const char *text; /* the user's message, verbatim */
    size_t len;
    const char *session_id; /* session to resume, or NULL */
    const char *cwd;        /* working directory of the agent, absolute */
    const char *mode;       /* permission mode of the agent, or NULL: its default */
};

/* A decision on a request that the dialect emitted. Strings are borrowed. */
struct dialect_answer {
    const char *request_id;
    enum { DIALECT_ALLOW, DIALECT_DENY, DIALECT_ANSWERED } decision;
    const char *reason;  /* deny: reason for the agent, or NULL */
    const char *args;    /* allow: JSON object that replaces the arguments; or NULL */
    const char *answers; /* answered: JSON object, the id of each question to a text, or (multi) to
                            an array of texts */
    bool remember;       /* allow: do not ask again for similar calls, if the agent supports that */
    bool interrupt;      /* deny: end the turn, too */
};

/* Treatment of a message by an agent that is working on a turn. */
enum dialect_steer {
    DIALECT_REFUSED, /* nothing was written: the message waits for the end of the turn */
    DIALECT_ASKED,   /* the agent includes the message in the turn and confirms this, or refuses
                        it */
    DIALECT_WRITTEN, /* the agent includes the message in the turn and confirms this, or answers it
                        after the turn */
};

/* State of a message that was written to a working agent. */
enum dialect_settled {
    DIALECT_UNSETTLED, /* unknown yet */
    DIALECT_TAKEN,     /* the message is part of the running turn */
    DIALECT_NOT_TAKEN, /* the agent has refused or dropped it */
};

#define DIALECT_STEER_ID 40 /* size of the id of such a message, with the NUL: a UUID */
#define DIALECT_STEERED 8   /* limit of pending messages */

/* Input side of a dialog; one state per attempt. Sees each line of the agent before it is
 * translated, and appends input for its stdin to `out`. Pure. A dialect without it sends the plain
 * text and end of file. */
struct dialect_input {
    size_t state_size; /* allocated zeroed per attempt */
    /* Writes the message that begins the turn, or the first request of the handshake before it. */
    void (*begin)(void *state, struct buf *out, const struct dialect_prompt *prompt);
    /* Writes the reply to a line of the agent, if needed: the next request of the handshake, or an
     * error for a request that cannot be answered. Emitted requests are answered by `answer`. May
     * be NULL. */
    void (*line)(void *state, struct buf *out, const char *line, size_t len);
    /* -1: the agent no longer waits, and nothing is written. NULL: its requests cannot be
     * answered. */
    int (*answer)(void *state, struct buf *out, const struct dialect_answer *answer);
    /* Whether an emitted request waits for an answer: false if `line` has refused it. Set if
     * `answer` is. */
    bool (*waits)(void *state, const char *request_id);
    /* Whether a person who allows that request may change its arguments. NULL: never. */
    bool (*takes_args)(void *state, const char *request_id);
    /* Writes an interrupt, which also covers open requests. If it writes nothing, or is NULL, a
     * signal is sent. */
    void (*interrupt)(void *state, struct buf *out);
    /* Writes the end of the dialog after the outcome, before stdin is closed. May be NULL. */
    void (*leave)(void *state, struct buf *out);
    void (*close)(void *state); /* frees the contents of state; may be NULL */
    bool keep_open;             /* stdin stays open until the outcome was read */
    bool ends_by_eof;           /* after an interrupt, end of file speeds up the exit without losing
                                 * data */
    bool loads_session;         /* `begin` resumes the session named in the prompt */
    /* Another message in the same session, after an ended turn. Both functions are set, or neither
     * (NULL): each turn needs a new process. */
    void (*next)(void *state, struct buf *out, const struct dialect_prompt *prompt);
    bool (*goes_on)(void *state); /* whether the agent accepts one now */
    /* A message for the running turn; `id` is a UUID. `settled` is set if and only if this is. */
    enum dialect_steer (*steer)(void *state, struct buf *out, const char *id, struct str text);
    /* Returns the next message whose result is known from the lines passed to `line`;
     * DIALECT_UNSETTLED: none. */
    enum dialect_settled (*settled)(void *state, char id[DIALECT_STEER_ID]);
    /* Asks the agent to drop a pending message; `settled` reports the result. False: nothing was
     * written. NULL: not supported. */
    bool (*withdraw)(void *state, struct buf *out, const char *id);
};

/* Whether the agent works after an answer. */
enum dialect_work {
    DIALECT_NO_WORK,  /* no, or there is no answer, or the model itself works again */
    DIALECT_SETTLING, /* no known work: silence means that the turn has ended */
    DIALECT_WORKS,    /* background work, or a scheduled wake-up: silence means nothing */
};

/* Whether a line begins a turn. */
enum dialect_begin {
    DIALECT_GOES_ON,    /* no: it belongs to the current turn */
    DIALECT_USERS_TURN, /* yes, as far as known for a message of the user */
    DIALECT_AGENTS_TURN /* yes, without a message of the user */
};

#define DIALECT_SCORE_CERTAIN 100
/* Chosen at once, unless another dialect has a higher score for the line. */
#define DIALECT_SCORE_LIKELY 90

struct dialect {
    const char *name;
    const char *summary;
    bool counts_session; /* usage of a turn covers the agent's whole session */
    size_t state_size;   /* allocated zeroed per stream by the translator */
    /* Score of a line for detection: 0 not this dialect, DIALECT_SCORE_CERTAIN no other dialect has
     * such lines. `event` is the name of its server-sent event, or NULL. May be NULL: never
     * detected. */
    int (*sniff)(struct str line, const char *event);
    /* A line without its newline. 0, or -1: invalid in this dialect, without effect; the caller
     * then repairs the line and tries once more. Unknown but valid lines become `raw`. */
    int (*line)(void *state, const struct dialect_sink *out, const char *line, size_t len);
    /* The stream has ended: emits pending events. The guard, not the dialect, supplies a missing
     * outcome. May be NULL. */
    void (*end)(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
    void (*close)(void *state); /* frees the contents of state; may be NULL */
    /* Called after `end` if the stream continues: another turn begins. Resets the state of the
     * turn, but keeps that of the stream (session, running totals, open work). `by_agent`: without
     * a message of the user. NULL: the stream has one turn. */
    void (*next)(void *state, bool by_agent);
    /* A line between two turns, for which nothing is emitted. True: the agent starts a turn by
     * itself with it. NULL: never. */
    bool (*between)(void *state, const struct dialect_sink *out, const char *line, size_t len);
    /* For a stream read as several turns: whether the next line, which may be invalid, begins
     * another turn than the one in `state`. NULL: never. */
    enum dialect_begin (*begins)(const void *state, struct str line);
    /* An answer is held while work is open. Both functions are set, or neither (NULL). */
    enum dialect_work (*work)(void *state);
    /* Stops waiting for open work: emits the held outcome, and which work was open. */
    void (*settle)(void *state, const struct dialect_sink *out);
    const struct dialect_input *input; /* NULL: plain text, then end of file */
};

/* Looks up the table (dialect_table.c). NULL: unknown name. */
const struct dialect *dialect_find(const char *name);
/* Dialect i, from 0; NULL behind the last. */
const struct dialect *dialect_get(size_t i);

#endif
