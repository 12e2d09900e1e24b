/* SPDX-License-Identifier: MIT
 * The three transports of Ethos: events as JSON lines, as frames of the web API, and in JSON-RPC
 * notifications. */
#include <stdio.h>

#include "dialect/ethos/ethos.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

static int ethos_read_event(void *state, const struct dialect_sink *out, const char *line,
                            size_t len)
{
    if (value_parse_line(line, len, NULL, 0) < 0)
        return -1;
    ethos_handle_event(&(struct ethos_ctx){.e = state, .out = out, .dialect = "ethos"},
                       (struct str){line, len});
    return 0;
}

static int read_web(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    if (value_parse_line(line, len, NULL, 0) < 0)
        return -1;
    ethos_handle_event(
        &(struct ethos_ctx){.e = state, .out = out, .dialect = "ethos-web", .web = true},
        (struct str){line, len});
    return 0;
}

struct ethos_rpc_line {
    struct str self, method, params, id, result, error;
};

static void ethos_store_request_id(const struct ethos_ctx *call, struct str id)
{
    if (id.p && id.len < sizeof(call->e->request))
        snprintf(call->e->request, sizeof(call->e->request), "%.*s", (int)id.len, id.p);
}

/* Whether the response belongs to the run's request, if one was seen. */
static bool ethos_is_ours(const struct ethos_ctx *call, const struct ethos_rpc_line *rpc)
{
    return !*call->e->request || !rpc->id.p || str_is(rpc->id, call->e->request);
}

static void ethos_read_result(const struct ethos_ctx *call, const struct ethos_rpc_line *rpc)
{
    struct str text = {0}, turns = {0}, trace = {0};
    const struct value_row rows[] = {{"text", &text}, {"turnCount", &turns}, {"traceId", &trace}};
    value_get_members(rpc->result, VALUE_ROWS(rows));
    if (ethos_is_ours(call, rpc) && (text.p || turns.p))
        ethos_end_done(call, text, turns, trace);
    else
        ethos_handle_event(call, rpc->self); /* without a type: raw */
}

static void ethos_read_error(const struct ethos_ctx *call, const struct ethos_rpc_line *rpc)
{
    const char *const message = ethos_copy(call, value_get_last(rpc->error, "message"));
    const char *const code =
        value_text_or_json(call->out->scratch, value_get_last(rpc->error, "code"), NULL);
    if (!ethos_is_ours(call, rpc)) {
        dialect_emit_notice(call->out, "warn", code, message ? message : "", NULL);
        return;
    }
    if (!call->e->failed)
        ethos_end_error(call, message, code);
    ethos_close_failed(call);
}

static int read_rpc(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct ethos_rpc_line rpc = {.self = {line, len}};
    const struct value_row rows[] = {{"method", &rpc.method},
                                     {"params", &rpc.params},
                                     {"id", &rpc.id},
                                     {"result", &rpc.result},
                                     {"error", &rpc.error}};
    const struct ethos_ctx call = {.e = state, .out = out, .dialect = "ethos-acp"};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    const struct str event = value_get_last(rpc.params, "event");
    if (value_equals(rpc.method, "$/stream") && event.p && *event.p == '{') {
        ethos_store_request_id(&call, value_get_last(rpc.params, "requestId"));
        ethos_handle_event(&call, event);
    } else if (rpc.result.p && !rpc.method.p) {
        ethos_read_result(&call, &rpc);
    } else if (rpc.error.p && !rpc.method.p) {
        ethos_read_error(&call, &rpc);
    } else {
        ethos_handle_event(&call, rpc.self);
    }
    return 0;
}

/* Members that only events of that type in Ethos have. */
static const struct {
    const char *type, *member;
} marks[] = {
    {"run_start", "provider"},
    {"text_delta", "text"},
    {"thinking_delta", "thinking"},
    {"tool_start", "toolCallId"},
    {"tool_end", "toolCallId"},
    {"usage", "estimatedCostUsd"},
    {"error", "error"},
    {"done", "turnCount"},
    {"halt", "rule"},
    {"credential_required", "credentialKey"},
};

static int sniff_event(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (value_equals(type, marks[i].type) && value_get_last(line, marks[i].member).p)
            return DIALECT_SCORE_CERTAIN - 1;
    return 0;
}

/* The web stream begins with its session; the rest has the form of events. */
static int sniff_web(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    return value_equals(type, "stream_meta") || value_equals(type, "message_persisted")
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

static int sniff_rpc(struct str line, const char *event)
{
    (void)event;
    if (value_equals(value_get_last(line, "method"), "$/stream"))
        return DIALECT_SCORE_CERTAIN;
    return value_get_last(value_get_last(line, "result"), "turnCount").p ? DIALECT_SCORE_CERTAIN
                                                                         : 0;
}

const struct dialect dialect_ethos = {
    .name = "ethos",
    .summary = "Ethos, its events as lines",
    .state_size = sizeof(struct ethos),
    .sniff = sniff_event,
    .line = ethos_read_event,
    .end = ethos_end,
    .close = ethos_close,
};

const struct dialect dialect_ethos_web = {
    .name = "ethos-web",
    .summary = "Ethos, the event stream of its web API",
    .state_size = sizeof(struct ethos),
    .sniff = sniff_web,
    .line = read_web,
    .end = ethos_end,
    .close = ethos_close,
};

const struct dialect dialect_ethos_acp = {
    .name = "ethos-acp",
    .summary = "Ethos, its JSON-RPC server",
    .state_size = sizeof(struct ethos),
    .sniff = sniff_rpc,
    .line = read_rpc,
    .end = ethos_end,
    .close = ethos_close,
};
