/* SPDX-License-Identifier: MIT
 * Reader for the Agent Client Protocol v1: session state and dispatch of each line to its
 * handler. */
#ifndef DIALECT_ACP_ACP_H
#define DIALECT_ACP_ACP_H

#include "base/bytes/buf.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/value.h"

/* Our requests, by the ends of their ids. */
#define ACP_INITIALIZE "initialize"
#define ACP_NEW "new"
#define ACP_LOAD "load"
#define ACP_RESUME "resume"
#define ACP_MODE "mode"
#define ACP_PROMPT "prompt"

#define ACP_CALLS 64 /* open at once: the oldest is forgotten */
#define ACP_OUTPUT_MAX ((size_t)1 << 20)
#define ACP_INPUT_MAX ((size_t)256 << 10)

/* A tool call that is open. */
struct acp_tool {
    char *id, *name;  /* owned; no id: an empty slot */
    bool titled;      /* its name is its title: the model may have chosen it */
    char *request_id; /* owned, of the permission that is asked for, or NULL */
    char *input;      /* owned, its arguments as JSON, or NULL: not said, or too long to keep */
    struct buf output;
    uint64_t number; /* the order in which they began */
    bool told;       /* as tool_call; else its arguments are still to come */
    bool asked;      /* for permission, and nothing said since that it was given */
};

struct acp {
    struct buf agent; /* as it calls itself */
    struct buf session;
    struct prestart early;    /* lines from before the session */
    struct buf text, text_id; /* of the message being told */
    struct buf answer;        /* what was said since the last tool */
    struct buf trouble;       /* the newest failure that came as text */
    struct acp_tool tools[ACP_CALLS];
    uint64_t calls;
    double cost;        /* of the session, negative: not said */
    double cost_before; /* of its turns before this one in the stream */
    char currency[16];
    bool denied; /* the newest result of a tool is that it was not allowed */
    bool started, greeted, ready, over;
};

/* A line as values. */
struct acp_line {
    struct acp *a;
    const struct dialect_sink *out;
    struct str self, id, method, params, result, error;
    struct str update, kind; /* of session/update */
};

/* acp.c */
/* Whether the answer to initialize is of the version this dialect is written for. */
bool acp_supports_version(struct str result);
char *acp_text(const struct acp_line *call, struct str value);
void acp_emit(const struct acp_line *call, struct event *ev);
void acp_emit_raw(const struct acp_line *call);

/* acp_mode.c: what an answer that opens a session says. */
struct acp_mode {
    struct str option;  /* the id of the option that it is, or p NULL: it is none */
    struct str current; /* p NULL: it is not said */
};
struct acp_mode acp_mode_parse(struct str result);

/* acp_input.c */
extern const struct dialect_input acp_input;

/* acp_text.c */
void acp_take_message(const struct acp_line *call);
void acp_take_thought(const struct acp_line *call);
void acp_take_user(const struct acp_line *call);
void acp_take_plan(const struct acp_line *call);
/* The message so far is complete. */
void acp_complete_message(struct acp *a, const struct dialect_sink *out);

/* acp_tool.c */
void acp_take_tool_call(const struct acp_line *call);
void acp_take_tool_update(const struct acp_line *call);
void acp_take_permission(const struct acp_line *call);
void acp_take_cancel(const struct acp_line *call);
/* Tells the calls whose arguments never came. */
void acp_settle_tools(const struct acp_line *call);
void acp_tool_fini(struct acp_tool *tool);

/* acp_result.c */
void acp_take_usage(const struct acp_line *call);
void acp_take_result(const struct acp_line *call);
void acp_take_error(const struct acp_line *call);
/* With an error, whatever is still open. */
void acp_end_turn(const struct acp_line *call, const char *text, const char *code);

#endif
