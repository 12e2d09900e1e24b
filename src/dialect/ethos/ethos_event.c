/* SPDX-License-Identifier: MIT
 * Dispatches run events by type, and determines their agent. */
#include <string.h>

#include "dialect/ethos/ethos.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

char *ethos_copy(const struct ethos_ctx *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

char *ethos_rest(const struct ethos_ctx *call, const char *const *known)
{
    return value_extra_except(call->out->scratch, call->l->self, known);
}

static void ethos_event_read_start(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "provider", "model", "source", "traceId", NULL};
    struct event ev;
    struct tc_start *const s = &ev.u.start;
    event_init(&ev, TC_START);
    s->provider = ethos_copy(call, value_get_last(call->l->self, "provider"));
    s->model = ethos_copy(call, value_get_last(call->l->self, "model"));
    s->source = ethos_copy(call, value_get_last(call->l->self, "source"));
    s->trace_id = ethos_copy(call, call->l->trace);
    ev.meta.x = ethos_rest(call, known);
    dialect_emit_draft(call->out, &ev);
}

static void ethos_event_read_context(const struct ethos_ctx *call)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = "context";
    ev.u.state.op = "snapshot";
    ev.u.state.value = value_json(call->out->scratch, call->l->data, NULL);
    dialect_emit_draft(call->out, &ev);
}

static void ethos_event_read_text(const struct ethos_ctx *call)
{
    struct buf *const text = &call->e->text;
    size_t len = 0;
    const char *const told = value_text(call->out->scratch, call->l->text, &len);
    dialect_emit_narration(call->out, told, len, NULL);
    if (len && text->len + len <= ETHOS_TEXT_MAX)
        buf_add(text, told, len);
}

static void ethos_event_read_thinking(const struct ethos_ctx *call)
{
    size_t len = 0;
    const char *const told = value_text(call->out->scratch, call->l->thinking, &len);
    dialect_emit_thinking(call->out, told, len, NULL);
}

static void ethos_event_read_usage(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type",
                                        "inputTokens",
                                        "outputTokens",
                                        "estimatedCostUsd",
                                        "cacheReadTokens",
                                        "cacheCreationTokens",
                                        NULL};
    struct str input = {0}, output = {0}, cost = {0}, read = {0}, written = {0};
    const struct value_row rows[] = {{"inputTokens", &input},
                                     {"outputTokens", &output},
                                     {"estimatedCostUsd", &cost},
                                     {"cacheReadTokens", &read},
                                     {"cacheCreationTokens", &written}};
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    value_get_members(call->l->self, VALUE_ROWS(rows));
    event_init(&ev, TC_USAGE);
    u->scope = "call";
    u->input_tokens = value_int(input, -1);
    u->output_tokens = value_int(output, -1);
    u->cache_read_tokens = value_int(read, -1);
    u->cache_write_tokens = value_int(written, -1);
    u->cost_usd = value_real(cost, -1);
    ev.meta.x = ethos_rest(call, known);
    usage_totals_add(&call->e->tally, u);
    dialect_emit_draft(call->out, &ev);
}

static void ethos_event_read_persisted(const struct ethos_ctx *call)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    const char *const role = ethos_copy(call, value_get_last(call->l->self, "role"));
    ev.u.message.role = role ? role : "assistant";
    ev.u.message.message_id = ethos_copy(call, value_get_last(call->l->self, "messageId"));
    ev.u.message.persisted = true;
    dialect_emit_draft(call->out, &ev);
}

static void ethos_event_read_error(const struct ethos_ctx *call)
{
    ethos_end_error(call, ethos_copy(call, call->l->error), ethos_copy(call, call->l->code));
}

static void ethos_event_read_done(const struct ethos_ctx *call)
{
    ethos_end_done(call, call->l->text, call->l->turns, call->l->trace);
}

