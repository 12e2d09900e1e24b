/* SPDX-License-Identifier: MIT
 * State of the AG-UI writer, shared by its files: ag_ui_write.c the run, states and notices,
 * ag_ui_write_message.c one message, ag_ui_write_text.c messages and reasoning, ag_ui_write_tool.c
 * calls, ag_ui_write_step.c steps and sub-agents, ag_ui_write_request.c requests to people,
 * ag_ui_write_end.c usage and the end.
 *
 * The reference client aborts the stream at the first invalid message; so all open items are
 * tracked here, and values are checked before they are written. */
#ifndef DIALECT_AG_UI_AG_UI_WRITE_H
#define DIALECT_AG_UI_AG_UI_WRITE_H

#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"
#include "dialect/writer/json_style.h"
#include "dialect/writer/writer_list.h"

#define S STYLE_JS

/* An open message. */
struct ag_ui_open_message {
    bool open;
    struct buf source; /* message_id of the source, "" for none */
    struct buf id;     /* id as written */
    struct buf tag;    /* sub-agent it belongs to, "" for the agent */
};

/* An open call, whose arguments have not ended. */
struct ag_ui_call {
    char *id, *tag;
    size_t sent;   /* bytes of the written arguments */
    uint64_t hash; /* hash of them */
};

struct ag_ui_step {
    char *key; /* identity in the source */
    char *name;
    char *tag;
    bool agent; /* written as SUBAGENT_* */
};

struct ag_ui_writer {
    bool started;
    bool scopes; /* ids emitted with the first run */
    struct buf thread_id, run_id, scope;
    struct ag_ui_open_message text, reasoning;
    struct ag_ui_open_message span; /* source is unused */
    struct open_calls used;         /* ids of messages as written, with those of the source */
    struct ag_ui_call *calls;
    size_t n_calls, cap_calls;
    struct open_calls ended;   /* calls with complete arguments, with their tags, or NULL */
    struct open_calls waiting; /* calls that wait for a person */
    struct open_calls asked;   /* open requests, with their interrupts */
    struct open_calls agents;  /* started sub-agents, with their calls, or NULL */
    struct ag_ui_step *steps;
    size_t n_steps, cap_steps;
    struct buf usage; /* JSON array, for the turn */
    struct usage_totals tally;
    bool failed;
    struct buf error, error_code, error_x;
    struct buf said; /* text written for the agent */
    bool activity;   /* the previous event was an activity */
    uint64_t made;   /* number of ids made so far */
};

struct ag_ui_write_ctx {
    struct ag_ui_writer *w;
    const struct writer_out *out;
    const struct event *ev;
    bool v1;         /* the reader supports 1.0 */
    bool own;        /* the event was read from AG-UI */
    struct arena *a; /* for this event */
};

/* ag_ui_write_message.c: writes RUN_STARTED, once, before anything else. */
void ag_ui_start(const struct ag_ui_write_ctx *e);
/* One message; tag "" or NULL: none. */
struct buf *ag_ui_begin(const struct ag_ui_write_ctx *e, const char *type, const char *tag);
/* x: further members of the source's message, or absent. */
void ag_ui_end(const struct ag_ui_write_ctx *e, struct buf *b, struct str x);
void ag_ui_end_plain(const struct ag_ui_write_ctx *e, struct buf *b);
void ag_ui_add_str(struct buf *b, const char *key, const char *s); /* NULL: left out */
void ag_ui_add_json(struct buf *b, const char *key, struct str value);
/* Members of the AG-UI message from which the event was read; absent for other sources. */
struct str ag_ui_x(const struct ag_ui_write_ctx *e);
struct str ag_ui_x_member(const struct ag_ui_write_ctx *e, const char *key);
/* Id of the event's sub-agent, as written, or NULL. */
const char *ag_ui_tag(const struct ag_ui_write_ctx *e);
bool ag_ui_is_child(const struct ag_ui_write_ctx *e);
/* A new message id, for a message with the id `source` (or NULL) in the source; wanted NULL:
 * generates one. */
const char *ag_ui_new_id(const struct ag_ui_write_ctx *e, const char *wanted, const char *source);
/* Makes an id unique among runs, because sources use the same ids in each run of a thread. NULL for
 * NULL. */
const char *ag_ui_scoped(const struct ag_ui_write_ctx *e, const char *id);
void ag_ui_write_replace(struct buf *to, const char *text);

/* ag_ui_write_text.c */
void ag_ui_write_narration(const struct ag_ui_write_ctx *e);
void ag_ui_write_thinking(const struct ag_ui_write_ctx *e);
void ag_ui_write_message(const struct ag_ui_write_ctx *e);
void ag_ui_write_final(const struct ag_ui_write_ctx *e);
void ag_ui_close_text(const struct ag_ui_write_ctx *e, struct str x);
void ag_ui_close_reasoning(const struct ag_ui_write_ctx *e);

/* ag_ui_write_tool.c */
void ag_ui_write_call(const struct ag_ui_write_ctx *e);
void ag_ui_write_progress(const struct ag_ui_write_ctx *e);
void ag_ui_write_result(const struct ag_ui_write_ctx *e);
void ag_ui_close_calls(const struct ag_ui_write_ctx *e);
void ag_ui_fini_calls(struct ag_ui_writer *w);

/* ag_ui_write_step.c */
void ag_ui_write_step(const struct ag_ui_write_ctx *e);
void ag_ui_close_steps(const struct ag_ui_write_ctx *e);
void ag_ui_pause_steps(const struct ag_ui_write_ctx *e);
void ag_ui_continue_steps(const struct ag_ui_write_ctx *e);
void ag_ui_fini_steps(struct ag_ui_writer *w);

/* ag_ui_write_request.c: the run's open interrupts as a list; at least one. */
void ag_ui_write_request(const struct ag_ui_write_ctx *e);
void ag_ui_add_interrupts(const struct ag_ui_write_ctx *e, struct buf *b);

/* ag_ui_write_end.c */
void ag_ui_write_usage(const struct ag_ui_write_ctx *e);
void ag_ui_write_error(const struct ag_ui_write_ctx *e);
void ag_ui_write_done(const struct ag_ui_write_ctx *e);

#endif
