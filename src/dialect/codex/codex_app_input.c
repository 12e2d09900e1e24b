/* SPDX-License-Identifier: MIT
 * Input side: initialize, thread and turn start, answers, interrupt. */
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "dialect/codex/codex_app.h"
#include "dialect/protocol/jsonrpc.h"
#include "dialect/protocol/steered_messages.h"
#include "event/json/json_writer.h"

/* Data of a request, as JSON: what an answer needs. */
enum { SCHEMA, PERMISSIONS };

struct codex_app_input {
    struct jsonrpc rpc; /* first member: see jsonrpc_waits */
    struct buf text;
    struct buf cwd, policy;  /* as JSON, and so are these: */
    struct buf thread, turn; /* thread: initially the one to resume, if any */
    const char *waiting;     /* our request whose response is expected; NULL: none */
    struct steered steered;  /* requests whose responses are expected, in this order */
    bool over;
};

/* Values from the server are sent back unchanged. */
static void codex_app_input_set_raw(struct buf *to, struct str value)
{
    if (!value_string(value).p)
        return;
    buf_reset(to);
    buf_add(to, value.p, value.len);
}

/* ---- handshake ---- */

static void codex_app_input_call(struct codex_app_input *c, struct buf *out, const char *name,
                                 const char *method)
{
    c->waiting = name;
    jsonrpc_begin_request(&c->rpc, out, name, method);
}

static void codex_app_input_begin(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    struct codex_app_input *const c = state;
    c->rpc.head = "{";
    utf8_repair(&c->text, prompt->text, prompt->len);
    jsonrpc_add_text(&c->cwd, prompt->cwd);
    jsonrpc_add_text(&c->policy, prompt->mode ? prompt->mode : "on-request");
    if (prompt->session_id)
        jsonrpc_add_text(&c->thread, prompt->session_id);
    codex_app_input_call(c, out, CODEX_APP_INITIALIZE, "initialize");
    buf_add_str(out,
                "\"clientInfo\":{\"name\":\"turncast\",\"title\":\"turncast\",\"version\":\"" //
                PACKAGE_VERSION "\"},\"capabilities\":null");
    jsonrpc_end(out);
}

static void open_thread(struct codex_app_input *c, struct buf *out)
{
    jsonrpc_begin_notification(&c->rpc, out, "initialized");
    jsonrpc_end(out);
    codex_app_input_call(c, out, CODEX_APP_THREAD,
                         c->thread.len ? "thread/resume" : "thread/start");
    if (c->thread.len)
        jsonw_member_json(out, "threadId", c->thread.p);
    jsonw_member_json(out, "cwd", c->cwd.p);
    jsonw_member_json(out, "approvalPolicy", c->policy.p);
    jsonrpc_end(out);
}

static void codex_app_input_begin_turn(struct codex_app_input *c, struct buf *out)
{
    codex_app_input_call(c, out, CODEX_APP_TURN, "turn/start");
    jsonw_member_json(out, "threadId", c->thread.p);
    jsonrpc_add_prompt(out, "input", &c->text);
    jsonrpc_end(out);
}

/* Applies to this turn only: a plain turn/start would start the answer anew. */
static enum dialect_steer codex_app_input_steer(void *state, struct buf *out, const char *id,
                                                struct str text)
{
    struct codex_app_input *const c = state;
    CLEANUP_BUF struct buf safe = {0};
    if (c->over || !c->turn.len || !steered_messages_add(&c->steered, id))
        return DIALECT_REFUSED;
    utf8_repair(&safe, text.p, text.len);
    jsonrpc_begin_request(&c->rpc, out, CODEX_APP_STEER, "turn/steer");
    jsonw_member_json(out, "threadId", c->thread.p);
    jsonw_member_json(out, "expectedTurnId", c->turn.p);
    jsonrpc_add_prompt(out, "input", &safe);
    jsonrpc_end(out);
    return DIALECT_ASKED;
}

static enum dialect_settled codex_app_input_settled(void *state, char id[DIALECT_STEER_ID])
{
    return steered_messages_next(&((struct codex_app_input *)state)->steered, id);
}

