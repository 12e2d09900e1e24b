/* SPDX-License-Identifier: MIT
 * Input side of ACP: the requests before the prompt, replies to permission requests, cancellation.
 * Files and terminals are left to the agent. */
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "dialect/acp/acp.h"
#include "dialect/protocol/jsonrpc.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* Data of a permission request: the option for each decision, as JSON. */
enum { ALLOW, ALLOW_ALWAYS, DENY, DENY_ALWAYS };

struct acp_input {
    struct jsonrpc rpc; /* first member: see jsonrpc_waits */
    struct buf text, cwd, mode;
    struct buf session;  /* id as JSON; initially that of the session to resume, if any */
    const char *waiting; /* our request whose response is expected; NULL: none */
    bool stopped;        /* the turn was cancelled */
};

/* Values from the agent are sent back unchanged. */
static void acp_input_set_raw(struct buf *to, struct str value)
{
    buf_reset(to);
    buf_add(to, value.p, value.len);
}

/* ---- requests before the prompt ---- */

static void acp_input_call(struct acp_input *a, struct buf *out, const char *name,
                           const char *method)
{
    a->waiting = name;
    jsonrpc_begin_request(&a->rpc, out, name, method);
}

static void acp_input_begin(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    struct acp_input *const a = state;
    a->rpc.head = "{\"jsonrpc\":\"2.0\",";
    utf8_repair(&a->text, prompt->text, prompt->len);
    jsonrpc_add_text(&a->cwd, prompt->cwd);
    if (prompt->session_id)
        jsonrpc_add_text(&a->session, prompt->session_id);
    if (prompt->mode)
        jsonrpc_add_text(&a->mode, prompt->mode);
    acp_input_call(a, out, ACP_INITIALIZE, "initialize");
    buf_add_str(out, "\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":false,"
                     "\"writeTextFile\":false},\"terminal\":false},\"clientInfo\":{\"name\":"
                     "\"turncast\",\"title\":\"turncast\",\"version\":\"" PACKAGE_VERSION "\"}");
    jsonrpc_end(out);
}

/* Prefers session/resume, because session/load replays the history. */
static void open_session(struct acp_input *a, struct buf *out, struct str result)
{
    const struct str can = value_get_last(result, "agentCapabilities");
    const bool resumes =
        value_get_last(value_get_last(can, "sessionCapabilities"), "resume").p && a->session.len;
    const bool loads = value_is_true(value_get_last(can, "loadSession")) && a->session.len;
    if (!resumes && !loads)
        buf_reset(&a->session);
    acp_input_call(a, out,
                   resumes ? ACP_RESUME
                   : loads ? ACP_LOAD
                           : ACP_NEW,
                   resumes ? "session/resume"
                   : loads ? "session/load"
                           : "session/new");
    if (a->session.len)
        jsonw_member_json(out, "sessionId", a->session.p);
    jsonw_member_json(out, "cwd", a->cwd.p);
    jsonw_member_json(out, "mcpServers", "[]");
    jsonrpc_end(out);
}

static void write_prompt(struct acp_input *a, struct buf *out)
{
    if (a->stopped) {
        a->waiting = NULL;
        return;
    }
    acp_input_call(a, out, ACP_PROMPT, "session/prompt");
    jsonw_member_json(out, "sessionId", a->session.p);
    jsonrpc_add_prompt(out, "prompt", &a->text);
    jsonrpc_end(out);
}

static bool acp_input_goes_on(void *state)
{
    const struct acp_input *const a = state;
    return !a->waiting && !a->stopped && a->session.len;
}

static void acp_input_next(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    struct acp_input *const a = state;
    buf_reset(&a->text);
    utf8_repair(&a->text, prompt->text, prompt->len);
    write_prompt(a, out);
}

static void write_mode(struct acp_input *a, struct buf *out, struct str option)
{
    const bool as_option = option.p;
    acp_input_call(a, out, ACP_MODE, as_option ? "session/set_config_option" : "session/set_mode");
    jsonw_member_json(out, "sessionId", a->session.p);
    if (as_option) {
        jsonw_key(out, "configId");
        buf_add(out, option.p, option.len);
    }
    jsonw_member_json(out, as_option ? "value" : "modeId", a->mode.p);
    jsonrpc_end(out);
}

/* An agent may replay history after the response to session/load, without marking its end. One more
 * request, which sets the current mode, ensures that the replay is complete before the prompt. */
static void session_opened(struct acp_input *a, struct buf *out, struct str result)
{
    const struct str id = value_get_last(result, "sessionId");
    const struct acp_mode mode = acp_mode_parse(result);
    if (value_string(id).p)
        acp_input_set_raw(&a->session, id);
    if (!a->session.len) {
        a->waiting = NULL;
        return;
    }
    if (!a->mode.len && strcmp(a->waiting, ACP_LOAD) == 0 && mode.current.p)
        acp_input_set_raw(&a->mode, mode.current);
    if (a->mode.len)
        write_mode(a, out, mode.option);
    else
        write_prompt(a, out);
}

/* The translator detects the end of the turn from the same line. */
static void acp_input_read_step(struct acp_input *a, struct buf *out,
                                const struct jsonrpc_message *l)
{
    const char *const step = a->waiting;
    if (l->error.p) {
        a->waiting = NULL;
    } else if (strcmp(step, ACP_INITIALIZE) == 0) {
        if (acp_supports_version(l->result))
            open_session(a, out, l->result);
        else
            a->waiting = NULL;
    } else if (strcmp(step, ACP_MODE) == 0) {
        write_prompt(a, out);
    } else if (strcmp(step, ACP_PROMPT) == 0) {
        a->waiting = NULL;
    } else {
        session_opened(a, out, l->result);
    }
}

