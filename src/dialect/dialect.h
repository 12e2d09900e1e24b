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

/* Where drafts go, and what a dialect may use while it handles one line. */
struct dialect_sink {
    /* Takes a draft at once (it copies what it keeps): the next stage of the pipeline. The
     * dialect sets kind, payload, and of meta what its source knows: ts (negative: arrival),
     * session_id, id, agent, parent_id, audience, x. The rest is the host's. */
    void (*emit)(void *ctx, struct event *ev);
    void *ctx;
    struct arena *scratch;   /* lives until the line or end call returns */
    double ts;               /* the line's own time for drafts that say none; 0: it has none */
    const char *frame_event; /* name of the server-sent event the line came in, or NULL */
    bool follows;            /* an answer is told although work is open behind it: turns follow */
};

static inline void dialect_emit_draft(const struct dialect_sink *out, struct event *ev)
{
    if (ev->meta.ts < 0 && out->ts > 0)
        ev->meta.ts = out->ts;
    out->emit(out->ctx, ev);
}

/* How a stream ended, as far as the host knows. */
enum stream_end {
    STREAM_EOF,       /* end of input; no process, or one that exited with 0 */
    STREAM_EXIT,      /* the process exited with another status */
    STREAM_SIGNAL,    /* it was killed by a signal that the host did not send */
    STREAM_TIMEOUT,   /* the host ended it: total or inactivity timeout */
    STREAM_CANCELLED, /* the host ended it on request */
    STREAM_SHUTDOWN,  /* the host itself goes down */
    STREAM_SPAWN,     /* it could not be started */
};

struct stream_end_info {
    enum stream_end how;
    bool truncated;      /* the last line had no newline and was not valid */
    const char *code;    /* error code for a turn without outcome: agent_exit… (borrowed) */
    const char *message; /* its text, for people; stderr tail included (borrowed) */
};

/* The message for the agent; strings are borrowed. */
struct dialect_prompt {
    const char *text; /* the user's message, verbatim */
    size_t len;
    const char *session_id; /* to resume, or NULL */
    const char *cwd;        /* of the agent, absolute */
    const char *mode;       /* how freely it may act, in the agent's own word, or NULL: as it is */
};

/* The decision on a request that the dialect told. Strings are borrowed. */
struct dialect_answer {
    const char *request_id;
    enum { DIALECT_ALLOW, DIALECT_DENY, DIALECT_ANSWERED } decision;
    const char *reason;  /* deny: for the agent, or NULL */
    const char *args;    /* allow: JSON object, instead of what it asked for; or NULL */
    const char *answers; /* answered: JSON object, the id of each question to a text, or (multi) to
                            an array of texts */
    bool remember;       /* allow: it need not ask again for the like, as far as it offers that */
    bool interrupt;      /* deny: and it shall end the turn */
};

/* How an agent that is working handles a message that is written to it. */
enum dialect_steer {
    DIALECT_REFUSED, /* nothing was written: it has to wait for the end of the turn */
    DIALECT_ASKED,   /* the agent takes it into the turn, and says so, or refuses it */
    DIALECT_WRITTEN, /* the agent takes it into the turn, and says so, or answers it behind that */
};

/* State of a message that was written to an agent that was working. */
enum dialect_settled {
    DIALECT_UNSETTLED, /* nothing yet */
    DIALECT_TAKEN,     /* it is part of the turn that runs */
    DIALECT_NOT_TAKEN, /* the agent does not have it any more: it has refused or dropped it */
};

#define DIALECT_STEER_ID 40 /* bytes of the id of such a message, with the end: a UUID */
#define DIALECT_STEERED 8   /* messages that may be on their way at once */

/* The input half: the agent's side of a dialog, one per attempt. It sees each line of the agent
 * before that is translated, and writes (appends to `out`) what goes to its stdin. Pure, as the
 * rest. A dialect without it gets the plain text and end of file. */
