/* SPDX-License-Identifier: MIT
 * What Claude Code asks its host over the control protocol and waits for, and what it is answered.
 * Of one attempt; pure. claude_control.c keeps what is open, claude_control_reply.c writes the
 * answers.
 *
 * A question is answered once at most: with its answer it is forgotten, as when the CLI withdraws
 * it. What nobody here can answer (hooks, an MCP server of the host) is answered with an error at
 * once, so that the CLI does not wait for ever. */
#ifndef DIALECT_CLAUDE_INPUT_CLAUDE_CONTROL_H
#define DIALECT_CLAUDE_INPUT_CLAUDE_CONTROL_H

#include "dialect/dialect.h"
#include "dialect/protocol/steered_messages.h"

#define CLAUDE_ASKS 64                       /* open at once; one more is answered with an error */
#define CLAUDE_ASKS_BYTES ((size_t)32 << 20) /* of what is kept of them */
#define CLAUDE_REFUSALS 1000                 /* errors that one attempt may call for */
#define CLAUDE_CONTROL_ID ((size_t)256)      /* bytes of an id; with a longer one it is refused */
#define CLAUDE_CONTROL_ID_MAX ((size_t)4096) /* with a still longer one nothing is answered */
#define CLAUDE_CONTROL_MODE_ID "turncast-mode" /* id of the host's request for a mode */

/* One can_use_tool. The JSON is as the CLI wrote it, byte for byte. */
struct claude_control_pending {
    char *id;          /* owned; as the translator tells it */
    char *raw_id;      /* owned; still escaped, without quotes */
    char *input;       /* owned; the JSON object */
    char *suggestions; /* owned; JSON array of permission updates, or NULL */
    size_t bytes;
    bool questions; /* AskUserQuestion: it wants answers, not leave */
};

struct claude_control {
    struct claude_control_pending *asks;
    size_t n, cap, bytes;
    unsigned refusals;
    bool over;              /* it was interrupted, and reads no more */
    struct steered steered; /* messages for the turn that runs */
};

/* A line of the CLI; only those with "control_ in them cost more than a search. */
void claude_control_handle_line(struct claude_control *c, struct buf *out, const char *line,
                                size_t len);
/* -1: that is not open, or cannot be answered so; nothing is written. */
int claude_control_answer(struct claude_control *c, struct buf *out,
                          const struct dialect_answer *answer);
/* Whether it is open. */
bool claude_control_waits(struct claude_control *c, const char *id);
/* Nothing is open any more, nor will be. */
void claude_control_end(struct claude_control *c);

/* claude_control_reply.c: the object that answers the question. -1: the answer is no such thing;
 * what was appended must not be used. */
int claude_control_append_reply(struct buf *out, const struct claude_control_pending *ask,
                                const struct dialect_answer *answer);

#endif