static const struct ethos_event_type {
    const char *type;
    void (*take)(const struct ethos_ctx *call);
} types[] = {
    {"run_start", ethos_event_read_start},
    {"context_meta", ethos_event_read_context},
    {"text_delta", ethos_event_read_text},
    {"thinking_delta", ethos_event_read_thinking},
    {"tool_start", ethos_tool_start},
    {"tool_progress", ethos_tool_progress},
    {"tool_end", ethos_tool_end},
    {"usage", ethos_event_read_usage},
    {"error", ethos_event_read_error},
    {"done", ethos_event_read_done},
    {"halt", ethos_halt},
    {"tool_approval_required", ethos_approval},
    {"tool_approval_response", ethos_approval_response},
    {"credential_required", ethos_credential},
    /* member added by the web API */
    {"message_persisted", ethos_event_read_persisted},
    {"tool.approval_required", ethos_push_approval},
    {"approval.resolved", ethos_push_approval_resolved},
    {"clarify.request", ethos_clarify},
    {"clarify.resolved", ethos_clarify_resolved},
};

/* Events of others in the session may precede the run's start, which has more information than a
 * generated one. */
static bool is_early(const struct ethos_ctx *call, const struct ethos_event_type *type)
{
    const struct ethos *const e = call->e;
    const bool informs = !type || type->take == ethos_event_read_persisted;
    return !e->started && informs && e->early.len + call->l->self.len < ETHOS_EARLY_MAX;
}

static void ethos_event_store_early(const struct ethos_ctx *call)
{
    buf_add(&call->e->early, call->l->self.p, call->l->self.len);
    buf_add_char(&call->e->early, '\n');
}

static const struct ethos_event_type *ethos_event_type_of(const struct ethos_ctx *call)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(call->l->type, types[i].type))
            return &types[i];
    return NULL;
}

/* A message without a type is a JSON-RPC message outside of the run. */
static const char *ethos_event_name_of(const struct ethos_ctx *call)
{
    const struct str type = call->l->type;
    return ethos_copy(call, type.p ? type : value_get_last(call->l->self, "method"));
}

static void ethos_event_dispatch(const struct ethos_ctx *call)
{
    const struct ethos_event_type *const type = ethos_event_type_of(call);
    if (is_early(call, type)) {
        ethos_event_store_early(call);
        return;
    }
    call->e->started = true;
    if (type)
        type->take(call);
    else if (!ethos_emit_notice(call))
        dialect_emit_raw(call->out, call->dialect, call->l->self, ethos_event_name_of(call));
    ethos_replay_early(call);
}

void ethos_replay_early(const struct ethos_ctx *call)
{
    struct buf early = call->e->early;
    call->e->early = (struct buf){0};
    call->e->started |= early.len > 0;
    for (size_t at = 0, n; at < early.len; at += n + 1) {
        n = strcspn(early.p + at, "\n");
        ethos_handle_event(call, (struct str){early.p + at, n});
    }
    buf_fini(&early);
}

void ethos_handle_event(const struct ethos_ctx *call, struct str event)
{
    struct ethos_line l = {.self = event};
    const struct value_row rows[] = {{"type", &l.type},
                                     {"text", &l.text},
                                     {"thinking", &l.thinking},
                                     {"toolCallId", &l.id},
                                     {"toolName", &l.name},
                                     {"args", &l.args},
                                     {"audience", &l.audience},
                                     {"message", &l.message},
                                     {"percent", &l.percent},
                                     {"ok", &l.ok},
                                     {"durationMs", &l.duration},
                                     {"result", &l.result},
                                     {"structured", &l.structured},
                                     {"error", &l.error},
                                     {"code", &l.code},
                                     {"data", &l.data},
                                     {"kind", &l.kind},
                                     {"rule", &l.rule},
                                     {"reason", &l.reason},
                                     {"approved", &l.approved},
                                     {"turnCount", &l.turns},
                                     {"traceId", &l.trace}};
    struct ethos_ctx with_line = *call;
    value_get_members(event, VALUE_ROWS(rows));
    with_line.l = &l;
    ethos_event_dispatch(&with_line);
}