static bool codex_app_input_goes_on(void *state)
{
    const struct codex_app_input *const c = state;
    return c->over && c->thread.len && !c->waiting;
}

static void codex_app_input_next(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    struct codex_app_input *const c = state;
    buf_reset(&c->text);
    utf8_repair(&c->text, prompt->text, prompt->len);
    buf_reset(&c->turn);
    c->over = false;
    codex_app_input_begin_turn(c, out);
}

/* The translator detects the end of the turn from the same line. */
static void codex_app_input_read_step(struct codex_app_input *c, struct buf *out,
                                      const struct jsonrpc_message *l)
{
    const char *const step = c->waiting;
    const struct str thread = value_get_last(value_get_last(l->result, "thread"), "id");
    c->waiting = NULL;
    if (l->error.p)
        return;
    if (strcmp(step, CODEX_APP_INITIALIZE) == 0) {
        open_thread(c, out);
    } else if (strcmp(step, CODEX_APP_TURN) == 0) {
        codex_app_input_set_raw(&c->turn, value_get_last(value_get_last(l->result, "turn"), "id"));
    } else if (value_string(thread).len) {
        codex_app_input_set_raw(&c->thread, thread);
        codex_app_input_begin_turn(c, out);
    }
}

/* ---- requests of the server ---- */

static char *codex_app_input_store(struct str value)
{
    return value.p ? xstrndup(value.p, value.len) : NULL;
}

static void codex_app_input_read_request(struct codex_app_input *c, struct buf *out,
                                         const struct jsonrpc_message *l)
{
    const enum codex_app_request_kind ask = codex_app_classify_request(l->method, l->params);
    if (ask == CODEX_APP_ASKS_NOTHING) {
        jsonrpc_reject(&c->rpc, out, l);
        return;
    }
    struct jsonrpc_pending *const asked = jsonrpc_add_pending(&c->rpc, out, l);
    if (!asked)
        return;
    asked->kind = ask;
    asked->text[SCHEMA] = codex_app_input_store(value_get_last(l->params, "requestedSchema"));
    asked->text[PERMISSIONS] = codex_app_input_store(value_get_last(l->params, "permissions"));
}

static bool is_of_thread(const struct codex_app_input *c, const struct jsonrpc_message *l)
{
    const struct str thread = value_get_last(l->params, "threadId");
    return thread.p && c->thread.len && str_is(thread, c->thread.p);
}

static void codex_app_input_read_notice(struct codex_app_input *c, const struct jsonrpc_message *l)
{
    if (value_equals(l->method, "serverRequest/resolved"))
        jsonrpc_remove_pending(&c->rpc, value_get_last(l->params, "requestId"));
    else if (value_equals(l->method, "turn/started") && is_of_thread(c, l))
        codex_app_input_set_raw(&c->turn, value_get_last(value_get_last(l->params, "turn"), "id"));
    else if (value_equals(l->method, "turn/completed") && is_of_thread(c, l))
        c->over = true;
}

static void codex_app_input_read_line(void *state, struct buf *out, const char *line, size_t len)
{
    struct codex_app_input *const c = state;
    CLEANUP_RPC_LINE struct jsonrpc_message l;
    if (jsonrpc_parse(&l, line, len) < 0)
        return;
    if (jsonrpc_is_request(&l))
        codex_app_input_read_request(c, out, &l);
    else if (l.method.p)
        codex_app_input_read_notice(c, &l);
    else if (jsonrpc_is_response_to(&l, CODEX_APP_STEER))
        steered_messages_settle(&c->steered, (struct str){0},
                                l.error.p ? DIALECT_NOT_TAKEN : DIALECT_TAKEN);
    else if (c->waiting && jsonrpc_is_response_to(&l, c->waiting))
        codex_app_input_read_step(c, out, &l);
}

/* ---- decisions ---- */

static void codex_app_input_interrupt(void *state, struct buf *out)
{
    struct codex_app_input *const c = state;
    if (!c->turn.len || c->over)
        return;
    jsonrpc_begin_request(&c->rpc, out, CODEX_APP_INTERRUPT, "turn/interrupt");
    jsonw_member_json(out, "threadId", c->thread.p);
    jsonw_member_json(out, "turnId", c->turn.p);
    jsonrpc_end(out);
}

