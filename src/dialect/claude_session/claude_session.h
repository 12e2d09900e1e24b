/* SPDX-License-Identifier: MIT
 * State of the claude-session dialect (files below ~/.claude/projects), shared by its files:
 * claude_session.c the lines, the turns of a session and how they end, claude_session_item.c
 * messages, thinking and tools, claude_session_chain.c which line continues which.
 *
 * The file does not mark the end of a turn: a turn has ended when the model has stopped by itself
 * and no line follows, or when the next message of a user begins another turn. The lines form a
 * tree by parentUuid, not a list: rewinding, and a second process on the same session, create
 * branches. A reader of a stream cannot know which branch continues; therefore all branches are
 * emitted in the order of the file. A turn that does not continue the previous turn has a
 * notice{branch}; a line that continues an older turn than the current one becomes a raw event. */
#ifndef DIALECT_CLAUDE_SESSION_CLAUDE_SESSION_H
#define DIALECT_CLAUDE_SESSION_CLAUDE_SESSION_H

#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

/* Number of lines whose uuids are remembered. */
#define CLAUDE_SESSION_LINES 1024
#define CLAUDE_SESSION_TEXT_MAX ((size_t)32 << 20)        /* text of one message */
#define CLAUDE_SESSION_STRUCTURED_MAX ((size_t)256 << 10) /* structured result of a tool */

/* The newest lines: hashes of their uuids, and their turns. */
struct claude_session_chain {
    struct claude_session_link {
        uint64_t uuid, turn;
    } * links; /* CLAUDE_SESSION_LINES, or NULL */
    uint64_t count;
};

struct claude_session {
    /* State of the session. */
    struct buf session, model, command; /* command: an unanswered slash command */
    struct claude_session_chain chain;
    uint64_t turn;     /* counter of turns */
    bool begun, side;  /* a line with a uuid was read; it belonged to a sub-agent, which owns the
                        * file */
    double cost_seen;  /* running total at the newest cost-state */
    uint64_t uncosted; /* earlier turns not included in a cost-state */
    /* State of the turn. */
    struct prestart early;       /* lines before the start */
    struct buf message_id, said; /* id and text of the current message */
    struct buf answer;           /* text of the newest message, unless a tool followed it */
    struct buf answer_id;        /* its id */
    struct buf error, code;      /* code of the newest API error, until the model writes
                                  * something */
    struct buf stop;             /* stop reason of the newest message, or empty: none */
    struct tc_usage usage;       /* of the message */
    bool counted;                /* usage is set */
    int64_t texts;               /* of the message */
    struct usage_totals tally;
    double cost; /* of the turn; negative: unknown */
    bool started, interrupted, ended;
};

/* Members of a line. */
struct claude_session_line {
    struct claude_session *c;
    const struct dialect_sink *out;
    struct str self, type, subtype, message, content;
    const char *agent; /* a sub-agent in the file of another agent, or NULL */
};

/* claude_session.c */
char *claude_session_text(const struct claude_session_line *l, struct str value);
struct str claude_session_value(const struct claude_session_line *l, const char *key);
void claude_session_emit(const struct claude_session_line *l, struct event *ev);
void claude_session_notice(const struct claude_session_line *l, const char *level, const char *code,
                           const char *text);

/* claude_session_item.c */
void claude_session_assistant(const struct claude_session_line *l);
/* Text of the host for the model: results of tools, notes. */
void claude_session_blocks(const struct claude_session_line *l);
/* Ends the current message. */
void claude_session_flush(struct claude_session *c, const struct dialect_sink *out);

/* claude_session_chain.c */
/* The turn of the line with that uuid; 0: unknown. */
uint64_t claude_session_turn_of(const struct claude_session_chain *chain, struct str uuid);
void claude_session_link(struct claude_session_chain *chain, struct str uuid, uint64_t turn);

#endif
