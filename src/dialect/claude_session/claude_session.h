/* SPDX-License-Identifier: MIT
 * State of the claude-session dialect (files below ~/.claude/projects), shared by its files:
 * claude_session.c the lines, the turns of a session and how they end, claude_session_item.c
 * messages, thinking and tools, claude_session_chain.c which line continues which.
 *
 * The file has no end of a turn: it is over when the model has stopped by itself and nothing
 * follows, or when the next message of a user begins another one. It is a tree by parentUuid, not a
 * list: rewinding, and a second process on the same session, make branches. A reader of a stream
 * cannot know which branch lives on, so all are told in the order of the file. A turn that does not
 * continue the one before it has a notice{branch}; a line that continues an older turn than the one
 * that is told is raw. */
#ifndef DIALECT_CLAUDE_SESSION_CLAUDE_SESSION_H
#define DIALECT_CLAUDE_SESSION_CLAUDE_SESSION_H

#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

#define CLAUDE_SESSION_LINES 1024                         /* lines that are known by their uuid */
#define CLAUDE_SESSION_TEXT_MAX ((size_t)32 << 20)        /* text of one message */
#define CLAUDE_SESSION_STRUCTURED_MAX ((size_t)256 << 10) /* structured result of a tool */

/* The newest lines: hashes of their uuids, and the turns they are of. */
struct claude_session_chain {
    struct claude_session_link {
        uint64_t uuid, turn;
    } * links; /* CLAUDE_SESSION_LINES, or NULL */
    uint64_t count;
};

struct claude_session {
    /* Of the session. */
    struct buf session, model, command; /* command: a slash command that nothing has answered yet */
    struct claude_session_chain chain;
    uint64_t turn;     /* counts turns */
    bool begun, side;  /* a line with a uuid was read; it was a sub-agent's: the file is its own */
    double cost_seen;  /* running total at the newest cost-state */
    uint64_t uncosted; /* turns before this one that no cost-state has counted */
    /* Of the turn. */
    struct prestart early;       /* lines from before the start */
    struct buf message_id, said; /* of the message that is told, and its text */
    struct buf answer;           /* text of the newest message, unless a tool came behind it */
    struct buf answer_id;        /* its id */
    struct buf error, code;      /* of the newest API error, until the model says something */
    struct buf stop;             /* why the newest message stopped, or empty: it did not */
    struct tc_usage usage;       /* of the message */
    bool counted;                /* usage is there */
    int64_t texts;               /* of the message */
    struct usage_totals tally;
    double cost; /* of the turn; negative: not told */
    bool started, interrupted, ended;
};

/* A line as values. */
struct claude_session_line {
    struct claude_session *c;
    const struct dialect_sink *out;
    struct str self, type, subtype, message, content;
    const char *agent; /* a sub-agent in the file of another one, or NULL */
};

/* claude_session.c */
char *claude_session_text(const struct claude_session_line *l, struct str value);
struct str claude_session_value(const struct claude_session_line *l, const char *key);
void claude_session_emit(const struct claude_session_line *l, struct event *ev);
void claude_session_notice(const struct claude_session_line *l, const char *level, const char *code,
                           const char *text);

/* claude_session_item.c */
void claude_session_assistant(const struct claude_session_line *l);
/* What the host said to the model in blocks: results of tools, notes. */
void claude_session_blocks(const struct claude_session_line *l);
/* The message that is told is complete. */
void claude_session_flush(struct claude_session *c, const struct dialect_sink *out);

/* claude_session_chain.c */
/* The turn of the line with that uuid; 0: not known. */
uint64_t claude_session_turn_of(const struct claude_session_chain *chain, struct str uuid);
void claude_session_link(struct claude_session_chain *chain, struct str uuid, uint64_t turn);

#endif
