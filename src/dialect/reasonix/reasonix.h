/* SPDX-License-Identifier: MIT
 * What reasonix and its typed log have in common: the state of a turn and what is told of it.
 * reasonix.c reads the wire and reasonix_notice.c its notes, reasonix_log.c the log;
 * reasonix_text.c, reasonix_tool.c and reasonix_end.c tell.
 *
 * A refusal or an error is not the end while the stream goes on: it is kept until the stream
 * says that the turn is over, or until the model says something more. */
#ifndef DIALECT_REASONIX_REASONIX_H
#define DIALECT_REASONIX_REASONIX_H

#include "dialect/dialect_list.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"

#define REASONIX_CODE 64
#define REASONIX_TEXT_MAX ((size_t)32 << 20) /* streamed text without a message */

/* What ends the turn if nothing more is said. */
enum reasonix_pending_end { REASONIX_NONE, REASONIX_REFUSED, REASONIX_FAILED, REASONIX_STOPPED };

struct reasonix {
    bool started, ended;
    int64_t turn;              /* of the log: the number of the turn; 0: not known */
    bool thought;              /* reasoning was told since the last message */
    struct buf streamed;       /* text since the last message or call */
    struct buf answer;         /* text of the last message, unless a call followed it */
    struct buf message_id;     /* the attempt whose text is being told; empty: none */
    struct open_calls calls;   /* open: id, name */
    struct open_calls parents; /* of those: id, parent id */
    struct open_calls readers; /* of those, the read-only ones */
    struct open_calls partial; /* calls being composed: id, name */
    struct open_calls asked;   /* open requests: id, id of the call */
    struct open_calls asks;    /* of those, the questions */
    struct buf task, opened;   /* of the log, until the start: user's message, session (JSON) */
    struct usage_totals tally;
    enum reasonix_pending_end verdict;
    char code[REASONIX_CODE]; /* of the verdict, or "" */
    struct buf verdict_text;
};

/* One line being read. */
struct reasonix_ctx {
    struct reasonix *r;
    const struct dialect_sink *out;
    const char *name; /* of the dialect */
};

/* Values of a tool, wherever they stood; x is what else was there, or NULL. */
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
/* Tells the start once, and again only when it has something to say (x). */
void reasonix_start(const struct reasonix_ctx *call, const char *model, const char *x);
/* The model goes on: what was kept as the end of the turn was not it. */
void reasonix_clear_pending_end(const struct reasonix_ctx *call);
void reasonix_text(const struct reasonix_ctx *call, struct str text);
void reasonix_thinking(const struct reasonix_ctx *call, struct str text);
void reasonix_message(const struct reasonix_ctx *call, struct str text, struct str reasoning,
                      const char *x);
void reasonix_usage(const struct reasonix_ctx *call, const struct reasonix_usage *usage);
void reasonix_emit_step(const struct reasonix_ctx *call, const char *name, const char *x);
/* An attempt at a message begins, or what it said is void. */
void reasonix_attempt(const struct reasonix_ctx *call, struct str id);
void reasonix_discard(const struct reasonix_ctx *call);

/* reasonix_tool.c: calls and what is asked about them. */
/* `wire`: of the wire; else of the log, which has other names and less. */
struct reasonix_tool reasonix_tool_read(struct str object, bool wire);
void reasonix_prepare(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_dispatch(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_output(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_result(const struct reasonix_ctx *call, const struct reasonix_tool *tool);
void reasonix_ask(const struct reasonix_ctx *call, const char *kind,
                  const struct reasonix_request *request);
/* x with "key":json before its members; x: or NULL. */
char *reasonix_prepend_member(struct arena *a, const char *x, const char *key, const char *json);

/* reasonix_end.c: how it ends. */
/* The covenant a text names as violated or as the reason of a block, in the arena; or NULL. */
char *reasonix_covenant(struct arena *a, const char *text);
/* A covenant was violated: told as a notice, kept as the verdict. */
void reasonix_refuse(const struct reasonix_ctx *call, const char *covenant, const char *text,
                     const char *x);
void reasonix_fail(const struct reasonix_ctx *call, const char *text, const char *code);
void reasonix_stop(const struct reasonix_ctx *call, const char *code, const char *text);
/* The stream says the turn is over. err, outcome: or NULL; x of the done, or NULL. */
void reasonix_end_turn(const struct reasonix_ctx *call, const char *err, const char *outcome,
                       const char *x);
/* The end and the close functions of both dialects. */
void reasonix_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
void reasonix_close(void *state);

/* reasonix_notice.c: kinds that only newer servers write. Returns whether it is one. */
bool reasonix_note(const struct reasonix_ctx *call, const char *kind, struct str line);
bool reasonix_is_note(const char *kind);

#endif
