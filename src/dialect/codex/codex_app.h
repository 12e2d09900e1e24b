/* SPDX-License-Identifier: MIT
 * Reader for `codex app-server`: thread, turn, end of turn. */
#ifndef DIALECT_CODEX_CODEX_APP_H
#define DIALECT_CODEX_CODEX_APP_H

#include "base/bytes/buf.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/prestart.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/usage_totals.h"
#include "dialect/reader/value.h"

/* Our requests, by the suffixes of their ids. */
#define CODEX_APP_INITIALIZE "initialize"
#define CODEX_APP_THREAD "thread"
#define CODEX_APP_TURN "turn"
#define CODEX_APP_INTERRUPT "interrupt"
#define CODEX_APP_STEER "steer"

/* Kinds of requests of the server. */
enum codex_app_request_kind {
    CODEX_APP_ASKS_NOTHING, /* requests that a person answers */
    CODEX_APP_ASKS_COMMAND,
    CODEX_APP_ASKS_CHANGE,
    CODEX_APP_ASKS_PERMISSIONS,
    CODEX_APP_ASKS_TOOL, /* an MCP server asks for permission to call a tool */
    CODEX_APP_ASKS_FORM, /* an MCP server asks a question */
    CODEX_APP_ASKS_QUESTIONS,
};

#define CODEX_APP_CHANGES 16 /* limit of remembered errors */
#define CODEX_APP_CHANGE_MAX ((size_t)256 << 10)

struct codex_app {
    struct prestart early; /* lines from before the thread */
    struct buf thread;     /* thread of the turn: other threads belong to sub-agents */
    struct buf past;       /* the previous turn in the stream: late lines of it are ignored */
    struct buf streamed, streamed_id; /* id of the current message, and of the reasoning */
    struct buf answer, answer_id;     /* the newest message that may be the answer */
    struct buf refusal;               /* the newest error response to a request of the client */
    struct open_calls open, asked;    /* open requests: ids and kinds */
    struct open_calls changes;        /* open file changes, and their arguments */
    struct usage_totals tally;
    bool started, ended;
    bool runs; /* a turn of the stream has begun */
};

/* Members of a line. */
struct codex_app_line {
    struct codex_app *c;
    const struct dialect_sink *out;
    struct str self, id, method, params, result, error, item;
    const char *agent; /* thread of a sub-agent, or NULL */
};

/* codex_app.c */
char *codex_app_text(const struct codex_app_line *call, struct str value);
/* A member of the parameters. */
char *codex_app_get_param(const struct codex_app_line *call, const char *key);
void codex_app_emit(const struct codex_app_line *call, struct event *ev);
void codex_app_raw(const struct codex_app_line *call);

/* codex_app_item.c */
void codex_app_handle_item(const struct codex_app_line *call);
void codex_app_handle_text_delta(const struct codex_app_line *call);
void codex_app_handle_thought_delta(const struct codex_app_line *call);
void codex_app_handle_output_delta(const struct codex_app_line *call);

/* codex_app_convert_form.c: questions in canonical form, in the line's arena; NULL: none. */
const char *codex_app_convert_questions(const struct codex_app_line *call);
const char *codex_app_convert_form(const struct codex_app_line *call);
bool codex_app_is_secret(const struct codex_app_line *call);
/* Converts answers (a JSON object, or NULL) to the server's form: for questions, for a form of that
 * schema. */
void codex_app_add_answers(struct buf *out, const char *answers);
void codex_app_add_content(struct buf *out, const char *schema, const char *answers);

/* codex_app_input.c */
extern const struct dialect_input codex_app_input;

/* codex_app_request.c */
enum codex_app_request_kind codex_app_classify_request(struct str method, struct str params);
/* False: the method is no request to people. */
bool codex_app_handle_request(const struct codex_app_line *call);
void codex_app_handle_resolved(const struct codex_app_line *call);

#endif
