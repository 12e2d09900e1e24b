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

/* Our requests, by the ends of their ids. */
#define CODEX_APP_INITIALIZE "initialize"
#define CODEX_APP_THREAD "thread"
#define CODEX_APP_TURN "turn"
#define CODEX_APP_INTERRUPT "interrupt"
#define CODEX_APP_STEER "steer"

/* What a request of the server asks for. */
enum codex_app_request_kind {
    CODEX_APP_ASKS_NOTHING, /* that a person answers */
    CODEX_APP_ASKS_COMMAND,
    CODEX_APP_ASKS_CHANGE,
    CODEX_APP_ASKS_PERMISSIONS,
    CODEX_APP_ASKS_TOOL, /* of an MCP server: leave to call it */
    CODEX_APP_ASKS_FORM, /* an MCP server asks */
    CODEX_APP_ASKS_QUESTIONS,
};

#define CODEX_APP_CHANGES 16 /* that are kept */
#define CODEX_APP_CHANGE_MAX ((size_t)256 << 10)

struct codex_app {
    struct prestart early; /* lines from before the thread */
    struct buf thread;     /* whose turn it is: other threads are sub-agents */
    struct buf past;       /* the turn before this one in the stream: what comes late is of none */
    struct buf streamed, streamed_id; /* of the message, and of the reasoning, being told */
    struct buf answer, answer_id;     /* the newest message that may be the answer */
    struct buf refusal;               /* the newest error a request of the client met with */
    struct open_calls open, asked;    /* asked: requests, and of which kind */
    struct open_calls changes;        /* of files, open, and their arguments */
    struct usage_totals tally;
    bool started, ended;
    bool runs; /* a turn of the stream has begun */
};

/* A line as values. */
struct codex_app_line {
    struct codex_app *c;
    const struct dialect_sink *out;
    struct str self, id, method, params, result, error, item;
    const char *agent; /* thread of a sub-agent, or NULL */
};

/* codex_app.c */
char *codex_app_text(const struct codex_app_line *call, struct str value);
/* Of a member of the parameters. */
char *codex_app_get_param(const struct codex_app_line *call, const char *key);
void codex_app_emit(const struct codex_app_line *call, struct event *ev);
void codex_app_raw(const struct codex_app_line *call);

/* codex_app_item.c */
void codex_app_take_item(const struct codex_app_line *call);
void codex_app_take_text_delta(const struct codex_app_line *call);
void codex_app_take_thought_delta(const struct codex_app_line *call);
void codex_app_take_output_delta(const struct codex_app_line *call);

/* codex_app_convert_form.c: in our form, in the line's arena; NULL: there are none. */
const char *codex_app_convert_questions(const struct codex_app_line *call);
const char *codex_app_convert_form(const struct codex_app_line *call);
bool codex_app_is_secret(const struct codex_app_line *call);
/* Answers (a JSON object, or NULL) in the server's form: to questions, to a form of that schema. */
void codex_app_add_answers(struct buf *out, const char *answers);
void codex_app_add_content(struct buf *out, const char *schema, const char *answers);

/* codex_app_input.c */
extern const struct dialect_input codex_app_input;

/* codex_app_request.c */
enum codex_app_request_kind codex_app_classify_request(struct str method, struct str params);
/* False: the method asks for nothing a person answers. */
bool codex_app_take_request(const struct codex_app_line *call);
void codex_app_take_resolved(const struct codex_app_line *call);

#endif