static void write_decision(struct buf *out, const struct dialect_answer *answer)
{
    const char *const denied = answer->interrupt ? "cancel" : "decline";
    const char *const allowed = answer->remember ? "acceptForSession" : "accept";
    jsonw_member_str(out, "decision", answer->decision == DIALECT_ALLOW ? allowed : denied);
}

/* Permissions are granted completely or not at all. */
static void write_permissions(struct buf *out, const struct jsonrpc_pending *asked,
                              const struct dialect_answer *answer)
{
    const char *const wanted = asked->text[PERMISSIONS];
    const bool allowed = answer->decision == DIALECT_ALLOW;
    jsonw_member_json(out, "permissions", allowed && wanted ? wanted : "{}");
    jsonw_member_str(out, "scope", allowed && answer->remember ? "session" : "turn");
}

static void write_elicited(struct buf *out, const struct jsonrpc_pending *asked,
                           const struct dialect_answer *answer)
{
    if (answer->decision == DIALECT_DENY) {
        jsonw_member_str(out, "action", answer->interrupt ? "cancel" : "decline");
        return;
    }
    jsonw_member_str(out, "action", "accept");
    jsonw_key(out, "content");
    codex_app_add_content(out, asked->text[SCHEMA], answer->answers);
}

static void write_answers(struct buf *out, const struct dialect_answer *answer)
{
    jsonw_key(out, "answers");
    codex_app_add_answers(out, answer->decision == DIALECT_ANSWERED ? answer->answers : NULL);
}

/* Whether a request can be decided like that. */
static bool codex_app_input_is_valid_answer(const struct jsonrpc_pending *asked,
                                            const struct dialect_answer *answer)
{
    const bool question =
        asked->kind == CODEX_APP_ASKS_FORM || asked->kind == CODEX_APP_ASKS_QUESTIONS;
    if (answer->args) /* the agent would execute the original arguments */
        return false;
    return answer->decision == DIALECT_DENY || (answer->decision == DIALECT_ANSWERED) == question;
}

static int codex_app_input_answer_request(void *state, struct buf *out,
                                          const struct dialect_answer *answer)
{
    struct codex_app_input *const c = state;
    struct jsonrpc_pending *const asked = jsonrpc_find_pending(&c->rpc, answer->request_id);
    if (!asked || c->over || !codex_app_input_is_valid_answer(asked, answer))
        return -1;
    const bool decides =
        asked->kind == CODEX_APP_ASKS_COMMAND || asked->kind == CODEX_APP_ASKS_CHANGE;
    jsonrpc_begin_response(&c->rpc, out, asked->id);
    if (decides)
        write_decision(out, answer);
    else if (asked->kind == CODEX_APP_ASKS_PERMISSIONS)
        write_permissions(out, asked, answer);
    else if (asked->kind == CODEX_APP_ASKS_QUESTIONS)
        write_answers(out, answer);
    else
        write_elicited(out, asked, answer);
    jsonrpc_end(out);
    jsonrpc_pending_fini(asked);
    if (answer->decision == DIALECT_DENY && answer->interrupt && !decides)
        codex_app_input_interrupt(c, out);
    return 0;
}

static void codex_app_input_close_state(void *state)
{
    struct codex_app_input *const c = state;
    struct buf *const bufs[] = {&c->text, &c->cwd, &c->policy, &c->thread, &c->turn};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    jsonrpc_fini(&c->rpc);
}

const struct dialect_input codex_app_input = {
    .state_size = sizeof(struct codex_app_input),
    .begin = codex_app_input_begin,
    .next = codex_app_input_next,
    .goes_on = codex_app_input_goes_on,
    .steer = codex_app_input_steer,
    .settled = codex_app_input_settled,
    .line = codex_app_input_read_line,
    .answer = codex_app_input_answer_request,
    .waits = jsonrpc_waits,
    .interrupt = codex_app_input_interrupt,
    .close = codex_app_input_close_state,
    .keep_open = true,
    .loads_session = true,
};