struct dialect_input {
    size_t state_size; /* allocated zeroed per attempt */
    /* Writes the message that begins the turn, or the first step of the handshake before it. */
    void (*begin)(void *state, struct buf *out, const struct dialect_prompt *prompt);
    /* Writes the reply to a line of the agent, if it needs one: the next step of the handshake, or
     * an error for a request that nobody can answer. Requests that are told are left to `answer`.
     * May be NULL. */
    void (*line)(void *state, struct buf *out, const char *line, size_t len);
    /* -1: the agent does not wait for that any more, and nothing is written. NULL: its requests
     * cannot be answered. */
    int (*answer)(void *state, struct buf *out, const struct dialect_answer *answer);
    /* Whether a request that was told waits for an answer: false of one that `line` has refused.
     * There when `answer` is. */
    bool (*waits)(void *state, const char *request_id);
    /* Whether who allows that request may change its arguments. NULL: never. */
    bool (*takes_args)(void *state, const char *request_id);
    /* Writes a request for a clean interrupt, open requests included. If it writes nothing, or is
     * NULL, a signal is used. */
    void (*interrupt)(void *state, struct buf *out);
    /* After the outcome: writes the end of the dialog, before stdin is closed. May be NULL. */
    void (*leave)(void *state, struct buf *out);
    void (*close)(void *state); /* frees what state owns; may be NULL */
    bool keep_open;             /* stdin stays open until the outcome was seen */
    bool ends_by_eof;           /* after an interrupt end of file hurries it, and loses nothing */
    bool loads_session;         /* `begin` resumes the session that the prompt names */
    /* Another message in the same session, behind a turn that has ended. Both are there, or neither
     * (NULL): each turn needs a process of its own. */
    void (*next)(void *state, struct buf *out, const struct dialect_prompt *prompt);
    bool (*goes_on)(void *state); /* whether it can take one now */
    /* A message for the turn that runs; `id` is a UUID. `settled` is there if and only if this is.
     */
    enum dialect_steer (*steer)(void *state, struct buf *out, const char *id, struct str text);
    /* The next message that is settled, by what `line` has seen; DIALECT_UNSETTLED: none. */
    enum dialect_settled (*settled)(void *state, char id[DIALECT_STEER_ID]);
    /* Asks the agent to drop a message that is not settled; `settled` tells whether it did. False:
     * nothing was written. NULL: this agent cannot be asked. */
    bool (*withdraw)(void *state, struct buf *out, const char *id);
};

/* Whether the agent works on behind an answer that it has given. */
enum dialect_work {
    DIALECT_NO_WORK,  /* it does not, or has not given one, or the model itself is at work again */
    DIALECT_SETTLING, /* nothing is open: silence means that the turn is over */
    DIALECT_WORKS,    /* in the background, or it waits for a time: silence means nothing */
};

/* Whether a line begins a turn. */
enum dialect_begin {
    DIALECT_GOES_ON,    /* nothing: it is of the turn that is read */
    DIALECT_USERS_TURN, /* a turn, as far as is known for a message of the user */
    DIALECT_AGENTS_TURN /* a turn that no user has asked for */
};

#define DIALECT_SCORE_CERTAIN 100
#define DIALECT_SCORE_LIKELY 90 /* taken at once, unless another one is surer of the same line */

struct dialect {
    const char *name;
    const char *summary;
    bool counts_session; /* usage of a turn counts the agent's session from its beginning */
    size_t state_size;   /* allocated zeroed per stream by translate */
    /* How surely a line is of this dialect: 0 not at all, DIALECT_SCORE_CERTAIN no other one writes
     * such a line. `event` is the name of the frame it came in, or NULL. May be NULL: never
     * guessed. */
    int (*sniff)(struct str line, const char *event);
    /* One line without its newline. 0, or -1: not valid in this dialect and without effect; the
     * caller then mends the line and tries once more. Unknown but valid lines are `raw`. */
    int (*line)(void *state, const struct dialect_sink *out, const char *line, size_t len);
    /* The stream is over: emit what is pending. Outcomes that the stream did not give are the
     * guard's, not the dialect's. May be NULL. */
    void (*end)(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
    void (*close)(void *state); /* frees what state owns; may be NULL */
    /* Behind `end`, when the stream goes on: another turn begins. What was of the one before is
     * forgotten, what holds for the stream (its session, running totals, open work) is not.
     * `by_agent`: without a message of the user. NULL: the stream has one turn. */
    void (*next)(void *state, bool by_agent);
    /* A line between two turns, where nothing is told. True: with it the agent begins a turn by
     * itself. NULL: none does. */
    bool (*between)(void *state, const struct dialect_sink *out, const char *line, size_t len);
    /* A stream that is read as several turns: whether the line, which is read next and may be
     * invalid, begins another turn than the one that `state` has read. NULL: none does. */
    enum dialect_begin (*begins)(const void *state, struct str line);
    /* An answer is held while work is open. Both are there, or neither (NULL). */
    enum dialect_work (*work)(void *state);
    /* Ends the wait for open work: tells the held outcome, and which work was still open. */
    void (*settle)(void *state, const struct dialect_sink *out);
    const struct dialect_input *input; /* NULL: plain text, then end of file */
};

/* The table (dialect_table.c). NULL: unknown name. */
const struct dialect *dialect_find(const char *name);
/* Every dialect in turn, i from 0; NULL behind the last. */
const struct dialect *dialect_get(size_t i);

#endif
