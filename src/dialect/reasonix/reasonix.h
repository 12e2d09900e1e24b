/* SPDX-License-Identifier: MIT
 * Shared by the readers of Reasonix' stream and typed log: the state of a turn and its events.
 * reasonix.c reads the stream and reasonix_notice.c its notices, reasonix_log.c the log;
 * reasonix_text.c, reasonix_tool.c and reasonix_end.c emit events.
 *
 * A refusal or an error is not the end while the stream continues: it is kept until the stream
 * reports the end of the turn, or until the model continues. */
#ifndef DIALECT_REASONIX_REASONIX_H
#define DIALECT_REASONIX_REASONIX_H

#include "dialect/dialect_list.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"

#define REASONIX_CODE 64
#define REASONIX_TEXT_MAX ((size_t)32 << 20) /* streamed text without a message */

/* The outcome if the turn ends now. */
enum reasonix_pending_end { REASONIX_NONE, REASONIX_REFUSED, REASONIX_FAILED, REASONIX_STOPPED };

struct reasonix {
    bool started, ended;
    int64_t turn;              /* of the log: number of the turn; 0: unknown */
    bool thought;              /* reasoning was emitted since the last message */
    struct buf streamed;       /* text since the last message or call */
    struct buf answer;         /* text of the last message, unless a call followed */
    struct buf message_id;     /* the current attempt; empty: none */
    struct open_calls calls;   /* open: id, name */
    struct open_calls parents; /* of those: id, parent id */
    struct open_calls readers; /* of those, the read-only ones */
    struct open_calls partial; /* calls with incomplete arguments: id, name */
    struct open_calls asked;   /* open requests: id, id of the call */
    struct open_calls asks;    /* of those, the questions */
    struct buf task, opened;   /* of the log, until the start: user's message, session (JSON) */
    struct usage_totals tally;
    enum reasonix_pending_end verdict;
    char code[REASONIX_CODE]; /* violated covenant, or "" */
    struct buf verdict_text;
};

/* One line being read. */
struct reasonix_ctx {
    struct reasonix *r;
    const struct dialect_sink *out;
    const char *name; /* of the dialect */
};

/* Members of a tool, wherever they are; x has other members, or is NULL. */
struct reasonix_tool {
    struct str id, name, args, output, err, read_only, truncated, duration, parent;
    struct str arg_chars, diff, added, removed;
    const char *x;
};

struct reasonix_usage {
    struct str prompt, completion, total, hit, miss, reasoning, session_hit, session_miss;
    struct str cost, currency, cost_usd, source;
    const char *x;
};

struct reasonix_request {
    struct str id, tool, subject, reason, questions;
    const char *x;
};

/* reasonix_text.c: the text of a turn. */
char *reasonix_copy(const struct reasonix_ctx *call, struct str value); /* or NULL */
/* Emits the start once, and again only if it has new data (x). */
void reasonix_start(const struct reasonix_ctx *call, const char *model, const char *x);
/* The model continues: the kept outcome was not the end. */
void reasonix_clear_pending_end(const struct reasonix_ctx *call);
void reasonix_text(const struct reasonix_ctx *call, struct str text);
void reasonix_thinking(const struct reasonix_ctx *call, struct str text);
void reasonix_message(const struct reasonix_ctx *call, struct str text, struct str reasoning,
                      const char *x);
void reasonix_usage(const struct reasonix_ctx *call, const struct reasonix_usage *usage);
void reasonix_emit_step(const struct reasonix_ctx *call, const char *name, const char *x);
/* A new attempt at a message begins, or the output of one is void. */
void reasonix_attempt(const struct reasonix_ctx *call, struct str id);
void reasonix_discard(const struct reasonix_ctx *call);

/* reasonix_tool.c: calls and requests about them. */
/* `wire`: of the stream; otherwise of the log, which has other and fewer names. */
struct reasonix_tool reasonix_tool_read(struct str object, bool wire);
void reasonix_prepare(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_dispatch(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_output(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_result(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_emit_request(const struct reasonix_ctx *call, const char *kind,
                           const struct reasonix_request *request);
/* Adds "key":json in front of the members of x; x: or NULL. */
char *reasonix_prepend_member(struct arena *a, const char *x, const char *key, const char *json);

/* reasonix_end.c: end of a turn. */
/* The covenant that a text names as violated or as the reason of a block, in the arena; or NULL. */
char *reasonix_covenant(struct arena *a, const char *text);
/* A covenant was violated: emitted as a notice, and kept. */
void reasonix_refuse(const struct reasonix_ctx *call, const char *covenant, const char *text,
                     const char *x);
void reasonix_fail(const struct reasonix_ctx *call, const char *text, const char *code);
void reasonix_stop(const struct reasonix_ctx *call, const char *code, const char *text);
/* The stream reports the end of the turn. err, outcome: or NULL; x of the done, or NULL. */
void reasonix_end_turn(const struct reasonix_ctx *call, const char *err, const char *outcome,
                       const char *x);
/* The end and the close functions of both dialects. */
void reasonix_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
void reasonix_close(void *state);

/* reasonix_notice.c: kinds of newer servers. Returns whether it is one. */
bool reasonix_emit_notice(const struct reasonix_ctx *call, const char *kind, struct str line);
bool reasonix_is_note(const char *kind);

#endif
