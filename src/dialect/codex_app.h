/* SPDX-License-Identifier: MIT
 * State of the codex-app dialect (`codex app-server`, what the server writes), shared by its files:
 * codex_app.c the life of a thread and its turn, codex_app_item.c items, codex_app_request.c what
 * the server asks. */
#ifndef DIALECT_CODEX_APP_H
#define DIALECT_CODEX_APP_H

#include "base/buf.h"
#include "dialect/dialects.h"
#include "dialect/early.h"
#include "dialect/tally.h"
#include "dialect/tool.h"
#include "dialect/value.h"

struct codex_app {
    struct early early;               /* lines from before the thread */
    struct buf thread;                /* whose turn it is: other threads are sub-agents */
    struct buf streamed, streamed_id; /* of the message, and of the reasoning, being told */
    struct buf answer, answer_id;     /* the newest message that may be the answer */
    struct buf refusal;               /* the newest error a request of the client met with */
    struct tool_set open, asked;      /* asked: requests, and of which kind */
    struct tally tally;
    bool started, ended;
};

/* A line as values. */
struct codex_app_call {
    struct codex_app *c;
    const struct dialect_out *out;
    struct str self, id, method, params, result, error, item;
    const char *agent; /* thread of a sub-agent, or NULL */
};

/* codex_app.c */
char *codex_app_text(const struct codex_app_call *call, struct str value);
/* Of a member of the parameters. */
char *codex_app_param(const struct codex_app_call *call, const char *key);
void codex_app_send(const struct codex_app_call *call, struct event *ev);
void codex_app_raw(const struct codex_app_call *call);

/* codex_app_item.c */
void codex_app_take_item(const struct codex_app_call *call);
void codex_app_take_text_delta(const struct codex_app_call *call);
void codex_app_take_thought_delta(const struct codex_app_call *call);
void codex_app_take_output_delta(const struct codex_app_call *call);

/* codex_app_request.c */
/* False: the method asks for nothing a person answers. */
bool codex_app_take_request(const struct codex_app_call *call);
void codex_app_take_resolved(const struct codex_app_call *call);

#endif
