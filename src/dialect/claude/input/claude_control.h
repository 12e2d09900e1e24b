/* SPDX-License-Identifier: MIT
 * Requests of Claude Code to its host over the control protocol, and the replies; for one attempt.
 * Pure. claude_control.c stores open requests, claude_control_reply.c writes the replies.
 *
 * A request is answered at most once: it is removed with its answer, or when the CLI withdraws it.
 * Unsupported requests (hooks, an MCP server of the host) get an error at once, so that the CLI
 * does not wait for ever. */
#ifndef DIALECT_CLAUDE_INPUT_CLAUDE_CONTROL_H
#define DIALECT_CLAUDE_INPUT_CLAUDE_CONTROL_H

#include "dialect/dialect.h"
#include "dialect/protocol/steered_messages.h"

#define CLAUDE_ASKS 64                       /* limit of open requests; further ones get an error */
#define CLAUDE_ASKS_BYTES ((size_t)32 << 20) /* limit of the memory for them */
#define CLAUDE_REFUSALS 1000                 /* limit of error replies in one attempt */
/* Longest id; a request with a longer one is refused. */
#define CLAUDE_CONTROL_ID ((size_t)256)
#define CLAUDE_CONTROL_ID_MAX ((size_t)4096)   /* a request with an even longer id gets no reply */
#define CLAUDE_CONTROL_MODE_ID "turncast-mode" /* id of the host's request for a mode */

/* One can_use_tool. The JSON is verbatim. */
struct claude_control_pending {
    char *id;          /* owned; as emitted by the translator */
    char *raw_id;      /* owned; still escaped, without quotes */
    char *input;       /* owned; the JSON object */
    char *suggestions; /* owned; JSON array of permission updates, or NULL */
    size_t bytes;
    bool questions; /* AskUserQuestion: requires answers, not a permission */
};

struct claude_control {
    struct claude_control_pending *asks;
    size_t n, cap, bytes;
    unsigned refusals;
    bool over;              /* interrupted, and reads no more input */
    struct steered steered; /* messages for the running turn */
};

/* Processes a line of the CLI; lines without "control_ cost only a search. */
void claude_control_handle_line(struct claude_control *c, struct buf *out, const char *line,
                                size_t len);
/* -1: not open, or cannot be answered like this; nothing is written. */
int claude_control_answer(struct claude_control *c, struct buf *out,
                          const struct dialect_answer *answer);
/* Whether it is open. */
bool claude_control_waits(struct claude_control *c, const char *id);
/* Closes all requests, and accepts no more. */
void claude_control_end(struct claude_control *c);

/* claude_control_reply.c: the reply object. -1: invalid answer; the appended text must not be
 * used. */
int claude_control_append_reply(struct buf *out, const struct claude_control_pending *ask,
                                const struct dialect_answer *answer);

#endif
