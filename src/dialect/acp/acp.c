/* SPDX-License-Identifier: MIT
 * Life of an ACP stream: agent, session, and dispatch of each line. */
#include "dialect/acp/acp.h"

#include "dialect/protocol/jsonrpc.h"
#include "dialect/reader/dialect_emit.h"

char *acp_text(const struct acp_line *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

void acp_emit(const struct acp_line *call, struct event *ev)
{
    if (call->a->session.len)
        ev->meta.session_id = call->a->session.p;
    dialect_emit_draft(call->out, ev);
}

void acp_emit_raw(const struct acp_line *call)
{
    const char *name = acp_text(call, call->kind.p ? call->kind : call->method);
    if (!name)
        name = call->result.p ? "result" : NULL;
    dialect_emit_raw(call->out, "acp", call->self, name);
}

static void acp_read_update(const struct acp_line *call)
{
    static const struct {
        const char *kind;
        void (*take)(const struct acp_line *call);
    } kinds[] = {
        {"agent_message_chunk", acp_handle_message},  {"agent_thought_chunk", acp_handle_thought},
        {"user_message_chunk", acp_handle_user},      {"tool_call", acp_handle_tool_call},
        {"tool_call_update", acp_handle_tool_update}, {"plan", acp_handle_plan},
        {"usage_update", acp_handle_usage},
    };
    /* Updates before the session is ready are its history, replayed by the agent. */
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if ((call->a->ready || !call->a->greeted) && value_equals(call->kind, kinds[i].kind)) {
            kinds[i].take(call);
            return;
        }
    acp_emit_raw(call);
}

static const char *acp_model_of(const struct acp_line *call)
{
    return acp_text(call, value_get_last(value_get_last(call->result, "models"), "currentModelId"));
}

static void acp_replay_early(void *ctx, struct str line)
{
    struct acp_line old = *(const struct acp_line *)ctx;
    old.self = line;
    old.method = value_get_last(line, "method");
    old.result = value_get_last(line, "result");
    old.kind = (struct str){0};
    acp_emit_raw(&old);
}

static void acp_emit_start(const struct acp_line *call)
{
    struct acp *const a = call->a;
    struct event ev;
    event_init(&ev, TC_START);
    ev.u.start.thread_id = a->session.len ? a->session.p : NULL;
    ev.u.start.source = a->agent.len ? a->agent.p : NULL;
    ev.u.start.model = acp_model_of(call);
    a->started = true;
    acp_emit(call, &ev);
    struct acp_line early = *call;
    prestart_replay(&a->early, acp_replay_early, &early);
}

static void acp_set_session(const struct acp_line *call)
{
    struct str id = value_get_last(call->params, "sessionId");
    if (!id.p)
        id = value_get_last(call->result, "sessionId");
    const char *const text = acp_text(call, id);
    if (!text)
        return;
    buf_reset(&call->a->session);
    buf_add_str(&call->a->session, text);
}

bool acp_supports_version(struct str result)
{
    return value_int(value_get_last(result, "protocolVersion"), -1) == 1;
}

/* The response to initialize names the agent. Returns whether the line was one. */
static bool greet(const struct acp_line *call)
{
    if (!value_get_last(call->result, "protocolVersion").p)
        return false;
    const char *const name =
        acp_text(call, value_get_last(value_get_last(call->result, "agentInfo"), "name"));
    buf_reset(&call->a->agent);
    buf_add_str(&call->a->agent, name ? name : "");
    call->a->greeted = true;
    return true;
}

/* Why our next request cannot follow the response; NULL: it can. */
static const char *find_break(const struct acp_line *call)
{
    if (jsonrpc_is_own_id(call->id, ACP_INITIALIZE) && !acp_supports_version(call->result))
        return "The agent does not support version 1 of the Agent Client Protocol.";
    if (jsonrpc_is_own_id(call->id, ACP_NEW) && !call->a->session.len)
        return "The agent did not return a session ID.";
    return NULL;
}

/* After the response to session/load, the agent may still replay history until it answers the next
 * request; there is one, because the session has a mode. */
static bool acp_is_history_loaded(const struct acp_line *call)
{
    return jsonrpc_is_own_id(call->id, ACP_LOAD) && acp_mode_parse(call->result).current.p;
}

static bool acp_is_stop(const struct acp_line *call)
{
    return value_get_last(call->result, "stopReason").p;
}

/* Text so far is not part of the answer. */
static void acp_begin_turn(const struct acp_line *call)
{
    acp_complete_message(call->a, call->out);
    buf_reset(&call->a->answer);
    call->a->ready = true;
}

static void acp_dispatch(const struct acp_line *call)
{
    if (call->error.p)
        acp_handle_error(call);
    else if (call->result.p)
        acp_handle_result(call);
    else if (value_equals(call->method, "session/update"))
        acp_read_update(call);
    else if (call->id.p && value_equals(call->method, "session/request_permission"))
        acp_handle_permission(call);
    else if (value_equals(call->method, "$/cancel_request"))
        acp_handle_cancel(call);
    else
        acp_emit_raw(call);
}

static int acp_read_line(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct acp_line call = {.a = state, .out = out, .self = {line, len}};
    const struct value_row rows[] = {{"id", &call.id},
                                     {"method", &call.method},
                                     {"params", &call.params},
                                     {"result", &call.result},
                                     {"error", &call.error}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    struct acp *const a = state;
    call.update = value_get_last(call.params, "update");
    call.kind = value_get_last(call.update, "sessionUpdate");
    acp_set_session(&call);
    const bool greeting = greet(&call);
    const bool answer = call.id.p && !call.method.p && !call.error.p;
    const char *const broken = answer ? find_break(&call) : NULL;
    if (!a->ready && answer && !greeting && !acp_is_history_loaded(&call))
        acp_begin_turn(&call);
    const bool waits =
        greeting || (!a->session.len && !call.error.p && !call.kind.p && !acp_is_stop(&call));
    if (!a->started && waits && !broken) {
        prestart_append(&a->early, out->scratch, call.self);
        return 0;
    }
    if (!a->started)
        acp_emit_start(&call);
    if (broken)
        acp_end_turn(&call, broken, "protocol");
    else
        acp_dispatch(&call);
    return 0;
}

/* There was no response to the prompt: ends open messages and calls. */
static void acp_end_stream(void *state, const struct dialect_sink *out,
                           const struct stream_end_info *end)
{
    const struct acp_line call = {.a = state, .out = out};
    (void)end;
    if (!call.a->started && call.a->early.lines.len)
        acp_emit_start(&call);
    acp_settle_tools(&call);
    acp_complete_message(call.a, out);
}

static void acp_close_state(void *state)
{
    struct acp *const a = state;
    struct buf *const bufs[] = {&a->agent,   &a->session, &a->text,
                                &a->text_id, &a->answer,  &a->trouble};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    for (size_t i = 0; i < ACP_CALLS; i++)
        acp_tool_fini(&a->tools[i]);
    prestart_fini(&a->early);
}

/* Keeps the session and its cost so far. */
static void acp_next_turn(void *state, bool by_agent)
{
    struct acp *const a = state;
    struct acp old = *a;
    (void)by_agent;
    *a = (struct acp){.agent = old.agent,
                      .session = old.session,
                      .cost = old.cost,
                      .cost_before = old.cost > 0 ? old.cost : 0,
                      .greeted = old.greeted,
                      .ready = true};
    memcpy(a->currency, old.currency, sizeof(a->currency));
    old.agent = old.session = (struct buf){0};
    acp_close_state(&old);
}

/* Only the client's side knows when a prompt begins: output after the response to a prompt belongs
 * to the next one. */
static enum dialect_begin acp_begins_turn(const void *state, struct str line)
{
    static const char *const kinds[] = {"user_message_chunk", "agent_message_chunk",
                                        "agent_thought_chunk", "tool_call"};
    const struct acp *const a = state;
    if (!a->over)
        return DIALECT_GOES_ON;
    const struct str update = value_get_last(value_get_last(line, "params"), "update");
    const struct str kind = value_get_last(update, "sessionUpdate");
    bool begins = value_get_last(value_get_last(line, "result"), "stopReason").p;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        begins |= value_equals(kind, kinds[i]);
    return begins ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
}

static int acp_sniff_line(struct str line, const char *event)
{
    (void)event;
    if (!value_equals(value_get_last(line, "jsonrpc"), "2.0"))
        return 0;
    const struct str method = value_get_last(line, "method");
    if (value_equals(method, "session/update") ||
        value_equals(method, "session/request_permission"))
        return DIALECT_SCORE_CERTAIN;
    const struct str result = value_get_last(line, "result");
    if (!value_get_last(result, "protocolVersion").p)
        return 0;
    return value_get_last(result, "agentCapabilities").p ? DIALECT_SCORE_CERTAIN
                                                         : DIALECT_SCORE_CERTAIN / 2;
}

const struct dialect dialect_acp = {
    .name = "acp",
    .summary = "Agent Client Protocol, version 1: what the agent writes",
    .state_size = sizeof(struct acp),
    .sniff = acp_sniff_line,
    .line = acp_read_line,
    .end = acp_end_stream,
    .close = acp_close_state,
    .begins = acp_begins_turn,
    .next = acp_next_turn,
    .input = &acp_input,
};