/* ---- permission ---- */

static void write_cancelled(const struct acp_input *a, struct buf *out,
                            struct jsonrpc_pending *asked)
{
    jsonrpc_begin_response(&a->rpc, out, asked->id);
    buf_add_str(out, "\"outcome\":{\"outcome\":\"cancelled\"}");
    jsonrpc_end(out);
    jsonrpc_pending_fini(asked);
}

/* Of several options of a kind, the first is used, because the others permit more than was
 * decided. */
static void acp_input_store_options(struct jsonrpc_pending *asked, struct str options)
{
    static const struct {
        const char *kind;
        unsigned at;
    } kinds[] = {{"allow_once", ALLOW},
                 {"allow_always", ALLOW_ALWAYS},
                 {"reject_once", DENY},
                 {"reject_always", DENY_ALWAYS}};
    struct json j;
    struct str option;
    json_reader_open_array(&j, options);
    while (json_reader_next_value(&j, &option)) {
        const struct str id = value_get_last(option, "optionId");
        const struct str kind = value_get_last(option, "kind");
        for (size_t i = 0; value_string(id).p && i < sizeof(kinds) / sizeof(kinds[0]); i++)
            if (value_equals(kind, kinds[i].kind) && !asked->text[kinds[i].at])
                asked->text[kinds[i].at] = xstrndup(id.p, id.len);
    }
}

static void acp_input_read_permission(struct acp_input *a, struct buf *out,
                                      const struct jsonrpc_message *l)
{
    struct jsonrpc_pending *const asked = jsonrpc_add_pending(&a->rpc, out, l);
    if (!asked)
        return;
    acp_input_store_options(asked, value_get_last(l->params, "options"));
    if (a->stopped)
        write_cancelled(a, out, asked);
}

static void acp_input_read_line(void *state, struct buf *out, const char *line, size_t len)
{
    struct acp_input *const a = state;
    CLEANUP_RPC_LINE struct jsonrpc_message l;
    if (jsonrpc_parse(&l, line, len) < 0)
        return;
    if (jsonrpc_is_request(&l) && value_equals(l.method, "session/request_permission"))
        acp_input_read_permission(a, out, &l);
    else if (jsonrpc_is_request(&l))
        jsonrpc_reject(&a->rpc, out, &l);
    else if (value_equals(l.method, "$/cancel_request"))
        jsonrpc_remove_pending(&a->rpc, value_get_last(l.params, "requestId"));
    else if (a->waiting && jsonrpc_is_response_to(&l, a->waiting))
        acp_input_read_step(a, out, &l);
}

/* ---- decisions ---- */

struct acp_input_stop {
    struct acp_input *a;
    struct buf *out;
};

static void acp_input_cancel_request(void *ctx, struct jsonrpc_pending *asked)
{
    const struct acp_input_stop *const stop = ctx;
    write_cancelled(stop->a, stop->out, asked);
}

/* Some agents hang until their request is answered, even after cancellation. */
static void acp_input_interrupt(void *state, struct buf *out)
{
    struct acp_input *const a = state;
    a->stopped = true;
    if (!a->waiting || strcmp(a->waiting, ACP_PROMPT) != 0)
        return;
    jsonrpc_begin_notification(&a->rpc, out, "session/cancel");
    jsonw_member_json(out, "sessionId", a->session.p);
    jsonrpc_end(out);
    jsonrpc_each_pending(&a->rpc, acp_input_cancel_request, &(struct acp_input_stop){a, out});
}

/* The option that does exactly what was decided; NULL: none. */
static const char *option_for(const struct jsonrpc_pending *asked,
                              const struct dialect_answer *answer)
{
    if (answer->decision == DIALECT_DENY)
        return asked->text[asked->text[DENY] ? DENY : DENY_ALWAYS];
    return asked->text[answer->remember && asked->text[ALLOW_ALWAYS] ? ALLOW_ALWAYS : ALLOW];
}

/* Arguments cannot be changed: the agent would execute the original call. */
static int acp_input_answer_request(void *state, struct buf *out,
                                    const struct dialect_answer *answer)
{
    struct acp_input *const a = state;
    struct jsonrpc_pending *const asked = jsonrpc_find_pending(&a->rpc, answer->request_id);
    if (!asked || answer->decision == DIALECT_ANSWERED || answer->args)
        return -1;
    const char *const option = option_for(asked, answer);
    if (option) {
        jsonrpc_begin_response(&a->rpc, out, asked->id);
        buf_printf(out, "\"outcome\":{\"outcome\":\"selected\",\"optionId\":%s}", option);
        jsonrpc_end(out);
        jsonrpc_pending_fini(asked);
    } else {
        write_cancelled(a, out, asked);
    }
    if (answer->decision == DIALECT_DENY && answer->interrupt)
        acp_input_interrupt(a, out);
    return 0;
}

static void acp_input_close_state(void *state)
{
    struct acp_input *const a = state;
    struct buf *const bufs[] = {&a->text, &a->cwd, &a->mode, &a->session};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    jsonrpc_fini(&a->rpc);
}

const struct dialect_input acp_input = {
    .state_size = sizeof(struct acp_input),
    .begin = acp_input_begin,
    .next = acp_input_next,
    .goes_on = acp_input_goes_on,
    .line = acp_input_read_line,
    .answer = acp_input_answer_request,
    .waits = jsonrpc_waits,
    .interrupt = acp_input_interrupt,
    .close = acp_input_close_state,
    .keep_open = true,
    .loads_session = true,
};
