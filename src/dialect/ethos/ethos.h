/* SPDX-License-Identifier: MIT
 * Reader for Ethos events over its three transports: JSON lines, web SSE, JSON-RPC notifications.
 */
#ifndef DIALECT_ETHOS_ETHOS_H
#define DIALECT_ETHOS_ETHOS_H

#include "dialect/dialect_list.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"

#define ETHOS_CODE 64
#define ETHOS_EARLY_MAX ((size_t)64 << 10)
#define ETHOS_TEXT_MAX ((size_t)32 << 20) /* limit of streamed text */

struct ethos {
    bool started;           /* an event of the run was emitted */
    bool failed, ended;     /* an error was emitted; done was */
    struct buf text;        /* all streamed text */
    struct buf early;       /* informational lines before the run's start */
    struct open_calls open; /* calls: id, name */
    struct usage_totals tally;
    char rule[ETHOS_CODE];    /* reason of the halt, or "" */
    char code[ETHOS_CODE];    /* code of the error, or "" */
    char request[ETHOS_CODE]; /* JSON-RPC: id of the run's request as JSON, or "" */
};

/* Members of an event. */
struct ethos_line {
    struct str self, type;
    struct str text, thinking, id, name, args, audience, message, percent, ok, duration, result,
        structured, error, code, data, kind, rule, reason, approved, turns, trace;
};

struct ethos_ctx {
    struct ethos *e;
    const struct dialect_sink *out;
    const char *dialect;
    bool web; /* the web bridge marks all progress as the user's */
    const struct ethos_line *l;
};

/* ethos_handle_event.c */
void ethos_handle_event(const struct ethos_ctx *call, struct str event);
/* Emits the events that waited for the start. */
void ethos_replay_early(const struct ethos_ctx *call);
char *ethos_copy(const struct ethos_ctx *call, struct str value); /* or NULL */
/* Unknown members of the event. */
char *ethos_rest(const struct ethos_ctx *call, const char *const *known);

/* ethos_tool.c */
void ethos_tool_start(const struct ethos_ctx *call);
void ethos_tool_progress(const struct ethos_ctx *call);
void ethos_tool_end(const struct ethos_ctx *call);
void ethos_approval(const struct ethos_ctx *call);
void ethos_approval_response(const struct ethos_ctx *call);
void ethos_push_approval(const struct ethos_ctx *call);
void ethos_push_approval_resolved(const struct ethos_ctx *call);
void ethos_clarify(const struct ethos_ctx *call);
void ethos_clarify_resolved(const struct ethos_ctx *call);
void ethos_credential(const struct ethos_ctx *call);

/* ethos_notice.c: emits an informational event; false: not one. */
bool ethos_emit_notice(const struct ethos_ctx *call);
bool ethos_is_note(const char *type);
void ethos_halt(const struct ethos_ctx *call);

/* ethos_end.c */
/* The first end counts; further members of a later end go to done. */
void ethos_end_done(const struct ethos_ctx *call, struct str text, struct str turns,
                    struct str trace);
void ethos_end_error(const struct ethos_ctx *call, const char *message, const char *code);
/* The run has ended, with an error emitted. */
void ethos_close_failed(const struct ethos_ctx *call);
void ethos_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
void ethos_close(void *state);

#endif
