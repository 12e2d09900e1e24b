/* SPDX-License-Identifier: MIT
 * Reader for the Agent Client Protocol v1: session state and dispatch of each line to its
 * handler. */
#ifndef DIALECT_ACP_ACP_H
#define DIALECT_ACP_ACP_H

#include "base/bytes/buf.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/value.h"

/* Our requests, by the suffixes of their ids. */
#define ACP_INITIALIZE "initialize"
#define ACP_NEW "new"
#define ACP_LOAD "load"
#define ACP_RESUME "resume"
#define ACP_MODE "mode"
#define ACP_PROMPT "prompt"

#define ACP_CALLS 64 /* maximum number of open calls: the oldest is removed */
#define ACP_OUTPUT_MAX ((size_t)1 << 20)
#define ACP_INPUT_MAX ((size_t)256 << 10)

/* An open tool call. */
struct acp_tool {
    char *id, *name;  /* owned; no id: an empty slot */
    bool titled;      /* its name is its title, which the model may have chosen */
    char *request_id; /* owned, of the requested permission, or NULL */
    char *input;      /* owned, arguments as JSON, or NULL: absent, or too long to keep */
    struct buf output;
    uint64_t number; /* order of their start */
    bool told;       /* emitted as tool_call; otherwise its arguments are still missing */
    bool asked;      /* permission was requested, and no update followed the decision */
};

struct acp {
    struct buf agent; /* name given by the agent */
    struct buf session;
    struct prestart early;    /* lines before the session */
    struct buf text, text_id; /* the current message */
    struct buf answer;        /* text since the last tool call */
    struct buf trouble;       /* the newest failure that was reported as text */
    struct acp_tool tools[ACP_CALLS];
    uint64_t calls;
    double cost;        /* of the session; negative: unknown */
    double cost_before; /* of earlier turns in the stream */
    char currency[16];
    bool denied; /* the newest tool result says that the tool was denied */
    bool started, greeted, ready, over;
};

/* Members of a line. */
struct acp_line {
    struct acp *a;
    const struct dialect_sink *out;
    struct str self, id, method, params, result, error;
    struct str update, kind; /* of session/update */
};

/* acp.c */
/* Whether the response to initialize has the supported protocol version. */
bool acp_supports_version(struct str result);
char *acp_text(const struct acp_line *call, struct str value);
void acp_emit(const struct acp_line *call, struct event *ev);
void acp_emit_raw(const struct acp_line *call);

/* acp_mode.c: mode of a response that opens a session. */
struct acp_mode {
    struct str option;  /* id of the option for the mode, or p NULL: none */
    struct str current; /* p NULL: absent */
};
struct acp_mode acp_mode_parse(struct str result);

/* acp_input.c */
extern const struct dialect_input acp_input;

/* acp_text.c */
void acp_handle_message(const struct acp_line *call);
void acp_handle_thought(const struct acp_line *call);
void acp_handle_user(const struct acp_line *call);
void acp_handle_plan(const struct acp_line *call);
/* Ends the current message. */
void acp_complete_message(struct acp *a, const struct dialect_sink *out);

/* acp_tool.c */
void acp_handle_tool_call(const struct acp_line *call);
void acp_handle_tool_update(const struct acp_line *call);
void acp_handle_permission(const struct acp_line *call);
void acp_handle_cancel(const struct acp_line *call);
/* Emits calls whose arguments never arrived. */
void acp_settle_tools(const struct acp_line *call);
void acp_tool_fini(struct acp_tool *tool);

/* acp_result.c */
void acp_handle_usage(const struct acp_line *call);
void acp_handle_result(const struct acp_line *call);
void acp_handle_error(const struct acp_line *call);
/* Ends everything that is open, with an error. */
void acp_end_turn(const struct acp_line *call, const char *text, const char *code);

#endif
